/*
 * The cuda engine against ref on random networks, and what is its own: the same bits on every run, queues of
 * steps, rows that are kept on the device or pass through it, its troubles as sentences. Without the module
 * or a GPU these tests say so and are skipped; with the emulated device (cuda_emulate.cuh) for a module they
 * run anywhere.
 */
#include <unistd.h>

#include "base/test_kit.h"
#include "engine/cuda_load.h"
#include "engine/test_drawn.h"

typedef struct setting {
    bool emulated;
} setting;

static int look_for_device(void **cmocka_state)
{
    static setting found;
    const sn_cuda_api *api;
    sn_cuda_device device;
    *cmocka_state = NULL;
    if (sn_cuda_load(&api, &device) != STONET_OK) {
        print_message("skipped: %s\n", stonet_last_error());
        const char *named = getenv("STONET_CUDA");
        if (named != NULL && access(named, R_OK) == 0)
            assert_null(strstr(stonet_last_error(), "cannot be loaded"));
        return 0;
    }
    print_message("on %s\n", device.name);
    found.emulated = strcmp(device.name, "emulated device") == 0;
    *cmocka_state = &found;
    return 0;
}

/* Skips the test without a device, or without the emulated one. */
static const setting *need_device(void **cmocka_state, bool emulated)
{
    const setting *at = *cmocka_state;
    if (at == NULL || (emulated && !at->emulated)) skip();
    return at;
}

static sn_engine *create(const fixture *f)
{
    return started(&sn_engine_cuda, f);
}

static void check_against_ref(const fixture *f, int steps, double tolerance)
{
    check_near_ref(f, steps, tolerance, create);
}

TEST(test_random_networks)
{
    const setting *at = need_device(cmocka_state, false);
    check_drawn_networks(check_against_ref, 64, at->emulated ? 50 : 150);
}

/* Other widths for the hidden layers, and parameters for them. */
static void widen(fixture *f, const int64_t *width)
{
    for (int i = 1; i < f->o.shape.layers; i++) f->o.shape.width[i] = width[i - 1];
    OK(sn_shape_layout(&f->o.shape));
    sn_free(f->o.theta);
    f->o.theta = test_zeros(f->o.shape.parameters, sizeof *f->o.theta);
    sn_shape_start(&f->o.shape, 1, f->o.theta);
}

/* Weights for a cluster of blocks, and too many for one: both on the emulated device, which is small. */
TEST(test_wide)
{
    const setting *at = need_device(cmocka_state, false);
    const int64_t small[][2] = {{70, 60}, {170, 153}, {500, 450}},
                  large[][2] = {{300, 290}, {512, 512}, {901, 700}};
    for (uint32_t seed = 0; seed < 3; seed++) {
        SN_FREED_BY(drop) fixture f;
        make(&f, seed, 2, 4, 12, 9);
        widen(&f, at->emulated ? small[seed] : large[seed]);
        check_against_ref(&f, 2, 5e-4);
    }
}

/* One step of a large batch is that of the reference engine, and the same bits come out when the sums of the
   shards are had one by one. */
static void check_large_batch(fixture *f, uint32_t seed, const int64_t *width, int64_t n)
{
    sn_shards shards;
    double loss, loss_ref;
    sn_step_report report;
    widen(f, width);
    sn_shards_whole(n, &shards);
    f->iteration.shards = &shards;
    f->iteration.dynamics = &f->dynamics;
    f->iteration.update = &f->update;
    if (seed % 3 == 2) f->iteration.rows = sn_rows_range(0, n);
    SN_BLOCK float *ref = stepped(started(&sn_engine_ref, f), f, 1, &loss_ref),
                   *theta = stepped(create(f), f, 1, &loss);
    assert_near(theta, ref, f->o.shape.parameters, 3e-4);
    assert_true(fabs(loss - loss_ref) <= 1e-4 * (1.0 + fabs(loss_ref)));
    const sn_pass pass = {.rows = f->iteration.rows, .layer = 1};
    SN_BLOCK float *expected = passed(started(&sn_engine_ref, f), f, &pass),
                   *out = passed(create(f), f, &pass);
    assert_near(out, expected, n * f->o.shape.width[1], 2e-6);
    SN_FREED_BY(sn_sums_clear) sn_sums sums = sn_sums_empty(f->o.shape.parameters, true);
    SN_AUTO(sn_engine) *engine = create(f);
    OK(sn_engine_cuda.accumulate(engine, &f->iteration, &sums));
    OK(sn_engine_cuda.apply(engine, &f->iteration, &sums, &report));
    sn_engine_cuda.get_parameters(engine, ref);
    assert_memory_equal(ref, theta, (size_t)f->o.shape.parameters * sizeof *ref);
    assert_true(report.loss == loss);
}

/* Batches of many rows, where the tensor cores multiply: networks that are narrow above the first layer,
   whose rows warps have each for themselves, and others, layer by layer. The last two have so many rows and
   units that products fill a device (cuda_wide.cuh), with inner dimensions that are no multiples of
   anything. */
TEST(test_large_batches)
{
    const setting *at = need_device(cmocka_state, false);
    static const struct {
        int hidden;
        int64_t rows[2], width[2][3]; /* of a device, and of the emulated one */
    } cases[] = {
        {1, {1030, 257}, {{37}, {37}}},
        {1, {1030, 257}, {{460}, {5}}},
        {2, {1030, 257}, {{64, 4}, {30, 3}}},
        {2, {1030, 257}, {{470, 16}, {50, 11}}},
        {2, {1030, 257}, {{300, 240}, {130, 120}}},
        {3, {1030, 257}, {{130, 430, 21}, {90, 150, 21}}},
        {1, {8400, 1030}, {{262}, {131}}},
        {3, {8400, 1030}, {{130, 430, 33}, {97, 140, 34}}},
    };
    for (uint32_t turn = 0; turn < 14; turn++) {
        const uint32_t k = turn < 12 ? turn * 5 % 6 : turn - 6, seed = turn < 12 ? turn : turn - 2;
        const int64_t n = cases[k].rows[at->emulated];
        SN_FREED_BY(drop) fixture f;
        make(&f, seed + 12, cases[k].hidden, 45, n, n);
        if (f.dynamics.sweeps > 2) f.dynamics.sweeps = 2;
        check_large_batch(&f, seed, cases[k].width[at->emulated], n);
    }
}

/* Networks so narrow that a step but its update is one launch (cuda_narrow.cuh): with one hidden layer and
   two, numbers and classes, every activation, integrator and start, rows with weights and without, of a
   multiple of four columns and not; shards that end with a few rows, and a row a part. */
TEST(test_narrow_networks)
{
    const setting *at = need_device(cmocka_state, false);
    static const struct {
        uint32_t seed;
        int hidden;
        int64_t width[2];
    } cases[] = {{43, 2, {64, 4}}, {46, 2, {50, 3}}, {2, 1, {64}},    {20, 1, {37}},
                 {10, 1, {20}},    {53, 2, {9, 2}},  {24, 2, {61, 4}}};
    for (uint32_t k = 0; k < 7; k++) {
        SN_FREED_BY(drop) fixture f;
        const int64_t n = (at->emulated ? 1030 : 8300) + (k == 0 ? at->emulated ? 1700 : 13000 : 0);
        make(&f, cases[k].seed, cases[k].hidden, 110, n, n);
        SN_BLOCK float *weight = test_zeros(n, sizeof *weight);
        for (int64_t row = 0; row < n; row++) weight[row] = 0.5F * (float)(row % 4);
        if (k % 2 == 1) f.o.problem.weight = weight;
        for (int i = 0; i <= cases[k].hidden; i++) f.update.rate[i] = 0.5; /* so that gradients show */
        check_large_batch(&f, k, cases[k].width, n);
    }
}

/* All rows at once, in shards: the tree, several chunks, several blocks a tile. */
TEST(test_full_batch)
{
    const setting *at = need_device(cmocka_state, false);
    const int64_t n = at->emulated ? 3001 : 20011;
    for (uint32_t seed = 0; seed < 4; seed++) {
        SN_FREED_BY(drop) fixture f;
        sn_shards shards;
        make(&f, seed, 2, 9, n, 1);
        sn_shards_whole(n, &shards);
        f.iteration.rows = sn_rows_range(0, n);
        f.iteration.shards = seed % 2 == 0 ? &shards : NULL;
        check_against_ref(&f, 1, 3e-4);
    }
}

enum { QUEUE = 40 };

/* So many batches asked for at once: as one step after the other, and the same again, to the bit. */
static void check_queue(const fixture *f, const sn_iteration *its, int count)
{
    sn_step_report reports[QUEUE], alone;
    float *theta[3];
    for (int k = 0; k < 3; k++) {
        theta[k] = test_zeros(f->o.shape.parameters, sizeof *theta[k]);
        SN_AUTO(sn_engine) *engine = create(f);
        if (k == 0)
            for (int j = 0; j < count; j++) OK(sn_engine_cuda.step(engine, &its[j], &alone));
        else
            OK(sn_engine_cuda.steps(engine, its, count, reports));
        sn_engine_cuda.get_parameters(engine, theta[k]);
        if (k == 0) continue;
        assert_memory_equal(theta[k], theta[0], (size_t)f->o.shape.parameters * sizeof *theta[k]);
        assert_true(reports[count - 1].loss == alone.loss && reports[count - 1].finite);
    }
    for (int k = 0; k < 3; k++) sn_free(theta[k]);
}

/* Batches of unlike sizes. */
TEST(test_queues)
{
    need_device(cmocka_state, false);
    for (uint32_t seed = 3; seed < 7; seed++) {
        SN_FREED_BY(drop) fixture f;
        sn_iteration its[QUEUE];
        make(&f, seed, 2, 24, 300, 300);
        for (int k = 0; k < QUEUE; k++) {
            its[k] = f.iteration;
            its[k].number = (uint32_t)k;
            its[k].rows = sn_rows_list(f.rows + k, 33 + k % 3);
        }
        check_queue(&f, its, QUEUE);
    }
}

/* The same of large batches of narrow networks (cuda_narrow.cuh); one that diverges is told. */
TEST(test_narrow_queues)
{
    enum { FEW = 5 };
    const setting *at = need_device(cmocka_state, false);
    SN_FREED_BY(drop) fixture f;
    sn_shards shards[FEW];
    sn_iteration its[FEW];
    sn_step_report report;
    const int64_t n = at->emulated ? 1040 : 8300, width[] = {30, 4};
    make(&f, 53, 2, 40, n, n);
    widen(&f, width);
    f.dynamics.sweeps = 1;
    for (int k = 0; k < FEW; k++) {
        const int64_t rows = n - 3 + k % 3;
        sn_shards_whole(rows, &shards[k]);
        its[k] = f.iteration;
        its[k].number = (uint32_t)k;
        its[k].rows = sn_rows_list(f.rows + k % 2, rows);
        its[k].shards = &shards[k];
    }
    check_queue(&f, its, FEW);
    for (int i = 0; i < 3; i++) f.update.rate[i] = 1e38;
    SN_AUTO(sn_engine) *engine = create(&f);
    for (int k = 0; k < 2; k++) OK(sn_engine_cuda.step(engine, &its[k], &report));
    assert_false(report.finite);
}

/* Rows whose response nobody knows go through as those whose response is there. */
TEST(test_no_response)
{
    need_device(cmocka_state, false);
    for (uint32_t seed = 4; seed < 8; seed++) {
        SN_FREED_BY(drop) fixture f;
        make(&f, seed, 1, 20, 100, 50);
        const sn_pass pass = {.rows = f.iteration.rows, .layer = 1};
        SN_BLOCK float *with = passed(create(&f), &f, &pass);
        f.o.problem.label = NULL;
        f.o.problem.y = NULL;
        SN_BLOCK float *without = passed(create(&f), &f, &pass);
        assert_memory_equal(with, without, (size_t)(pass.rows.n * f.o.shape.width[1]) * sizeof *with);
    }
}

/* The same features with another response, or weights: not what is kept. */
static void check_the_rest(const fixture *f)
{
    enum { ROWS = 100, MOST = 64 };
    static float weight[ROWS];
    static double y[ROWS * MOST];
    static int32_t label[ROWS];
    assert_true(f->o.problem.n <= ROWS && f->o.problem.outputs <= MOST);
    for (int k = 0; k < ROWS; k++) {
        weight[k] = (float)(1 + k % 3);
        label[k] = k % 2;
    }
    for (int k = 0; k < ROWS * MOST; k++) y[k] = (double)(k % 7) - 2.0;
    for (int what = 0; what < 2; what++) {
        double loss;
        float *theta[2];
        for (int keeps = 0; keeps < 2; keeps++) {
            fixture other = *f;
            if (what == 0) other.o.problem.weight = weight;
            if (what == 1 && f->o.problem.task == SN_CLASSIFICATION) other.o.problem.label = label;
            if (what == 1 && f->o.problem.task == SN_REGRESSION) other.o.problem.y = y;
            if (!keeps) other.o.problem.keep = NULL;
            sn_free(stepped(create(f), f, 1, &loss)); /* what is kept is its own */
            theta[keeps] = stepped(create(&other), &other, 1, &loss);
        }
        assert_memory_equal(theta[0], theta[1], (size_t)f->o.shape.parameters * sizeof *theta[0]);
        sn_free(theta[0]);
        sn_free(theta[1]);
    }
}

/* Rows that are kept are used by the next engine, unless the problem is another one. */
TEST(test_rows_are_kept)
{
    need_device(cmocka_state, false);
    SN_FREED_BY(drop) fixture f;
    sn_keep keep = {0};
    double loss;
    make(&f, 4, 1, 20, 100, 50);
    SN_BLOCK float *first = stepped(create(&f), &f, 1, &loss);
    f.o.problem.keep = &keep;
    SN_BLOCK float *kept = stepped(create(&f), &f, 1, &loss);
    assert_non_null(keep.kept);
    const void *before = keep.kept;
    f.o.x[0] += 100.0F; /* not on the device: this only shows that nothing is copied again */
    for (int64_t k = 0; k < f.iteration.rows.n; k++) f.rows[k] = 0;
    SN_BLOCK float *again = stepped(create(&f), &f, 1, &loss);
    assert_ptr_equal(keep.kept, before);
    fixture other = f;
    SN_BLOCK float *copy = test_zeros(f.o.problem.n * f.o.problem.p, sizeof *copy);
    memcpy(copy, f.o.x, (size_t)(f.o.problem.n * f.o.problem.p) * sizeof *copy);
    other.o.problem.x = copy;
    SN_BLOCK float *changed = stepped(create(&other), &other, 1, &loss);
    const size_t bytes = (size_t)f.o.shape.parameters * sizeof *first;
    assert_memory_equal(first, kept, bytes);
    assert_memory_not_equal(again, changed, bytes);
    check_the_rest(&f);
    sn_keep_clear(&keep);
}

/* Features that change between iterations are seen as they are. */
TEST(test_features_that_move)
{
    need_device(cmocka_state, false);
    SN_FREED_BY(drop) fixture f;
    sn_step_report report;
    make(&f, 5, 1, 20, 60, 50);
    f.iteration.moving = true;
    float *theta[2];
    for (int k = 0; k < 2; k++) {
        SN_AUTO(sn_engine) *engine = started(k == 0 ? &sn_engine_cuda : &sn_engine_ref, &f);
        for (int step = 0; step < 3; step++) {
            OK(engine->ops->step(engine, &f.iteration, &report));
            for (int64_t j = 0; j < f.o.problem.n * f.o.problem.p; j++) f.o.x[j] = -0.8F * f.o.x[j];
        }
        for (int64_t j = 0; j < f.o.problem.n * f.o.problem.p; j++) f.o.x[j] /= -0.512F;
        theta[k] = test_zeros(f.o.shape.parameters, sizeof *theta[k]);
        engine->ops->get_parameters(engine, theta[k]);
    }
    assert_near(theta[0], theta[1], f.o.shape.parameters, 3e-4);
    sn_free(theta[0]);
    sn_free(theta[1]);
}

TEST(test_divergence)
{
    need_device(cmocka_state, false);
    SN_FREED_BY(drop) fixture f;
    sn_step_report report;
    make(&f, 5, 2, 20, 100, 60);
    for (int i = 0; i < 3; i++) f.update.rate[i] = 1e38;
    SN_AUTO(sn_engine) *engine = create(&f);
    for (int k = 0; k < 3; k++) OK(sn_engine_cuda.step(engine, &f.iteration, &report));
    assert_false(report.finite);
}

/* Rows that do not fit on the device pass through it, and give what they give on it. */
TEST(test_rows_that_do_not_fit)
{
    need_device(cmocka_state, true);
    for (uint32_t seed = 0; seed < 4; seed++) {
        SN_FREED_BY(drop) fixture f;
        double loss[2];
        make(&f, seed, 2, 30, 4000, 40);
        SN_BLOCK float *resident = stepped(create(&f), &f, 3, &loss[0]);
        setenv("STONET_EMULATE", "memory=200000", 1);
        SN_BLOCK float *streamed = stepped(create(&f), &f, 3, &loss[1]);
        unsetenv("STONET_EMULATE");
        assert_memory_equal(streamed, resident, (size_t)f.o.shape.parameters * sizeof *resident);
        assert_true(loss[0] == loss[1]);
    }
}

/* A new engine and some of its steps on a device with this trouble. */
static stonet_status try_with(const fixture *f, const char *trouble, int steps)
{
    SN_AUTO(sn_engine) *engine = NULL;
    sn_step_report report;
    setenv("STONET_EMULATE", trouble, 1);
    stonet_status status = sn_engine_cuda.create(&f->o.shape, &f->o.problem, SEED, 1, &engine);
    if (status == STONET_OK) sn_engine_cuda.start(engine, f->o.theta);
    for (int k = 0; k < steps && status == STONET_OK; k++)
        status = sn_engine_cuda.step(engine, &f->iteration, &report);
    unsetenv("STONET_EMULATE");
    return status;
}

/* Whatever fails on the device is said, and the engine can be freed. */
TEST(test_troubles)
{
    need_device(cmocka_state, true);
    const char *const wanted[] = {"memory=1000", "fail=1", "fail=2", "fail=3", "fail=5"};
    for (int k = 0; k < 5; k++) {
        SN_FREED_BY(drop) fixture f;
        make(&f, 6, 2, 20, 600, 300);
        assert_says(try_with(&f, wanted[k], 4), k == 0 ? STONET_ERROR_MEMORY : STONET_ERROR_NUMERIC,
                    k == 0 ? "GPU's memory" : "the GPU failed");
        assert_non_null(strstr(stonet_last_error(), "engine=cpu"));
    }
}

TEST(test_memory_is_given_back)
{
    need_device(cmocka_state, true);
    SN_FREED_BY(drop) fixture f;
    char memory[64];
    long bytes = 1 << 12;
    make(&f, 6, 2, 20, 40, 20);
    do {
        bytes += bytes / 8;
        snprintf(memory, sizeof memory, "memory=%ld", bytes);
    } while (try_with(&f, memory, 1) != STONET_OK);
    for (int k = 0; k < 12; k++) OK(try_with(&f, memory, 1));
}

TEST(test_no_module)
{
    char held[4096] = "";
    const char *given = getenv(SN_CUDA_VARIABLE);
    if (given != NULL) snprintf(held, sizeof held, "%s", given);
    setenv(SN_CUDA_VARIABLE, "/nowhere/libstonet-cuda.so", 1);
    assert_false(sn_engine_usable(&sn_engine_cuda));
    assert_non_null(strstr(stonet_last_error(), "/nowhere/libstonet-cuda.so"));
    SN_FREED_BY(drop) fixture f;
    SN_AUTO(sn_engine) *engine = NULL;
    make(&f, 1, 1, 5, 10, 5);
    assert_int_equal(sn_engine_cuda.create(&f.o.shape, &f.o.problem, SEED, 1, &engine),
                     STONET_ERROR_UNSUPPORTED);
    assert_null(engine);
    if (given != NULL)
        setenv(SN_CUDA_VARIABLE, held, 1);
    else
        unsetenv(SN_CUDA_VARIABLE);
}

RUN_TESTS(look_for_device, NULL)
