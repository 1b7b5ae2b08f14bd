/* The deepest network there can be: what goes one layer too far leaves the arrays of an engine. */
#include "base/test_kit.h"
#include "engine/test_oracle.h"

enum { ROWS = 40, UNITS = 2, PARAMETERS = SN_MAX_LAYERS * UNITS * (UNITS + 1), STEPS = 3 };

typedef struct bed {
    oracle o;
    sn_dynamics dynamics;
    sn_update update;
    sn_shards shards;
} bed;

static void make_bed(bed *b)
{
    int64_t width[SN_MAX_LAYERS + 1];
    for (int i = 0; i <= SN_MAX_LAYERS; i++) width[i] = UNITS;
    *b = (bed){.o = oracle_make(SN_MAX_LAYERS, width, SN_TANH, SN_REGRESSION, ROWS, 5)};
    assert_int_equal(b->o.shape.parameters, PARAMETERS);
    b->dynamics = oracle_dynamics(&b->o.shape, 0.5, 1.0, 0.1, 0.1, 2);
    for (int i = 0; i < SN_MAX_LAYERS; i++) b->update.rate[i] = b->update.scale[i] = 0.01;
    b->update.momentum = 0.9;
    sn_shards_whole(ROWS, &b->shards);
}

/* Parameters and momentum after some steps, each at once or as sums that are applied; half of the way by one
   engine, the rest by another that takes over its state. Returns the loss of the last step. */
static double train(const sn_engine_ops *ops, const bed *b, bool at_once, double state[2][PARAMETERS])
{
    sn_engine *engine[2];
    sn_step_report report;
    sn_engine_state kept = {.parameters = state[0], .momentum = state[1]};
    for (int k = 0; k < 2; k++) OK(ops->create(&b->o.shape, &b->o.problem, 4, 1, &engine[k]));
    ops->start(engine[0], b->o.theta);
    for (int number = 0; number < STEPS; number++) {
        sn_engine *now = engine[number > 0];
        const sn_iteration it = {.rows = sn_rows_range(0, ROWS),
                                 .shards = &b->shards,
                                 .number = (uint32_t)number,
                                 .dynamics = &b->dynamics,
                                 .update = &b->update};
        if (at_once) {
            OK(ops->step(now, &it, &report));
        } else {
            sn_sums sums = sn_sums_empty(PARAMETERS, !ops->in_double);
            OK(ops->accumulate(now, &it, &sums));
            OK(ops->apply(now, &it, &sums, &report));
            sn_sums_clear(&sums);
        }
        assert_true(report.finite);
        ops->get_state(now, &kept);
        assert_int_equal(kept.iteration, number + 1);
        if (number == 0) ops->set_state(engine[1], &kept);
    }
    float theta[PARAMETERS];
    ops->get_parameters(engine[1], theta);
    for (int j = 0; j < PARAMETERS; j++) assert_true(theta[j] == (float)state[0][j]);
    for (int k = 0; k < 2; k++) ops->free(engine[k]);
    return report.loss;
}

TEST(test_engines_agree)
{
    static double right[2][PARAMETERS], fused[2][PARAMETERS], summed[2][PARAMETERS];
    bed b;
    make_bed(&b);
    const double loss = train(&sn_engine_ref, &b, true, right);
    for (const sn_engine_ops *ops = NULL; (ops = next_engine(ops)) != NULL;) {
        const double at_once = train(ops, &b, true, fused), in_sums = train(ops, &b, false, summed);
        assert_true(fabs(at_once - loss) < 1e-4 * loss && fabs(in_sums - loss) < 1e-4 * loss);
        assert_memory_equal(fused, summed, sizeof fused);
        for (int k = 0; k < 2; k++)
            for (int j = 0; j < PARAMETERS; j++)
                assert_true(fabs(fused[k][j] - right[k][j]) < 1e-4 * (1.0 + fabs(right[k][j])));
    }
    oracle_free(&b.o);
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

RUN_TESTS(NULL, NULL)
