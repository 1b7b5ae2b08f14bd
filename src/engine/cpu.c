/*
 * The cpu engine: float arithmetic in blocks of rows. This file owns the memory and the threads; the
 * arithmetic is in the kernels (cpu_block.h, cpu_update.h), one build of them per instruction set.
 *
 * A step is one parallel region: blocks of rows are imputed in any order, and after a barrier pieces of the
 * parameters are updated, each from all rows in the order of the batch. No sum crosses threads or depends on
 * the size of a block, so the bits are the same for any number of threads. Batches of more than
 * `chunk_rows` rows pass in chunks, so that memory stays flat.
 */
#include "engine/cpu.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/run.h"

enum {
    CHUNK_ROWS = 4096,             /* most rows of a chunk ... */
    CHUNK_FLOATS = 1 << 23,        /* ... and about the most floats it may take */
    BLOCK_BYTES = 640 << 10,       /* what a block's state may take of the second-level cache */
    WORTH_A_THREAD_NS = 40 * 1000, /* work below which another thread costs more than it gives */
    FIRST_REST = 32,               /* chunks on one thread after threads were found slower ... */
    LONGEST_REST = 2048,           /* ... and at most, when that happens again and again */
    SPARE_FLOATS = 64              /* after the inputs, for whole-vector reads at the end */
};

/* Whether threads pay on this machine at this moment, learnt from the chunks' own times. On a machine others
   use, a barrier waits for whoever is not scheduled, and two threads can be many times slower than one. Only
   the time depends on the choice, never a bit of the result. */
typedef struct cpu_pace {
    bool held;                /* threads whatever the times say */
    int64_t chunks;           /* seen so far that were worth threads */
    double alone, together;   /* time a unit of work, smoothed; 0: not known yet */
    int64_t alone_left, rest; /* chunks to go on one thread before the next try; how many the last time */
} cpu_pace;

typedef struct cpu_engine {
    sn_engine base;
    sn_shape shape;
    const sn_problem *problem;
    uint64_t seed;
    int threads;
    const sn_cpu_kernels *kernels;
    sn_cpu_layer layer[SN_MAX_LAYERS];
    sn_cpu_scratch *scratch; /* one per thread */
    sn_cpu_piece *pieces;
    int64_t piece_count;
    int64_t chunk_rows, capacity; /* most rows of a chunk; rows there is memory for now */
    float *x_copy, *loss;
    int64_t x_stride;
    cpu_pace pace;
} cpu_engine;

const sn_cpu_kernels *sn_cpu_supported(int index)
{
    const sn_cpu_kernels *list[4] = {&sn_cpu_portable};
#if defined(__x86_64__)
    int count = 1;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) list[count++] = &sn_cpu_avx2;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
        list[count++] = &sn_cpu_avx512;
#endif
    return index >= 0 && index < 4 ? list[index] : NULL;
}

static const sn_cpu_kernels *fastest(void)
{
    int last = 0;
    while (sn_cpu_supported(last + 1) != NULL) last++;
    return sn_cpu_supported(last);
}

static int64_t round_up(int64_t value, int64_t step)
{
    return (value + step - 1) / step * step;
}

static void free_chunk(cpu_engine *e)
{
    for (int i = 0; i < e->shape.layers; i++) {
        sn_free(e->layer[i].psi);
        sn_free(e->layer[i].residual);
        e->layer[i].psi = e->layer[i].residual = NULL;
    }
    sn_free(e->x_copy);
    sn_free(e->loss);
    e->x_copy = e->loss = NULL;
    e->capacity = 0;
}

static void cpu_free(sn_engine *engine)
{
    cpu_engine *e = (cpu_engine *)engine;
    if (e == NULL) return;
    free_chunk(e);
    for (int i = 0; i < e->shape.layers; i++) {
        sn_free(e->layer[i].weights);
        sn_free(e->layer[i].momentum);
        sn_free(e->layer[i].sum);
    }
    for (int t = 0; e->scratch != NULL && t < e->threads; t++) sn_free(e->scratch[t].memory);
    sn_free(e->scratch);
    sn_free(e->pieces);
    sn_free(e);
}

/* Memory of the chunk arrays for batches of `rows` rows; grows, never shrinks. */
static stonet_status reserve(cpu_engine *e, int64_t rows)
{
    const int64_t wanted = round_up(rows < e->chunk_rows ? rows : e->chunk_rows, SN_PANEL_UNITS);
    if (wanted <= e->capacity) return STONET_OK;
    free_chunk(e);
    for (int i = 0; i < e->shape.layers; i++) {
        if (i + 1 < e->shape.layers) SN_TRY(SN_NEW(e->layer[i].psi, wanted * e->layer[i].outputs));
        SN_TRY(SN_NEW(e->layer[i].residual, wanted * e->layer[i].padded));
    }
    SN_TRY(SN_NEW(e->x_copy, wanted * e->x_stride + SPARE_FLOATS));
    SN_TRY(SN_NEW(e->loss, wanted));
    e->capacity = wanted;
    return STONET_OK;
}

/* The gradient's array, needed when a batch has more than one chunk. */
static stonet_status reserve_sums(cpu_engine *e)
{
    for (int i = 0; i < e->shape.layers; i++) {
        sn_cpu_layer *layer = &e->layer[i];
        if (layer->sum == NULL) SN_TRY(SN_NEW(layer->sum, (layer->inputs + 1) * layer->padded));
    }
    return STONET_OK;
}

static stonet_status create_layers(cpu_engine *e)
{
    int64_t pieces = 0;
    for (int i = 0; i < e->shape.layers; i++) {
        sn_cpu_layer *layer = &e->layer[i];
        layer->inputs = e->shape.width[i];
        layer->outputs = e->shape.width[i + 1];
        layer->padded = round_up(layer->outputs, SN_UNIT_STEP);
        SN_TRY(SN_NEW(layer->weights, (layer->inputs + 1) * layer->padded));
        SN_TRY(SN_NEW(layer->momentum, (layer->inputs + 1) * layer->padded));
        pieces += (layer->padded / SN_PANEL_UNITS + 2) * (layer->inputs / SN_UPDATE_INPUTS + 1);
    }
    SN_TRY(SN_NEW(e->pieces, pieces));
    for (int i = 0; i < e->shape.layers; i++) {
        const sn_cpu_layer *layer = &e->layer[i];
        for (int64_t unit = 0; unit < layer->padded; unit += sn_panel_width(layer->padded, unit))
            for (int64_t k = 0; k < layer->inputs; k += SN_UPDATE_INPUTS) {
                const bool ends = k + SN_UPDATE_INPUTS >= layer->inputs;
                e->pieces[e->piece_count++] =
                    (sn_cpu_piece){.layer = i,
                                   .unit = unit,
                                   .first = k,
                                   .last = ends ? layer->inputs + 1 : k + SN_UPDATE_INPUTS};
            }
    }
    return STONET_OK;
}

static stonet_status create_scratch(cpu_engine *e, sn_cpu_scratch *scratch)
{
    int64_t widest = 0, units = 0;
    for (int i = 0; i < e->shape.layers; i++) {
        widest = e->layer[i].padded > widest ? e->layer[i].padded : widest;
        units += e->layer[i].padded;
    }
    const int64_t response = e->layer[e->shape.layers - 1].padded;
    const int64_t panel = SN_PANEL_UNITS, total = 3 * units + 2 * widest + response + 2 * panel;
    SN_TRY(SN_NEW(scratch->memory, total * SN_PANEL_UNITS));
    float *at = scratch->memory;
    for (int i = 0; i < e->shape.layers; i++) {
        float **const parts[] = {&scratch->latent[i], &scratch->speed[i], &scratch->mean[i]};
        for (int k = 0; k < 3; k++, at += e->layer[i].padded * SN_PANEL_UNITS) *parts[k] = at;
    }
    for (int k = 0; k < 2; k++, at += widest * SN_PANEL_UNITS) scratch->pull[k] = at;
    scratch->response = at;
    scratch->force = scratch->response + response * SN_PANEL_UNITS;
    scratch->corner = scratch->force + panel * panel;
    return STONET_OK;
}

/* The chunk: a multiple of SN_SUM_ROWS, so that its size never changes the order of the sums. */
static int64_t choose_chunk(const cpu_engine *e)
{
    int64_t floats = e->x_stride;
    for (int i = 0; i < e->shape.layers; i++) floats += 2 * e->layer[i].padded;
    const int64_t rows = CHUNK_FLOATS / floats / SN_SUM_ROWS * SN_SUM_ROWS;
    return rows < SN_SUM_ROWS ? SN_SUM_ROWS : rows > CHUNK_ROWS ? CHUNK_ROWS : rows;
}

static stonet_status check_sizes(const sn_shape *shape, const sn_problem *problem, int threads)
{
    if (threads < 1) return sn_fail(STONET_ERROR_ARGUMENT, "the engine needs at least one thread");
    if (shape->layers < 1 || shape->layers > SN_MAX_LAYERS)
        return sn_fail(STONET_ERROR_ARGUMENT, "the network has %d layers; 1 to %d are possible",
                       shape->layers, SN_MAX_LAYERS);
    if (shape->width[0] != problem->p || shape->width[shape->layers] != problem->outputs ||
        shape->task != problem->task)
        return sn_fail(STONET_ERROR_ARGUMENT,
                       "the network takes %lld columns and gives %lld outputs; the data has %lld and %lld",
                       (long long)shape->width[0], (long long)shape->width[shape->layers],
                       (long long)problem->p, (long long)problem->outputs);
    if (problem->n < 1 || problem->n > (int64_t)UINT32_MAX)
        return sn_fail(STONET_ERROR_DATA, "the data has %lld rows; 1 to %lld are possible",
                       (long long)problem->n, (long long)UINT32_MAX);
    for (int i = 0; i <= shape->layers; i++) /* the noise is keyed by 20 bits of unit / 4 */
        if (shape->width[i] < 1 || shape->width[i] > 4 << 20)
            return sn_fail(STONET_ERROR_ARGUMENT, "layer %d has %lld units; 1 to %d are possible", i,
                           (long long)shape->width[i], 4 << 20);
    return STONET_OK;
}

stonet_status sn_cpu_create(const sn_shape *shape, const sn_problem *problem, uint64_t seed, int threads,
                            const sn_cpu_kernels *kernels, sn_engine **out)
{
    SN_TRY(check_sizes(shape, problem, threads));
    SN_TRY(sn_memory_require(12 * (uint64_t)shape->parameters, "the network",
                             "make the hidden layers narrower"));
    cpu_engine *e;
    stonet_status status;
    SN_TRY(SN_NEW(e, 1));
    e->base.ops = &sn_engine_cpu;
    e->shape = *shape;
    e->problem = problem;
    e->seed = seed;
    e->threads = threads;
    e->kernels = kernels != NULL ? kernels : fastest();
    /* An odd number of cache lines: rows side by side do not fall into the same cache set. */
    e->x_stride = round_up(problem->p, SN_UNIT_STEP);
    if (e->x_stride / SN_UNIT_STEP % 2 == 0) e->x_stride += SN_UNIT_STEP;
    SN_GOTO(status, create_layers(e), failed);
    SN_GOTO(status, SN_NEW(e->scratch, threads), failed);
    for (int t = 0; t < threads; t++) SN_GOTO(status, create_scratch(e, &e->scratch[t]), failed);
    e->chunk_rows = choose_chunk(e);
    *out = &e->base;
    return STONET_OK;
failed:
    cpu_free(&e->base);
    return status;
}

void sn_cpu_hold_threads(sn_engine *engine)
{
    ((cpu_engine *)engine)->pace.held = true;
}

static stonet_status cpu_create(const sn_shape *shape, const sn_problem *problem, uint64_t seed, int threads,
                                sn_engine **out)
{
    return sn_cpu_create(shape, problem, seed, threads, NULL, out);
}

/* Where w_i[unit, k] (k = inputs: the bias) lies in the panels. */
static int64_t panel_index(const sn_cpu_layer *layer, int64_t unit, int64_t k)
{
    int64_t start = unit / SN_PANEL_UNITS * SN_PANEL_UNITS;
    while (unit >= start + sn_panel_width(layer->padded, start))
        start += sn_panel_width(layer->padded, start);
    return (layer->inputs + 1) * start + k * sn_panel_width(layer->padded, start) + (unit - start);
}

static void cpu_set_parameters(sn_engine *engine, const float *theta)
{
    cpu_engine *e = (cpu_engine *)engine;
    for (int i = 0; i < e->shape.layers; i++) {
        sn_cpu_layer *layer = &e->layer[i];
        memset(layer->momentum, 0, (size_t)((layer->inputs + 1) * layer->padded) * sizeof *layer->momentum);
        for (int64_t unit = 0; unit < layer->outputs; unit++) {
            const float *w = theta + e->shape.weight_at[i] + unit * layer->inputs;
            for (int64_t k = 0; k < layer->inputs; k++) layer->weights[panel_index(layer, unit, k)] = w[k];
            layer->weights[panel_index(layer, unit, layer->inputs)] = theta[e->shape.bias_at[i] + unit];
        }
    }
}

static void cpu_get_parameters(const sn_engine *engine, float *theta)
{
    const cpu_engine *e = (const cpu_engine *)engine;
    for (int i = 0; i < e->shape.layers; i++) {
        const sn_cpu_layer *layer = &e->layer[i];
        for (int64_t unit = 0; unit < layer->outputs; unit++) {
            float *w = theta + e->shape.weight_at[i] + unit * layer->inputs;
            for (int64_t k = 0; k < layer->inputs; k++) w[k] = layer->weights[panel_index(layer, unit, k)];
            theta[e->shape.bias_at[i] + unit] = layer->weights[panel_index(layer, unit, layer->inputs)];
        }
    }
}

/* A guess at the time of one row, in nanoseconds of one thread. */
static double row_cost(const cpu_engine *e, const sn_iteration *iteration)
{
    double latents = 0.0, products = 2.0 * (double)(e->layer[0].inputs * e->layer[0].padded);
    for (int i = 0; i < e->shape.layers; i++) {
        if (i + 1 < e->shape.layers) latents += (double)e->layer[i].outputs;
        if (i > 0)
            products += (2.0 * iteration->dynamics->sweeps + 2.0) *
                        (double)(e->layer[i].inputs * e->layer[i].outputs);
    }
    return latents * iteration->dynamics->sweeps + products / 40.0;
}

/* Rows of a block: as many as the vectors like (64) unless the block would leave the second-level cache, or
   smaller blocks share out better among the threads. */
static int64_t choose_block(const cpu_engine *e, int64_t rows, int threads)
{
    int64_t floats = 0;
    for (int i = 0; i < e->shape.layers; i++) floats += 4 * e->layer[i].padded;
    int64_t best = SN_UNIT_STEP;
    double least = INFINITY;
    for (int64_t size = SN_PANEL_UNITS; size >= SN_UNIT_STEP; size /= 2) {
        if (size > SN_UNIT_STEP && size * floats * 4 > BLOCK_BYTES) continue;
        const int64_t blocks = (rows + size - 1) / size;
        const int64_t rounds = (blocks + threads - 1) / threads;
        const int64_t used = blocks == 1 ? round_up(rows, SN_UNIT_STEP) : size;
        const double cost = (double)(rounds * used) * (1.0 + 3.0 / (double)size);
        if (cost < least) {
            least = cost;
            best = size;
        }
    }
    return best;
}

/* The threads of a chunk of `work` nanoseconds: as many as there is work for, unless one is faster just now.
   The second chunk runs on one thread to have something to compare with. */
static int choose_threads(cpu_pace *pace, double work, int most)
{
    const double worth = work / WORTH_A_THREAD_NS;
    if (most == 1 || worth < 2.0) return 1;
    pace->chunks++;
    if (pace->chunks == 2 && !pace->held) return 1;
    if (pace->alone_left > 0 && !pace->held) {
        pace->alone_left--;
        return 1;
    }
    return worth < most ? (int)worth : most;
}

static void note_time(cpu_pace *pace, int threads, double time)
{
    if (pace->chunks < 2) return; /* the first one also starts the threads and touches the memory */
    double *smooth = threads == 1 ? &pace->alone : &pace->together;
    *smooth = *smooth > 0.0 ? 0.7 * *smooth + 0.3 * time : time;
    if (threads == 1 || pace->alone <= 0.0) return;
    if (pace->together > pace->alone) {
        pace->rest = pace->rest < LONGEST_REST ? 2 * pace->rest + FIRST_REST : LONGEST_REST;
        pace->alone_left = pace->rest;
        pace->together = 0.0;
    } else if (pace->together < 0.75 * pace->alone) {
        pace->rest = 0;
    }
}

/* One chunk: all blocks, then (in a step) all pieces. Returns whether the parameters stayed finite. */
static bool run_chunk(cpu_engine *e, const sn_cpu_job *job, int threads)
{
    const int64_t blocks = (job->rows + job->block_rows - 1) / job->block_rows;
    const int64_t pieces = job->out_layer > 0 ? 0 : e->piece_count;
    bool finite = true;
    if (threads == 1) {
        for (int64_t b = 0; b < blocks; b++) e->kernels->impute(job, &e->scratch[0], b);
        for (int64_t k = 0; k < pieces; k++) finite = e->kernels->update(job, &e->pieces[k]) && finite;
        return finite;
    }
    int64_t next_scratch = 0;
#pragma omp parallel num_threads(threads) reduction(&& : finite)
    {
        int64_t mine;
#pragma omp atomic capture
        mine = next_scratch++;
#pragma omp for schedule(dynamic, 1)
        for (int64_t b = 0; b < blocks; b++) e->kernels->impute(job, &e->scratch[mine], b);
#pragma omp for schedule(dynamic, 1) nowait
        for (int64_t k = 0; k < pieces; k++) finite = e->kernels->update(job, &e->pieces[k]) && finite;
    }
    return finite;
}

/* Sends the batch through in chunks. */
static stonet_status run(cpu_engine *e, const sn_iteration *iteration, int layer, float *out,
                         sn_step_report *report)
{
    if (iteration->count < 1) return sn_fail(STONET_ERROR_ARGUMENT, "a batch needs at least one row");
    SN_TRY(reserve(e, iteration->count));
    if (iteration->count > e->chunk_rows && layer == 0) SN_TRY(reserve_sums(e));
    const bool in_place = iteration->rows == NULL && e->shape.input_activation == SN_IDENTITY;
    const double per_row = row_cost(e, iteration);
    double loss = 0.0;
    bool finite = true;
    for (int64_t first = 0; first < iteration->count; first += e->chunk_rows) {
        const int64_t left = iteration->count - first;
        const int64_t rows = left < e->chunk_rows ? left : e->chunk_rows;
        const double work = per_row * (double)rows, start = sn_seconds();
        const int threads = choose_threads(&e->pace, work, e->threads);
        const sn_cpu_job job = {.shape = &e->shape,
                                .problem = e->problem,
                                .layer = e->layer,
                                .seed = e->seed,
                                .iteration = iteration,
                                .first = first,
                                .rows = rows,
                                .block_rows = choose_block(e, rows, threads),
                                .capacity = e->capacity,
                                .x = in_place ? e->problem->x + first * e->problem->p : e->x_copy,
                                .x_copy = in_place ? NULL : e->x_copy,
                                .x_stride = in_place ? e->problem->p : e->x_stride,
                                .loss = e->loss,
                                .first_chunk = first == 0,
                                .last_chunk = rows == left,
                                .threads = threads,
                                .out_layer = layer,
                                .out = out};
        finite = run_chunk(e, &job, threads) && finite;
        note_time(&e->pace, threads, (sn_seconds() - start) / work);
        for (int64_t r = 0; r < rows; r++) loss += (double)e->loss[r];
    }
    report->loss = loss / (double)iteration->count;
    report->finite = finite && isfinite(report->loss);
    return STONET_OK;
}

static stonet_status cpu_step(sn_engine *engine, const sn_iteration *iteration, sn_step_report *report)
{
    return run((cpu_engine *)engine, iteration, 0, NULL, report);
}

static stonet_status cpu_impute(sn_engine *engine, const sn_iteration *iteration, int layer, float *out)
{
    sn_step_report report;
    return run((cpu_engine *)engine, iteration, layer, out, &report);
}

/* The gradient lives in registers only; tests compare the parameters after a step. */
static const double *cpu_last_direction(const sn_engine *engine)
{
    (void)engine;
    return NULL;
}

const sn_engine_ops sn_engine_cpu = {
    .name = "cpu",
    .create = cpu_create,
    .free = cpu_free,
    .set_parameters = cpu_set_parameters,
    .get_parameters = cpu_get_parameters,
    .step = cpu_step,
    .impute = cpu_impute,
    .last_direction = cpu_last_direction,
};
