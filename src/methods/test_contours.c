/* scr and cve against what their formulas say, pair by pair. */
#include "methods/cve_objective.h"
#include "methods/spectral.h"
#include "methods/test_support.h"

enum { N = 60, P = 4 };

static sample draw(uint64_t seed)
{
    sample data = sample_normal(N, P, 1, seed);
    for (int64_t i = 0; i < N; i++) {
        const float *x = data.x + i * P;
        data.y[i] = floor(4 * (x[0] + sin(2 * x[1]))) / 4; /* with ties */
    }
    sample_scale_y(&data);
    return data;
}

/* A over the pairs with the smallest distances, ties at the last one included, by brute force. */
static void check_pairs(const sample *data, double share, double *value)
{
    SN_WORKSPACE(scratch);
    sn_whitening whitening;
    double z[N * P], a[P * P] = {0}, vector[P * P], far[N * N];
    int64_t pairs = 0, used = 0;
    OK(sn_whitening_fit(&(sn_problem){.x = data->x, .n = N, .p = P}, 0.0, 0, NULL, &scratch, &whitening));
    OK(sn_whiten_rows(&whitening, data->x, NULL, N, z));
    for (int i = 0; i < N; i++)
        for (int j = 0; j < i; j++) far[pairs++] = fabs(data->y[i] - data->y[j]);
    double limit = 0.0;
    for (int64_t k = 0; k < pairs; k++) { /* the smallest distance within which there are enough pairs */
        int64_t within = 0;
        for (int64_t l = 0; l < pairs; l++) within += far[l] <= far[k] + 1e-9;
        if ((double)within >= share * (double)pairs && (limit == 0.0 || far[k] < limit)) limit = far[k];
    }
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < i; j++) {
            if (fabs(data->y[i] - data->y[j]) > limit + 1e-9) continue;
            used++;
            for (int k = 0; k < P * P; k++)
                a[k] += (z[i * P + k / P] - z[j * P + k / P]) * (z[i * P + k % P] - z[j * P + k % P]);
        }
    }
    for (int k = 0; k < P * P; k++) a[k] = (k / P == k % P) - 0.5 * a[k] / (double)used;
    OK(sn_eigh(P, a, value, vector));
}

/* The eigenvalues of scr (P of them). */
static void scr_values(const sample *data, const char *options, double value[P])
{
    SN_AUTO(sn_linear_map) *map = fit_map("scr", &data->problem, 2, options);
    assert_int_equal(map->n_values, P);
    memcpy(value, map->value, P * sizeof *value);
}

TEST(pairs_by_brute_force)
{
    SN_FREED_BY(sample_free) sample data = draw(3);
    double value[P], slow[P];
    scr_values(&data, "share=0.1", value);
    check_pairs(&data, 0.1, slow);
    assert_true(largest_gap(P, value, slow) < 1e-9);
    scr_values(&data, "share=0.3", value);
    check_pairs(&data, 0.3, slow);
    assert_true(largest_gap(P, value, slow) < 1e-9);
}

/* Ranks see no difference between y and an increasing function of it; and a constant response is refused. */
TEST(ranks_and_refusal)
{
    SN_FREED_BY(sample_free) sample data = draw(4);
    double value[P], other[P], rank[N] = {0};
    scr_values(&data, "distance=ranks", value);
    for (int64_t i = 0; i < N; i++) data.y[i] = sinh(3 * data.y[i]);
    scr_values(&data, "distance=ranks", other);
    assert_true(largest_gap(P, value, other) < 1e-12);
    /* what it sees are the ranks themselves, equals sharing theirs */
    data.y[0] = data.y[1] = data.y[2];
    scr_values(&data, "distance=ranks", value);
    for (int64_t i = 0; i < N; i++)
        for (int64_t k = 0; k < N; k++)
            rank[i] += data.y[k] < data.y[i] ? 1.0 : data.y[k] == data.y[i] ? 0.5 : 0.0;
    memcpy(data.y, rank, sizeof rank);
    scr_values(&data, "", other);
    assert_true(largest_gap(P, value, other) < 1e-12);
    for (int64_t i = 0; i < N; i++) data.y[i] = 0.0;
    sn_fit_result result;
    assert_int_equal(fit_with("scr", &data.problem, 1, "", NULL, &result), STONET_ERROR_DATA);
}

TEST(gradient_of_cve)
{
    enum { D = 2, R = 2 };
    SN_WORKSPACE(scratch);
    double z[N * P], y[N * R], b[P * D], gradient[P * D];
    sn_random random = sn_random_from(5, SN_STREAM_TEST, 0);
    for (int i = 0; i < N * P; i++) z[i] = sn_random_normal(&random);
    for (int i = 0; i < P * D; i++) b[i] = sn_random_normal(&random);
    for (int i = 0; i < N; i++) {
        y[i * R] = sin(z[i * P]) + 0.1 * sn_random_normal(&random);
        y[i * R + 1] = z[i * P + 1] * z[i * P + 2];
    }
    sn_cve cve = {.n = N, .rank = P, .d = D, .responses = R, .z = z, .y = y, .h = 1.3, .threads = 1};
    OK(sn_cve_prepare(&cve, &scratch));
    sn_cve_value(&cve, b, gradient);
    for (int k = 0; k < P * D; k++) {
        const double held = b[k], small = 1e-5;
        b[k] = held + small;
        const double above = sn_cve_value(&cve, b, NULL);
        b[k] = held - small;
        const double below = sn_cve_value(&cve, b, NULL);
        b[k] = held;
        assert_true(fabs((above - below) / (2 * small) - gradient[k]) < 1e-7);
    }
}

RUN_TESTS(NULL, NULL)
