/* What every engine asks of a network and its rows before it takes them: each limit, on both of its sides. */
#include "base/test_kit.h"
#include "engine/engine.h"

/* A network of so many layers of one unit each, and rows that fit it. */
static void make(int layers, sn_shape *shape, sn_problem *problem)
{
    *shape = (sn_shape){.layers = layers, .task = SN_REGRESSION};
    for (int i = 0; i <= SN_MAX_LAYERS; i++) shape->width[i] = 1;
    *problem = (sn_problem){.n = 5, .p = 1, .outputs = 1, .task = SN_REGRESSION};
}

TEST(test_threads_layers_and_rows)
{
    const int64_t most = UINT32_MAX;
    const struct {
        int layers, threads;
        int64_t first, n;
        stonet_status status;
    } cases[] = {{SN_MAX_LAYERS, 1, 0, 5, STONET_OK},
                 {SN_MAX_LAYERS, 0, 0, 5, STONET_ERROR_ARGUMENT},
                 {SN_MAX_LAYERS + 1, 1, 0, 5, STONET_ERROR_ARGUMENT},
                 {0, 1, 0, 5, STONET_ERROR_ARGUMENT},
                 {1, 1, 0, most, STONET_OK},
                 {1, 1, most - 1, 1, STONET_OK},
                 {1, 1, 0, most + 1, STONET_ERROR_DATA},
                 {1, 1, most, 1, STONET_ERROR_DATA},
                 {1, 1, 7, 0, STONET_ERROR_DATA},
                 {1, 1, -1, 5, STONET_ERROR_DATA},
                 {1, 1, 0, 1, STONET_OK},
                 {1, 1, 1, most, STONET_ERROR_DATA},
                 {1, 1, 1, most - 1, STONET_OK}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        sn_shape shape;
        sn_problem problem;
        make(cases[k].layers, &shape, &problem);
        problem.first_row = cases[k].first;
        problem.n = cases[k].n;
        assert_int_equal(sn_engine_check(&shape, &problem, cases[k].threads), cases[k].status);
    }
}

TEST(test_the_data_fit)
{
    for (int k = 0; k < 3; k++) {
        sn_shape shape;
        sn_problem problem;
        make(2, &shape, &problem);
        problem.p += k == 0;
        problem.outputs += k == 1;
        if (k == 2) problem.task = SN_CLASSIFICATION;
        assert_int_equal(sn_engine_check(&shape, &problem, 1), STONET_ERROR_ARGUMENT);
    }
}

TEST(test_units)
{
    const int64_t units[] = {0, (4 << 20) + 1, 4 << 20};
    for (int i = 0; i <= 2; i++)
        for (int k = 0; k < 3; k++) {
            sn_shape shape;
            sn_problem problem;
            make(2, &shape, &problem);
            shape.width[i] = units[k];
            problem.p = shape.width[0];
            problem.outputs = shape.width[2];
            assert_int_equal(sn_engine_check(&shape, &problem, 1),
                             k == 2 ? STONET_OK : STONET_ERROR_ARGUMENT);
        }
}

RUN_TESTS(NULL, NULL)
