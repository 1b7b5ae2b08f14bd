/*
 * The cpu engine: float arithmetic in blocks of rows. This file owns the memory and the threads; the
 * arithmetic is in the kernels (cpu_block.h, cpu_update.h), one build of them per instruction set.
 *
 * A step is one parallel region: blocks of rows are imputed in any order, and after a barrier pieces of the
 * parameters are updated, each from all rows shard by shard. No sum crosses threads or depends on the size of
 * a block, so the bits are the same for any number of threads. Batches of more than `chunk_rows` rows pass in
 * chunks, so that memory stays flat: a chunk has whole shards, or a part of one that is larger than a chunk.
 */
#include "engine/cpu.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#include "base/isa.h"
#include "base/memory.h"
#include "base/run.h"
#include "base/thread_tuner.h"
#include "engine/engines.h"

enum {
    CHUNK_ROWS = 4096,       /* most rows of a chunk ... */
    CHUNK_FLOATS = 1 << 23,  /* ... and about the most floats it may take */
    BLOCK_BYTES = 640 << 10, /* what a block's state may take of the second-level cache */
    BLOCK_COST = 3,          /* what a block costs beside its rows, in rows */
    WORTH_SHARING = 1 << 16, /* parameters below which one thread updates them when that is all to do */
    SPARE_FLOATS = 64        /* after the inputs, for whole-vector reads at the end */
};

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
    double
        *factor; /* of each input: what a group penalty multiplies its weights by; NULL until there is one */
    int64_t x_stride;
    uint32_t iteration;
    sn_thread_tuner tuner;
} cpu_engine;

const sn_cpu_kernels *sn_cpu_supported(int index)
{
    const sn_cpu_kernels *list[4] = {&sn_cpu_portable};
#if defined(__x86_64__)
    if (sn_isa_used() >= SN_ISA_AVX2) list[1] = &sn_cpu_avx2;
    if (sn_isa_used() >= SN_ISA_AVX512) list[2] = &sn_cpu_avx512;
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
        SN_FREE(e->layer[i].psi);
        SN_FREE(e->layer[i].residual);
    }
    SN_FREE(e->x_copy);
    SN_FREE(e->loss);
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
        for (int r = 0; r < SN_MAX_ROOTS; r++) sn_free(e->layer[i].sum[r]);
    }
    for (int t = 0; e->scratch != NULL && t < e->threads; t++) sn_free(e->scratch[t].memory);
    SN_FREE_ALL(e->scratch, e->pieces, e->factor, e);
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

/* Arrays for the gradients of so many roots. */
static stonet_status reserve_sums(cpu_engine *e, int roots)
{
    for (int i = 0; i < e->shape.layers; i++) {
        sn_cpu_layer *layer = &e->layer[i];
        for (int r = 0; r < roots; r++)
            if (layer->sum[r] == NULL) SN_TRY(SN_NEW(layer->sum[r], (layer->inputs + 1) * layer->padded));
    }
    return STONET_OK;
}

/* Inputs of a piece: fewer where threads would have none. */
/* no test: for speed; sums do not depend on it. */
static int64_t piece_length(const sn_shape *shape, int threads)
{
    int64_t length = SN_UPDATE_INPUTS;
    while (length > SN_UPDATE_LEAST && shape->parameters < (int64_t)2 * threads * length * SN_PANEL_UNITS)
        length /= 2;
    return threads > 1 ? length : SN_UPDATE_INPUTS;
}

/* Padded weights and momenta of all layers, and the pieces into which an update is cut for the threads. */
static stonet_status create_layers(cpu_engine *e)
{
    const int64_t length = piece_length(&e->shape, e->threads);
    int64_t pieces = 0;
    for (int i = 0; i < e->shape.layers; i++) {
        sn_cpu_layer *layer = &e->layer[i];
        layer->inputs = e->shape.width[i];
        layer->outputs = e->shape.width[i + 1];
        layer->padded = round_up(layer->outputs, SN_UNIT_STEP);
        SN_TRY(SN_NEW(layer->weights, (layer->inputs + 1) * layer->padded));
        SN_TRY(SN_NEW(layer->momentum, (layer->inputs + 1) * layer->padded));
        pieces += (layer->padded / SN_PANEL_UNITS + 2) * (layer->inputs / length + 1);
    }
    SN_TRY(SN_NEW(e->pieces, pieces));
    for (int i = 0; i < e->shape.layers; i++) {
        const sn_cpu_layer *layer = &e->layer[i];
        for (int64_t unit = 0; unit < layer->padded; unit += sn_panel_width(layer->padded, unit))
            for (int64_t k = 0; k < layer->inputs; k += length) {
                const bool ends = k + length >= layer->inputs;
                e->pieces[e->piece_count++] = (sn_cpu_piece){
                    .layer = i, .unit = unit, .first = k, .last = ends ? layer->inputs + 1 : k + length};
            }
    }
    return STONET_OK;
}

/* One block of memory for all scratch arrays of a thread, cut into parts. */
static stonet_status create_scratch(cpu_engine *e, sn_cpu_scratch *scratch)
{
    int64_t widest = 0, units = 0;
    for (int i = 0; i < e->shape.layers; i++) {
        widest = e->layer[i].padded > widest ? e->layer[i].padded : widest;
        units += e->layer[i].padded;
    }
    const int64_t response = e->layer[e->shape.layers - 1].padded;
    const int64_t panel = SN_PANEL_UNITS, total = 3 * units + 2 * widest + 3 * response + 2 * panel;
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
    scratch->y = (double *)(void *)(scratch->corner + panel * panel);
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

stonet_status sn_cpu_create(const sn_shape *shape, const sn_problem *problem, uint64_t seed, int threads,
                            const sn_cpu_kernels *kernels, sn_engine **out)
{
    SN_TRY(sn_engine_check(shape, problem, threads));
    SN_TRY(sn_memory_require(12 * (uint64_t)shape->parameters, "the network",
                             "make the hidden layers narrower"));
    cpu_engine *e;
    SN_TRY(SN_NEW(e, 1));
    SN_AUTO(sn_engine) *made = &e->base;
    made->ops = &sn_engine_cpu;
    e->shape = *shape;
    e->problem = problem;
    e->seed = seed;
    e->threads = threads;
    e->kernels = kernels != NULL ? kernels : fastest();
    /* An odd number of cache lines: rows side by side do not fall into the same cache set. */
    e->x_stride = round_up(problem->p, SN_UNIT_STEP);
    if (e->x_stride / SN_UNIT_STEP % 2 == 0) e->x_stride += SN_UNIT_STEP;
    SN_TRY(create_layers(e));
    SN_TRY(SN_NEW(e->scratch, threads));
    for (int t = 0; t < threads; t++) SN_TRY(create_scratch(e, &e->scratch[t]));
    e->chunk_rows = choose_chunk(e);
    return SN_GIVE(made, out);
}

void sn_cpu_hold_threads(sn_engine *engine)
{
    ((cpu_engine *)engine)->tuner.held = true;
}

static stonet_status cpu_create(const sn_shape *shape, const sn_problem *problem, uint64_t seed, int threads,
                                sn_engine **out)
{
    return sn_cpu_create(shape, problem, seed, threads, NULL, out);
}

/* The parameters of a unit in the panels of its layer: w_i[unit, k] (k = inputs: the bias) lies at first +
   k * width. */
typedef struct unit_place {
    int64_t first, width;
} unit_place;

static unit_place place_of(const sn_cpu_layer *layer, int64_t unit)
{
    int64_t start = unit / SN_PANEL_UNITS * SN_PANEL_UNITS;
    while (unit >= start + sn_panel_width(layer->padded, start))
        start += sn_panel_width(layer->padded, start);
    return (unit_place){.first = (layer->inputs + 1) * start + (unit - start),
                        .width = sn_panel_width(layer->padded, start)};
}

/* The parameters of layer index i in the shape's flat order, as floats or as doubles (the other is NULL). */
static void pack(const cpu_engine *e, int i, const float *floats, const double *doubles, float *panels)
{
    const sn_cpu_layer *layer = &e->layer[i];
    for (int64_t unit = 0; unit < layer->outputs; unit++) {
        const unit_place place = place_of(layer, unit);
        const int64_t row = e->shape.weight_at[i] + unit * layer->inputs, bias = e->shape.bias_at[i] + unit;
        for (int64_t k = 0; k <= layer->inputs; k++) {
            const int64_t at = k < layer->inputs ? row + k : bias;
            panels[place.first + k * place.width] = floats != NULL ? floats[at] : (float)doubles[at];
        }
    }
}

static void unpack(const cpu_engine *e, int i, const float *panels, float *floats, double *doubles)
{
    const sn_cpu_layer *layer = &e->layer[i];
    for (int64_t unit = 0; unit < layer->outputs; unit++) {
        const unit_place place = place_of(layer, unit);
        const int64_t row = e->shape.weight_at[i] + unit * layer->inputs, bias = e->shape.bias_at[i] + unit;
        for (int64_t k = 0; k <= layer->inputs; k++) {
            const int64_t at = k < layer->inputs ? row + k : bias;
            const float value = panels[place.first + k * place.width];
            if (floats != NULL) floats[at] = value;
            if (doubles != NULL) doubles[at] = (double)value;
        }
    }
}

static void cpu_start(sn_engine *engine, const float *theta)
{
    cpu_engine *e = (cpu_engine *)engine;
    for (int i = 0; i < e->shape.layers; i++) {
        sn_cpu_layer *layer = &e->layer[i];
        memset(layer->momentum, 0, (size_t)((layer->inputs + 1) * layer->padded) * sizeof *layer->momentum);
        pack(e, i, theta, NULL, layer->weights);
    }
    e->iteration = 0;
}

static void cpu_get_parameters(const sn_engine *engine, float *theta)
{
    const cpu_engine *e = (const cpu_engine *)engine;
    for (int i = 0; i < e->shape.layers; i++) unpack(e, i, e->layer[i].weights, theta, NULL);
}

static void cpu_get_state(const sn_engine *engine, sn_engine_state *state)
{
    const cpu_engine *e = (const cpu_engine *)engine;
    for (int i = 0; i < e->shape.layers; i++) {
        unpack(e, i, e->layer[i].weights, NULL, state->parameters);
        unpack(e, i, e->layer[i].momentum, NULL, state->momentum);
    }
    state->iteration = e->iteration;
}

static void cpu_set_state(sn_engine *engine, const sn_engine_state *state)
{
    cpu_engine *e = (cpu_engine *)engine;
    for (int i = 0; i < e->shape.layers; i++) {
        pack(e, i, NULL, state->parameters, e->layer[i].weights);
        pack(e, i, NULL, state->momentum, e->layer[i].momentum);
    }
    e->iteration = state->iteration;
}

/* Rows of a block: as many as the vectors like (64) unless the block would leave the second-level cache, or
   smaller blocks share out better among the threads. The last block is as long as its rows, and makes a round
   shorter that has no other. */
/* no test: rows that go through together, for speed; sums do not depend on it. */
static int64_t choose_block(const cpu_engine *e, int64_t rows, int threads)
{
    int64_t floats = 0;
    for (int i = 0; i < e->shape.layers; i++) floats += 4 * e->layer[i].padded;
    int64_t best = SN_UNIT_STEP, least = INT64_MAX;
    for (int64_t size = SN_PANEL_UNITS; size >= SN_UNIT_STEP; size /= 2) {
        if (size > SN_UNIT_STEP && size * floats * 4 > BLOCK_BYTES) continue;
        const int64_t whole = rows / size, rest = round_up(rows % size, SN_UNIT_STEP);
        const int64_t rounds = (whole + threads - 1) / threads;
        int64_t cost = rounds * (size + BLOCK_COST);
        if (whole % threads == 0 && rest > 0) cost += rest + BLOCK_COST;
        if (cost < least) {
            least = cost;
            best = size;
        }
    }
    return best;
}

/* One chunk: all blocks, then (where sums are wanted) all pieces. Returns whether the parameters stayed
   finite. Engines that are at work side by side in a parallel region cut their chunks into tasks, which the
   threads that have come to the end of that region do. */
static bool run_chunk(cpu_engine *e, const sn_cpu_job *job, int threads)
{
    const bool passes = job->task == SN_CPU_FORWARD, sums = job->task <= SN_CPU_APPLY;
    const int64_t blocks = (job->rows + job->block_rows - 1) / job->block_rows;
    const int64_t pieces = sums ? e->piece_count : 0;
    void (*const work)(const sn_cpu_job *, sn_cpu_scratch *, int64_t) =
        passes ? e->kernels->forward : e->kernels->impute;
    bool finite = true;
    if (threads == 1) {
        for (int64_t b = 0; b < blocks; b++) work(job, &e->scratch[0], b);
        for (int64_t k = 0; k < pieces; k++) finite = e->kernels->update(job, &e->pieces[k]) && finite;
        return finite;
    }
    if (omp_in_parallel()) {
        /* All is shared: clang 14 crashes where a task is to have its own copy of `work`. */
#pragma omp taskgroup
        for (int64_t b = 0; b < blocks; b++) {
#pragma omp task default(shared) firstprivate(b)
            work(job, &e->scratch[omp_get_thread_num()], b);
        }
#pragma omp taskgroup
        for (int64_t k = 0; k < pieces; k++) {
#pragma omp task default(shared) firstprivate(k)
            if (!e->kernels->update(job, &e->pieces[k])) {
#pragma omp atomic write
                finite = false;
            }
        }
        return finite;
    }
    int64_t next_scratch = 0;
#pragma omp parallel num_threads(threads) reduction(&& : finite)
    {
        int64_t mine;
#pragma omp atomic capture
        mine = next_scratch++;
#pragma omp for schedule(dynamic, 1)
        for (int64_t b = 0; b < blocks; b++) work(job, &e->scratch[mine], b);
#pragma omp for schedule(dynamic, 1) nowait
        for (int64_t k = 0; k < pieces; k++) finite = e->kernels->update(job, &e->pieces[k]) && finite;
    }
    return finite;
}

/* How far a batch has gone through. */
typedef struct progress {
    const sn_shards *shards;
    int shard;               /* the next one, counted in shards->border, ... */
    int64_t row;             /* ... and the batch's next row, of this shard */
    sn_sums sums;            /* the roots so far, without gradients */
    sn_cpu_segment *segment; /* of the present chunk: room for SN_MAX_SHARDS */
    int segments;
} progress;

/* Adds rows of the next shard to the chunk that begins at `first`: all that are left of the shard. A shard
   larger than a chunk gives as many whole chains as a chunk holds. */
static stonet_status take_shard(progress *at, int64_t first, int64_t chunk_rows)
{
    const sn_shards *shards = at->shards;
    const int64_t begin = shards->border[at->shard], end = shards->border[at->shard + 1];
    const bool opens = at->row == begin, closes = end - first <= chunk_rows;
    if (opens) SN_TRY(sn_sums_open(&at->sums, shards->first + at->shard));
    sn_cpu_segment *segment = &at->segment[at->segments++];
    *segment = (sn_cpu_segment){.begin = at->row - first,
                                .end = (closes ? end : first + chunk_rows) - first,
                                .root = at->sums.roots - 1,
                                .opens = opens};
    at->row = first + segment->end;
    if (!closes) return STONET_OK;
    at->shard++;
    segment->merges = sn_sums_close(&at->sums);
    return STONET_OK;
}

/* The next chunk: as many whole shards as it holds, or a part of a large one. Returns its rows. */
static stonet_status take_chunk(progress *at, int64_t chunk_rows, int64_t *rows)
{
    const int64_t first = at->row;
    at->segments = 0;
    while (at->shard < at->shards->count) {
        const bool whole = at->shards->border[at->shard + 1] - first <= chunk_rows;
        if (!whole && at->segments > 0) break;
        SN_TRY(take_shard(at, first, chunk_rows));
        if (!whole) break;
    }
    *rows = at->row - first;
    return STONET_OK;
}

/* Fills in what the next chunk of a job is. */
static stonet_status next_chunk(cpu_engine *e, progress *at, sn_cpu_job *job)
{
    const sn_rows *batch = job->batch;
    const bool drawn = job->iteration != NULL && job->iteration->draw > 0 && e->problem->source != NULL;
    const bool in_place =
        batch->list == NULL && e->problem->x != NULL && !drawn && e->shape.input_activation == SN_IDENTITY;
    job->first = at->row;
    job->roots_before = at->sums.roots;
    SN_TRY(take_chunk(at, e->chunk_rows, &job->rows));
    job->last_chunk = at->shard == at->shards->count;
    job->roots_after = at->sums.roots;
    if (job->task == SN_CPU_ACCUMULATE || (job->task == SN_CPU_STEP && !job->last_chunk))
        SN_TRY(reserve_sums(e, job->roots_after));
    job->segment = at->segment;
    job->segments = at->segments;
    job->x = in_place ? e->problem->x + (batch->first + job->first) * e->problem->p : e->x_copy;
    job->x_copy = in_place ? NULL : e->x_copy;
    job->x_stride = in_place ? e->problem->p : e->x_stride;
    return STONET_OK;
}

/* Sends the rows of a batch through in chunks. job: the task, the batch, and what the task needs to know.
   loss: gets the sums by shard; NULL: not wanted. *finite: whether the parameters stayed so. */
static stonet_status run(cpu_engine *e, const sn_shards *shards, sn_cpu_job *job, double *loss, bool *finite)
{
    if (job->batch->n < 1) return sn_fail(STONET_ERROR_ARGUMENT, "a batch needs at least one row");
    SN_TRY(sn_batch_prepare(e->problem, job->batch));
    SN_TRY(reserve(e, job->batch->n));
    job->shape = &e->shape;
    job->problem = e->problem;
    job->layer = e->layer;
    job->seed = e->seed;
    job->capacity = e->capacity;
    job->loss = e->loss;
    const double per_row =
        sn_engine_row_cost(&e->shape, job->iteration != NULL ? job->iteration->dynamics->sweeps : 0);
    sn_cpu_segment segment[SN_MAX_SHARDS]; /* not set to 0: a step can be short */
    progress at = {.shards = shards, .sums = {.shards = shards->total}, .segment = segment};
    /* Each thread of a region around has a scratch of its own, or none of them but this helps. */
    const int most = omp_get_num_threads() <= e->threads ? e->threads : 1;
    *finite = true;
    for (int v = 0; v < shards->count && loss != NULL; v++) loss[v] = 0.0;
    while (at.shard < shards->count) {
        const int first_shard = at.shard;
        SN_TRY(next_chunk(e, &at, job));
        const double work = per_row * (double)job->rows, start = sn_seconds();
        job->threads = sn_thread_tuner_threads(&e->tuner, work, most);
        job->block_rows = choose_block(e, job->rows, job->threads);
        *finite = run_chunk(e, job, job->threads) && *finite;
        sn_thread_tuner_note(&e->tuner, job->threads, (sn_seconds() - start) / work);
        if (job->batch->list == NULL) /* a pass over rows as they lie does not need them again soon */
            sn_batch_expect(e->problem, job->batch, job->first, job->rows, SN_ROWS_REST);
        for (int g = 0; g < at.segments && loss != NULL; g++) /* segment g is of shard first_shard + g */
            for (int64_t r = at.segment[g].begin; r < at.segment[g].end; r++)
                loss[first_shard + g] += (double)e->loss[r];
    }
    return STONET_OK;
}

/* Sum of the squares of the weights on input k; the padding is 0. */
static double input_square(const sn_cpu_layer *layer, int64_t k)
{
    double sum = 0.0;
    for (int64_t unit = 0, width; unit < layer->padded; unit += width) {
        width = sn_panel_width(layer->padded, unit);
        const float *w = layer->weights + (layer->inputs + 1) * unit + k * width;
        for (int64_t a = 0; a < width; a++) sum += (double)w[a] * (double)w[a];
    }
    return sum;
}

static void scale_input(const sn_cpu_layer *layer, int64_t k, float factor)
{
    for (int64_t unit = 0, width; unit < layer->padded; unit += width) {
        width = sn_panel_width(layer->padded, unit);
        float *w = layer->weights + (layer->inputs + 1) * unit + k * width;
        for (int64_t a = 0; a < width; a++) w[a] *= factor;
    }
}

/* The group penalty of layer 1, after the update: two passes over its panels. A column is the work of one
   thread, so the bits do not depend on how many there are. */
static stonet_status shrink_columns(cpu_engine *e, const sn_update *update)
{
    const sn_cpu_layer *layer = &e->layer[0];
    if (!(update->group > 0.0)) return STONET_OK;
    if (e->factor == NULL) SN_TRY(SN_NEW(e->factor, layer->inputs));
    const int threads = layer->inputs * layer->padded < WORTH_SHARING ? 1 : e->threads;
#pragma omp parallel for num_threads(threads) if (threads > 1)
    for (int64_t k = 0; k < layer->inputs; k++) e->factor[k] = input_square(layer, k);
    sn_group_factors(e->problem, layer->outputs, update, e->factor);
#pragma omp parallel for num_threads(threads) if (threads > 1)
    for (int64_t k = 0; k < layer->inputs; k++) scale_input(layer, k, (float)e->factor[k]);
    return STONET_OK;
}

/* Both steps of an iteration in one pass. The weight of the batch must be known first, since the gradient is
   divided by it; the losses, one a shard, are summed up the tree afterwards. */
static stonet_status cpu_step(sn_engine *engine, const sn_iteration *iteration, sn_step_report *report)
{
    cpu_engine *e = (cpu_engine *)engine;
    sn_shards one;
    const sn_shards *shards = sn_engine_shards(&iteration->rows, iteration->shards, &one);
    sn_sums sums = {0};
    double loss[SN_MAX_SHARDS];
    bool finite;
    SN_TRY(sn_engine_sum_shards(e->problem, &iteration->rows, shards, NULL, NULL, &sums));
    SN_TRY(sn_sums_check(&sums));
    sn_cpu_job job = {.task = SN_CPU_STEP,
                      .iteration = iteration,
                      .batch = &iteration->rows,
                      .weight = sums.root[0].weight};
    SN_TRY(run(e, shards, &job, loss, &finite));
    SN_TRY(shrink_columns(e, iteration->update));
    SN_TRY(sn_engine_sum_shards(e->problem, &iteration->rows, shards, loss, NULL, &sums));
    report->loss = sums.root[0].loss / sums.root[0].weight;
    report->finite = finite && isfinite(report->loss);
    e->iteration = iteration->number + 1;
    return STONET_OK;
}

/* Step 1, and the sums of step 2 without the update. The engine's packed gradients go into sums->root in the
   order of the shape's flat array, which all engines share. */
static stonet_status cpu_accumulate(sn_engine *engine, const sn_iteration *iteration, sn_sums *sums)
{
    cpu_engine *e = (cpu_engine *)engine;
    sn_shards one;
    const sn_shards *shards = sn_engine_shards(&iteration->rows, iteration->shards, &one);
    sn_sums rest = {0};
    double loss[SN_MAX_SHARDS];
    bool finite;
    sn_cpu_job job = {.task = SN_CPU_ACCUMULATE, .iteration = iteration, .batch = &iteration->rows};
    SN_TRY(run(e, shards, &job, loss, &finite));
    SN_TRY(sn_engine_sum_shards(e->problem, &iteration->rows, shards, loss, NULL, &rest));
    sn_sums_reset(sums, shards->total);
    for (int r = 0; r < rest.roots; r++) {
        SN_TRY(sn_sums_add(sums, rest.root[r].first, rest.root[r].count));
        sums->root[r].loss = rest.root[r].loss;
        sums->root[r].weight = rest.root[r].weight;
        for (int i = 0; i < e->shape.layers; i++)
            unpack(e, i, e->layer[i].sum[r], NULL, sums->root[r].gradient);
    }
    return STONET_OK;
}

/* The update from sums of all shards (one root), as in the last chunk of cpu_step: the same code, so the same
   bits. */
static stonet_status cpu_apply(sn_engine *engine, const sn_iteration *iteration, const sn_sums *sums,
                               sn_step_report *report)
{
    cpu_engine *e = (cpu_engine *)engine;
    SN_TRY(sn_sums_check(sums));
    SN_TRY(reserve_sums(e, 1));
    for (int i = 0; i < e->shape.layers; i++) pack(e, i, NULL, sums->root[0].gradient, e->layer[i].sum[0]);
    const sn_cpu_job job = {.task = SN_CPU_APPLY,
                            .layer = e->layer,
                            .iteration = iteration,
                            .block_rows = SN_UNIT_STEP,
                            .roots_before = 1,
                            .last_chunk = true,
                            .weight = sums->root[0].weight};
    report->loss = sums->root[0].loss / sums->root[0].weight;
    report->finite =
        run_chunk(e, &job, e->shape.parameters < WORTH_SHARING ? 1 : e->threads) && isfinite(report->loss);
    SN_TRY(shrink_columns(e, iteration->update));
    e->iteration = iteration->number + 1;
    return STONET_OK;
}

static stonet_status cpu_impute(sn_engine *engine, const sn_iteration *iteration, int layer, float *out)
{
    sn_shards one;
    bool finite;
    sn_cpu_job job = {.task = SN_CPU_IMPUTE,
                      .iteration = iteration,
                      .batch = &iteration->rows,
                      .layer_out = layer,
                      .out = out};
    return run((cpu_engine *)engine, sn_engine_shards(&iteration->rows, NULL, &one), &job, NULL, &finite);
}

static stonet_status cpu_forward(sn_engine *engine, const sn_pass *pass, float *out)
{
    sn_shards one;
    bool finite;
    sn_cpu_job job = {.task = SN_CPU_FORWARD, .pass = pass, .batch = &pass->rows, .out = out};
    return run((cpu_engine *)engine, sn_engine_shards(&pass->rows, NULL, &one), &job, NULL, &finite);
}

const sn_engine_ops sn_engine_cpu = {
    .name = "cpu",
    .create = cpu_create,
    .free = cpu_free,
    .start = cpu_start,
    .get_parameters = cpu_get_parameters,
    .get_state = cpu_get_state,
    .set_state = cpu_set_state,
    .step = cpu_step,
    .accumulate = cpu_accumulate,
    .apply = cpu_apply,
    .impute = cpu_impute,
    .forward = cpu_forward,
};
