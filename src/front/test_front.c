/* Fronts: the kernel's features, columns and components, and their way to a store and back. */
#include "base/memory.h"
#include "base/test_store.h"
#include "engine/test_oracle.h"
#include "front/front_kernel.h"

enum { ROWS = 240, P = 3 };

static double squared(const float *a, const float *b, int64_t n)
{
    double sum = 0.0;
    for (int64_t j = 0; j < n; j++) sum += pow((double)a[j] - (double)b[j], 2);
    return sum;
}

/* A hill around 0: its height, or two classes, on it and beside it. */
static oracle hill(sn_task task)
{
    const int64_t width[] = {P, 2, task == SN_CLASSIFICATION ? 2 : 1};
    oracle o = oracle_make(2, width, SN_TANH, task, ROWS, 5);
    for (int64_t r = 0; r < ROWS; r++) {
        const double noise = o.y[r * width[2]];
        const float zero[P] = {0};
        const double height = exp(-squared(o.x + P * r, zero, P) / 3.0) - 0.45;
        o.label[r] = height + 0.02 * noise > 0.0;
        o.y[r * width[2]] = 4.0 * height + 0.005 * noise;
    }
    return o;
}

static sn_front *kernel_of(const sn_problem *problem, double complexity, double linear, int64_t landmarks)
{
    const sn_rows all = sn_rows_range(0, problem->n);
    const sn_front_recipe setting = {.complexity = complexity, .linear = linear, .size = landmarks};
    sn_front *front = NULL;
    OK(sn_front_kernel_create(problem, &all, &setting, 3, &front));
    return front;
}

/* With every row a landmark, distances between features are those of the kernel. */
TEST(features_have_the_distances_of_the_kernel)
{
    SN_FREED_BY(oracle_free) oracle o = hill(SN_REGRESSION);
    sn_problem some = o.problem, seen;
    some.n = 60;
    for (int share = 0; share < 2; share++) {
        const double rho = 0.5 * share;
        SN_AUTO(sn_front) *front = kernel_of(&some, 1.5, rho, 1000);
        assert_int_equal(front->inputs, P);
        OK(sn_front_problem(front, &some, NULL, &seen));
        assert_int_equal(seen.p, front->outputs);
        double s = 0.0, sum = 0.0;
        for (int i = 0; i < 60; i++)
            for (int j = 0; j < i; j++) s += sqrt(squared(o.x + P * i, o.x + P * j, P)) / (60.0 * 59.0 / 2.0);
        for (int i = 0; i < 60; i++) {
            for (int j = 0; j < i; j++) {
                const double d2 = squared(o.x + P * i, o.x + P * j, P);
                const double wanted =
                    (1.0 - rho) * 2.0 * (1.0 - exp(-1.5 * d2 / (2.0 * s * s))) + rho / P * d2;
                const double found = squared(seen.x + i * seen.p, seen.x + j * seen.p, seen.p);
                if (!(fabs(found - wanted) < 1e-4)) fail_msg("%d %d: %g is not %g", i, j, found, wanted);
            }
            sum += (double)seen.x[i * seen.p];
        }
        assert_true(fabs(sum) < 1e-4);
        sn_front_problem_free(&some, &seen);
    }
}

/* Layer 1 straight from x is layer 1 of the features. */
TEST(layer_1_needs_no_features)
{
    SN_FREED_BY(oracle_free) oracle o = hill(SN_REGRESSION);
    for (int share = 0; share < 2; share++) {
        SN_AUTO(sn_front) *front = kernel_of(&o.problem, 1.5, 0.1 * share, 70);
        sn_shape shape = {.layers = 2, .width = {front->outputs, 4, 1}, .activation = SN_TANH};
        sn_problem seen;
        float mu[ROWS * 4];
        OK(sn_shape_layout(&shape));
        float *theta = test_calloc((size_t)shape.parameters, sizeof *theta);
        sn_shape_start(&shape, 9, theta);
        for (int u = 0; u < 4; u++) theta[shape.bias_at[0] + u] = 0.5F * (float)u;
        OK(sn_front_problem(front, &o.problem, NULL, &seen));
        double *folded;
        OK(front->ops->fold(front, &shape, theta, &folded));
        OK(front->ops->first_layer(front, &shape, folded, ROWS, o.x, mu));
        sn_free(folded);
        for (int64_t k = 0; k < (int64_t)ROWS * 4; k++) {
            double wanted = (double)theta[shape.bias_at[0] + k % 4];
            for (int64_t j = 0; j < front->outputs; j++)
                wanted += (double)theta[shape.weight_at[0] + k % 4 * front->outputs + j] *
                          (double)seen.x[k / 4 * front->outputs + j];
            assert_true(fabs(wanted - (double)mu[k]) < 1e-5);
        }
        test_free(theta);
        sn_front_problem_free(&o.problem, &seen);
    }
}

TEST(no_front_is_the_problem_itself)
{
    SN_FREED_BY(oracle_free) oracle o = hill(SN_REGRESSION);
    sn_problem seen;
    OK(sn_front_problem(NULL, &o.problem, NULL, &seen));
    assert_ptr_equal(seen.x, o.problem.x);
    sn_front_problem_free(&o.problem, &seen);
    SN_AUTO(sn_store) *store = NULL;
    sn_front *front = (sn_front *)&seen;
    OK(sn_store_create(&store));
    OK(sn_front_put(NULL, store));
    OK(sn_front_get(store, &front));
    assert_null(front);
    OK(sn_store_put_text(store, "front", "lens"));
    assert_says(sn_front_get(store, &front), STONET_ERROR_FORMAT, "front 'lens'");
    sn_front_free(NULL);
}

/* A store of the front, which comes back from it and shows the rows as before. */
static sn_store *stored_and_back(const sn_front *front, const sn_problem *problem)
{
    sn_store *store = NULL;
    SN_AUTO(sn_front) *back = NULL;
    sn_problem seen[2];
    OK(sn_store_create(&store));
    OK(sn_front_put(front, store));
    OK(sn_front_get(store, &back));
    OK(sn_front_problem(front, problem, NULL, &seen[0]));
    OK(sn_front_problem(back, problem, NULL, &seen[1]));
    assert_memory_equal(seen[0].x, seen[1].x, (size_t)(ROWS * front->outputs) * sizeof(float));
    for (int k = 0; k < 2; k++) sn_front_problem_free(problem, &seen[k]);
    return store;
}

TEST(a_front_comes_back_from_a_store)
{
    SN_FREED_BY(oracle_free) oracle o = hill(SN_REGRESSION);
    sn_front *front = kernel_of(&o.problem, 4.0, 0.5, 50), *back = NULL;
    SN_AUTO(sn_store) *store = stored_and_back(front, &o.problem),
                      *other = sn_store_without(store, "front_mean");
    const double mean[4] = {0};
    assert_says(sn_front_get(other, &back), STONET_ERROR_FORMAT, "front_mean");
    OK(sn_store_put_vector(other, "front_mean", SN_F64, 4, mean));
    assert_says(sn_front_get(other, &back), STONET_ERROR_FORMAT, "front_mean");
    sn_front_free(front);
}

/* Columns and components, and columns of a file that are not there. */
TEST(few_features_come_back_too)
{
    SN_FREED_BY(oracle_free) oracle o = hill(SN_REGRESSION);
    const sn_rows all = sn_rows_range(0, ROWS);
    const sn_front_recipe recipe[] = {{.kind = SN_FRONT_COLUMNS, .size = 2},
                                      {.kind = SN_FRONT_COLUMNS, .size = 50}, /* there are fewer */
                                      {.kind = SN_FRONT_COMPONENTS, .size = 2}};
    const int64_t outputs[] = {2, P, 2}, beyond[] = {P};
    SN_AUTO(sn_store) *store = NULL;
    sn_front *front;
    for (int k = 0; k < 3; k++) {
        OK(sn_front_make(&recipe[k], &o.problem, &all, 1, &front));
        assert_int_equal(front->outputs, outputs[k]);
        sn_store_free(stored_and_back(front, &o.problem));
        sn_front_free(front);
    }
    OK(sn_store_create(&store));
    OK(sn_store_put_text(store, "front", "columns"));
    OK(sn_store_put_int(store, "front_inputs", P));
    OK(sn_store_put_vector(store, "front_columns", SN_I64, 1, beyond));
    assert_says(sn_front_get(store, &front), STONET_ERROR_FORMAT, "front_columns");
}

RUN_TESTS(NULL, NULL)
