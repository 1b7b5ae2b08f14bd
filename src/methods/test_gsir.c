#define METHOD "gsir"
#include "methods/test_kernel_help.h"

#define SETTINGS "complexity=0.8 ex=0.05 ey=0.2"
static const double COMPLEXITY = 0.8, EX = 0.05, EY = 0.2;

/* Scores of the rows of x by the definition, with every matrix written out; standardised on the first n. */
static double *textbook(const sn_problem *problem, const double *x, int64_t rows, int gyinv, int64_t d)
{
    int64_t n = problem->n, p = problem->p;
    double s = plain_distance(n, p, x, false), gamma = COMPLEXITY / (2.0 * s * s);
    SN_BLOCK double *k = plain_gram(n, n, p, x, x, gamma), *ky = plain_response_gram(problem),
                    *q = centring(n);
    SN_BLOCK double *gx = centred(n, k), *gy = centred(n, ky);
    const int scalar = problem->task == SN_REGRESSION;
    SN_BLOCK double *inverse = matrix_power(n, gx, EX, -1.0, 0.0), *a1 = times(n, inverse, gx),
                    *by = gyinv ? matrix_power(n, gy, scalar ? EY : 0.0, -1.0, scalar ? 0.0 : 1e-9)
                                : centring(n), /* what is centred, stays */
                        *a2 = times(n, gy, by);
    SN_BLOCK double *left = times(n, a1, a2), *v = vectors_of_product(n, left, a1),
                    *qi = times(n, q, inverse), *b = times(n, qi, v),
                    *at_k = plain_gram(n, rows, p, x, x, gamma);
    return plain_scores(n, rows, d, at_k, b);
}

/* Fit on the first n of the sample's rows, compare on all. */
static void check_textbook(int64_t classes, int64_t targets, const char *atype, int64_t d)
{
    enum { N = 40, ROWS = 50, P = 4 };
    SN_FREED_BY(sample_free) sample s = make_sample(ROWS, P, classes, targets, 1);
    s.problem.n = N;
    SN_BLOCK double *expected = textbook(&s.problem, s.wide, ROWS, strcmp(atype, "gyinv") == 0, d);
    char settings[64];
    snprintf(settings, sizeof settings, SETTINGS " atype=%s", atype);
    assert_fits_score(&s, ROWS, d, expected, settings);
}

TEST(test_textbook)
{
    check_textbook(3, 0, "identity", 2);
    check_textbook(3, 0, "gyinv", 2);
    check_textbook(0, 1, "identity", 3);
    check_textbook(0, 1, "gyinv", 3);
    check_textbook(0, 2, "identity", 3);
}

TEST(test_class_names_do_not_matter)
{
    SN_FREED_BY(sample_free) sample s = make_sample(60, 3, 3, 0, 2);
    SN_FREED_BY(drop_result) sn_fit_result one, two;
    double a[120], b[120];
    OK(fit(&s.problem, 2, &one, ""));
    const int32_t other[] = {2, 0, 3}; /* another order, and a class that has no rows */
    for (int i = 0; i < 60; i++) s.label[i] = other[s.label[i]];
    s.problem.outputs = 4;
    OK(fit(&s.problem, 2, &two, ""));
    OK(sn_kernel_map_scores(one.state, 60, s.wide, a));
    OK(sn_kernel_map_scores(two.state, 60, s.wide, b));
    for (int i = 0; i < 120; i++) assert_true(fabs(a[i] - b[i]) < 1e-9);
}

/* The ridge a fit chose, from what it said. */
static double chosen_ridge(const sn_problem *problem, const char *landmarks)
{
    SN_FREED_BY(drop_result) sn_fit_result result;
    double ex = NAN;
    OK(fit(problem, 1, &result, "landmarks=%s", landmarks));
    const char *at = strstr(said.last, "ex=");
    assert_non_null(at);
    assert_int_equal(sscanf(at, "ex=%lf", &ex), 1);
    return ex;
}

/* More rows allow less of it, landmarks need about the same, and where nothing is to be found it is large. */
TEST(test_the_ridge_follows_the_data)
{
    SN_FREED_BY(sample_free) sample few = make_sample(60, 5, 0, 1, 6), many = make_sample(600, 5, 0, 1, 6);
    double from_few = chosen_ridge(&few.problem, "none"), from_many = chosen_ridge(&many.problem, "none");
    double with_landmarks = chosen_ridge(&many.problem, "300");
    assert_true(from_many < 0.5 * from_few);
    assert_true(with_landmarks > 0.2 * from_many && with_landmarks < 5.0 * from_many);
    for (int i = 0; i < 600; i++) many.y[i] = sin(1e3 * i); /* no function of x */
    assert_true(chosen_ridge(&many.problem, "none") > 10.0 * from_many);
    SN_FREED_BY(sample_free) sample classes = make_sample(300, 5, 3, 0, 6);
    double of_classes = chosen_ridge(&classes.problem, "none");
    assert_true(of_classes > 1e-4 && of_classes < 1.0);
}

TEST(test_damaged_models_are_refused)
{
    static const float centre[] = {0.0f};
    static const double number[] = {0.0, 1.0};
    /* nothing at all; two coefficients and one centre; no bandwidth */
    for (int damage = 0; damage < 3; damage++) {
        SN_AUTO(sn_store) *store = NULL;
        void *again = NULL;
        OK(sn_store_create(&store));
        if (damage > 0) {
            OK(sn_store_put_real(store, "kernel.gamma", damage == 1 ? 1.0 : 0.0));
            OK(sn_store_put_matrix(store, "kernel.centres", SN_F32, 1, 1, centre));
            OK(sn_store_put_matrix(store, "kernel.coefficients", SN_F64, 3 - damage, 1, number));
            OK(sn_store_put_vector(store, "kernel.offset", SN_F64, 1, number));
        }
        assert_int_equal(method()->load(store, &again), STONET_ERROR_FORMAT);
    }
}

RUN_TESTS(NULL, NULL)
