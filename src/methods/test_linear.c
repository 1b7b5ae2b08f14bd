/* pca, sir, save, dr and phd against other software, and the laws they obey exactly. */
#include "data/partitions.h"
#include "methods/golden/test_linear_golden.h"
#include "methods/lasso.h"
#include "methods/test_support.h"

static sample golden_sample(void)
{
    sample data = sample_normal(GOLDEN_N, GOLDEN_P, 1, 1);
    for (int i = 0; i < GOLDEN_N * GOLDEN_P; i++) data.x[i] = (float)golden_x[i];
    memcpy(data.y, golden_y, sizeof golden_y);
    return data;
}

static void to_classes(sample *data)
{
    data->label = test_zeros(GOLDEN_N, sizeof(int32_t));
    for (int i = 0; i < GOLDEN_N; i++) data->label[i] = (int32_t)golden_label[i];
    data->problem.task = SN_CLASSIFICATION;
    data->problem.outputs = GOLDEN_CLASSES;
    data->problem.label = data->label;
    data->problem.y = NULL;
}

static void check(const char *method, const sn_problem *problem, const char *options, const double *direction,
                  int64_t n_values, const double *value)
{
    SN_AUTO(sn_linear_map) *map = fit_map(method, problem, GOLDEN_D, options);
    assert_int_equal(map->dim, GOLDEN_D);
    unit_columns(GOLDEN_P, GOLDEN_D, map->direction);
    assert_true(largest_gap(GOLDEN_P * GOLDEN_D, map->direction, direction) < 1e-8);
    assert_int_equal(map->n_values, GOLDEN_P);
    assert_true(largest_gap(n_values, map->value, value) < 1e-10);
}

TEST(pca_is_that_of_scikit_learn)
{
    SN_FREED_BY(sample_free) sample data = golden_sample();
    SN_AUTO(sn_linear_map) *map = fit_map("pca", &data.problem, 3, "");
    assert_true(largest_gap(GOLDEN_P * 3, map->direction, golden_pca_component) < 1e-12);
    assert_true(largest_gap(3, map->value, golden_pca_variance) < 1e-10);
    float z[GOLDEN_N * 3];
    OK(sn_linear_map_transform(map, data.x, GOLDEN_N, NULL, z));
    for (int i = 0; i < GOLDEN_N * 3; i++)
        assert_true(fabs((double)z[i] - golden_pca_score[i]) < 1e-6 * (1.0 + fabs(golden_pca_score[i])));
}

TEST(directions_are_those_of_statsmodels_and_the_textbook)
{
    SN_FREED_BY(sample_free) sample data = golden_sample();
    check("sir", &data.problem, "slices=6", golden_sir_direction, GOLDEN_P, golden_sir_value);
    check("save", &data.problem, "slices=6", golden_save_direction, GOLDEN_P, golden_save_value);
    check("dr", &data.problem, "slices=6", golden_dr_direction, GOLDEN_P, golden_dr_value);
    check("phd", &data.problem, "", golden_phd_residual_direction, 0, NULL);
    check("phd", &data.problem, "response=raw", golden_phd_raw_direction, 0, NULL);
    to_classes(&data);
    check("save", &data.problem, "", golden_class_save_direction, GOLDEN_P, golden_class_save_value);
    check("dr", &data.problem, "", golden_class_dr_direction, GOLDEN_P, golden_class_dr_value);
}

/* Every row is an anchor in the slow version. */
TEST(opg_and_mave_are_the_slow_ones)
{
    SN_FREED_BY(sample_free) sample data = golden_sample();
    check("opg", &data.problem, "anchors=120", golden_opg_direction, GOLDEN_P, golden_opg_value);
    double distance = recovery("mave", &data.problem, GOLDEN_D, "anchors=120", golden_mave_direction);
    assert_true(distance < 1e-7);
}

/* b (p): the lasso of these moments, straight at the penalty. */
static void lasso(int64_t p, const double *gram, const double *c, double penalty, double *b)
{
    SN_WORKSPACE(scratch);
    sn_lasso solver;
    OK(sn_lasso_create(p, &scratch, &solver));
    sn_lasso_begin(&solver, gram, c);
    sn_lasso_solve(&solver, penalty, 1e-14, 100000);
    memcpy(b, solver.b, (size_t)p * sizeof *b);
}

/* Rows of which those of fold `without` are left out (fold NULL: none), and the moments of the others about
   their means (of y in the last place). */
typedef struct part {
    int64_t n, p;
    const double *x, *y; /* n x p, n */
    const int32_t *fold;
    int without;
    double gram[GOLDEN_P * GOLDEN_P], c[GOLDEN_P], mean[GOLDEN_P + 1];
} part;

static void sum_moments(part *of)
{
    const int64_t p = of->p;
    double others = 0.0;
    memset(of->gram, 0, sizeof of->gram);
    memset(of->c, 0, sizeof of->c);
    memset(of->mean, 0, sizeof of->mean);
    for (int64_t i = 0; i < of->n; i++) others += of->fold == NULL || of->fold[i] != of->without;
    for (int pass = 0; pass < 2; pass++) /* the means, then the products */
        for (int64_t i = 0; i < of->n; i++) {
            if (of->fold != NULL && of->fold[i] == of->without) continue;
            if (pass == 0) of->mean[p] += of->y[i] / others;
            for (int64_t j = 0; j < p; j++) {
                const double centred = of->x[i * p + j] - of->mean[j];
                if (pass == 0) of->mean[j] += of->x[i * p + j] / others;
                if (pass == 0) continue;
                of->c[j] += centred * (of->y[i] - of->mean[p]) / others;
                for (int64_t k = 0; k < p; k++)
                    of->gram[j * p + k] += centred * (of->x[i * p + k] - of->mean[k]) / others;
            }
        }
}

/* The lasso in covariance form, on the moments of the golden data. */
TEST(lasso_is_that_of_scikit_learn)
{
    part all = {.n = GOLDEN_N, .p = GOLDEN_P, .x = golden_x, .y = golden_y};
    double b[GOLDEN_P];
    sum_moments(&all);
    lasso(GOLDEN_P, all.gram, all.c, 0.01, b);
    assert_true(largest_gap(GOLDEN_P, b, golden_lasso_small) < 1e-7);
    lasso(GOLDEN_P, all.gram, all.c, 0.3, b);
    assert_true(largest_gap(GOLDEN_P, b, golden_lasso_large) < 1e-7);
}

enum { CV_N = 19, CV_P = 5, CV_FOLDS = 2, CV_PATH = 100 };

/*
 * Two classes: with m_h the class means of centred x the only direction is v = m_1 / |m_1|, its eigenvalue
 * sum_h p_h |m_h|^2, and the pseudo-response of a row of class h is m_h'v / lambda. The penalty is looked for
 * on the path c_max 0.001^(t/99), fold by fold with the moments of the other rows summed directly.
 */
static int assert_plain_cross_validation(uint64_t seed)
{
    SN_FREED_BY(sample_free) sample data = sample_normal(CV_N, CV_P, 1, seed);
    for (int i = 0; i < CV_N; i++)
        data.y[i] = data.x[i * CV_P] - 0.6 * data.x[i * CV_P + 3] + 0.4 * sin(9.0 * i);
    const double cut[] = {0.3};
    sample_cut_y(&data, 2, cut);
    double x[CV_N * CV_P], y[CV_N], mean[CV_P] = {0}, of_class[2][CV_P] = {{0}}, rows[2] = {0};
    int at = 0, folds = CV_FOLDS;
    int32_t fold_of[CV_N], fold[CV_N];
    const sn_rows all = sn_rows_range(0, CV_N);
    OK(sn_split_rows(&data.problem, &all, CV_N, 1, &folds, fold_of));
    for (int h = 0; h < 2; h++) /* class by class */
        for (int i = 0; i < CV_N; i++) {
            if (data.label[i] != h) continue;
            fold[at] = fold_of[i];
            for (int j = 0; j < CV_P; j++) x[at * CV_P + j] = data.x[i * CV_P + j];
            at++;
        }
    for (int i = 0; i < CV_N; i++) rows[data.label[i]]++;
    for (int i = 0; i < CV_N * CV_P; i++) mean[i % CV_P] += x[i] / CV_N;
    for (int i = 0; i < CV_N * CV_P; i++) x[i] -= mean[i % CV_P];
    for (int i = 0; i < CV_N * CV_P; i++) {
        int h = i / CV_P >= rows[0];
        of_class[h][i % CV_P] += x[i] / rows[h];
    }
    double lambda = 0.0, length = sn_norm(CV_P, of_class[1]), v[CV_P], largest = 0.0;
    for (int h = 0; h < 2; h++) lambda += rows[h] / CV_N * sn_dot(CV_P, of_class[h], of_class[h]);
    for (int j = 0; j < CV_P; j++) v[j] = of_class[1][j] / length;
    for (int j = 0; j < CV_P; j++) largest = fmax(largest, fabs(v[j]));
    for (int i = 0; i < CV_N; i++) y[i] = sn_dot(CV_P, of_class[i >= rows[0]], v) / lambda;

    part others = {.n = CV_N, .p = CV_P, .x = x, .y = y, .fold = fold};
    double error[CV_PATH] = {0}, b[CV_P];
    for (int k = 0; k < CV_FOLDS; k++) {
        others.without = k;
        sum_moments(&others);
        for (int t = 0; t < CV_PATH; t++) {
            lasso(CV_P, others.gram, others.c, largest * pow(1e-3, t / (CV_PATH - 1.0)), b);
            for (int i = 0; i < CV_N; i++) {
                if (fold[i] != k) continue;
                double fitted = others.mean[CV_P];
                for (int j = 0; j < CV_P; j++) fitted += (x[i * CV_P + j] - others.mean[j]) * b[j];
                error[t] += pow(y[i] - fitted, 2);
            }
        }
    }
    int best = 1;
    for (int t = 1; t < CV_PATH; t++)
        if (error[t] <= error[best]) best = t;
    double direction[CV_P] = {0};
    others.fold = NULL;
    sum_moments(&others);
    lasso(CV_P, others.gram, others.c, largest * pow(1e-3, best / (CV_PATH - 1.0)), direction);
    unit_columns(CV_P, 1, direction);
    SN_AUTO(sn_linear_map) *map = fit_map("lasso-sir", &data.problem, 1, "folds=2");
    assert_true(largest_gap(CV_P, map->direction, direction) < 1e-6);
    return best;
}

TEST(lasso_sir_chooses_the_penalty_of_plain_cross_validation)
{
    int inside = 0; /* choices that say something */
    for (uint64_t seed = 1; seed <= 20; seed++) {
        int best = assert_plain_cross_validation(seed);
        inside += best > 5 && best < CV_PATH - 5;
    }
    assert_true(inside >= 10);
}

TEST(sir_for_two_classes_is_the_discriminant)
{
    SN_FREED_BY(sample_free) sample data = golden_sample();
    to_classes(&data);
    for (int i = 0; i < GOLDEN_N; i++) data.label[i] = data.label[i] > 0;
    data.problem.outputs = 2;
    heard messages;
    sn_fit_result result;
    OK(fit_with("sir", &data.problem, 4, "", &messages, &result));
    assert_int_equal(result.dim, 1);
    assert_int_equal(messages.warnings, 1);
    assert_non_null(strstr(messages.last, "1 direction"));
    SN_AUTO(sn_linear_map) *map = result.state;
    unit_columns(GOLDEN_P, 1, map->direction);
    assert_true(largest_gap(GOLDEN_P, map->direction, golden_lda_direction) < 1e-8);
}

/* More rows than the methods take at a time, of which the larger class is more than a block, too: every row
   twice gives the moments of the rows once, so the same directions and values, and test statistics twice as
   large (but for the divisor n - 1 of phd's variance). */
TEST(blocks_of_rows)
{
    enum { N = 8000, P = 3 };
    static const char *const methods[] = {"pca", "sir", "save", "dr", "phd"};
    SN_FREED_BY(sample_free) sample once = sample_normal(N, P, 1, 21), twice = sample_normal(2 * N, P, 1, 21);
    for (int64_t i = 0; i < N; i++)
        once.y[i] = once.x[i * P] + 0.5 * pow(once.x[i * P], 2) + once.x[i * P + 1];
    sample_scale_y(&once);
    for (int64_t i = 0; i < 2 * N; i++) {
        memcpy(twice.x + i * P, once.x + i % N * P, P * sizeof *once.x);
        twice.y[i] = once.y[i % N];
    }
    for (int k = 0; k < 10; k++) {
        const char *method = methods[k % 5];
        if (k == 5) sample_cut_y(&once, 2, (const double[]){0.8});
        if (k == 5) sample_cut_y(&twice, 2, (const double[]){0.8});
        SN_AUTO(sn_linear_map) *one = fit_map(method, &once.problem, 1, ""),
                               *two = fit_map(method, &twice.problem, 1, "");
        const double times = strcmp(method, "phd") == 0 ? (2.0 * N - 1.0) / (N - 1.0) : 2.0;
        assert_true(largest_gap(P, one->direction, two->direction) < 1e-9);
        assert_int_equal(one->n_values, two->n_values);
        assert_true(largest_gap(one->n_values, one->value, two->value) < 1e-9);
        assert_int_equal(one->n_tests, two->n_tests);
        for (int64_t t = 0; t < one->n_tests; t++) {
            assert_true(fabs(two->test[2 * t] - times * one->test[2 * t]) < 1e-7 * fabs(two->test[2 * t]));
            assert_true(one->test[2 * t + 1] == two->test[2 * t + 1]);
        }
        static float z[2 * N];
        OK(sn_linear_map_transform(two, twice.x, 2 * N, NULL, z));
        for (int i = 0; i < N; i++) assert_true(fabsf(z[i] - z[N + i]) < 1e-6f);
    }
}

RUN_TESTS(NULL, NULL)
