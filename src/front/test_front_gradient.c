/* A front that learns: what w_1' r_1 asks of it, and its step. */
#include "base/memory.h"
#include "base/test_kit.h"
#include "engine/test_oracle.h"
#include "front/front_conv.h"
#include "front/front_gradient.h"

enum { ROWS = 9, SIDE = 6 };

typedef struct bench {
    oracle o; /* its problem: images of 6 x 6 */
    sn_front *front;
    sn_problem seen;
    sn_shape shape;
    float *theta;
    float weight[ROWS];
    sn_engine *engine;
    sn_learning *learning;
} bench;

static void make(bench *b, sn_task task)
{
    const sn_image image = {2, {SIDE, SIDE}};
    const int64_t width[] = {SIDE * SIDE, 4, 2, 3};
    b->o = oracle_make(3, width, SN_TANH, task, ROWS, 4);
    for (int i = 0; i < ROWS; i++) b->weight[i] = (float)(1 + i % 3);
    b->o.problem.weight = b->weight;
    OK(sn_front_conv_create(&image, 1, (int64_t[]){3}, 5, &b->front));
    OK(sn_front_problem(b->front, &b->o.problem, NULL, &b->seen));
    b->shape = b->o.shape;
    b->shape.width[0] = b->front->outputs;
    OK(sn_shape_layout(&b->shape));
    b->theta = test_zeros(b->shape.parameters, sizeof *b->theta);
    sn_shape_start(&b->shape, 11, b->theta);
    OK(sn_engine_ref.create(&b->shape, &b->seen, 1, 1, &b->engine));
    sn_engine_ref.start(b->engine, b->theta);
    OK(sn_learning_create(b->front, &b->o.problem, &b->seen, &b->shape, ROWS, 2, &b->learning));
}

static void drop(bench *b)
{
    sn_learning_free(b->learning);
    sn_engine_ref.free(b->engine);
    sn_front_problem_free(&b->o.problem, &b->seen);
    sn_front_free(b->front);
    sn_free(b->theta);
    oracle_free(&b->o);
}

static double loss_of(bench *b)
{
    const sn_use use = {&b->seen, &sn_engine_ref, &b->shape, b->theta, 1};
    const sn_rows rows = sn_rows_range(0, ROWS);
    double loss;
    OK(sn_front_refill(b->front, &b->o.problem, &b->seen));
    OK(sn_engine_loss(&use, &rows, NULL, &loss));
    return loss;
}

/* From the mode and next to no moves from there, s_out w_1' r_1 is the gradient of the loss in u, and the
   step of the front that of its parameters: - rate d loss / d phi. */
static void check_step(sn_task task)
{
    bench b;
    make(&b, task);
    sn_dynamics dynamics = oracle_dynamics(&b.shape, 1e-6, 0.1, 1e-6, 0.1, 1);
    dynamics.start = SN_START_MODE;
    sn_update update = {.momentum = 0.9, .rate = {1e-3}, .scale = {1e-6, 1e-6, 1e-6}};
    const sn_iteration iteration = {.rows = sn_rows_range(0, ROWS),
                                    .number = 1,
                                    .moving = true,
                                    .dynamics = &dynamics,
                                    .update = &update};
    const int64_t count = b.front->parameters;
    float before[64], after[64];
    assert_true(count <= 64);
    memcpy(before, b.front->theta, (size_t)count * sizeof *before);
    memset((float *)b.seen.x, 0,
           (size_t)(ROWS * b.seen.p) * sizeof(float)); /* it is to fill them in itself */
    OK(sn_learning_look(b.learning, b.engine, &iteration));
    sn_learning_step(b.learning, &update);
    memcpy(after, b.front->theta, (size_t)count * sizeof *after);
    for (int64_t k = 0; k < count; k++) {
        const float h = 2e-3F;
        memcpy(b.front->theta, before, (size_t)count * sizeof *before);
        b.front->theta[k] = before[k] + h;
        const double above = loss_of(&b);
        b.front->theta[k] = before[k] - h;
        const double slope = (above - loss_of(&b)) / (2.0 * (double)h);
        const double found = (double)(before[k] - after[k]) / 1e-3;
        if (fabs(found - slope) > 2e-3 + 0.02 * fabs(slope))
            fail_msg("parameter %d: %g is not %g", (int)k, found, slope);
    }
    sn_learning_restore(b.learning); /* to where it was made */
    assert_memory_equal(b.front->theta, before, (size_t)count * sizeof *before);
    drop(&b);
}

TEST(test_step)
{
    check_step(SN_CLASSIFICATION);
    check_step(SN_REGRESSION);
}

/* Decay is for kernels alone, and momentum keeps what was. */
TEST(test_decay)
{
    bench b;
    make(&b, SN_CLASSIFICATION);
    sn_dynamics dynamics = oracle_dynamics(&b.shape, 1e-6, 0.1, 1e-6, 0.1, 1);
    const sn_update update = {.momentum = 0.5, .rate = {0.01}, .decay = 0.2}; /* scale 0: no gradient */
    const sn_iteration iteration = {.rows = sn_rows_range(0, ROWS), .dynamics = &dynamics, .update = &update};
    b.front->theta[27] = 0.7F; /* a bias */
    const double k = (double)b.front->theta[0];
    for (int i = 0; i < 2; i++) {
        OK(sn_learning_look(b.learning, b.engine, &iteration));
        sn_learning_step(b.learning, &update);
    }
    const double first = k - 0.01 * 0.2 * k, second = first + 0.01 * (0.5 * -0.2 * k - 0.2 * first);
    assert_true(fabs((double)b.front->theta[0] - second) < 1e-6);
    assert_true(b.front->theta[27] == 0.7F);
    /* and no step is longer than a hundredth of what there is */
    float before[64];
    double moved = 0.0, all = 0.0;
    memcpy(before, b.front->theta, (size_t)b.front->parameters * sizeof *before);
    sn_learning_step(b.learning, &(sn_update){.rate = {100.0}, .decay = 0.2});
    for (int64_t j = 0; j < b.front->parameters; j++) {
        moved += pow((double)(b.front->theta[j] - before[j]), 2);
        all += pow((double)before[j], 2);
    }
    assert_true(fabs(sqrt(moved / all) - 0.01) < 1e-5);
    drop(&b);
}

RUN_TESTS(NULL, NULL)
