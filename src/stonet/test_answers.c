/* The axes of a fitted network's Z: from all rows, block by block, or from as many as are enough. */
#include "base/memory.h"
#include "base/test_kit.h"
#include "data/test_source.h"
#include "engine/test_oracle.h"
#include "stonet/fitted.h"

/* The rows that are fetched, of which there are as many as one likes. */
typedef struct source {
    sn_row_source base;
    int64_t fetched, last;
} source;

static void fetch(const sn_row_source *self, const sn_rows *rows, uint32_t draw, float *x, int64_t stride)
{
    source *from = (source *)self;
    (void)draw;
    from->fetched += rows->n;
    for (int64_t i = 0; i < rows->n; i++) {
        x[i * stride] = (float)(sn_rows_at(rows, i) % 7);
        if (sn_rows_at(rows, i) > from->last) from->last = sn_rows_at(rows, i);
    }
}

static sn_stonet network_of(const oracle *o, const sn_engine_ops *engine)
{
    return (sn_stonet){.engine = engine,
                       .network = {.shape = o->shape, .theta = o->theta},
                       .response = {.targets = o->problem.outputs, .outputs = o->problem.outputs}};
}

/* 1,500 rows are two blocks: the axes are those of the units of all of them. */
TEST(blocks_of_rows)
{
    enum { N = 1500, Q = 3 };
    const int64_t width[] = {2, 5, Q, 2};
    SN_FREED_BY(oracle_free) oracle o = oracle_make(3, width, SN_TANH, SN_REGRESSION, N, 4);
    sn_stonet net = network_of(&o, &sn_engine_ref);
    static float units[N * Q];
    SN_FREED_BY(sn_axes_free) sn_axes axes = {0};
    assert_int_equal(sn_stonet_dim(&net), Q);
    OK(sn_stonet_turn(&net, &o.problem, 2, SN_UNITS_PLAIN, 1));
    assert_int_equal(sn_stonet_dim(&net), 2);
    OK(sn_engine_forward(&(sn_use){&o.problem, &sn_engine_ref, &o.shape, o.theta, 1},
                         &(sn_pass){.rows = sn_rows_range(0, N), .layer = 2}, units));
    OK(sn_axes_learn(&o.shape, o.theta, N, units, SN_UNITS_PLAIN, 2, &axes));
    assert_memory_equal(net.axes.map, axes.map, 2 * Q * sizeof *axes.map);
    assert_memory_equal(net.axes.mean, axes.mean, Q * sizeof *axes.mean);
    assert_memory_equal(net.axes.share, axes.share, 2 * sizeof *axes.share);
    sn_axes_free(&net.axes);
}

/* At most 100,000 rows, and 2^21 numbers of Z; evenly from the first to the last. */
TEST(enough_rows)
{
    static const struct {
        int64_t n, units, wanted;
    } cases[] = {{99999, 1, 99999}, {100001, 1, 100000}, {150000, 1, 100000}, {43000, 50, 41943}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const int64_t width[] = {1, cases[k].units, 1}, n = cases[k].n;
        SN_FREED_BY(oracle_free) oracle o = oracle_make(2, width, SN_IDENTITY, SN_REGRESSION, 2, 4);
        sn_stonet net = network_of(&o, &sn_engine_cpu);
        source from = {.base = {.prepare = rows_are_ready, .fetch = fetch}};
        const sn_problem problem = {
            .n = n, .p = 1, .source = &from.base, .task = SN_REGRESSION, .outputs = 1};
        OK(sn_stonet_turn(&net, &problem, 1, SN_UNITS_PLAIN, 1));
        assert_int_equal(from.fetched, cases[k].wanted);
        assert_int_equal(from.last, (cases[k].wanted - 1) * n / cases[k].wanted);
        sn_axes_free(&net.axes);
    }
}

RUN_TESTS(NULL, NULL)
