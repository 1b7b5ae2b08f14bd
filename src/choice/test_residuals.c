/* The look at held-out residuals, by its definition. */
#include "base/test_kit.h"
#include "choice/residuals.h"
#include "data/test_source.h"
#include "math/noise.h"
#include "stats/distributions.h"

static sn_gaps in_even_rows(const sn_row_source *self, int64_t row)
{
    (void)self;
    return row % 2 == 0 ? SN_GAPS_GAUSSIAN : SN_GAPS_NONE;
}

enum { FEW = 53, COLUMNS = 3 };

/* Spearman's correlation of two columns, by counting what is below and what is equal; its p-value. */
static double spearman(const double a[FEW], const double b[FEW])
{
    double ab = 0.0, aa = 0.0, bb = 0.0;
    for (int i = 0; i < FEW; i++) {
        double rank[2] = {0.0, 0.0};
        for (int k = 0; k < FEW; k++) {
            rank[0] += a[k] < a[i] ? 1.0 : a[k] == a[i] ? 0.5 : 0.0;
            rank[1] += b[k] < b[i] ? 1.0 : b[k] == b[i] ? 0.5 : 0.0;
        }
        ab += (rank[0] - FEW / 2.0) * (rank[1] - FEW / 2.0);
        aa += pow(rank[0] - FEW / 2.0, 2);
        bb += pow(rank[1] - FEW / 2.0, 2);
    }
    if (bb == 0.0) return 1.0; /* constant */
    const double r = ab / sqrt(aa * bb);
    return sn_t_two_sided(FEW - 2, r * sqrt((FEW - 2) / (1.0 - r * r)));
}

/* 2 p times the least p-value of a column or its distance from its mean, over rows without gaps. */
TEST(the_smallest_p_value)
{
    for (uint32_t seed = 1; seed <= 12; seed++) {
        float x[2 * FEW * COLUMNS];
        double loss[FEW + 2], column[FEW], apart[FEW], p_value, least = 1.0;
        int64_t list[FEW + 2] = {[FEW] = 0, [FEW + 1] = 2};
        sn_random random = sn_random_from(13, SN_STREAM_TEST, seed);
        for (int k = 0; k < 2 * FEW * COLUMNS; k++)
            x[k] = k % COLUMNS == 2 && seed % 2 == 0 ? 4.0F : (float)(1.0 + sn_random_normal(&random));
        for (int i = 0; i < FEW; i++) {
            list[i] = 2 * FEW - 1 - 2 * i;
            const double first = (double)x[list[i] * COLUMNS],
                         second = (double)x[list[i] * COLUMNS + 1] - 1.0;
            loss[i] = floor(
                3.0 * pow(sn_random_normal(&random) * (1.0 + (seed % 3 == 0 ? fabs(second) : first)), 2));
            x[list[i] * COLUMNS + 1] = rintf(2.0F * x[list[i] * COLUMNS + 1]); /* ties */
        }
        for (int j = 0; j < COLUMNS; j++) {
            double mean = 0.0;
            for (int i = 0; i < FEW; i++) {
                column[i] = (double)x[list[i] * COLUMNS + j];
                mean += column[i] / FEW;
            }
            for (int i = 0; i < FEW; i++) apart[i] = fabs(column[i] - mean);
            least = fmin(least, fmin(spearman(loss, column), spearman(loss, apart)));
        }
        loss[FEW] = loss[FEW + 1] = 1e9; /* of rows with gaps, which are left out */
        const sn_row_source source = {.prepare = rows_are_ready, .gaps = in_even_rows};
        const sn_problem problem = {
            .n = 2L * FEW, .p = COLUMNS, .x = x, .task = SN_REGRESSION, .outputs = 1, .source = &source};
        sn_fold fold[] = {{.test = sn_rows_list(list, 20)},
                          {.test = sn_rows_list(list + 20, FEW - 18), .first = 20}};
        sn_folds folds = {.count = 2, .fold = fold, .rows = FEW + 2};
        OK(sn_residuals_look(&problem, &folds, loss, &p_value));
        assert_true(fabs(p_value - fmin(1.0, 2.0 * COLUMNS * least)) < 1e-9);
        folds.rows = 49; /* too few to look at */
        OK(sn_residuals_look(&problem, &folds, loss, &p_value));
        assert_true(isnan(p_value));
        folds.rows = 50;
        OK(sn_residuals_look(&problem, &folds, loss, &p_value));
        assert_true(isfinite(p_value));
    }
}

/* Of more than 2,000 rows the first 2,000, whatever part they are in. */
TEST(many_rows)
{
    enum { MANY = 2100, MOST = 2000 };
    static float x[MANY];
    static double loss[MANY];
    double p_value[2];
    sn_random random = sn_random_from(4, SN_STREAM_TEST, 0);
    for (int i = 0; i < MANY; i++) {
        x[i] = (float)sn_random_normal(&random);
        loss[i] = pow(sn_random_normal(&random) * (1.0 + 0.05 * (double)x[i]), 2);
        if (i >= MOST) loss[i] = (double)x[i]; /* which would be seen */
    }
    const sn_problem problem = {.n = MANY, .p = 1, .x = x, .task = SN_REGRESSION, .outputs = 1};
    for (int all = 0; all < 2; all++) {
        const int64_t rows = all ? MANY : MOST;
        sn_fold fold[] = {{.test = sn_rows_range(0, 700)},
                          {.test = sn_rows_range(700, rows - 700), .first = 700}};
        sn_folds folds = {.count = 2, .fold = fold, .rows = rows};
        OK(sn_residuals_look(&problem, &folds, loss, &p_value[all]));
    }
    assert_true(p_value[0] == p_value[1] && p_value[0] > 1e-6 && p_value[0] < 1.0);
    /* numbers, no more columns than 2,000, and rows that count alike */
    const float weight[1] = {1.0F};
    const sn_folds folds = {.count = 1, .rows = MOST};
    sn_problem other[] = {problem, problem, problem};
    other[0].p = 2001;
    other[1].weight = weight;
    other[2].task = SN_CLASSIFICATION;
    for (int k = 0; k < 3; k++) {
        OK(sn_residuals_look(&other[k], &folds, loss, &p_value[0]));
        assert_true(isnan(p_value[0]));
    }
}

RUN_TESTS(NULL, NULL)
