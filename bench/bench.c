/*
 * Measures one workload and prints one JSON object:
 *
 *     stonet-bench list
 *     stonet-bench NAME [--rounds R] [--seconds S] [--threads T] [--n ROWS] [--memory] [--kernels WHICH]
 *     stonet-bench reading --folder PLACE [--rounds R] [--threads T] [--n ROWS] [--memory]
 *
 * Each round measures the machine's rates and our time on one thread and on T threads, S seconds of each, so
 * that the ratios of a round see the same machine. --memory runs one short fit and nothing else, and reports
 * the peak memory of the process beside the size of the data. `reading` measures files, which it writes into
 * an existing folder and leaves there.
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/blas.h"
#include "base/run.h"
#include "rates.h"
#include "reading.h"
#include "workload.h"

typedef struct options {
    int rounds, threads;
    double seconds;
    int64_t n;
    bool memory;
    const sn_cpu_kernels *kernels;
    const char *folder;
} options;

static void describe(const workload *w)
{
    printf("\"name\": \"%s\", \"n\": %lld, \"p\": %lld, \"hidden\": [", w->name, (long long)w->n,
           (long long)w->p);
    for (int i = 0; i < w->hidden_layers; i++) printf("%s%lld", i ? ", " : "", (long long)w->hidden[i]);
    printf("], \"task\": \"%s\", \"outputs\": %lld, \"batch\": %lld, \"sweeps\": %d, \"epochs\": %d",
           w->task == SN_CLASSIFICATION ? "classification" : "regression", (long long)w->outputs,
           (long long)w->batch, w->sweeps, w->epochs);
}

/* The high-water mark of this process alone (getrusage would count the parent's before exec). */
static double peak_bytes(void)
{
    char line[256];
    double kilobytes = 0.0;
    FILE *status = fopen("/proc/self/status", "r");
    while (status != NULL && fgets(line, sizeof line, status) != NULL)
        if (strncmp(line, "VmHWM:", 6) == 0) kilobytes = strtod(line + 6, NULL);
    if (status != NULL) fclose(status);
    return 1024.0 * kilobytes;
}

static const sn_cpu_kernels *find_kernels(const char *name)
{
    for (int i = 0; sn_cpu_supported(i) != NULL; i++)
        if (strcmp(sn_cpu_supported(i)->name, name) == 0) return sn_cpu_supported(i);
    return NULL;
}

static stonet_status measure_memory(fit *f, const options *o)
{
    step_time unused;
    SN_TRY(
        fit_run(f, o->threads, f->what.n / f->what.batch < 200 ? f->what.n / f->what.batch : 200, &unused));
    const double data = 4.0 * (double)(f->what.n * f->what.p) + 8.0 * (double)(f->what.n * f->what.outputs);
    printf("\"data_bytes\": %.0f, \"peak_bytes\": %.0f", data, peak_bytes());
    return STONET_OK;
}

static stonet_status measure_round(fit *f, const options *o, int64_t steps)
{
    step_time one, many;
    double parts[3];
    const double normal = rate_normal(), tanh_ = rate_tanh();
    const double floor = fit_floor(f, normal, tanh_, parts);
    SN_TRY(fit_run(f, 1, steps, &one));
    SN_TRY(fit_run(f, o->threads, steps, &many));
    printf("{\"normal_ns\": %.4f, \"tanh_ns\": %.4f, \"floor_normal\": %.4g, \"floor_tanh\": %.4g, "
           "\"floor_gemm\": %.4g, \"floor\": %.5g, \"one_thread\": %.5g, \"one_best\": %.5g, "
           "\"threads\": %d, \"many_best\": %.5g}",
           normal * 1e9, tanh_ * 1e9, parts[0], parts[1], parts[2], floor, one.mean, one.best, o->threads,
           many.best);
    return STONET_OK;
}

static stonet_status measure_times(fit *f, const options *o)
{
    step_time first;
    SN_TRY(fit_run(f, 1, 3, &first));
    const int64_t steps = (int64_t)(o->seconds / first.mean) + 1;
    printf("\"steps\": %lld, \"rounds\": [", (long long)steps);
    for (int round = 0; round < o->rounds; round++) {
        printf(round ? ",\n    " : "\n    ");
        SN_TRY(measure_round(f, o, steps));
    }
    printf("]");
    return STONET_OK;
}

static stonet_status measure_workload(const workload *w, const options *o)
{
    fit f;
    stonet_status status = fit_create(&f, w, o->n);
    f.kernels = o->kernels;
    if (status == STONET_OK) {
        printf("{");
        describe(&f.what);
        printf(", \"data\": \"%s\", \"blas\": \"%s\", ", f.real ? "read" : "drawn", stonet_blas());
        status = o->memory ? measure_memory(&f, o) : measure_times(&f, o);
        printf("}\n");
    }
    fit_free(&f);
    return status;
}

static stonet_status measure_reading(const options *o)
{
    const int64_t n = o->n > 0 ? o->n : 1000000;
    printf("{");
    stonet_status status = o->memory ? reading_memory(o->folder, n, o->threads)
                                     : reading_times(o->folder, n, o->rounds, o->threads);
    printf(", \"peak_bytes\": %.0f}\n", peak_bytes());
    return status;
}

static bool read_options(int argc, char **argv, options *o)
{
    for (int i = 2; i < argc; i++) {
        const bool has_value = i + 1 < argc;
        if (strcmp(argv[i], "--memory") == 0)
            o->memory = true;
        else if (has_value && strcmp(argv[i], "--rounds") == 0)
            o->rounds = atoi(argv[++i]);
        else if (has_value && strcmp(argv[i], "--threads") == 0)
            o->threads = atoi(argv[++i]);
        else if (has_value && strcmp(argv[i], "--seconds") == 0)
            o->seconds = atof(argv[++i]);
        else if (has_value && strcmp(argv[i], "--kernels") == 0)
            o->kernels = find_kernels(argv[++i]);
        else if (has_value && strcmp(argv[i], "--folder") == 0)
            o->folder = argv[++i];
        else if (has_value && strcmp(argv[i], "--n") == 0)
            o->n = atoll(argv[++i]);
        else {
            fprintf(stderr, "stonet-bench: what is %s?\n", argv[i]);
            return false;
        }
    }
    return true;
}

int main(int argc, char **argv)
{
    options o = {.rounds = 5, .threads = 2, .seconds = 0.2};
    const workload *w = argc > 1 ? workload_find(argv[1]) : NULL;
    const bool reading = argc > 1 && strcmp(argv[1], "reading") == 0;
    if (argc > 1 && strcmp(argv[1], "list") == 0) {
        for (int i = 0; i < workload_count; i++)
            if (!workloads[i].gpu_alone) printf("%s\n", workloads[i].name);
        return 0;
    }
    if (!read_options(argc, argv, &o)) return 2;
    if (reading ? o.folder == NULL : w == NULL) {
        fprintf(stderr, "usage: stonet-bench list | NAME [--rounds R] [--seconds S] [--threads T] [--n ROWS] "
                        "[--memory] [--kernels portable|avx2|avx512]\n"
                        "       stonet-bench reading --folder PLACE [--rounds R] [--threads T] [--n ROWS] "
                        "[--memory]\n");
        return 2;
    }
    omp_set_num_threads(1); /* the rates are those of one core */
    sn_blas_mend(NULL);     /* and of the best kernels */
    stonet_status status = reading ? measure_reading(&o) : measure_workload(w, &o);
    if (status != STONET_OK) fprintf(stderr, "stonet-bench: %s\n", stonet_last_error());
    return status == STONET_OK ? 0 : 1;
}
