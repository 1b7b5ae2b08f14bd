/* What every linear method does with awkward data, and that it comes back from a store as it went in. */
#include "methods/test_support.h"

static const char *const names[] = {"pca",       "sir", "save", "dr",  "phd",
                                    "lasso-sir", "opg", "mave", "scr", "cve"};
enum { NAMES = sizeof names / sizeof *names };

static sample linear_sample(int64_t n, int64_t p, uint64_t seed)
{
    sample data = sample_normal(n, p, 1, seed);
    sn_random random = sn_random_from(seed, SN_STREAM_TEST, 7);
    for (int64_t i = 0; i < n; i++) {
        double first = data.x[i * p];
        data.y[i] = first + 0.3 * first * first + 0.1 * sn_random_normal(&random);
    }
    if (n > 1) sample_scale_y(&data);
    return data;
}

static void assert_finite(const sn_linear_map *map)
{
    for (int64_t i = 0; i < map->p * map->dim; i++) assert_true(isfinite(map->direction[i]));
}

TEST(a_damaged_store_is_refused)
{
    SN_AUTO(sn_store) *store = NULL;
    void *back = NULL;
    double numbers[6] = {0};
    OK(sn_store_create(&store));
    assert_int_equal(sn_linear_map_load(store, &back), STONET_ERROR_FORMAT);
    OK(sn_store_put_vector(store, "centre", SN_F64, 2, numbers));
    OK(sn_store_put_matrix(store, "direction", SN_F64, 3, 2, numbers));
    assert_int_equal(sn_linear_map_load(store, &back), STONET_ERROR_FORMAT);
    assert_null(back);
}

TEST(the_identity)
{
    SN_FREED_BY(sample_free) sample data = linear_sample(4, 3, 2);
    sn_fit_result result;
    float z[12];
    OK(fit_with("none", &data.problem, 1, "", NULL, &result));
    assert_int_equal(result.dim, 3);
    OK(sn_method_find("none")->transform(result.state, data.x, 4, NULL, z));
    assert_memory_equal(z, data.x, sizeof z);
    sn_free(result.state);
}

TEST(one_row_is_refused)
{
    SN_FREED_BY(sample_free) sample data = linear_sample(1, 3, 3);
    for (int m = 0; m < NAMES; m++) {
        sn_fit_result result;
        assert_int_equal(fit_with(names[m], &data.problem, 1, "", NULL, &result), STONET_ERROR_DATA);
        assert_null(result.state);
        assert_true(strlen(stonet_last_error()) > 20);
    }
}

TEST(one_column)
{
    SN_FREED_BY(sample_free) sample data = linear_sample(60, 1, 4);
    for (int m = 0; m < NAMES; m++) {
        heard messages;
        sn_fit_result result;
        OK(fit_with(names[m], &data.problem, 2, "", &messages, &result));
        assert_int_equal(result.dim, 1);
        assert_int_equal(messages.warnings, 1);
        SN_AUTO(sn_linear_map) *map = result.state;
        assert_true(map->direction[0] > 0.0);
    }
}

TEST(more_columns_than_rows)
{
    SN_FREED_BY(sample_free) sample data = linear_sample(40, 100, 5);
    for (int m = 0; m < NAMES; m++) {
        heard messages;
        sn_fit_result result;
        bool phd = strcmp(names[m], "phd") == 0;
        stonet_status status = fit_with(names[m], &data.problem, 2, "", &messages, &result);
        if (phd) { /* no residuals are left */
            assert_says(status, STONET_ERROR_DATA, "ridge");
            OK(fit_with("phd", &data.problem, 2, "ridge=1", NULL, &result));
        } else {
            OK(status);
            const bool silent = strcmp(names[m], "pca") == 0 || strcmp(names[m], "lasso-sir") == 0 ||
                                strcmp(names[m], "cve") == 0;
            assert_int_equal(messages.warnings, !silent);
        }
        assert_int_equal(result.dim, 2);
        assert_finite(result.state);
        sn_linear_map_free(result.state);
    }
    double truth[100] = {1}; /* lasso-sir finds its one column */
    double far = 0.0;        /* of one sample it depends on how the folds fall */
    for (uint64_t seed = 6; seed < 16; seed++) {
        SN_FREED_BY(sample_free) sample other = linear_sample(90, 100, seed);
        far += recovery("lasso-sir", &other.problem, 1, "", truth) / 10.0;
    }
    assert_true(far < 0.3);
}

TEST(constant_and_repeated_columns)
{
    SN_FREED_BY(sample_free) sample data = linear_sample(200, 5, 7);
    for (int64_t i = 0; i < 200; i++) {
        data.x[i * 5 + 2] = 3.25f;
        data.x[i * 5 + 4] = 2.0f * data.x[i * 5 + 3];
    }
    for (int m = 0; m < NAMES; m++) {
        heard messages;
        sn_fit_result result;
        OK(fit_with(names[m], &data.problem, 5, "", &messages, &result));
        SN_AUTO(sn_linear_map) *map = result.state;
        assert_finite(map);
        bool lasso = strcmp(names[m], "lasso-sir") == 0; /* has no rank of x */
        assert_true(lasso || map->dim == 3);
        for (int64_t k = 0; k < map->dim; k++) assert_true(fabs(map->direction[2 * map->dim + k]) < 1e-9);
    }
    for (int64_t i = 0; i < 1000; i++) data.x[i] = 1.5f;
    for (int m = 0; m < NAMES; m++) {
        sn_fit_result result;
        assert_int_equal(fit_with(names[m], &data.problem, 1, "", NULL, &result), STONET_ERROR_DATA);
    }
}

TEST(a_constant_response_is_refused_by_the_slicing_methods)
{
    SN_FREED_BY(sample_free) sample data = sample_normal(50, 3, 1, 8);
    static const char *const slicing[] = {"sir", "save", "dr", "lasso-sir"};
    sn_fit_result result;
    for (int m = 0; m < 4; m++)
        assert_says(fit_with(slicing[m], &data.problem, 1, "", NULL, &result), STONET_ERROR_DATA,
                    "single slice");
}

TEST(the_penalty_of_lasso_sir)
{
    SN_FREED_BY(sample_free) sample data = linear_sample(300, 20, 10);
    sn_fit_result result;
    assert_int_equal(fit_with("lasso-sir", &data.problem, 1, "penalty=1", NULL, &result),
                     STONET_ERROR_ARGUMENT);
    SN_AUTO(sn_linear_map) *sparse = fit_map("lasso-sir", &data.problem, 1, "penalty=0.5");
    int64_t left = 0;
    for (int j = 0; j < 20; j++) left += sparse->direction[j] != 0.0;
    assert_int_equal(left, 1);
    assert_true(sparse->direction[0] == 1.0);
    /* two classes make a single direction, and without a penalty it is that of sir */
    double cut[1] = {0.0};
    sample_cut_y(&data, 2, cut);
    SN_AUTO(sn_linear_map) *full = fit_map("lasso-sir", &data.problem, 1, "penalty=0");
    assert_true(recovery("sir", &data.problem, 1, "", full->direction) < 1e-6);
}

RUN_TESTS(NULL, NULL)
