#include "workload.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/run.h"
#include "math/noise.h"
#include "rates.h"

#define WAVEFORM "waveform/waveform_train_data_1.asc", "waveform/waveform_train_labels_1.asc"
#define MNIST    "mnist/train-images-idx3-ubyte.gz", "mnist/train-labels-idx1-ubyte.gz"

const workload workloads[] = {
    {"waveform-q10", 400, 21, 1, {10}, SN_CLASSIFICATION, 2, 64, 25, 30, WAVEFORM, false},
    {"mnist-q10", 20000, 784, 1, {10}, SN_CLASSIFICATION, 10, 128, 25, 20, MNIST, false},
    {"mnist-q98", 20000, 784, 1, {98}, SN_CLASSIFICATION, 10, 128, 25, 20, MNIST, false},
    {"mnist-q392", 20000, 784, 1, {392}, SN_CLASSIFICATION, 10, 128, 25, 20, MNIST, false},
    {"slices-384-200-12", 53500, 384, 2, {200, 12}, SN_REGRESSION, 1, 128, 25, 10, NULL, NULL, false},
    {"deep-256-512-512-64",
     10000,
     256,
     3,
     {512, 512, 64},
     SN_CLASSIFICATION,
     10,
     128,
     10,
     10,
     NULL,
     NULL,
     false},
    {"wide-1000-1024-16", 20000, 1000, 2, {1024, 16}, SN_CLASSIFICATION, 10, 8192, 5, 1, NULL, NULL, true},
    {"long-100-64-4", 10000000, 100, 2, {64, 4}, SN_REGRESSION, 1, 65536, 5, 1, NULL, NULL, true},
    {"small-20-32-4", 1000, 20, 2, {32, 4}, SN_CLASSIFICATION, 2, 64, 5, 60, NULL, NULL, false},
    {"rows-50-16-2", 10000, 50, 2, {16, 2}, SN_REGRESSION, 1, 128, 5, 1, NULL, NULL, false},
};
const int workload_count = (int)(sizeof workloads / sizeof workloads[0]);

const workload *workload_find(const char *name)
{
    for (int i = 0; i < workload_count; i++)
        if (strcmp(workloads[i].name, name) == 0) return &workloads[i];
    return NULL;
}

static void fill(fit *f)
{
    sn_random random = sn_random_from(1, SN_STREAM_TEST, 0);
    const int64_t n = f->what.n, p = f->what.p, outputs = f->what.outputs;
    for (int64_t row = 0; row < n; row++) {
        float sum = 0.0F;
        for (int64_t k = 0; k < p; k++) {
            const float value = (float)(sn_random_word(&random) >> 8) * 0x1p-23F - 1.0F;
            f->x[row * p + k] = value;
            if (k < 8) sum += value;
        }
        f->label[row] = (int32_t)((int64_t)fabsf(4.0F * sum) % outputs);
        for (int64_t k = 0; k < outputs && f->y != NULL; k++) f->y[row * outputs + k] = (double)sinf(sum);
        f->order[row] = row;
    }
    for (int64_t row = n - 1; row > 0; row--) {
        const int64_t other = (int64_t)sn_random_below(&random, (uint64_t)row + 1), held = f->order[row];
        f->order[row] = f->order[other];
        f->order[other] = held;
    }
}

/* The first n rows of the files, features scaled to [-1, 1], labels to 0, 1, .. */
static stonet_status read_files(fit *f, const char *folder)
{
    char path[4096];
    stonet_data *x = NULL, *labels = NULL;
    stonet_status status;
    snprintf(path, sizeof path, "%s/%s", folder, f->what.x_file);
    SN_GOTO(status, stonet_data_read(path, NULL, &x), done);
    snprintf(path, sizeof path, "%s/%s", folder, f->what.label_file);
    SN_GOTO(status, stonet_data_read(path, NULL, &labels), done);
    if (stonet_data_rows(x) < f->what.n || stonet_data_columns(x) != f->what.p ||
        stonet_data_rows(labels) < f->what.n) {
        status = sn_fail(STONET_ERROR_DATA, "%s is not the data set of %s", path, f->what.name);
        goto done;
    }
    float most = 0.0F;
    for (int64_t k = 0; k < f->what.n * f->what.p; k++) most = fmaxf(most, fabsf(stonet_data_x(x)[k]));
    for (int64_t k = 0; k < f->what.n * f->what.p; k++) f->x[k] = stonet_data_x(x)[k] / most;
    for (int64_t k = 0; k < f->what.n; k++) {
        const float label = stonet_data_x(labels)[k];
        f->label[k] = (int32_t)fmaxf(0.0F, fminf(label, (float)(f->what.outputs - 1)));
    }
    f->real = true;
done:
    stonet_data_free(x);
    stonet_data_free(labels);
    return status;
}

stonet_status fit_create(fit *f, const workload *what, int64_t n)
{
    memset(f, 0, sizeof *f);
    f->what = *what;
    if (n > 0) f->what.n = n;
    f->shape.layers = what->hidden_layers + 1;
    f->shape.width[0] = what->p;
    for (int i = 0; i < what->hidden_layers; i++) f->shape.width[i + 1] = what->hidden[i];
    f->shape.width[f->shape.layers] = what->outputs;
    f->shape.activation = SN_TANH;
    f->shape.task = what->task;
    SN_TRY(sn_shape_layout(&f->shape));
    SN_TRY(SN_NEW(f->x, f->what.n * what->p));
    SN_TRY(SN_NEW(f->label, f->what.n));
    SN_TRY(SN_NEW(f->order, f->what.n));
    if (what->task == SN_REGRESSION) SN_TRY(SN_NEW(f->y, f->what.n * what->outputs));
    SN_TRY(SN_NEW(f->theta, f->shape.parameters));
    fill(f);
    const char *folder = getenv("STONET_DATA");
    if (folder != NULL && n == 0 && what->x_file != NULL) SN_TRY(read_files(f, folder));
    sn_shape_start(&f->shape, 1, f->theta);
    f->problem = (sn_problem){.n = f->what.n,
                              .p = what->p,
                              .x = f->x,
                              .task = what->task,
                              .outputs = what->outputs,
                              .label = f->label,
                              .y = f->y};
    double s = 1e-4;
    f->dynamics.sweeps = what->sweeps;
    for (int i = f->shape.layers - 1; i >= 0; i--, s *= 0.5) {
        f->dynamics.s[i] = s;
        f->dynamics.epsilon[i] = 0.1 * sqrt(s);
        f->dynamics.alpha[i] = 0.1;
        f->update.rate[i] = 0.01;
        f->update.scale[i] = 1e-4;
    }
    f->update.momentum = 0.9;
    return STONET_OK;
}

void fit_free(fit *f)
{
    sn_free(f->x);
    sn_free(f->y);
    sn_free(f->label);
    sn_free(f->order);
    sn_free(f->theta);
}

stonet_status fit_run(fit *f, int threads, int64_t steps, step_time *time)
{
    sn_engine *engine;
    stonet_status status = STONET_OK;
    SN_TRY(sn_cpu_create(&f->shape, &f->problem, 1, threads, f->kernels, &engine));
    engine->ops->start(engine, f->theta);
    sn_cpu_hold_threads(engine);
    const int64_t batches = f->what.n / f->what.batch;
    double start = 0.0;
    time->best = INFINITY;
    for (int64_t step = -2; step < steps; step++) { /* two to warm up */
        if (step == 0) start = cpu_seconds();
        sn_step_report report;
        const sn_iteration iteration = {
            .rows = sn_rows_list(f->order + (step + 2) % batches * f->what.batch, f->what.batch),
            .number = (uint32_t)(step + 3),
            .dynamics = &f->dynamics,
            .update = &f->update};
        const double before = sn_seconds();
        SN_GOTO(status, engine->ops->step(engine, &iteration, &report), done);
        if (step >= 0) time->best = fmin(time->best, sn_seconds() - before);
        if (!report.finite) {
            status = sn_fail(STONET_ERROR_NUMERIC, "workload %s diverged at step %lld", f->what.name,
                             (long long)step);
            goto done;
        }
    }
    time->mean = (cpu_seconds() - start) / (double)steps;
done:
    engine->ops->free(engine);
    return status;
}

double fit_floor(const fit *f, double normal, double tanh_, double parts[3])
{
    const int64_t m = f->what.batch;
    const double sweeps = f->what.sweeps;
    double units = 0.0, products = 0.0;
    for (int i = 0; i < f->shape.layers; i++) {
        const int64_t in = f->shape.width[i], out = f->shape.width[i + 1];
        if (i + 1 < f->shape.layers) units += (double)out;
        products += (i == 0 ? 1.0 : sweeps + 1.0) * rate_gemm(m, out, in); /* means */
        products += (i == 0 ? 0.0 : sweeps) * rate_gemm(m, in, out);       /* pull back */
        products += rate_gemm(in, out, m);                                 /* gradient */
    }
    const double part[3] = {(double)m * units * sweeps * normal, (double)m * units * (sweeps + 1.0) * tanh_,
                            products};
    if (parts != NULL) memcpy(parts, part, sizeof part);
    return part[0] + part[1] + part[2];
}
