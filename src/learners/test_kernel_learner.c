/* The learner `kernel` against textbook kernel ridge regression, and the choice of learner=auto. */
#include "learners/test_learner.h"

#include <math.h>

#include "math/kernel.h"
#include "math/linalg.h"

enum { MOST = 400 };

static float z[MOST * 2];
static double y[MOST];
static int32_t label[MOST];

static double normal(int64_t row, uint32_t which)
{
    return sn_noise_normal(11, SN_STREAM_TEST, (uint32_t)row, which, 0, 0, 0);
}

/* n rows of two normal columns of unlike size; the response is up to the caller. */
static sn_problem rows_of(int64_t n, sn_task task)
{
    for (int64_t i = 0; i < n; i++) {
        z[2 * i] = (float)(5.0 + 3.0 * normal(i, 0));
        z[2 * i + 1] = (float)(0.1 * normal(i, 1));
    }
    return (sn_problem){.n = n,
                        .p = 2,
                        .x = z,
                        .task = task,
                        .outputs = task == SN_CLASSIFICATION ? 2 : 1,
                        .label = task == SN_CLASSIFICATION ? label : NULL,
                        .y = task == SN_CLASSIFICATION ? NULL : y};
}

static double first(int64_t i)
{
    return ((double)z[2 * i] - 5.0) / 3.0;
}

static double second(int64_t i)
{
    return 10.0 * (double)z[2 * i + 1];
}

/* f = mean(y) + K_c (K_c + penalty)^{-1} (y - mean), K_c = H K H, K = k/2 + z'z/4 of standardised z: with a
   landmark at every row the features hold all of K. */
TEST(it_is_kernel_ridge_regression)
{
    enum { N = 25 };
    sn_problem problem = rows_of(N, SN_REGRESSION);
    double mean[2] = {0}, sd[2] = {0}, wide[2 * N], k[N * N], centre[N], right[N], fitted[N], average = 0.0;
    double distance, all = 0.0, got[N];
    for (int64_t i = 0; i < N; i++) y[i] = sin(2.0 * first(i)) + second(i);
    for (int64_t i = 0; i < 2 * N; i++) mean[i % 2] += (double)z[i] / N;
    for (int64_t i = 0; i < 2 * N; i++) sd[i % 2] += pow((double)z[i] - mean[i % 2], 2) / N;
    for (int64_t i = 0; i < 2 * N; i++) wide[i] = ((double)z[i] - mean[i % 2]) / sqrt(sd[i % 2]);
    OK(sn_mean_distance(N, 2, wide, 1, &distance));
    OK(sn_gaussian_gram(N, N, 2, wide, wide, 4.0 / (2.0 * distance * distance), k));
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < N; j++)
            k[i * N + j] =
                0.5 * k[i * N + j] + 0.25 * (wide[2 * i] * wide[2 * j] + wide[2 * i + 1] * wide[2 * j + 1]);
    sn_centre_gram(N, k, centre);
    for (int64_t i = 0; i < N; i++) average += y[i] / N;
    for (int64_t i = 0; i < N; i++) right[i] = y[i] - average;
    double gram[N * N];
    memcpy(gram, k, sizeof gram);
    sn_add_diagonal(N, 0.1, gram);
    OK(sn_solve_spd(N, gram, 1, right));
    sn_gemv(1.0, sn_as(k, N, N), right, 0.0, fitted);
    fit_and_predict("kernel", &problem, 1, NULL, got);
    for (int64_t i = 0; i < N; i++) all = fmax(all, fabs(got[i] - fitted[i] - average));
    assert_true(all < 2e-5);
}

/* penalty: of the kernel, or INFINITY. */
static const char *chosen_for(const sn_problem *problem, const char *plain, double *penalty)
{
    const sn_learner *learner = NULL;
    SN_AUTO(sn_settings) *settings = NULL;
    OK(sn_learner_choose(problem, NULL, sn_learner_find(plain), &learner, &settings));
    assert_non_null(settings);
    const bool kernel = strcmp(learner->name, "kernel") == 0;
    if (penalty != NULL) *penalty = kernel ? sn_real(settings, "penalty") : (double)INFINITY;
    return learner->name;
}

TEST(numbers_choose_what_their_link_needs)
{
    sn_problem problem = rows_of(300, SN_REGRESSION);
    for (int64_t i = 0; i < 300; i++) y[i] = 0.8 * first(i) + 0.4 * normal(i, 2);
    assert_string_equal(chosen_for(&problem, "linear", NULL), "linear");
    for (int64_t i = 0; i < 300; i++) y[i] = 0.8 * first(i); /* nothing is better than the truth */
    assert_string_equal(chosen_for(&problem, "linear", NULL), "linear");
    for (int64_t i = 0; i < 300; i++) y[i] = sin(2.0 * first(i)) * second(i) + 0.2 * normal(i, 2);
    assert_string_equal(chosen_for(&problem, "linear", NULL), "kernel");
    int64_t kin[300]; /* what copies say of each other is nothing */
    for (int64_t i = 0; i < 300; i++) {
        const int64_t of = i % 30;
        z[2 * i] = z[2 * of];
        z[2 * i + 1] = z[2 * of + 1];
        y[i] = normal(of, 3);
        kin[i] = of;
    }
    double apart, together;
    chosen_for(&problem, "linear", &apart);
    problem.kin = kin;
    problem.copies = true;
    chosen_for(&problem, "linear", &together);
    assert_true(together > apart);
}

TEST(classes_choose_what_their_border_needs)
{
    sn_problem problem = rows_of(MOST, SN_CLASSIFICATION);
    for (int64_t i = 0; i < MOST; i++) label[i] = first(i) + 0.7 * normal(i, 2) > 0.0;
    assert_string_equal(chosen_for(&problem, "logistic", NULL), "logistic");
    for (int64_t i = 0; i < MOST; i++) label[i] = hypot(first(i), second(i)) > 1.2;
    assert_string_equal(chosen_for(&problem, "logistic", NULL), "kernel");
    void *state = fit_learner("kernel", &problem, 1, NULL);
    static double p[MOST * 2];
    int wrong = 0;
    predict_both_ways("kernel", state, &problem, p);
    assert_probabilities(MOST, 2, p);
    for (int64_t i = 0; i < MOST; i++) wrong += (p[2 * i + 1] > 0.5) != label[i];
    assert_true(wrong < MOST / 10);
    sn_learner_find("kernel")->free(state);
}

/* Rows that no kernel can be made of, and too few of them, are left to the plain regression. */
TEST(rows_that_are_not_nice)
{
    sn_problem problem = rows_of(100, SN_REGRESSION);
    for (int64_t i = 0; i < 100; i++) y[i] = normal(i, 2);
    problem.n = 12;
    assert_string_equal(chosen_for(&problem, "linear", NULL), "linear");
    problem.n = 100;
    for (int64_t i = 0; i < 100; i++) z[2 * i] = z[2 * i + 1] = 3.0F;
    assert_string_equal(chosen_for(&problem, "linear", NULL), "linear");
    problem = rows_of(100, SN_CLASSIFICATION);
    memset(label, 0, sizeof label);
    assert_string_equal(chosen_for(&problem, "logistic", NULL), "logistic");
    void *state = fit_learner("kernel", &problem, 1, NULL);
    double p[200];
    predict_both_ways("kernel", state, &problem, p);
    for (int64_t i = 0; i < 100; i++) assert_true(p[2 * i] > 0.999);
    sn_learner_find("kernel")->free(state);
}

RUN_TESTS(NULL, NULL)
