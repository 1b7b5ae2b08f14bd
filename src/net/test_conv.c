/* The convolution against a plain one in double precision, and its gradient against differences of that. */
#include "base/memory.h"
#include "base/test_kit.h"
#include "math/kernel.h"
#include "math/noise.h"
#include "net/conv.h"

enum { MOST = 20000 }; /* numbers of anything here */

static void fill(uint64_t seed, int64_t count, double scale, float *out)
{
    sn_random random = sn_random_from(seed, SN_STREAM_TEST, 0);
    for (int64_t i = 0; i < count; i++) out[i] = (float)(scale * sn_random_normal(&random));
}

/* O[y, x, f] of one stage, straight from the definition. */
static double map_at(const sn_conv_stage *s, const double *theta, const double *a, int64_t y, int64_t x,
                     int64_t f)
{
    double sum = theta[s->bias_at + f];
    for (int64_t i = 0; i < s->kernel; i++)
        for (int64_t j = 0; j < s->kernel; j++)
            for (int64_t d = 0; d < s->channels; d++)
                sum += a[((y + i) * s->width + x + j) * s->channels + d] *
                       theta[s->kernel_at + ((i * s->kernel + j) * s->channels + d) * s->filters + f];
    return sum;
}

/* u of one image in double precision. */
static void reference(const sn_conv_shape *shape, const double *theta, const float *x, double *u)
{
    static double from[MOST], to[MOST];
    const sn_conv_stage *first = &shape->stage[0];
    const int64_t pixels = first->height * first->width;
    for (int64_t i = 0; i < pixels; i++)
        for (int64_t d = 0; d < first->channels; d++)
            from[i * first->channels + d] =
                (double)(shape->channels_first ? x[d * pixels + i] : x[i * first->channels + d]);
    for (int l = 0; l < shape->stages; l++) {
        const sn_conv_stage *s = &shape->stage[l];
        for (int64_t y = 0; y < s->out_height; y++)
            for (int64_t c = 0; c < s->out_width; c++)
                for (int64_t f = 0; f < s->filters; f++) {
                    double largest = 0.0;
                    for (int64_t a = 0; a < s->pool; a++)
                        for (int64_t b = 0; b < s->pool; b++)
                            largest =
                                fmax(largest, map_at(s, theta, from, s->pool * y + a, s->pool * c + b, f));
                    to[(y * s->out_width + c) * s->filters + f] = largest;
                }
        memcpy(from, to, sizeof to);
    }
    memcpy(u, from, (size_t)shape->outputs * sizeof *u);
}

typedef struct sample {
    sn_conv_shape shape;
    int64_t n;
    float *x, *theta, *u, *du, *gradient;
    sn_conv_room *room;
} sample;

static void make(sample *s, sn_image image, int count, const int64_t *filters, int64_t n, int threads)
{
    *s = (sample){.n = n};
    OK(sn_conv_layout(&image, count, filters, &s->shape));
    s->x = test_zeros(n * s->shape.inputs, sizeof *s->x);
    s->theta = test_zeros(s->shape.parameters, sizeof *s->theta);
    s->u = test_zeros(n * s->shape.outputs, sizeof *s->u);
    s->du = test_zeros(n * s->shape.outputs, sizeof *s->du);
    s->gradient = test_zeros(s->shape.parameters, sizeof *s->gradient);
    fill(1, n * s->shape.inputs, 1.0, s->x);
    fill(2, n * s->shape.outputs, 1.0, s->du);
    sn_conv_start(&s->shape, 7, s->theta);
    for (int l = 0; l < s->shape.stages; l++)
        fill(3, s->shape.stage[l].filters, 0.3, s->theta + s->shape.stage[l].bias_at);
    OK(sn_conv_open(&s->shape, n, threads, &s->room));
}

static void drop(sample *s)
{
    sn_conv_close(s->room);
    SN_FREE_ALL(s->x, s->theta, s->u, s->du, s->gradient);
}

/* sum of du . u over the images, by the reference. */
static double total(const sample *s, const double *theta)
{
    static double u[MOST];
    double sum = 0.0;
    for (int64_t i = 0; i < s->n; i++) {
        reference(&s->shape, theta, s->x + i * s->shape.inputs, u);
        for (int64_t j = 0; j < s->shape.outputs; j++) sum += u[j] * (double)s->du[i * s->shape.outputs + j];
    }
    return sum;
}

static void check_against_reference(sn_image image, int count, const int64_t *filters)
{
    static double theta[MOST], u[MOST];
    SN_FREED_BY(drop) sample s;
    make(&s, image, count, filters, 11, 2);
    sn_widen(s.shape.parameters, s.theta, theta);
    sn_conv_forward(s.room, s.theta, s.n, s.x, s.u);
    for (int64_t i = 0; i < s.n; i++) {
        reference(&s.shape, theta, s.x + i * s.shape.inputs, u);
        for (int64_t j = 0; j < s.shape.outputs; j++)
            if (fabs(u[j] - (double)s.u[i * s.shape.outputs + j]) > 1e-4 * (1.0 + fabs(u[j])))
                fail_msg("image %d, feature %d: %g is not %g", (int)i, (int)j,
                         (double)s.u[i * s.shape.outputs + j], u[j]);
    }
    sn_conv_backward(s.room, s.theta, s.du, s.gradient);
    for (int64_t k = 0; k < s.shape.parameters; k += 1 + s.shape.parameters / 60) {
        const double step = 1e-6, at = theta[k]; /* small enough that hardly a maximum changes its place */
        theta[k] = at + step;
        const double above = total(&s, theta);
        theta[k] = at - step;
        const double slope = (above - total(&s, theta)) / (2.0 * step);
        theta[k] = at;
        if (fabs(slope - (double)s.gradient[k]) > 1e-3 * (1.0 + fabs(slope)))
            fail_msg("parameter %d: %g is not %g", (int)k, (double)s.gradient[k], slope);
    }
}

TEST(test_gradient)
{
    check_against_reference((sn_image){2, {12, 13}}, 2, (int64_t[]){4, 5});
    check_against_reference((sn_image){3, {9, 8, 3}}, 0, NULL);
    check_against_reference((sn_image){3, {2, 14, 12}}, 2, (int64_t[]){3, 6});
    check_against_reference((sn_image){2, {3, 7}}, 1, (int64_t[]){2}); /* no room for a pool */
}

TEST(test_shapes)
{
    sn_conv_shape shape;
    OK(sn_conv_layout(&(sn_image){2, {28, 28}}, 0, NULL, &shape));
    assert_int_equal(shape.stages, 2);
    assert_int_equal(shape.outputs, 4 * 4 * 32);
    assert_int_equal(shape.parameters, 26 * 16 + 401 * 32);
    OK(sn_conv_layout(&(sn_image){3, {3, 64, 64}}, 0, NULL, &shape));
    assert_true(shape.channels_first);
    assert_int_equal(shape.stage[0].channels, 3);
    assert_int_equal(shape.stages, 3);
    assert_int_equal(shape.outputs, 4 * 4 * 64);
    OK(sn_conv_layout(&(sn_image){3, {64, 64, 3}}, 0, NULL, &shape));
    assert_false(shape.channels_first);
    assert_int_equal(sn_conv_layout(&(sn_image){2, {2, 28}}, 0, NULL, &shape), STONET_ERROR_ARGUMENT);
    assert_int_equal(sn_conv_layout(&(sn_image){2, {8, 8}}, 3, (int64_t[]){4, 4, 4}, &shape),
                     STONET_ERROR_ARGUMENT);
    assert_int_equal(sn_conv_layout(&(sn_image){0}, 0, NULL, &shape), STONET_ERROR_ARGUMENT);
}

/* The same bits for any number of threads, and for an image whatever the others. */
TEST(test_bits)
{
    const int64_t filters[] = {5, 7};
    SN_FREED_BY(drop) sample one;
    make(&one, (sn_image){2, {16, 16}}, 2, filters, 43, 1);
    SN_FREED_BY(drop) sample four;
    make(&four, (sn_image){2, {16, 16}}, 2, filters, 43, 4);
    sn_conv_forward(one.room, one.theta, one.n, one.x, one.u);
    sn_conv_forward(four.room, four.theta, four.n, four.x, four.u);
    assert_memory_equal(one.u, four.u, (size_t)(one.n * one.shape.outputs) * sizeof *one.u);
    sn_conv_backward(one.room, one.theta, one.du, one.gradient);
    sn_conv_backward(four.room, four.theta, four.du, four.gradient);
    assert_memory_equal(one.gradient, four.gradient, (size_t)one.shape.parameters * sizeof *one.gradient);
    sn_conv_room *alone;
    OK(sn_conv_open(&one.shape, 0, 1, &alone));
    sn_conv_forward(alone, one.theta, 1, one.x + 42 * one.shape.inputs, four.u);
    assert_memory_equal(one.u + 42 * one.shape.outputs, four.u, (size_t)one.shape.outputs * sizeof *one.u);
    sn_conv_close(alone);
}

/* Every stage's numbers have the mean square asked for. */
TEST(test_scale)
{
    SN_FREED_BY(drop) sample s;
    make(&s, (sn_image){2, {16, 16}}, 2, (int64_t[]){4, 6}, 20, 1);
    sn_conv_start(&s.shape, 7, s.theta);
    OK(sn_conv_scale(&s.shape, s.n, s.x, 0.3, s.theta));
    sn_conv_shape first = s.shape; /* the first stage alone */
    first.stages = 1;
    first.outputs = first.stage[0].out;
    for (int stages = 1; stages <= 2; stages++) {
        const sn_conv_shape *shape = stages == 1 ? &first : &s.shape;
        SN_BLOCK float *u = test_zeros(s.n * shape->outputs, sizeof *u);
        double square = 0.0;
        sn_conv_room *room;
        OK(sn_conv_open(shape, 0, 1, &room));
        sn_conv_forward(room, s.theta, s.n, s.x, u);
        for (int64_t i = 0; i < s.n * shape->outputs; i++)
            square += (double)u[i] * (double)u[i] / (double)(s.n * shape->outputs);
        assert_true(fabs(square - 0.3) < 1e-5);
        sn_conv_close(room);
    }
    memset(s.x, 0, (size_t)(s.n * s.shape.inputs) * sizeof *s.x); /* blank ones leave them as they are */
    const float before = s.theta[0];
    OK(sn_conv_scale(&s.shape, s.n, s.x, 0.3, s.theta));
    assert_true(s.theta[0] == before);
}

RUN_TESTS(NULL, NULL)
