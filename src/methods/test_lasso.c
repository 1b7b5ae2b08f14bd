/* The lasso against its optimality conditions, whatever the units of the response are: the slope c - G b is
   the penalty with the sign of b where b is not 0, and no larger elsewhere. */
#include "methods/lasso.h"
#include "methods/test_support.h"

enum { N = 60, P = 12, WIDE = 80, PATH = 8 };

/* Moments of p columns of n rows that correlate, one of them constant, and of a response on two of them. */
static void make_moments(int n, int p, double unit, double *gram, double *c)
{
    double x[N][WIDE], y[N], sum = 0.0;
    sn_random random = sn_random_from(3, SN_STREAM_TEST, 1);
    for (int i = 0; i < n; i++) {
        const double common = sn_random_normal(&random);
        for (int j = 0; j < p; j++) x[i][j] = j == 5 ? 0.0 : sn_random_normal(&random) + common;
        sum += y[i] = unit * (2.0 * x[i][1] - x[i][7] + 0.5 * sn_random_normal(&random));
    }
    memset(gram, 0, (size_t)(p * p) * sizeof *gram);
    memset(c, 0, (size_t)p * sizeof *c);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < p; j++) {
            c[j] += x[i][j] * (y[i] - sum / n) / n;
            for (int k = 0; k < p; k++) gram[j * p + k] += x[i][j] * x[i][k] / n;
        }
}

static void check(int p, const sn_lasso *lasso, const double *gram, const double *c, double penalty,
                  double largest)
{
    for (int j = 0; j < p; j++) {
        const double slope = c[j] - sn_dot(p, gram + j * p, lasso->b);
        assert_true(fabs(lasso->slope[j] - slope) <= 1e-12 * largest);
        if (lasso->b[j] != 0.0)
            assert_true(fabs(slope - copysign(penalty, lasso->b[j])) <= 1e-7 * largest);
        else
            assert_true(fabs(slope) <= penalty + 1e-7 * largest);
    }
}

/* With more columns than rows, coordinates come and go along the path. */
TEST(the_path_is_optimal)
{
    static const struct {
        int n, p;
        double unit;
    } cases[] = {{N, P, 1.0}, {N, P, 1e-5}, {N, P, 1e5}, {30, WIDE, 1.0}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const int p = cases[k].p;
        SN_WORKSPACE(scratch);
        double gram[WIDE * WIDE], c[WIDE], largest = 0.0, first[WIDE] = {0};
        sn_lasso lasso, later;
        make_moments(cases[k].n, p, cases[k].unit, gram, c);
        for (int j = 0; j < p; j++) largest = fmax(largest, fabs(c[j]));
        OK(sn_lasso_create(p, &scratch, &lasso));
        OK(sn_lasso_create(p, &scratch, &later));
        sn_lasso_begin(&lasso, gram, c);
        for (int step = 0; step < PATH; step++) {
            const double penalty = largest * pow(0.4, step);
            sn_lasso_solve(&lasso, penalty, 1e-9, 1000000);
            check(p, &lasso, gram, c, penalty, largest);
            for (int j = 0; j < p && step == 0; j++) assert_true(lasso.b[j] == 0.0);
            if (step == 2) memcpy(first, lasso.b, (size_t)p * sizeof *first);
        }
        const double unit = cases[k].unit;
        assert_true(fabs(lasso.b[1] / unit - 2.0) < 0.5 && fabs(lasso.b[7] / unit + 1.0) < 0.5);
        assert_true(lasso.b[5] == 0.0);
        /* from a solution that is known, and back to a larger penalty */
        sn_lasso_resume(&later, gram, c, largest * pow(0.4, 2), first);
        sn_lasso_solve(&later, largest * pow(0.4, 5), 1e-9, 1000000);
        check(p, &later, gram, c, largest * pow(0.4, 5), largest);
        sn_lasso_solve(&later, largest * 0.4, 1e-9, 1000000);
        check(p, &later, gram, c, largest * 0.4, largest);
    }
}

TEST(no_more_sweeps_than_asked_for)
{
    SN_WORKSPACE(scratch);
    double gram[P * P], c[P];
    sn_lasso lasso;
    make_moments(N, P, 1.0, gram, c);
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

/* Forty groups of five rows: each group has x and y of its own, which have nothing to do with each other.
   Folds that part a group find y again by the group's x, and the penalty is far too small. */
TEST(groups_stay_together_in_the_choice_of_the_penalty)
{
    enum { GROUPS = 40, ROWS = 5 * GROUPS, COLUMNS = 20 };
    int64_t kin[ROWS];
    double left[2]; /* columns, with the groups and without */
    for (int k = 0; k < 2; k++) {
        SN_FREED_BY(sample_free) sample data = sample_normal(ROWS, COLUMNS, 1, 3);
        for (int i = 0; i < ROWS; i++) {
            const int of = i % GROUPS;
            kin[i] = of;
            for (int j = 0; j < COLUMNS && i >= GROUPS; j++)
                data.x[i * COLUMNS + j] = data.x[of * COLUMNS + j] + 0.01F * data.x[i * COLUMNS + j];
            data.y[i] = (double)(of * 17 % GROUPS);
        }
        sample_scale_y(&data);
        data.problem.kin = k == 0 ? kin : NULL;
        SN_AUTO(sn_linear_map) *map = fit_map("lasso-sir", &data.problem, 1, "folds=5");
        left[k] = 0.0;
        for (int j = 0; j < COLUMNS; j++) left[k] += map->direction[j] != 0.0;
    }
    assert_true(left[0] < left[1] / 2.0);
}

RUN_TESTS(NULL, NULL)
