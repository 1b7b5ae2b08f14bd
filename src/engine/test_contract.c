/* What every engine of the registry promises beside its arithmetic: the same bits whoever computes which
   shards, a state that can be carried over, weights, passes and draws, rows from a source. */
#include "base/memory.h"
#include "base/test_kit.h"
#include "engine/test_oracle.h"

enum { ROWS = 1500, THREADS = 2 };
static const int64_t WIDTH[] = {5, 19, 3, 4};

typedef struct bed {
    oracle o;
    sn_dynamics dynamics;
    sn_update update;
    sn_shards shards;
} bed;

static void free_bed(bed *b)
{
    oracle_free(&b->o);
}

static bed make_bed(sn_task task)
{
    bed b = {.o = oracle_make(3, WIDTH, SN_TANH, task, ROWS, 5),
             .update = {.momentum = 0.9, .decay = 0.01, .l1 = 0.001, .group = 0.01}};
    b.dynamics = oracle_dynamics(&b.o.shape, 0.05, 0.5, 0.1, 0.1, 3);
    b.dynamics.start = SN_START_MODE;
    for (int i = 0; i < 3; i++) b.update.rate[i] = b.update.scale[i] = 0.05;
    sn_shards_whole(ROWS, &b.shards);
    assert_int_equal(b.shards.total, 8);
    return b;
}

/* The deepest network there can be: what goes one layer too far leaves the arrays of an engine. */
static bed make_deep_bed(void)
{
    int64_t width[SN_MAX_LAYERS + 1], rows = 40;
    for (int i = 0; i <= SN_MAX_LAYERS; i++) width[i] = 2;
    bed b = {.o = oracle_make(SN_MAX_LAYERS, width, SN_TANH, SN_REGRESSION, rows, 5), .update.momentum = 0.9};
    b.dynamics = oracle_dynamics(&b.o.shape, 0.5, 1.0, 0.1, 0.1, 2);
    for (int i = 0; i < SN_MAX_LAYERS; i++) b.update.rate[i] = b.update.scale[i] = 0.01;
    sn_shards_whole(rows, &b.shards);
    return b;
}

static sn_engine *engine_of(const sn_engine_ops *ops, const bed *b, int threads)
{
    sn_engine *engine = NULL;
    OK(ops->create(&b->o.shape, &b->o.problem, 11, threads, &engine));
    ops->start(engine, b->o.theta);
    return engine;
}

static sn_iteration iteration_of(const bed *b, uint32_t number)
{
    return (sn_iteration){.rows = sn_rows_range(0, b->o.problem.n),
                          .shards = &b->shards,
                          .number = number,
                          .dynamics = &b->dynamics,
                          .update = &b->update};
}

/* Iterations first .. last - 1; returns the loss of the last. */
static double train(sn_engine *engine, const bed *b, uint32_t first, uint32_t last)
{
    sn_step_report report = {0};
    for (uint32_t number = first; number < last; number++) {
        const sn_iteration it = iteration_of(b, number);
        OK(engine->ops->step(engine, &it, &report));
        assert_true(report.finite);
    }
    return report.loss;
}

typedef struct kept_state {
    sn_engine_state state;
    int64_t size;
    double loss; /* of the last step */
} kept_state;

static kept_state take_state(const sn_engine *engine, const bed *b, double loss)
{
    kept_state kept = {.size = b->o.shape.parameters, .loss = loss};
    OK(SN_NEW(kept.state.parameters, kept.size));
    OK(SN_NEW(kept.state.momentum, kept.size));
    engine->ops->get_state(engine, &kept.state);
    return kept;
}

static void drop_state(kept_state *kept)
{
    sn_free(kept->state.parameters);
    sn_free(kept->state.momentum);
}

/* What an engine has is near what ref has. */
static void assert_near_state(const kept_state *a, const kept_state *right)
{
    for (int64_t j = 0; j < a->size; j++) {
        const double w = right->state.parameters[j], u = right->state.momentum[j];
        assert_true(fabs(a->state.parameters[j] - w) < 1e-4 * (1.0 + fabs(w)));
        assert_true(fabs(a->state.momentum[j] - u) < 1e-4 * (1.0 + fabs(u)));
    }
}

static void assert_same_state(const kept_state *a, const kept_state *b)
{
    assert_memory_equal(a->state.parameters, b->state.parameters, (size_t)a->size * sizeof(double));
    assert_memory_equal(a->state.momentum, b->state.momentum, (size_t)a->size * sizeof(double));
    assert_int_equal(a->state.iteration, b->state.iteration);
    assert_true(a->loss == b->loss);
}

/* Several engines that share the shards out, and a hook that joins what they found. */
enum { MOST = 7 };
typedef struct company {
    const bed *b;
    sn_engine *engine[MOST];
    int count;
    uint32_t number;
} company;

static sn_sums sums_of(const sn_engine_ops *ops, const bed *b)
{
    return sn_sums_empty(b->o.shape.parameters, !ops->in_double);
}

/* The sums of the shards that engine k of a company holds. */
static void accumulate_share(const company *c, int k, sn_sums *sums)
{
    const sn_shards *all = &c->b->shards;
    sn_shards share = {.total = all->total,
                       .first = all->total * k / c->count,
                       .count = all->total * (k + 1) / c->count - all->total * k / c->count};
    const int64_t begin = all->border[share.first], end = all->border[share.first + share.count];
    for (int v = 0; v <= share.count; v++) share.border[v] = all->border[share.first + v] - begin;
    sn_iteration it = iteration_of(c->b, c->number);
    it.rows = sn_rows_range(begin, end - begin);
    it.shards = &share;
    OK(c->engine[k]->ops->accumulate(c->engine[k], &it, sums));
}

/* Adds the roots of `later`, whose shards come after those of `sums`, by the tree. */
static void add_by_the_tree(sn_sums *sums, const sn_sums *later)
{
    for (int r = 0; r < later->roots; r++) {
        const sn_root *from = &later->root[r];
        OK(sn_sums_add(sums, from->first, from->count));
        sn_root *to = &sums->root[sums->roots - 1];
        to->loss = from->loss;
        to->weight = from->weight;
        memcpy(to->gradient, from->gradient, (size_t)sums->parameters * sizeof *to->gradient);
        sn_sums_close(sums);
    }
}

static stonet_status join(void *user, sn_sums *sums)
{
    const company *c = user;
    for (int k = 0; k < c->count; k++) {
        sn_sums part = sums_of(c->engine[k]->ops, c->b);
        accumulate_share(c, k, &part);
        if (k == 0) sn_sums_reset(sums, c->b->shards.total);
        add_by_the_tree(sums, &part);
        sn_sums_clear(&part);
    }
    return STONET_OK;
}

/* The state after three iterations by `count` engines; NULL ops->step is never called. */
static kept_state work_together(const sn_engine_ops *ops, const bed *b, int count)
{
    company c = {.b = b, .count = count};
    for (int k = 0; k < count; k++) c.engine[k] = engine_of(ops, b, 1 + k % THREADS);
    const sn_reduce reduce = {.join = join, .user = &c};
    sn_step_report report = {0};
    for (c.number = 0; c.number < 3; c.number++) {
        sn_sums sums = sums_of(ops, b);
        const sn_iteration it = iteration_of(b, c.number);
        OK(sn_engine_iterate(c.engine[0], &it, &reduce, &sums, &report));
        assert_true(report.finite);
        for (int k = 1; k < count; k++) /* the others apply the same sums */
            OK(ops->apply(c.engine[k], &it, &sums, &report));
        sn_sums_clear(&sums);
    }
    kept_state kept = take_state(c.engine[count - 1], b, report.loss);
    for (int k = 0; k < count; k++) ops->free(c.engine[k]);
    return kept;
}

TEST(test_the_same_bits_whoever_sums)
{
    const int counts[] = {1, 2, 3, 7};
    float weight[ROWS];
    for (int64_t i = 0; i < ROWS; i++) weight[i] = 0.5F * (float)(i % 3);
    for (const sn_engine_ops *ops = NULL; (ops = next_engine(ops)) != NULL;) {
        SN_FREED_BY(free_bed) bed b = make_bed(SN_CLASSIFICATION);
        b.o.problem.weight = weight;
        SN_AUTO(sn_engine) *alone = engine_of(ops, &b, 1);
        SN_FREED_BY(drop_state) kept_state fused = take_state(alone, &b, train(alone, &b, 0, 3));
        for (int k = 0; k < 4; k++) {
            SN_FREED_BY(drop_state) kept_state together = work_together(ops, &b, counts[k]);
            assert_same_state(&together, &fused);
        }
    }
}

TEST(test_the_deepest_network)
{
    SN_FREED_BY(free_bed) bed b = make_deep_bed();
    SN_FREED_BY(drop_state) kept_state right = work_together(&sn_engine_ref, &b, 1);
    for (const sn_engine_ops *ops = NULL; (ops = next_engine(ops)) != NULL;) {
        SN_AUTO(sn_engine) *alone = engine_of(ops, &b, 1);
        const double loss = train(alone, &b, 0, 3);
        SN_FREED_BY(drop_state)
        kept_state fused = take_state(alone, &b, loss), summed = work_together(ops, &b, 1);
        assert_same_state(&summed, &fused);
        assert_near_state(&fused, &right);
    }
}

/* Shards of many sizes: one that fills several chunks, one row, none. */
TEST(test_ragged_shards)
{
    const int64_t width[] = {3, 4, 2}, n = 13000;
    SN_FREED_BY(oracle_free) oracle o = oracle_make(2, width, SN_RELU, SN_REGRESSION, n, 6);
    const sn_dynamics d = oracle_dynamics(&o.shape, 0.1, 0.5, 0.1, 0.1, 2);
    const sn_update up = {.rate = {0.1, 0.1}, .scale = {0.1, 0.1}};
    const sn_shards shards = {.total = 4, .count = 4, .border = {0, 12001, 12001, 12002, n}};
    const sn_iteration it = {
        .rows = sn_rows_range(0, n), .shards = &shards, .number = 1, .dynamics = &d, .update = &up};
    float theta[2][32];
    for (int e = 0; sn_engine_at(e) != NULL; e++) {
        SN_AUTO(sn_engine) *engine = NULL;
        sn_step_report report;
        const sn_engine_ops *ops = sn_engine_at(e);
        if (!sn_engine_usable(ops)) continue;
        OK(ops->create(&o.shape, &o.problem, 4, THREADS, &engine));
        ops->start(engine, o.theta);
        OK(ops->step(engine, &it, &report));
        ops->get_parameters(engine, theta[e > 0]);
        for (int64_t j = 0; j < o.shape.parameters && e > 0; j++)
            assert_true(fabsf(theta[0][j] - theta[1][j]) < 1e-4F * (1.0F + fabsf(theta[1][j])));
    }
}

/* Stop after four iterations, carry the state into a new engine, go on: as if nothing had been. */
static void check_carrying_over(const sn_engine_ops *ops, const bed *b)
{
    SN_AUTO(sn_engine) *first = engine_of(ops, b, 1), *second = NULL;
    SN_BLOCK float *theta = test_zeros(b->o.shape.parameters, sizeof *theta);
    train(first, b, 0, 4);
    SN_FREED_BY(drop_state) kept_state stopped = take_state(first, b, 0.0);
    assert_int_equal(stopped.state.iteration, 4);
    OK(ops->create(&b->o.shape, &b->o.problem, 11, THREADS, &second));
    ops->set_state(second, &stopped.state);
    ops->get_parameters(second, theta);
    for (int64_t j = 0; j < stopped.size; j++) assert_true(theta[j] == (float)stopped.state.parameters[j]);
    const double loss = train(first, b, 4, 7), same = train(second, b, 4, 7);
    SN_FREED_BY(drop_state)
    kept_state went_on = take_state(first, b, loss), resumed = take_state(second, b, same);
    assert_same_state(&resumed, &went_on);
    ops->start(second, b->o.theta); /* the momentum is part of it: without it the way is another */
    SN_FREED_BY(drop_state) kept_state anew = take_state(second, b, 0.0);
    for (int64_t j = 0; j < anew.size; j++) assert_true(anew.state.momentum[j] == 0.0);
}

TEST(test_state_carries_over)
{
    SN_FREED_BY(free_bed) bed b = make_bed(SN_REGRESSION), deep = make_deep_bed();
    for (const sn_engine_ops *ops = NULL; (ops = next_engine(ops)) != NULL;) {
        check_carrying_over(ops, &b);
        check_carrying_over(ops, &deep);
    }
}

/* A row of weight 2 counts as two of its kind, one of weight 0 not at all, and nothing is no batch. */
TEST(test_weights)
{
    for (int e = 0; sn_engine_at(e) != NULL; e++) {
        const sn_engine_ops *ops = sn_engine_at(e);
        if (!sn_engine_usable(ops)) continue;
        SN_FREED_BY(free_bed) bed b = make_bed(e % 2 == 0 ? SN_CLASSIFICATION : SN_REGRESSION);
        enum { FEW = 300 };
        float weight[ROWS];
        int64_t repeated[2 * FEW], count = 0;
        for (int64_t i = 0; i < ROWS; i++) weight[i] = (float)(i % 3);
        for (int64_t i = 0; i < FEW; i++)
            for (int64_t k = 0; k < i % 3; k++) repeated[count++] = i;
        sn_sums sums[2] = {sums_of(ops, &b), sums_of(ops, &b)};
        for (int k = 0; k < 2; k++) {
            b.o.problem.weight = k == 0 ? weight : NULL;
            SN_AUTO(sn_engine) *engine = engine_of(ops, &b, 1);
            sn_iteration it = iteration_of(&b, 2);
            it.shards = NULL;
            it.rows = k == 0 ? sn_rows_range(0, FEW) : sn_rows_list(repeated, count);
            OK(ops->accumulate(engine, &it, &sums[k]));
        }
        assert_true(sums[0].root[0].weight == (double)count);
        assert_true(sums[1].root[0].weight == (double)count);
        assert_true(fabs(sums[0].root[0].loss - sums[1].root[0].loss) < 1e-5 * sums[1].root[0].loss);
        for (int64_t j = 0; j < b.o.shape.parameters; j++) {
            const double a = sums[0].root[0].gradient[j], c = sums[1].root[0].gradient[j];
            assert_true(fabs(a - c) < 1e-3 * (1.0 + fabs(c)));
        }
        for (int k = 0; k < 2; k++) sn_sums_clear(&sums[k]);
        memset(weight, 0, sizeof weight);
        b.o.problem.weight = weight;
        SN_AUTO(sn_engine) *engine = engine_of(ops, &b, 1);
        const sn_iteration it = iteration_of(&b, 2);
        sn_step_report report;
        assert_int_equal(ops->step(engine, &it, &report), STONET_ERROR_ARGUMENT);
    }
}

/* A source that has its rows in memory upside down. */
typedef struct turned {
    sn_row_source base;
    const float *x;
    int64_t n, p;
    stonet_status answer;
} turned;

static stonet_status prepare_turned(const sn_row_source *source, const sn_rows *rows)
{
    (void)rows;
    return ((const turned *)source)->answer;
}

/* Draw d is d tenths more, in the first column. */
static void fetch_turned(const sn_row_source *source, const sn_rows *rows, uint32_t draw, float *x,
                         int64_t stride)
{
    const turned *t = (const turned *)source;
    for (int64_t i = 0; i < rows->n; i++) {
        memcpy(x + i * stride, t->x + (t->n - 1 - sn_rows_at(rows, i)) * t->p, (size_t)t->p * sizeof *x);
        x[i * stride] += 0.1F * (float)draw;
    }
}

/* Rows from a source give the bits that rows in memory give, in all that an engine does: all rows, or those
   of a draw of missing cells, whose draw 0 is what lies in memory. */
static void check_source(const sn_engine_ops *ops, uint32_t draw)
{
    enum { SOME = 40, P = 5 };
    SN_FREED_BY(free_bed) bed b = make_bed(SN_REGRESSION);
    SN_BLOCK float *upside_down = test_zeros(ROWS * P, sizeof *upside_down),
                   *moved = test_zeros(ROWS * P, sizeof *moved);
    turned t = {
        .base = {.prepare = prepare_turned, .fetch = fetch_turned}, .x = upside_down, .n = ROWS, .p = P};
    float z[2][SOME * 3], y[2][SOME * 3], all[2][ROWS * 3];
    kept_state kept[2];
    sn_step_report report;
    int64_t some[SOME];
    for (int64_t i = 0; i < ROWS; i++)
        memcpy(upside_down + i * P, b.o.x + (ROWS - 1 - i) * P, P * sizeof(float));
    fetch_turned(&t.base, &(sn_rows){.n = ROWS}, draw, moved, P);
    for (int64_t i = 0; i < SOME; i++) some[i] = (37 * i) % ROWS;
    for (int k = 0; k < 2; k++) {
        b.o.problem.x = k == 0 ? moved : draw == 0 ? NULL : b.o.x;
        b.o.problem.source = k == 0 ? NULL : &t.base;
        SN_AUTO(sn_engine) *engine = engine_of(ops, &b, THREADS);
        sn_iteration it = iteration_of(&b, 1);
        it.draw = draw;
        OK(ops->step(engine, &it, &report));
        kept[k] = take_state(engine, &b, report.loss);
        OK(ops->impute(engine, &it, 2, all[k]));
        it.rows = sn_rows_list(some, SOME);
        it.shards = NULL;
        const sn_pass pass = {.rows = it.rows, .layer = 2};
        OK(ops->impute(engine, &it, 2, y[k]));
        OK(ops->forward(engine, &pass, z[k]));
        if (k == 0) continue; /* a source that cannot give its rows stops whatever needs them */
        t.answer = STONET_ERROR_IO;
        assert_int_equal(ops->step(engine, &it, &report), STONET_ERROR_IO);
        assert_int_equal(ops->impute(engine, &it, 2, y[1]), STONET_ERROR_IO);
        if (draw == 0) assert_int_equal(ops->forward(engine, &pass, z[1]), STONET_ERROR_IO);
    }
    assert_same_state(&kept[0], &kept[1]);
    assert_memory_equal(y[0], y[1], sizeof y[0]);
    assert_memory_equal(all[0], all[1], sizeof all[0]);
    if (draw == 0) assert_memory_equal(z[0], z[1], sizeof z[0]); /* passes draw nothing */
    for (int k = 0; k < 2; k++) drop_state(&kept[k]);
}

TEST(test_rows_from_a_source)
{
    for (const sn_engine_ops *ops = NULL; (ops = next_engine(ops)) != NULL;)
        for (uint32_t draw = 0; draw < 3; draw += 2) check_source(ops, draw);
}

/* Passes and draws of every engine are those of ref, for any threads and any cut of the rows. */
TEST(test_passes)
{
    SN_FREED_BY(free_bed) bed b = make_bed(SN_CLASSIFICATION);
    b.o.problem.first_row = 7; /* these rows are a part of a larger table */
    SN_BLOCK float *ref = test_zeros(ROWS * 19, sizeof *ref), *out = test_zeros(ROWS * 19, sizeof *out);
    for (int kind = 0; kind < 7; kind++) {
        sn_pass pass = {.rows = sn_rows_range(0, ROWS), .layer = 1 + kind % 3};
        pass.activated = kind >= 3 && pass.layer < 3;
        if (kind >= 5) pass.s = b.dynamics.s;
        pass.draw = (uint32_t)kind;
        const int64_t d = WIDTH[pass.layer];
        SN_AUTO(sn_engine) *reference = engine_of(&sn_engine_ref, &b, 1);
        OK(sn_engine_ref.forward(reference, &pass, ref));
        for (const sn_engine_ops *ops = NULL; (ops = next_engine(ops)) != NULL;) {
            SN_AUTO(sn_engine) *engine = engine_of(ops, &b, THREADS);
            OK(engine->ops->forward(engine, &pass, out));
            for (int64_t k = 0; k < ROWS * d; k++) assert_true(fabsf(out[k] - ref[k]) < 2e-5F);
            float again[30 * 19];
            sn_pass part = pass;
            part.rows = sn_rows_range(1000, 30);
            OK(engine->ops->forward(engine, &part, again));
            assert_memory_equal(again, out + 1000 * d, (size_t)(30 * d) * sizeof *again);
        }
    }
}

/* The noise of a row goes by its number in the whole data, whatever rows are beside it. */
TEST(test_noise_goes_by_the_global_row)
{
    for (const sn_engine_ops *ops = NULL; (ops = next_engine(ops)) != NULL;) {
        SN_FREED_BY(free_bed) bed b = make_bed(SN_REGRESSION);
        float whole[20 * 3], part[20 * 3], single[3];
        sn_iteration it = iteration_of(&b, 1);
        it.rows = sn_rows_range(100, 20);
        SN_AUTO(sn_engine) *engine = engine_of(ops, &b, 1);
        OK(ops->impute(engine, &it, 2, whole));
        it.rows = sn_rows_range(107, 1);
        OK(ops->impute(engine, &it, 2, single));
        assert_memory_equal(single, whole + 7 * 3, sizeof single);
        b.o.problem.x += 100 * 5;
        b.o.problem.y += 100 * 4;
        b.o.problem.n = 20;
        b.o.problem.first_row = 100;
        it.rows = sn_rows_range(0, 20);
        sn_engine_free(engine);
        engine = engine_of(ops, &b, 1);
        OK(ops->impute(engine, &it, 2, part));
        assert_memory_equal(whole, part, sizeof whole);
    }
}

TEST(test_losses)
{
    SN_FREED_BY(free_bed) bed b = make_bed(SN_CLASSIFICATION);
    const sn_rows rows = sn_rows_range(3, 1400);
    const sn_rows one = sn_rows_range(3, 1);
    const sn_use by_ref = {&b.o.problem, &sn_engine_ref, &b.o.shape, b.o.theta, 1};
    const sn_use by_cpu = {&b.o.problem, &sn_engine_cpu, &b.o.shape, b.o.theta, 2};
    double ref, cpu, weighted, single;
    OK(sn_engine_loss(&by_ref, &rows, NULL, &ref));
    OK(sn_engine_loss(&by_cpu, &rows, NULL, &cpu));
    assert_true(fabs(ref - cpu) < 1e-6);
    float weight[ROWS] = {0};
    weight[3] = 4.0F;
    b.o.problem.weight = weight;
    OK(sn_engine_loss(&by_cpu, &rows, NULL, &weighted));
    b.o.problem.weight = NULL;
    OK(sn_engine_loss(&by_cpu, &one, NULL, &single));
    assert_true(fabs(weighted - single) < 1e-12);
}

/* The loss of all rows, which are cut into shards, is the mean of those of its parts. */
TEST(test_losses_of_parts)
{
    enum { MANY = 9000, FIRST = 700 }; /* shards of more rows than are held at a time */
    const int64_t width[] = {3, 4, 2};
    SN_FREED_BY(oracle_free) oracle o = oracle_make(2, width, SN_TANH, SN_REGRESSION, MANY, 8);
    const int64_t border[] = {0, FIRST, MANY};
    const sn_use use = {&o.problem, &sn_engine_ref, &o.shape, o.theta, 1};
    double sum = 0.0, all, part;
    for (int k = 0; k < 2; k++) {
        const sn_rows rows = sn_rows_range(border[k], border[k + 1] - border[k]);
        OK(sn_engine_loss(&use, &rows, NULL, &part));
        sum += part * (double)rows.n;
    }
    const sn_rows whole = sn_rows_range(0, MANY), first = sn_rows_range(0, FIRST);
    OK(sn_engine_loss(&use, &whole, NULL, &all));
    assert_true(fabs(all - sum / MANY) < 1e-9 * all);
    double right = 0.0; /* and the first of them, by hand */
    for (int i = 0; i < FIRST; i++) {
        const sn_rows one = sn_rows_range(i, 1);
        OK(sn_engine_loss(&use, &one, NULL, &part));
        right += part / FIRST;
    }
    OK(sn_engine_loss(&use, &first, NULL, &part));
    assert_true(fabs(part - right) < 1e-9 * right);
}

TEST(test_registry)
{
    assert_ptr_equal(sn_engine_find("cpu"), &sn_engine_cpu);
    assert_ptr_equal(sn_engine_find("ref"), &sn_engine_ref);
    assert_null(sn_engine_find("abacus"));
    assert_null(sn_engine_at(-1));
    char choices[64] = SN_ENGINE_AUTO;
    for (int e = 0; sn_engine_at(e) != NULL; e++) {
        const sn_engine_ops *ops = sn_engine_at(e);
        assert_ptr_equal(sn_engine_find(ops->name), ops);
        strcat(choices, "|");
        strcat(choices, ops->name);
    }
    assert_string_equal(choices, SN_ENGINE_WORDS);
    assert_string_equal(SN_ENGINE_HELP,
                        "cpu: float, fast; ref: double, plain loops; cuda: float, on a GPU (make gpu); auto: "
                        "cuda where that can be used, else cpu");
}

RUN_TESTS(NULL, NULL)
