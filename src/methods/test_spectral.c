/* The candidate interface: what rules that choose a dimension ask of it, on resampled and augmented rows. */
#include "methods/spectral.h"
#include "methods/test_support.h"

static const char *const names[] = {"pca", "sir", "save", "dr", "phd"};
enum { NAMES = sizeof names / sizeof *names, N = 400, P = 5 };

/* y on x_1 alone, in a way that every method sees; x_1 also varies most, for pca. x_2 and x_3 correlate. */
static sample one_direction(uint64_t seed)
{
    sample data = sample_normal(N, P, 1, seed);
    sn_random random = sn_random_from(seed, SN_STREAM_TEST, 3);
    for (int i = 0; i < N; i++) {
        float *row = data.x + i * P;
        double first = row[0];
        row[2] = 0.6f * row[1] + 0.8f * row[2];
        data.y[i] = first + 0.8 * first * first + 0.2 * sn_random_normal(&random);
        row[0] *= 3.0f;
    }
    sample_scale_y(&data);
    return data;
}

static void solve(const char *name, const sn_problem *problem, sn_workspace *keep, sn_solved *solved)
{
    const sn_method *method = sn_method_find(name);
    SN_AUTO(sn_settings) *settings = settings_of(method, "");
    assert_non_null(method->candidate);
    OK(sn_candidate_solve(method, problem, settings, NULL, keep, solved));
}

/* And in coordinates that can be compared between samples the vectors are orthonormal. */
TEST(the_spectrum_is_that_of_the_fit)
{
    SN_FREED_BY(sample_free) sample data = one_direction(1);
    for (int m = 0; m < NAMES; m++) {
        SN_WORKSPACE(scratch);
        sn_solved solved;
        solve(names[m], &data.problem, &scratch, &solved);
        double all[P * P], gram[P * P];
        OK(sn_solved_vectors(&solved, P, all));
        sn_syrk_tn(P, P, 1.0, all, 0.0, gram);
        for (int i = 0; i < P * P; i++) assert_true(fabs(gram[i] - (i % (P + 1) == 0)) < 1e-12);
        SN_AUTO(sn_linear_map) *map = fit_map(names[m], &data.problem, 2, "");
        assert_int_equal(map->n_values, solved.eigen.count);
        assert_memory_equal(map->value, solved.eigen.value, (size_t)map->n_values * sizeof(double));
        for (int64_t k = 1; k < solved.eigen.count; k++)
            assert_true(solved.eigen.value[k] <= solved.eigen.value[k - 1]);
    }
}

/* Put on one footing, the eigenvalues do not know the units of y (phd) or x (pca). */
TEST(scales_make_the_eigenvalues_comparable)
{
    SN_FREED_BY(sample_free) sample data = one_direction(4), large = one_direction(4);
    for (int i = 0; i < N; i++) large.y[i] *= 1000.0;
    for (int i = 0; i < N * P; i++) large.x[i] *= 16.0f;
    for (int m = 0; m < NAMES; m++) {
        SN_WORKSPACE(scratch);
        sn_solved a, b;
        solve(names[m], &data.problem, &scratch, &a);
        solve(names[m], &large.problem, &scratch, &b);
        for (int k = 0; k < P; k++) {
            double left = (a.eigen.value[k] - a.matrix.noise) / a.matrix.scale;
            double right = (b.eigen.value[k] - b.matrix.noise) / b.matrix.scale;
            assert_true(fabs(left - right) < 1e-6);
        }
    }
}

/* As many directions as rows less one, which the mean takes, fit anything. */
TEST(too_many_columns_are_warned_of)
{
    enum { ROWS = 12 };
    static const struct {
        const char *method, *settings;
        int64_t p;
        int warnings;
    } cases[] = {{"sir", "ridge=0", ROWS - 2, 0},
                 {"sir", "ridge=0", ROWS - 1, 1},
                 {"sir", "ridge=0", ROWS + 3, 1},
                 {"sir", "ridge=1", ROWS - 1, 0},
                 {"pca", "", ROWS + 3, 0}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        SN_WORKSPACE(scratch);
        sn_solved solved;
        heard messages = {0};
        const stonet_run run = {.size = sizeof run, .threads = 1, .on_message = hear, .user = &messages};
        const sn_method *method = sn_method_find(cases[k].method);
        SN_AUTO(sn_settings) *settings = settings_of(method, cases[k].settings);
        SN_FREED_BY(sample_free) sample data = sample_normal(ROWS, cases[k].p, 1, 3);
        for (int i = 0; i < ROWS; i++) data.y[i] = (double)data.x[i * cases[k].p];
        sample_scale_y(&data);
        OK(sn_candidate_solve(method, &data.problem, settings, &run, &scratch, &solved));
        assert_int_equal(messages.warnings, cases[k].warnings);
    }
}

RUN_TESTS(NULL, NULL)
