/* Rules that choose a dimension: against numbers computed elsewhere in double precision, against simulated
   data of a known dimension, and on what cannot be answered. */
#include "base/memory.h"
#include "base/test_kit.h"
#include "math/noise.h"
#include "order/order.h"

enum { ROWS = 240, COLUMNS = 6 };

static stonet_data *table_of(float *columns, int64_t n, int64_t p, const double *response)
{
    stonet_data *data = NULL;
    OK(stonet_data_wrap(columns, n, p, &data));
    OK(stonet_data_set_targets(data, response, 1));
    return data;
}

/* A quasi-random design: u_ij = sqrt(12) (frac(i sqrt(prime_j)) - 1/2), y = x1 / (.5 + (x2 + 1.5)^2) + .1 u7.
   x is handed over in single precision, which moves the sixth digit of the numbers below. */
static float x[ROWS * COLUMNS];
static double y[ROWS];

static stonet_data *design(void)
{
    static const int prime[] = {2, 3, 5, 7, 11, 13, 17};
    for (int i = 0; i < ROWS; i++) {
        double u[7];
        for (int j = 0; j < 7; j++) {
            const double at = (i + 1) * sqrt(prime[j]);
            u[j] = sqrt(12.0) * (at - floor(at) - 0.5);
            if (j < COLUMNS) x[i * COLUMNS + j] = (float)u[j];
        }
        y[i] = u[0] / (0.5 + (u[1] + 1.5) * (u[1] + 1.5)) + 0.1 * u[6];
    }
    return table_of(x, ROWS, COLUMNS, y);
}

/* "METHOD name=value name=value" */
static stonet_spec *spec_of(const char *text)
{
    stonet_spec *spec = NULL;
    char copy[128], *rest = copy;
    snprintf(copy, sizeof copy, "%s", text);
    OK(stonet_spec_create(strtok_r(rest, " ", &rest), &spec));
    for (char *word; (word = strtok_r(rest, " ", &rest)) != NULL;) {
        char *value = strchr(word, '=');
        *value = '\0';
        OK(stonet_spec_set(spec, word, value + 1));
    }
    return spec;
}

static stonet_order_result *order_with(const char *text, const stonet_data *data,
                                       const stonet_order_options *how, int threads)
{
    SN_AUTO(stonet_spec) *spec = spec_of(text);
    stonet_run run = STONET_RUN_INIT;
    stonet_order_result *found = NULL;
    run.threads = threads;
    OK(stonet_order(spec, data, how, &run, &found));
    return found;
}

static stonet_order_result *order_of(const char *text, const stonet_data *data, stonet_order_rule rule,
                                     int64_t max)
{
    stonet_order_options how = STONET_ORDER_OPTIONS_INIT;
    how.rule = rule;
    how.max = max;
    return order_with(text, data, &how, 1);
}

/* Whether a value has the digits of the expected one, but for single precision of x. */
static void near(double value, double expected)
{
    if (fabs(value - expected) > 2e-5 * fabs(expected) + 2e-7) fail_msg("%.9g is not %.9g", value, expected);
}

static double cell(const stonet_order_result *found, int64_t k, const char *name)
{
    for (int64_t c = 0; c < stonet_order_columns(found); c++)
        if (strcmp(stonet_order_column_name(found, c), name) == 0) return stonet_order_value(found, k, c);
    fail_msg("there is no column %s", name);
    return 0.0;
}

TEST(the_criteria_of_sir)
{
    static const double value[] = {.79964093, .51122699, .14892238, .01959082, .00611746, 0};
    static const double lal[] = {0, .55796411, .82751430, .73475986, .51267387, .27711452, .03543771};
    static const double zmp[] = {-.32066486, -.13101281, -.05137581, -.05621235,
                                 -.06722378, -.07467238, -.07840600};
    static const double zzf[] = {0,           156.03384153, 203.63818383, 178.91458774, 138.36372347,
                                 87.56017555, 26.58424578};
    SN_AUTO(stonet_data) *data = design();
    SN_AUTO(stonet_order_result) *found = order_of("sir slices=6", data, STONET_ORDER_BIC, 0);
    assert_int_equal(stonet_order_rows(found), 7);
    for (int64_t k = 0; k <= COLUMNS; k++) {
        if (k > 0) near(cell(found, k, "eigenvalue"), value[k - 1]);
        near(cell(found, k, "lal"), lal[k]);
        near(cell(found, k, "zmp"), zmp[k]);
        if (k > 0) near(cell(found, k, "zzf"), zzf[k]);
    }
    assert_true(isnan(cell(found, 0, "zzf")));
    assert_int_equal(stonet_order_chosen(found), 2);
}

/* Statistic, degrees of freedom, p-value, that for x of any law where it is known. */
TEST(the_tests_by_their_laws)
{
    static const struct {
        const char *method;
        double line[4][4], within;
    } cases[] = {{"sir slices=6",
                  {{356.519660, 30, 1.55733e-57},
                   {164.605837, 20, 9.65737e-25},
                   {41.911359, 12, 3.44686e-05},
                   {6.169988, 6, .40442}},
                  1e-2},
                 {"save slices=6",
                  {{164.111637, 105, 2.00145e-4, 3.72721e-07},
                   {81.293983, 75, .289691, .0258766},
                   {30.878375, 50, .98468, .792439}},
                  1e-3},
                 {"phd",
                  {{193.428479, 21, 7.07516e-30}, {90.854522, 15, 6.86944e-13}, {2.484801, 10, .991095}},
                  1e-3}};
    SN_AUTO(stonet_data) *data = design();
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        SN_AUTO(stonet_order_result) *found = order_of(cases[c].method, data, STONET_ORDER_TESTS, 0);
        for (int64_t k = 0; k < 4 && cases[c].line[k][0] > 0.0; k++) {
            const double *line = cases[c].line[k];
            near(cell(found, k, "statistic"), line[0]);
            near(cell(found, k, "df"), line[1]);
            assert_true(fabs(cell(found, k, "p_value") / line[2] - 1.0) < cases[c].within);
            if (line[3] > 0.0)
                assert_true(fabs(cell(found, k, "p_value_general") / line[3] - 1.0) < cases[c].within);
        }
        if (c > 0) assert_int_equal(stonet_order_chosen(found), 2);
    }
}

TEST(the_ladle_of_sir)
{
    static const double left[] = {.32172254, .20568388, .05991650, .00788205, .00246126};
    SN_AUTO(stonet_data) *data = design();
    SN_AUTO(stonet_order_result) *found = order_of("sir slices=6", data, STONET_ORDER_AUTO, 0);
    assert_string_equal(stonet_order_rule_name(found), "ladle");
    assert_int_equal(stonet_order_rows(found), 5);
    for (int64_t k = 0; k < 5; k++) near(cell(found, k, "eigenvalue_left"), left[k]);
    assert_int_equal(stonet_order_chosen(found), 3);
    stonet_order_options how = STONET_ORDER_OPTIONS_INIT;
    how.rule = STONET_ORDER_LADLE;
    SN_AUTO(stonet_order_result) *again = order_with("sir slices=6", data, &how, 3);
    for (int64_t k = 0; k < 5; k++)
        assert_true(cell(found, k, "movement") == cell(again, k, "movement")); /* for any threads */
    stonet_order_free(found);
    /* Two and three directions are hard to tell apart here, and the noise decides; the others are far off. */
    found = order_of("sir slices=6", data, STONET_ORDER_AUGMENTATION, 0);
    assert_int_equal(stonet_order_chosen(found) / 2, 1);
    assert_true(fabs(cell(found, 2, "criterion") - cell(found, 3, "criterion")) < 0.05);
    assert_true(cell(found, 1, "criterion") > 0.2 && cell(found, 4, "criterion") > 0.3);
}

/* ---- data of a known dimension ----------------------------------------------------------------- */

/* n rows of ten normal columns; kind 0: y is noise; 1: x1 + x2 + .5 e; 2: x1 / (.5 + (x2 + 1.5)^2) + .2 e;
   3: x1 + exp(x2 / 2) e. */
static stonet_data *simulate(int kind, int64_t n, uint32_t seed)
{
    enum { MOST = 1000 };
    float columns[MOST * 10];
    double response[MOST];
    int64_t all[MOST];
    stonet_data *data = NULL;
    sn_random random = sn_random_from(seed, SN_STREAM_TEST, 1);
    for (int64_t i = 0; i < n; i++) {
        float *row = columns + 10 * i;
        for (int j = 0; j < 10; j++) row[j] = (float)sn_random_normal(&random);
        const double e = sn_random_normal(&random), a = (double)row[0], b = (double)row[1];
        const double by_kind[] = {e, a + b + 0.5 * e, a / (0.5 + (b + 1.5) * (b + 1.5)) + 0.2 * e,
                                  a + exp(b / 2.0) * e};
        response[i] = by_kind[kind];
        all[i] = i;
    }
    SN_AUTO(stonet_data) *wrapped = table_of(columns, n, 10, response);
    OK(stonet_data_subset(wrapped, all, n, &data)); /* owns its numbers */
    return data;
}

/* How many of ten data sets of dimension `kind` the rule gets right. */
static int right_answers(const char *method, stonet_order_rule rule, int kind)
{
    int right = 0;
    for (uint32_t seed = 1; seed <= 10; seed++) {
        SN_AUTO(stonet_data) *data = simulate(kind, 300, seed);
        stonet_order_options how = STONET_ORDER_OPTIONS_INIT;
        how.rule = rule;
        how.resamples = rule == STONET_ORDER_LADLE ? 40 : rule == STONET_ORDER_TESTS ? 99 : 5;
        SN_AUTO(stonet_order_result) *found = order_with(method, data, &how, 0);
        right += stonet_order_chosen(found) == kind;
    }
    return right;
}

TEST(known_dimensions_are_found)
{
    static const stonet_order_rule rules[] = {STONET_ORDER_LADLE, STONET_ORDER_AUGMENTATION,
                                              STONET_ORDER_TESTS, STONET_ORDER_BIC};
    for (int kind = 0; kind <= 2; kind++)
        for (int rule = 0; rule < 4; rule++)
            assert_true(right_answers("sir slices=8", rules[rule], kind) >= 8);
    assert_true(right_answers("dr slices=8", STONET_ORDER_LADLE, 1) >= 8);
    assert_true(right_answers("dr slices=8", STONET_ORDER_TESTS, 0) >= 8);
}

/* x_j = e_j / (.2 + x1^2), y = x1 + .1 e: the chi-square test of one direction rejects far too often, the
   weighted one does not (16.5 % and 4.0 % of 400 data sets of 400 rows). */
TEST(the_weighted_test_keeps_its_level)
{
    enum { SETS = 120, N = 400, P = 4 };
    int plain = 0, weighted = 0;
    for (uint32_t set = 0; set < SETS; set++) {
        float columns[N * P];
        double response[N];
        sn_random random = sn_random_from(7, SN_STREAM_TEST, set);
        for (int i = 0; i < N; i++) {
            const double first = sn_random_normal(&random);
            columns[P * i] = (float)first;
            for (int j = 1; j < P; j++)
                columns[P * i + j] = (float)(sn_random_normal(&random) / (0.2 + first * first));
            response[i] = first + 0.1 * sn_random_normal(&random);
        }
        SN_AUTO(stonet_data) *data = table_of(columns, N, P, response);
        SN_AUTO(stonet_order_result) *found = order_of("sir slices=6", data, STONET_ORDER_TESTS, 0);
        plain += cell(found, 1, "p_value") < 0.05;
        weighted += cell(found, 1, "p_value_general") < 0.05;
    }
    print_message("rejected: chi-square %d, weighted %d of %d\n", plain, weighted, SETS);
    assert_true(plain >= 12);    /* 16.5 % is 20 */
    assert_true(weighted <= 12); /* 4 % is 5 */
}

TEST(held_out_rows_choose_for_any_method)
{
    stonet_order_options how = STONET_ORDER_OPTIONS_INIT;
    how.rule = STONET_ORDER_CV;
    how.max = 3;
    for (int kind = 0; kind <= 1; kind++) {
        SN_AUTO(stonet_data) *data = simulate(kind, 200, 3);
        SN_AUTO(stonet_order_result) *one = order_of("mave", data, STONET_ORDER_AUTO, 3),
                                     *two = order_with("mave", data, &how, 2);
        assert_string_equal(stonet_order_rule_name(one), "cv");
        assert_int_equal(stonet_order_chosen(one), kind);
        assert_int_equal(stonet_order_rows(one), 4);
        for (int64_t k = 0; k < 4; k++) assert_true(cell(one, k, "loss") == cell(two, k, "loss"));
        assert_true(fabs(cell(one, 0, "loss") - 1.0) < 0.1); /* a constant explains nothing */
    }
}

/* x has columns of variance 9, 4 and 1, so that pca takes them in turn; y = a x1 + b x2 + .1 e. */
static stonet_data *in_turn(double a, double b, uint32_t seed)
{
    enum { N = 300, P = 3 };
    static float columns[N * P];
    static double response[N];
    for (uint32_t i = 0; i < N; i++) {
        for (uint32_t j = 0; j < P; j++)
            columns[i * P + j] = (float)((3.0 - j) * sn_noise_normal(seed, SN_STREAM_TEST, i, 0, j, 0, 0));
        response[i] = a * (double)columns[i * P] / 3.0 + b * (double)columns[i * P + 1] / 2.0 +
                      0.1 * sn_noise_normal(seed, SN_STREAM_TEST, i, 1, 0, 0, 0);
    }
    return table_of(columns, N, P, response);
}

/* A dimension counts when it is worth a twentieth of what is explained, however sure it is; and any at all
   when it beats a constant by two standard errors. */
TEST(what_is_worth_little_does_not_count)
{
    enum { SETS = 60 };
    static const double second[] = {0.1, 0.5}; /* 1 % and 20 % of what is explained */
    for (int k = 0; k < 2; k++) {
        SN_AUTO(stonet_data) *data = in_turn(1.0, second[k], 5);
        SN_AUTO(stonet_order_result) *found = order_of("pca scale=none", data, STONET_ORDER_CV, 3);
        assert_true(cell(found, 1, "excess") > 3.0 * cell(found, 1, "excess_se")); /* one is surely worse */
        assert_int_equal(stonet_order_chosen(found), 1 + k);
    }
    int any = 0;
    for (uint32_t seed = 1; seed <= SETS; seed++) {
        SN_AUTO(stonet_data) *data = in_turn(0.0, 0.0, seed);
        SN_AUTO(stonet_order_result) *found = order_of("pca scale=none", data, STONET_ORDER_CV, 3);
        any += stonet_order_chosen(found) > 0;
    }
    print_message("something found in noise: %d of %d\n", any, SETS);
    assert_true(any <= 3);
}

/* y = x1 in a hundred rows of weight 1, y = -x1 in two hundred of weight 0. */
TEST(rows_count_by_their_weights)
{
    enum { N = 300 };
    double weight[N], turned[N];
    SN_AUTO(stonet_data) *data = in_turn(1.0, 0.0, 5);
    memcpy(turned, stonet_data_targets(data, NULL), sizeof turned);
    for (int i = 0; i < N; i++) {
        weight[i] = i % 3 == 0;
        if (i % 3 != 0) turned[i] = -turned[i];
    }
    OK(stonet_data_set_targets(data, turned, 1));
    OK(stonet_data_set_weights(data, weight));
    SN_AUTO(stonet_order_result) *found = order_of("pca scale=none", data, STONET_ORDER_CV, 3);
    assert_int_equal(stonet_order_chosen(found), 1);
    assert_true(cell(found, 1, "loss") < 0.1);
}

/* The first 1 or 3 columns as the responses. */
static stonet_data *responses(int64_t m)
{
    stonet_data *data = simulate(0, 300, 6);
    double column[3 * 300];
    for (int64_t i = 0; i < 300; i++)
        for (int64_t j = 0; j < m; j++) column[i * m + j] = (double)stonet_data_x(data)[10 * i + j];
    OK(stonet_data_set_targets(data, column, m));
    return data;
}

/* No more dimensions are tried than there are responses, unless they were asked for. */
TEST(a_network_is_not_fitted_for_nothing)
{
    static const struct {
        int64_t responses, max, rows;
    } cases[] = {{1, 0, 2}, {1, 6, 6}, {3, 0, 4}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        SN_AUTO(stonet_data) *data = responses(cases[k].responses);
        SN_AUTO(stonet_order_result) *found =
            order_of("stonet epochs=60 weight_decay=0.003", data, STONET_ORDER_AUTO, cases[k].max);
        assert_int_equal(stonet_order_chosen(found), cases[k].responses);
        assert_int_equal(stonet_order_rows(found), cases[k].rows);
        assert_null(strstr(stonet_order_reason(found), "independence"));
    }
}

/* Held-out rows judge the mean: a fit to more than that is asked otherwise, or the answer says so. */
TEST(more_than_the_mean_is_asked_by_independence)
{
    static const char *const ensemble = "stonet epochs=10 weight_decay=0.003 response=ensemble";
    SN_AUTO(stonet_data) *data = responses(1);
    SN_AUTO(stonet_order_result) *found = order_of(ensemble, data, STONET_ORDER_AUTO, 1),
                                 *by_rows = order_of(ensemble, data, STONET_ORDER_CV, 1);
    assert_string_equal(stonet_order_rule_name(found), "independence");
    assert_non_null(strstr(stonet_order_reason(by_rows), "the mean of the response alone is judged"));
}

/* The response is a column of x, and Z1 comes close to it: no second column is needed, and the reason says
   that x has more. Mean and spread are two numbers at the most. */
TEST(columns_of_one_training_are_asked_about)
{
    SN_AUTO(stonet_data) *data = responses(1);
    SN_AUTO(stonet_order_result) *found =
        order_of("stonet epochs=30 weight_decay=0.003 response=location-scale", data, STONET_ORDER_AUTO, 0);
    assert_true(stonet_order_rows(found) <= 2);
    assert_int_equal(stonet_order_chosen(found), 1);
    assert_non_null(strstr(stonet_order_reason(found), "the columns of Z after 1 add nothing"));
    assert_non_null(strstr(stonet_order_reason(found), "x says more than Z"));
}

/* Two numbers are needed for a mean and a spread, where up to eight may be tried. Later columns repair a
   little of what the first two of a fit have missed, which the test finds in both data sets. A training that
   learns noise needs more, but an ensemble has four with effect. */
TEST(an_ensemble_finds_a_mean_and_a_spread)
{
    for (uint32_t seed = 1; seed <= 3; seed++) {
        SN_AUTO(stonet_data) *data = simulate(3, 1000, seed);
        SN_AUTO(stonet_order_result) *found =
            order_of(seed < 3 ? "stonet hidden=20 epochs=60 weight_decay=0.03 response=ensemble"
                              : "stonet hidden=20 epochs=60 weight_decay=0.003 response=ensemble",
                     data, STONET_ORDER_AUTO, 8);
        assert_true(seed < 3 ? stonet_order_chosen(found) == 2 : stonet_order_chosen(found) <= 4);
    }
}

/* Of eight rows lal says 0 by itself, although the test of no direction rejects: the reason is lal's. */
TEST(so_few_rows_that_lal_says_none)
{
    static float few[] = {1, 2, 3, 4, 5, 6, 7, 8};
    static const double response[] = {1, 2, 3, 4, 5, 6, 7, 8};
    SN_AUTO(stonet_data) *data = table_of(few, 8, 1, response);
    SN_AUTO(stonet_order_result) *found = order_of("sir slices=2", data, STONET_ORDER_BIC, 0);
    assert_int_equal(stonet_order_chosen(found), 0);
    assert_non_null(strstr(stonet_order_reason(found), "lal is largest at 0"));
}

/* What no sample of this size would show by chance has a p-value, and not 0. */
TEST(overwhelming_evidence_has_a_p_value)
{
    SN_AUTO(stonet_data) *data = simulate(1, 600, 8);
    SN_AUTO(stonet_order_result) *found = order_of("pca", data, STONET_ORDER_INDEPENDENCE, 1);
    const double p = cell(found, 0, "p_value"),
                 least = fmin(cell(found, 0, "p_first_half"), cell(found, 0, "p_second_half"));
    assert_true(least < 1e-20 && p >= least && p <= 2.0 * least * (1.0 + 1e-9));
}

/* Where columns predict nothing at all, there is nothing to lose without the later ones, whatever the test
   says of them: noise, in which the first column alone is nearly as bad as all. */
TEST(columns_that_explain_nothing_are_enough)
{
    static const uint32_t seeds[] = {30, 62, 65};
    stonet_order_options how = STONET_ORDER_OPTIONS_INIT;
    how.rule = STONET_ORDER_INDEPENDENCE;
    how.level = 0.99;
    for (int set = 0; set < 3; set++) {
        SN_AUTO(stonet_data) *data = simulate(0, 200, seeds[set]);
        SN_AUTO(stonet_order_result) *found = order_with("pls", data, &how, 0);
        for (int64_t k = 0; k + 1 < stonet_order_chosen(found); k++)
            assert_true(cell(found, k, "lost") > fmax(0.05 * cell(found, k, "explained"), 0.0));
    }
}

/* Three classes, cut out by two directions; two have one direction at the most. */
TEST(classes_are_chosen_for_too)
{
    enum { N = 300 };
    static const char *const labels[] = {"left", "up", "down"};
    static const stonet_order_rule rules[] = {STONET_ORDER_LADLE, STONET_ORDER_AUGMENTATION,
                                              STONET_ORDER_TESTS, STONET_ORDER_BIC, STONET_ORDER_CV};
    SN_AUTO(stonet_data) *data = simulate(0, N, 5), *pair = NULL;
    int32_t code[N];
    for (int i = 0; i < N; i++) {
        const float *row = stonet_data_x(data) + 10 * i;
        code[i] = row[0] < -0.3F ? 0 : row[1] > 0.1F ? 1 : 2;
    }
    OK(stonet_data_set_classes(data, code, labels, 3));
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        SN_AUTO(stonet_order_result) *found = order_of("sir", data, rules[i], 2);
        SN_BLOCK char *text = stonet_order_json(found);
        assert_int_equal(stonet_order_chosen(found), 2);
        assert_non_null(strstr(text, "\"chosen\": 2"));
    }
    OK(stonet_generate("waveform", 300, 1, &pair));
    SN_AUTO(stonet_order_result) *found = order_of("sir", pair, STONET_ORDER_AUTO, 0);
    assert_int_equal(stonet_order_chosen(found), 1);
}

TEST(what_cannot_be_answered_is_said)
{
    SN_AUTO(stonet_data) *data = design();
    stonet_order_options how = STONET_ORDER_OPTIONS_INIT;
    stonet_order_result *found = NULL;
    SN_AUTO(stonet_spec) *spec = spec_of("mave");
    how.rule = STONET_ORDER_LADLE;
    assert_says(stonet_order(spec, data, &how, NULL, &found), STONET_ERROR_UNSUPPORTED,
                "method 'mave' does not have");
    assert_int_equal(stonet_order(NULL, data, &how, NULL, &found), STONET_ERROR_ARGUMENT);
    how.level = 1.5;
    assert_int_equal(stonet_order(spec, data, &how, NULL, &found), STONET_ERROR_ARGUMENT);
    stonet_spec_free(spec);
    spec = spec_of("pca");
    how = (stonet_order_options)STONET_ORDER_OPTIONS_INIT;
    how.rule = STONET_ORDER_TESTS;
    assert_int_equal(stonet_order(spec, data, &how, NULL, &found), STONET_ERROR_UNSUPPORTED);
    stonet_order_rule rule;
    assert_int_equal(stonet_order_rule_find("ladel", &rule), STONET_ERROR_ARGUMENT);
    assert_null(found);
}

/* Each number of components is judged, from one pass over the rows of a fold; the models are those of fits of
   their own. */
TEST(components_that_are_nested_are_all_judged)
{
    SN_AUTO(stonet_data) *data = design();
    SN_AUTO(stonet_order_result) *found = order_of("pls", data, STONET_ORDER_CV, 0);
    SN_AUTO(stonet_spec) *spec = spec_of("pls");
    assert_int_equal(stonet_order_rows(found), 1 + stonet_data_columns(data));
    for (int64_t k = 0; k < stonet_order_rows(found); k++)
        assert_true(stonet_order_value(found, k, 0) == (double)k);
    SN_AUTO(stonet_checkpoint) *shared = NULL;
    stonet_run run = STONET_RUN_INIT;
    OK(stonet_checkpoint_open(NULL, -1.0, &shared));
    for (int pass = 0; pass < 2; pass++) { /* the second takes the moments of the first */
        SN_AUTO(stonet_model) *own = NULL, *sharing = NULL;
        OK(stonet_spec_set(spec, "dim", pass == 0 ? "3" : "2"));
        run.checkpoint = NULL;
        OK(stonet_fit(spec, data, &run, &own));
        run.checkpoint = shared;
        OK(stonet_fit(spec, data, &run, &sharing));
        for (int64_t i = 0; i < 5; i++) {
            float z[2][3];
            SN_AUTO(stonet_data) *row = NULL;
            OK(stonet_data_subset(data, &i, 1, &row));
            OK(stonet_transform(own, row, NULL, z[0]));
            OK(stonet_transform(sharing, row, NULL, z[1]));
            for (int k = 0; k < 3 - pass; k++) assert_true(z[0][k] == z[1][k]);
        }
    }
}

RUN_TESTS(NULL, NULL)
