/* front=components: the principal components of the rows, the first with variance 1; and fronts by blocks. */
#include "base/test_kit.h"
#include "data/test_source.h"
#include "front/front_kernel.h"
#include "front/front_wide.h"
#include "math/noise.h"

enum { N = 300, P = 4, MANY = 600 };

typedef struct source {
    sn_row_source base;
    const float *x;
    int64_t fetched;
} source;

static void fetch(const sn_row_source *self, const sn_rows *rows, uint32_t draw, float *x, int64_t stride)
{
    source *from = (source *)self;
    (void)draw;
    from->fetched += rows->n;
    for (int64_t i = 0; i < rows->n; i++)
        memcpy(x + i * stride, from->x + P * sn_rows_at(rows, i), P * sizeof *x);
}

/* Columns of the spreads 3, 2, 1, 1 that depend on each other, around 5, -1, 0, 2. */
static void fill(int64_t n, float *x)
{
    const double spread[P] = {3.0, 2.0, 1.0, 1.0}, mean[P] = {5.0, -1.0, 0.0, 2.0};
    sn_random random = sn_random_from(6, SN_STREAM_TEST, 0);
    for (int64_t i = 0; i < n; i++) {
        const double common = sn_random_normal(&random);
        for (int j = 0; j < P; j++)
            x[i * P + j] = (float)(mean[j] + spread[j] * (sn_random_normal(&random) + 0.5 * common));
    }
}

/* Scores have the means 0, no covariance, and falling variances from 1 on; they are what an orthogonal map
   times a number makes of the rows. */
TEST(scores_are_those_of_components)
{
    float x[N * P], u[N * P];
    fill(N, x);
    const sn_problem problem = {.n = N, .p = P, .x = x};
    const sn_rows all = sn_rows_range(0, N);
    SN_AUTO(sn_front) *front = NULL;
    OK(sn_front_components_create(&problem, &all, P, 1, &front));
    OK(front->ops->apply(front, N, x, u));
    double mean[P] = {0}, covariance[P][P] = {{0}};
    for (int i = 0; i < N; i++)
        for (int k = 0; k < P; k++) mean[k] += (double)u[i * P + k] / N;
    for (int i = 0; i < N; i++)
        for (int k = 0; k < P; k++)
            for (int l = 0; l < P; l++)
                covariance[k][l] += ((double)u[i * P + k] - mean[k]) * ((double)u[i * P + l] - mean[l]) / N;
    assert_true(fabs(covariance[0][0] - 1.0) < 1e-5);
    for (int k = 0; k < P; k++) {
        assert_true(fabs(mean[k]) < 1e-5);
        if (k > 0) assert_true(covariance[k][k] < covariance[k - 1][k - 1] && covariance[k][k] > 0.01);
        for (int l = 0; l < k; l++) assert_true(fabs(covariance[k][l]) < 1e-5);
    }
    /* all distances shrink by the same factor */
    double factor = 0.0;
    for (int i = 1; i < N; i++) {
        double before = 0.0, after = 0.0;
        for (int j = 0; j < P; j++) {
            before += pow((double)x[i * P + j] - (double)x[j], 2);
            after += pow((double)u[i * P + j] - (double)u[j], 2);
        }
        if (i == 1) factor = after / before;
        assert_true(fabs(after / before - factor) < 1e-4 * factor);
    }
}

/* Of rows in a plane there are two components; the others are 0. Rows that do not differ have none. */
TEST(components_that_are_not_there)
{
    float x[N * P], u[N * P];
    fill(N, x);
    for (int i = 0; i < N; i++) {
        x[i * P + 2] = x[i * P];
        x[i * P + 3] = 0.0F;
    }
    const sn_problem problem = {.n = N, .p = P, .x = x};
    const sn_rows all = sn_rows_range(0, N), few = sn_rows_range(0, 2);
    sn_front *front = NULL;
    OK(sn_front_components_create(&problem, &all, P, 1, &front));
    OK(front->ops->apply(front, N, x, u));
    for (int i = 0; i < N; i++)
        assert_true(u[i * P + 2] == 0.0F && u[i * P + 3] == 0.0F && u[i * P] != 0.0F && u[i * P + 1] != 0.0F);
    sn_front_free(front);
    OK(sn_front_components_create(&problem, &few, P, 1, &front)); /* less rows */
    sn_front_free(front);
    for (int i = 0; i < N * P; i++) x[i] = 0.0F;
    assert_says(sn_front_components_create(&problem, &all, P, 1, &front), STONET_ERROR_DATA,
                "rows that differ");
}

/* 500 rows are enough, those of a part from the part alone. */
TEST(many_rows)
{
    float x[MANY * P];
    fill(MANY, x);
    for (int64_t wanted = 499; wanted <= MANY; wanted += 101) {
        source from = {.base = {.prepare = rows_are_ready, .fetch = fetch}, .x = x};
        const sn_problem problem = {.n = MANY, .p = P, .source = &from.base};
        const sn_rows some = sn_rows_range(MANY - wanted, wanted);
        SN_AUTO(sn_front) *front = NULL;
        OK(sn_front_components_create(&problem, &some, 2, 1, &front));
        assert_int_equal(from.fetched, wanted < 500 ? wanted : 500);
    }
}

/* More rows than a block of any front: all at once, from a source or not, are each by itself, and the
   features of a kernel have the mean 0. */
TEST(fronts_by_blocks)
{
    enum { BLOCKS = 2200 };
    static float x[BLOCKS * P], one[64];
    fill(BLOCKS, x);
    source from = {.base = {.prepare = rows_are_ready, .fetch = fetch}, .x = x};
    const sn_problem problem = {.n = BLOCKS, .p = P, .x = x},
                     by_rows = {.n = BLOCKS, .p = P, .source = &from.base};
    const sn_rows all = sn_rows_range(0, BLOCKS);
    const sn_front_recipe setting = {.complexity = 1.0, .linear = 0.5, .size = 12};
    sn_front *front[3] = {NULL, NULL, NULL};
    OK(sn_front_kernel_create(&problem, &all, &setting, 1, &front[0]));
    OK(sn_front_components_create(&problem, &all, 2, 1, &front[1]));
    OK(sn_front_columns_create(P, (const int64_t[]){2, 0}, 2, &front[2]));
    for (int k = 0; k < 3; k++) {
        sn_problem seen, fetched;
        const int64_t d = front[k]->outputs;
        double mean[64] = {0};
        assert_true(d <= 64);
        OK(sn_front_problem(front[k], &problem, NULL, &seen));
        OK(sn_front_problem(front[k], &by_rows, NULL, &fetched));
        assert_int_equal(seen.p, d);
        for (int64_t i = 0; i < BLOCKS; i++) {
            OK(front[k]->ops->apply(front[k], 1, x + i * P, one));
            for (int64_t j = 0; j < d; j++) {
                assert_true(fabsf(seen.x[i * d + j] - one[j]) < 1e-5F);
                assert_true(fabsf(fetched.x[i * d + j] - one[j]) < 1e-5F);
                mean[j] += (double)one[j] / BLOCKS;
            }
        }
        for (int64_t j = 0; j < d && k == 0; j++) assert_true(fabs(mean[j]) < 1e-5);
        sn_front_problem_free(&problem, &seen);
        sn_front_problem_free(&by_rows, &fetched);
        sn_front_free(front[k]);
    }
}

RUN_TESTS(NULL, NULL)
