/* The look at held-out residuals: its level, and what it sees. */
#include "base/test_kit.h"
#include "choice/residuals.h"
#include "data/test_source.h"
#include "math/noise.h"
#include "stats/distributions.h"

enum { N = 600, P = 8 };

typedef enum law { CONSTANT, GROWS, EVEN, GAPS } law;

static sn_gaps every_third(const sn_row_source *self, int64_t row)
{
    (void)self;
    return row % 3 == 0 ? SN_GAPS_GAUSSIAN : SN_GAPS_NONE;
}

/* Squared residuals e^2 with a spread of 1, exp(x_1), or (.2 + |x_2|)^2; e with long tails. GAPS: every third
   row lacks its cells, which stand at their mean, and has a residual 10 times as large. */
static double look(law of, uint32_t seed)
{
    float x[N * P];
    double loss[N], p_value;
    sn_random random = sn_random_from(12, SN_STREAM_TEST, seed);
    for (int64_t i = 0; i < N; i++) {
        for (int j = 0; j < P; j++) x[i * P + j] = (float)sn_random_normal(&random);
        const double a = (double)x[i * P], b = (double)x[i * P + 1], e = sn_random_normal(&random);
        const double spread = of == GROWS ? exp(a) : of == EVEN ? pow(0.2 + fabs(b), 2.0) : 1.0;
        const bool gap = of == GAPS && i % 3 == 0;
        for (int j = 0; j < P && gap; j++) x[i * P + j] = 0.0F;
        loss[i] = 0.5 * pow((gap ? 10.0 : spread) * e * e * e, 2.0);
    }
    const sn_row_source source = {.prepare = rows_are_ready, .gaps = every_third};
    const sn_problem problem = {
        .n = N, .p = P, .x = x, .task = SN_REGRESSION, .outputs = 1, .source = of == GAPS ? &source : NULL};
    sn_fold fold[] = {{.test = sn_rows_range(0, 100)}, {.test = sn_rows_range(100, N - 100), .first = 100}};
    sn_folds folds = {.count = 2, .fold = fold, .rows = N};
    OK(sn_residuals_look(&problem, &folds, loss, &p_value));
    return p_value;
}

TEST(the_level_is_held)
{
    for (int of = CONSTANT; of <= GAPS; of += GAPS) {
        int rejected = 0;
        for (uint32_t seed = 1; seed <= 400; seed++) rejected += look((law)of, seed) < 0.05;
        assert_true(rejected >= 6 && rejected <= 32); /* 20 of 400, four standard errors either way */
    }
}

TEST(what_depends_on_x_is_seen)
{
    int seen[2] = {0, 0};
    for (uint32_t seed = 1; seed <= 20; seed++) {
        seen[0] += look(GROWS, seed) < 0.05;
        seen[1] += look(EVEN, seed) < 0.05;
    }
    assert_true(seen[0] >= 17 && seen[1] >= 17);
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

/* 2 p times the least p-value of a column or its distance from its mean. */
TEST(the_smallest_p_value)
{
    for (uint32_t seed = 1; seed <= 12; seed++) {
        float x[2 * FEW * COLUMNS];
        double loss[FEW], column[FEW], apart[FEW], p_value, least = 1.0;
        int64_t list[FEW];
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
        const sn_problem problem = {.n = 2L * FEW, .p = COLUMNS, .x = x, .task = SN_REGRESSION, .outputs = 1};
        sn_fold fold[] = {{.test = sn_rows_list(list, 20)},
                          {.test = sn_rows_list(list + 20, FEW - 20), .first = 20}};
        sn_folds folds = {.count = 2, .fold = fold, .rows = FEW};
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
    /* no more columns than 2,000, and rows that count alike */
    const float weight[1] = {1.0F};
    sn_problem other = problem;
    const sn_folds folds = {.count = 1, .rows = MOST};
    other.p = 2001;
    OK(sn_residuals_look(&other, &folds, loss, &p_value[0]));
    assert_true(isnan(p_value[0]));
    other = problem;
    other.weight = weight;
    OK(sn_residuals_look(&other, &folds, loss, &p_value[0]));
    assert_true(isnan(p_value[0]));
}

TEST(classes_are_not_looked_at)
{
    const double loss[N] = {0};
    double p_value = 0.0;
    const sn_problem problem = {.n = N, .p = P, .task = SN_CLASSIFICATION, .outputs = 2};
    const sn_folds folds = {.count = 1, .rows = N};
    OK(sn_residuals_look(&problem, &folds, loss, &p_value));
    assert_true(isnan(p_value));
}

RUN_TESTS(NULL, NULL)
