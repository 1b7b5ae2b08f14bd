/* The lasso against its optimality conditions, whatever the units of the response are: the slope c - G b is
   the penalty with the sign of b where b is not 0, and no larger elsewhere. */
#include "methods/lasso.h"
#include "methods/test_support.h"

enum { N = 60, P = 12, PATH = 8 };

/* Moments of columns that correlate, one of them constant, and of a response on two of them. */
static void make_moments(double unit, double gram[P * P], double c[P])
{
    double x[N][P], y[N], sum = 0.0;
    sn_random random;
    sn_random_init(&random, 3, SN_STREAM_TEST, 1);
    for (int i = 0; i < N; i++) {
        const double common = sn_random_normal(&random);
        for (int j = 0; j < P; j++) x[i][j] = j == 5 ? 0.0 : sn_random_normal(&random) + common;
        sum += y[i] = unit * (2.0 * x[i][1] - x[i][7] + 0.5 * sn_random_normal(&random));
    }
    memset(gram, 0, P * P * sizeof *gram);
    memset(c, 0, P * sizeof *c);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < P; j++) {
            c[j] += x[i][j] * (y[i] - sum / N) / N;
            for (int k = 0; k < P; k++) gram[j * P + k] += x[i][j] * x[i][k] / N;
        }
}

static void check(const sn_lasso *lasso, const double *gram, const double *c, double penalty, double largest)
{
    for (int j = 0; j < P; j++) {
        double slope = c[j];
        for (int k = 0; k < P; k++) slope -= gram[j * P + k] * lasso->b[k];
        assert_true(fabs(lasso->slope[j] - slope) <= 1e-12 * largest);
        if (lasso->b[j] != 0.0)
            assert_true(fabs(slope - copysign(penalty, lasso->b[j])) <= 1e-7 * largest);
        else
            assert_true(fabs(slope) <= penalty + 1e-7 * largest);
    }
}

TEST(the_path_is_optimal)
{
    static const double units[] = {1.0, 1e-5, 1e5};
    for (int u = 0; u < 3; u++) {
        SN_WORKSPACE(scratch);
        double gram[P * P], c[P], largest = 0.0, first[P] = {0};
        sn_lasso lasso, later;
        make_moments(units[u], gram, c);
        for (int j = 0; j < P; j++) largest = fmax(largest, fabs(c[j]));
        OK(sn_lasso_create(P, &scratch, &lasso));
        OK(sn_lasso_create(P, &scratch, &later));
        sn_lasso_begin(&lasso, gram, c);
        for (int step = 0; step < PATH; step++) {
            const double penalty = largest * pow(0.4, step);
            sn_lasso_solve(&lasso, penalty, 1e-9, 10000);
            check(&lasso, gram, c, penalty, largest);
            for (int j = 0; j < P && step == 0; j++) assert_true(lasso.b[j] == 0.0);
            if (step == 2) memcpy(first, lasso.b, sizeof first);
        }
        assert_true(fabs(lasso.b[1] / units[u] - 2.0) < 0.5 && fabs(lasso.b[7] / units[u] + 1.0) < 0.5);
        assert_true(lasso.b[5] == 0.0);
        /* from a solution that is known, and back to a larger penalty */
        sn_lasso_resume(&later, gram, c, largest * pow(0.4, 2), first);
        sn_lasso_solve(&later, largest * pow(0.4, 5), 1e-9, 10000);
        check(&later, gram, c, largest * pow(0.4, 5), largest);
        sn_lasso_solve(&later, largest * 0.4, 1e-9, 10000);
        check(&later, gram, c, largest * 0.4, largest);
    }
}

TEST(no_more_sweeps_than_asked_for)
{
    SN_WORKSPACE(scratch);
    double gram[P * P], c[P];
    sn_lasso lasso;
    make_moments(1.0, gram, c);
    OK(sn_lasso_create(P, &scratch, &lasso));
    sn_lasso_begin(&lasso, gram, c);
    sn_lasso_solve(&lasso, 0.01, 0.0, 1);
    double b[P] = {0}; /* one sweep from 0, over all */
    for (int j = 0; j < P; j++) {
        double at = c[j];
        for (int k = 0; k < P; k++)
            if (k != j) at -= gram[j * P + k] * b[k];
        const double size = fmax(fabs(at) - 0.01, 0.0);
        if (gram[j * P + j] > 0.0) b[j] = copysign(size, at) / gram[j * P + j];
    }
    for (int j = 0; j < P; j++) assert_true(fabs(lasso.b[j] - b[j]) < 1e-12);
}

/* Of more columns than rows those are kept that the slices tell apart, wherever they stand. */
TEST(the_columns_that_say_most_are_kept)
{
    enum { ROWS = 40, COLUMNS = 100, SPEAKS = 90 };
    SN_FREED_BY(sample_free) sample data = sample_normal(ROWS, COLUMNS, 1, 6);
    for (int i = 0; i < ROWS; i++) data.y[i] = 3.0 * (double)data.x[i * COLUMNS + SPEAKS];
    sample_scale_y(&data);
    SN_AUTO(sn_linear_map) *map = fit_map("lasso-sir", &data.problem, 1, "folds=2");
    for (int j = 0; j < COLUMNS; j++) assert_true(fabs(map->direction[j]) <= fabs(map->direction[SPEAKS]));
    assert_true(map->direction[SPEAKS] != 0.0);
}

RUN_TESTS(NULL, NULL)
