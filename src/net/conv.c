#include "net/conv.h"

#include <cblas.h>
#include <math.h>
#include <omp.h>
#include <string.h>

#include "base/memory.h"
#include "math/noise.h"
#include "math/serial_blas.h"

enum {
    RUNS = 16,       /* of images, whose gradients are summed apart; at most */
    RUN_IMAGES = 8,  /* in a run, at least */
    NOISE_LAYER = 64 /* above those of every network (SN_MAX_LAYERS) */
};

/* ---- the shape ----------------------------------------------------------------------------------- */

static int64_t shorter(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The sizes that follow from what goes in, the kernel and the filters. */
static void lay_out_stage(sn_conv_stage *s, int64_t *at)
{
    s->rows = s->height - s->kernel + 1;
    s->columns = s->width - s->kernel + 1;
    s->pool = shorter(s->rows, s->columns) >= 2 ? 2 : 1;
    s->out_height = s->rows / s->pool;
    s->out_width = s->columns / s->pool;
    s->patch = s->kernel * s->kernel * s->channels;
    s->positions = s->rows * s->columns;
    s->in = s->height * s->width * s->channels;
    s->out = s->out_height * s->out_width * s->filters;
    s->kernel_at = *at;
    s->bias_at = *at + s->patch * s->filters;
    *at = s->bias_at + s->filters;
}

/* Whether there is to be a stage after `made` of them whose output has this shorter side. */
static bool goes_on(int made, int count, int64_t side)
{
    if (count > 0) return made < count;
    return made < SN_CONV_STAGES && side >= 3 && (made < 2 || side > 8);
}

stonet_status sn_conv_layout(const sn_image *image, int count, const int64_t *filters, sn_conv_shape *shape)
{
    static const int64_t usual[] = {16, 32, 64};
    enum { USUAL = sizeof usual / sizeof *usual };
    const int64_t *extent = image->extent;
    *shape = (sn_conv_shape){.inputs = sn_image_size(image)};
    if (image->rank != 2 && image->rank != 3)
        return sn_fail(STONET_ERROR_ARGUMENT, "a convolution needs images of two or three extents");
    if (count > SN_CONV_STAGES)
        return sn_fail(STONET_ERROR_ARGUMENT, "a convolution has %d stages at most, and %d are given",
                       SN_CONV_STAGES, count);
    shape->channels_first = image->rank == 3 && extent[0] < extent[2];
    const int64_t *sides = shape->channels_first ? extent + 1 : extent;
    sn_conv_stage next = {.height = sides[0],
                          .width = sides[1],
                          .channels = image->rank == 2        ? 1
                                      : shape->channels_first ? extent[0]
                                                              : extent[2]};
    int64_t side = shorter(next.height, next.width);
    while (goes_on(shape->stages, count, side)) {
        const int l = shape->stages;
        next.kernel = side >= 12 ? 5 : 3;
        next.filters = count > 0 ? filters[l] : usual[l < USUAL ? l : USUAL - 1];
        if (side < next.kernel) break;
        lay_out_stage(&next, &shape->parameters);
        next.out_at = next.in_at + next.in;
        shape->stage[shape->stages++] = next;
        next.height = next.out_height;
        next.width = next.out_width;
        next.channels = next.filters;
        next.in_at = next.out_at;
        next.which_at += next.out;
        side = shorter(next.height, next.width);
    }
    if (shape->stages == 0 || shape->stages < count)
        return sn_fail(STONET_ERROR_ARGUMENT,
                       "images of %lld x %lld are too small for a convolution of %d stages",
                       (long long)sides[0], (long long)sides[1], count > 0 ? count : 1);
    shape->outputs = shape->stage[shape->stages - 1].out;
    return STONET_OK;
}

void sn_conv_start(const sn_conv_shape *shape, uint64_t seed, float *theta)
{
    for (int l = 0; l < shape->stages; l++) {
        const sn_conv_stage *s = &shape->stage[l];
        const double scale = sqrt(2.0 / (double)s->patch);
        for (int64_t j = 0; j < s->patch; j++)
            for (int64_t f = 0; f < s->filters; f++)
                theta[s->kernel_at + j * s->filters + f] =
                    (float)(scale * sn_noise_normal(seed, SN_STREAM_WEIGHTS, (uint32_t)j,
                                                    (uint32_t)(NOISE_LAYER + l), (uint32_t)f, 0, 0));
        for (int64_t f = 0; f < s->filters; f++) theta[s->bias_at + f] = 0.0F;
    }
}

bool sn_conv_is_kernel(const sn_conv_shape *shape, int64_t parameter)
{
    for (int l = 0; l < shape->stages; l++)
        if (parameter < shape->stage[l].bias_at + shape->stage[l].filters)
            return parameter < shape->stage[l].bias_at;
    return false;
}

/* ---- room ----------------------------------------------------------------------------------------- */

/* What is kept of an image on its way up: A_0 .. A_L, and which cell of the pool each number of A_1 .. is. */
typedef struct trace {
    float *value;
    float *which; /* as numbers of the same width, to be compared side by side */
} trace;

/* One thread's. */
typedef struct scratch {
    float *patches;   /* of one image: P, or dP */
    float *maps;      /* O, or dO */
    float *up, *down; /* dA_l, dA_{l-1} */
} scratch;

struct sn_conv_room {
    const sn_conv_shape *shape;
    int64_t capacity;
    int threads;
    scratch *scratch;
    float *values; /* of the traces: of `capacity` images, or of one for each thread */
    float *which;
    float *partial;                    /* RUNS x parameters */
    int64_t n;                         /* images of the last forward */
    int64_t trace_values, trace_which; /* numbers of one trace */
};

static trace trace_at(const sn_conv_room *room, int64_t image)
{
    return (trace){room->values + image * room->trace_values, room->which + image * room->trace_which};
}

static stonet_status make_scratch(sn_conv_room *room, scratch *own)
{
    int64_t patches = 0, maps = 0, widest = 0;
    for (int l = 0; l < room->shape->stages; l++) {
        const sn_conv_stage *s = &room->shape->stage[l];
        if (s->positions * s->patch > patches) patches = s->positions * s->patch;
        if (s->positions * s->filters > maps) maps = s->positions * s->filters;
        if (s->in > widest) widest = s->in;
        if (s->out > widest) widest = s->out;
    }
    SN_TRY(SN_NEW_RAW(own->patches, patches));
    SN_TRY(SN_NEW_RAW(own->maps, maps));
    if (room->capacity == 0) return STONET_OK;
    SN_TRY(SN_NEW_RAW(own->up, widest));
    return SN_NEW_RAW(own->down, widest);
}

static stonet_status make_room(sn_conv_room *room)
{
    const sn_conv_shape *shape = room->shape;
    for (int l = 0; l < shape->stages; l++) {
        room->trace_values += shape->stage[l].in;
        room->trace_which += shape->stage[l].out;
    }
    room->trace_values += shape->outputs;
    const int64_t traces = room->capacity > 0 ? room->capacity : room->threads;
    SN_TRY(SN_NEW_RAW(room->values, traces * room->trace_values));
    SN_TRY(SN_NEW_RAW(room->which, traces * room->trace_which));
    if (room->capacity > 0) SN_TRY(SN_NEW_RAW(room->partial, RUNS * shape->parameters));
    SN_TRY(SN_NEW(room->scratch, room->threads));
    for (int t = 0; t < room->threads; t++) SN_TRY(make_scratch(room, &room->scratch[t]));
    return STONET_OK;
}

stonet_status sn_conv_open(const sn_conv_shape *shape, int64_t capacity, int threads, sn_conv_room **out)
{
    SN_AUTO(sn_conv_room) *room = NULL;
    SN_TRY(SN_NEW(room, 1));
    room->shape = shape;
    room->capacity = capacity;
    room->threads = threads;
    SN_TRY(make_room(room));
    return SN_GIVE(room, out);
}

void sn_conv_close(sn_conv_room *room)
{
    if (room == NULL) return;
    for (int t = 0; room->scratch != NULL && t < room->threads; t++)
        SN_FREE_ALL(room->scratch[t].patches, room->scratch[t].maps, room->scratch[t].up,
                    room->scratch[t].down);
    SN_FREE_ALL(room->scratch, room->values, room->which, room->partial, room);
}

/* ---- one image up -------------------------------------------------------------------------------- */

/* A_0, channels last. */
static void take_image(const sn_conv_shape *shape, const float *x, float *a)
{
    const sn_conv_stage *s = &shape->stage[0];
    const int64_t pixels = s->height * s->width;
    if (!shape->channels_first) {
        memcpy(a, x, (size_t)shape->inputs * sizeof *a);
        return;
    }
    for (int64_t i = 0; i < pixels; i++)
        for (int64_t d = 0; d < s->channels; d++) a[i * s->channels + d] = x[d * pixels + i];
}

/* A row of a patch: short ones are most of the time. */
static inline void copy_row(float *restrict to, const float *restrict from, int64_t length)
{
    switch (length) {
    case 3:
        memcpy(to, from, 3 * sizeof *to);
        break;
    case 5:
        memcpy(to, from, 5 * sizeof *to);
        break;
    default:
        memcpy(to, from, (size_t)length * sizeof *to);
        break;
    }
}

/* P, positions x patch: of every position the k rows of k C numbers each. */
static void gather_patches(const sn_conv_stage *s, const float *a, float *patches)
{
    const int64_t length = s->kernel * s->channels, row = s->width * s->channels;
    for (int64_t y = 0; y < s->rows; y++)
        for (int64_t x = 0; x < s->columns; x++)
            for (int64_t i = 0; i < s->kernel; i++) {
                copy_row(patches, a + (y + i) * row + x * s->channels, length);
                patches += length;
            }
}

/* The same the other way round: a is added to. */
static void scatter_patches(const sn_conv_stage *s, const float *restrict patches, float *restrict a)
{
    const int64_t length = s->kernel * s->channels, row = s->width * s->channels;
    for (int64_t y = 0; y < s->rows; y++)
        for (int64_t x = 0; x < s->columns; x++)
            for (int64_t i = 0; i < s->kernel; i++) {
                float *restrict to = a + (y + i) * row + x * s->channels;
                for (int64_t j = 0; j < length; j++) to[j] += patches[j];
                patches += length;
            }
}

/* The largest of the four cells and which it is, the first of equals; written so that filters go side by
 * side. */
static void pool_cells(int64_t n, const float *restrict first, const float *restrict below,
                       const float *restrict bias, float *restrict a, float *restrict which)
{
    for (int64_t f = 0; f < n; f++) {
        const float o0 = first[f], o1 = first[n + f], o2 = below[f], o3 = below[n + f];
        const float upper = o1 > o0 ? o1 : o0, lower = o3 > o2 ? o3 : o2;
        const float of_upper = o1 > o0 ? 1.0F : 0.0F, of_lower = o3 > o2 ? 3.0F : 2.0F;
        const float largest = (lower > upper ? lower : upper) + bias[f];
        which[f] = lower > upper ? of_lower : of_upper;
        a[f] = largest > 0.0F ? largest : 0.0F;
    }
}

/* The same without a pool. */
static void cut_cells(int64_t n, const float *restrict first, const float *restrict bias, float *restrict a,
                      float *restrict which)
{
    for (int64_t f = 0; f < n; f++) {
        const float o = first[f] + bias[f];
        which[f] = 0.0F;
        a[f] = o > 0.0F ? o : 0.0F;
    }
}

/* A_l from O without b; which: the cell of the largest, 0 .. s s - 1. */
static void pool(const sn_conv_stage *s, const float *maps, const float *bias, float *a, float *which)
{
    const int64_t n = s->filters;
    for (int64_t y = 0; y < s->out_height; y++)
        for (int64_t x = 0; x < s->out_width; x++) {
            const float *first = maps + (y * s->pool * s->columns + x * s->pool) * n;
            if (s->pool == 2)
                pool_cells(n, first, first + s->columns * n, bias, a, which);
            else
                cut_cells(n, first, bias, a, which);
            a += n;
            which += n;
        }
}

static void image_up(const sn_conv_shape *shape, const float *theta, const float *x, const trace *t,
                     const scratch *own)
{
    take_image(shape, x, t->value);
    for (int l = 0; l < shape->stages; l++) {
        const sn_conv_stage *s = &shape->stage[l];
        gather_patches(s, t->value + s->in_at, own->patches);
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)s->positions, (int)s->filters,
                    (int)s->patch, 1.0F, own->patches, (int)s->patch, theta + s->kernel_at, (int)s->filters,
                    0.0F, own->maps, (int)s->filters);
        pool(s, own->maps, theta + s->bias_at, t->value + s->out_at, t->which + s->which_at);
    }
}

void sn_conv_forward(sn_conv_room *room, const float *theta, int64_t n, const float *x, float *u)
{
    const sn_conv_shape *shape = room->shape;
    room->n = n;
#pragma omp parallel num_threads(room->threads)
    {
        sn_serial_blas();
        const int thread = omp_get_thread_num();
#pragma omp for schedule(static)
        for (int64_t i = 0; i < n; i++) {
            const trace t = trace_at(room, room->capacity > 0 ? i : thread);
            image_up(shape, theta, x + i * shape->inputs, &t, &room->scratch[thread]);
            memcpy(u + i * shape->outputs, t.value + room->trace_values - shape->outputs,
                   (size_t)shape->outputs * sizeof *u);
        }
    }
}

/* A_1 .. are the more c times what they were, the more kernel l is. */
stonet_status sn_conv_scale(const sn_conv_shape *shape, int64_t n, const float *x, double square,
                            float *theta)
{
    SN_AUTO(sn_conv_room) *room = NULL;
    SN_ARRAY(n * shape->outputs, float, u);
    double below = square; /* mean square of A_{l-1} where the kernels before are as they were */
    SN_TRY(sn_conv_open(shape, n, 1, &room));
    sn_conv_forward(room, theta, n, x, u);
    for (int l = 0; l < shape->stages; l++) {
        const sn_conv_stage *s = &shape->stage[l];
        double sum = 0.0;
        for (int64_t i = 0; i < n; i++) {
            const float *a = trace_at(room, i).value + s->out_at;
            for (int64_t j = 0; j < s->out; j++) sum += (double)a[j] * (double)a[j];
        }
        const double now = sum / (double)(n * s->out);
        if (!(now > 0.0)) break; /* blank images: there is nothing to go by */
        const double factor = sqrt((l == 0 ? square : below) / now);
        for (int64_t j = s->kernel_at; j < s->bias_at; j++) theta[j] = (float)(factor * (double)theta[j]);
        below = now;
    }
    return STONET_OK;
}

/* ---- one image down ------------------------------------------------------------------------------- */

/* dO from dA_l, and db added up: what is below 0 passes nothing on, and of a cell its largest alone. */
static void unpool(const sn_conv_stage *s, const float *up, const float *a, const float *which, float *maps,
                   float *bias)
{
    memset(maps, 0, (size_t)(s->positions * s->filters) * sizeof *maps);
    for (int64_t y = 0; y < s->out_height; y++)
        for (int64_t x = 0; x < s->out_width; x++) {
            float *first = maps + (y * s->pool * s->columns + x * s->pool) * s->filters;
            for (int64_t f = 0; f < s->filters; f++) {
                if (!(a[f] > 0.0F)) continue;
                const int64_t cell = (int64_t)which[f];
                first[(cell / s->pool * s->columns + cell % s->pool) * s->filters + f] = up[f];
                bias[f] += up[f];
            }
            up += s->filters;
            a += s->filters;
            which += s->filters;
        }
}

/* Back through the stages, from du = dA_L; dK and db are added to `gradient`. The image needs no gradient, so
   stage 1 ends early. Patches are gathered again: keeping them would take about k^2 times the memory. */
static void image_down(const sn_conv_shape *shape, const float *theta, const float *du, const trace *t,
                       const scratch *own, float *gradient)
{
    memcpy(own->up, du, (size_t)shape->outputs * sizeof *du);
    float *up = own->up, *down = own->down;
    for (int l = shape->stages - 1; l >= 0; l--) {
        const sn_conv_stage *s = &shape->stage[l];
        const int positions = (int)s->positions, filters = (int)s->filters, patch = (int)s->patch;
        unpool(s, up, t->value + s->out_at, t->which + s->which_at, own->maps, gradient + s->bias_at);
        gather_patches(s, t->value + s->in_at, own->patches);
        cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, patch, filters, positions, 1.0F, own->patches,
                    patch, own->maps, filters, 1.0F, gradient + s->kernel_at, filters);
        if (l == 0) break;
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, positions, patch, filters, 1.0F, own->maps,
                    filters, theta + s->kernel_at, filters, 0.0F, own->patches, patch);
        memset(down, 0, (size_t)s->in * sizeof *down);
        scatter_patches(s, own->patches, down);
        float *held = up;
        up = down;
        down = held;
    }
}

void sn_conv_backward(sn_conv_room *room, const float *theta, const float *du, float *gradient)
{
    const sn_conv_shape *shape = room->shape;
    const int64_t n = room->n, fewest = (n + RUNS - 1) / RUNS;
    const int64_t length = fewest > RUN_IMAGES ? fewest : RUN_IMAGES, runs = (n + length - 1) / length;
#pragma omp parallel num_threads(room->threads)
    {
        sn_serial_blas();
        const scratch *own = &room->scratch[omp_get_thread_num()];
#pragma omp for schedule(dynamic)
        for (int64_t run = 0; run < runs; run++) {
            float *sum = room->partial + run * shape->parameters;
            memset(sum, 0, (size_t)shape->parameters * sizeof *sum);
            for (int64_t i = run * length; i < n && i < (run + 1) * length; i++) {
                const trace t = trace_at(room, i);
                image_down(shape, theta, du + i * shape->outputs, &t, own, sum);
            }
        }
    }
    memset(gradient, 0, (size_t)shape->parameters * sizeof *gradient);
    for (int64_t run = 0; run < runs; run++)
        for (int64_t j = 0; j < shape->parameters; j++)
            gradient[j] += room->partial[run * shape->parameters + j];
}
