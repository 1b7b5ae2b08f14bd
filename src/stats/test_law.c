#include "math/noise.h"
#include "stats/law.h"
#include "stats/test_textbook.h"

static const char *const words[] = {"normal", "logistic", "extreme"};

TEST(probabilities_between_bounds_hold_in_both_tails)
{
    for (int k = 0; k < 3; k++) {
        const sn_errors law = (sn_errors)k;
        const double near = exp(sn_errors_log_upper(law, -0.3)) - exp(sn_errors_log_upper(law, 0.4));
        assert_near(exp(sn_errors_log_between(law, -0.3, 0.4)), near, 1e-14);
        assert_near(exp(sn_errors_log_lower(law, 0.2)) + exp(sn_errors_log_upper(law, 0.2)), 1.0, 1e-14);
        /* the density is the slope, also where the probabilities themselves are tiny or 1 - tiny */
        const double at[] = {-40.0, -3.0, 0.1, 2.0, 3.5};
        for (int j = 0; j < 5; j++) {
            const double h = 1e-5, log_p = sn_errors_log_between(law, at[j] - h, at[j] + h);
            assert_near(log_p - log(2.0 * h), sn_errors_log_density(law, at[j]), 1e-6);
        }
        assert_true(isfinite(sn_errors_log_between(law, 6.0, 6.5)));
    }
    assert_near(sn_errors_log_upper(SN_ERRORS_NORMAL, 29.999),
                sn_errors_log_upper(SN_ERRORS_NORMAL, 30.001) + 0.002 * (30.0 + 1.0 / 30.0), 1e-5);
    assert_true(sn_errors_log_upper(SN_ERRORS_NORMAL, 1e6) > -5.1e11);
}

/* The part of the law between low and the point is u of that between low and high. */
TEST(truncated_draws_are_quantiles)
{
    const double bounds[][2] = {{-(double)INFINITY, -8.0},
                                {-2.0, -1.5},
                                {-1.0, 2.0},
                                {0.5, (double)INFINITY},
                                {5.0, (double)INFINITY},
                                {-(double)INFINITY, 0.3},
                                {40.0, (double)INFINITY},
                                {-50.0, -45.0}};
    for (int k = 0; k < 3; k++)
        for (int b = 0; b < 8; b++)
            for (int j = 1; j < 10; j++) {
                const double u = j / 10.0, low = bounds[b][0], high = bounds[b][1];
                const double e = sn_errors_between((sn_errors)k, low, high, u);
                assert_true(e >= low && e <= high);
                if (low > 6.0 && k == SN_ERRORS_EXTREME) continue; /* exp(-exp(40)): one number is left */
                const double part = sn_errors_log_between((sn_errors)k, low, e) -
                                    sn_errors_log_between((sn_errors)k, low, high);
                assert_near(exp(part), u, 1e-6);
            }
}

static double loss_at(const sn_law *law, const double *seen, double mu, const double *parameter, int which,
                      double by)
{
    double moved[SN_LAW_PARAMETERS];
    for (int k = 0; k < SN_LAW_PARAMETERS; k++) moved[k] = parameter[k];
    if (which >= 0) moved[which] += by;
    return law->loss(law, seen, which < 0 ? mu + by : mu, moved, NULL);
}

/* Slopes and pulls of one row against central differences; scale: pull = - scale d loss / d mu. */
static void check_row(const sn_law *law, const double *seen, double mu, const double *parameter, int count,
                      double scale)
{
    const double h = 1e-5;
    double slope[SN_LAW_PARAMETERS] = {0.0}, mean = 0.0;
    law->loss(law, seen, mu, parameter, slope);
    for (int k = 0; k < count; k++) {
        const double by =
            (loss_at(law, seen, mu, parameter, k, h) - loss_at(law, seen, mu, parameter, k, -h)) / (2.0 * h);
        assert_near(slope[k], by, 1e-6 * (1.0 + fabs(by)));
    }
    const double by =
        (loss_at(law, seen, mu, parameter, -1, h) - loss_at(law, seen, mu, parameter, -1, -h)) / (2.0 * h);
    assert_near(law->pull(law, seen, mu, parameter, 0.0), -scale * by, 1e-6 * (1.0 + fabs(scale * by)));
    enum { DRAWS = 20000 }; /* Fisher's identity: the mean over draws is the slope */
    for (int j = 0; j < DRAWS; j++) mean += law->pull(law, seen, mu, parameter, (j + 0.5) / DRAWS) / DRAWS;
    assert_near(mean, -scale * by, 2e-3 * (1.0 + fabs(scale * by)));
}

TEST(slopes_of_times_are_those_of_the_loss)
{
    const double seen[][2] = {{0.3, 0.3}, {0.4, (double)INFINITY}, {-(double)INFINITY, -0.2}, {-0.5, 0.9}};
    const double parameter[SN_LAW_PARAMETERS] = {0.2, -0.4};
    for (int k = 0; k < 3; k++)
        for (int r = 0; r < 4; r++)
            check_row(sn_law_find(SN_LAW_TIMES, words[k]), seen[r], 0.1, parameter, 2, exp(-0.8));
}

TEST(slopes_of_ordered_classes_are_those_of_the_loss)
{
    const double parameter[SN_LAW_PARAMETERS] = {-1.0, 0.3, 1.7};
    for (int k = 0; k < 3; k++)
        for (int c = 0; c < 4; c++)
            check_row(sn_law_find(SN_LAW_ORDERED, words[k]), (const double[]){c, 4}, 0.4, parameter, 3, 1.0);
    double p[4], sum = 0.0;
    const sn_law *law = sn_law_find(SN_LAW_ORDERED, "auto");
    law->answer(law, 0.4, parameter, 4, p);
    for (int c = 0; c < 4; c++) sum += p[c];
    assert_near(sum, 1.0, 1e-14);
    assert_near(p[0], 1.0 / (1.0 + exp(1.4)), 1e-14);
}

TEST(slopes_of_counts_are_those_of_the_loss)
{
    const double parameter[SN_LAW_PARAMETERS] = {0.2, -0.7, 2.5}, a = exp(-0.7);
    const double seen[][2] = {{0.0, 0.0}, {3.0, 0.5}, {7.0, -1.0}};
    for (int r = 0; r < 3; r++) {
        check_row(sn_law_find(SN_LAW_COUNTS, "poisson"), seen[r], 0.1, parameter, 1, 1.0 / 2.5);
        check_row(sn_law_find(SN_LAW_COUNTS, "negbin"), seen[r], 0.1, parameter, 2, (1.0 + a * 2.5) / 2.5);
    }
    /* without dispersion the second is the first */
    const double none[SN_LAW_PARAMETERS] = {0.2, -11.0, 2.5};
    const sn_law *poisson = sn_law_find(SN_LAW_COUNTS, "auto");
    const sn_law *negative = sn_law_find(SN_LAW_COUNTS, "negbin");
    assert_near(poisson->loss(poisson, seen[1], 0.1, none, NULL),
                negative->loss(negative, seen[1], 0.1, none, NULL), 1e-3);
}

/* Simulation-based calibration (Talts and others 2018): a truth drawn from the law, what is seen of it, and
   draws given what is seen. The rank of the truth among them is uniform where they are draws of its
   posterior. */
enum { TRUTHS = 4000, DRAWN = 19 };

static void check_ranks(const sn_law *law, const double *parameter, bool ordered,
                        void (*see)(sn_random *random, double y, const double *parameter, double *seen))
{
    sn_random random = sn_random_from(34, SN_STREAM_TEST, law->errors + (ordered ? 8U : 0U));
    double count[DRAWN + 1] = {0.0}, total = 0.0, chi2 = 0.0;
    for (int t = 0; t < TRUTHS; t++) {
        const double mu = sn_random_normal(&random), s = ordered ? 1.0 : exp(parameter[1]);
        const double shift = ordered ? 0.0 : parameter[0];
        const double e =
            sn_errors_between(law->errors, -(double)INFINITY, (double)INFINITY, sn_random_uniform(&random));
        double seen[SN_LAW_SEEN];
        see(&random, mu + shift + s * e, parameter, seen);
        if (seen[0] == seen[1]) continue; /* nothing is hidden */
        int rank = 0;
        for (int k = 0; k < DRAWN; k++) {
            const double u = sn_random_uniform(&random), pull = law->pull(law, seen, mu, parameter, u);
            rank += pull < s * sn_errors_score(law->errors, e) ? 1 : 0;
            if (ordered) continue;
            const double drawn = sn_law_draw_time(law, seen, mu, parameter, u);
            assert_near(pull, s * fmin(sn_errors_score(law->errors, (drawn - mu - shift) / s), 10.0), 1e-9);
        }
        count[rank] += 1.0;
        total += 1.0;
    }
    for (int k = 0; k <= DRAWN; k++) chi2 += pow(count[k] - total / (DRAWN + 1), 2) / (total / (DRAWN + 1));
    assert_true(total > TRUTHS / 4.0);
    if (!(chi2 < 43.8))
        fail_msg("%s: the ranks have chi-square %g on %d", law->word, chi2, DRAWN); /* p .001 */
}

static void see_until(sn_random *random, double y, const double *parameter, double *seen)
{
    const double end = 0.3 + sn_random_normal(random);
    (void)parameter;
    seen[0] = fmin(y, end);
    seen[1] = y <= end ? y : (double)INFINITY;
}

static void see_between(sn_random *random, double y, const double *parameter, double *seen)
{
    (void)random;
    (void)parameter;
    seen[0] = y < -1.0 ? -(double)INFINITY : fmin(floor(2.0 * y) / 2.0, 2.0);
    seen[1] = y < -1.0 ? -1.0 : y > 2.0 ? (double)INFINITY : seen[0] + 0.5;
}

static void see_class(sn_random *random, double y, const double *parameter, double *seen)
{
    (void)random;
    seen[0] = (y > parameter[0]) + (y > parameter[1]) + (y > parameter[2]);
    seen[1] = 4.0;
}

TEST(draws_are_of_the_posterior)
{
    const double scale[SN_LAW_PARAMETERS] = {0.2, -0.4}, threshold[SN_LAW_PARAMETERS] = {-1.0, 0.3, 1.7};
    for (int k = 0; k < 3; k++) {
        check_ranks(sn_law_find(SN_LAW_TIMES, words[k]), scale, false, see_until);
        check_ranks(sn_law_find(SN_LAW_INTERVALS, words[k]), scale, false, see_between);
        check_ranks(sn_law_find(SN_LAW_ORDERED, words[k]), threshold, true, see_class);
    }
}

/* Two outputs: one moves the time, the other how it spreads. */
TEST(several_outputs_say_where_times_lie_and_how_they_spread)
{
    enum { ROWS = 6000, OUTPUTS = 2 };
    static double seen[ROWS][SN_LAW_SEEN], out[ROWS][OUTPUTS];
    const double truth[] = {0.3, -0.5, 1.2, 0.5};
    sn_random random = sn_random_from(35, SN_STREAM_TEST, 0);
    for (int i = 0; i < ROWS; i++) {
        double *o = out[i], own[2], mu;
        for (int k = 0; k < OUTPUTS; k++) o[k] = sn_random_normal(&random);
        const float exact[OUTPUTS] = {(float)o[0], (float)o[1]};
        const double *of_row = sn_law_read(OUTPUTS, exact, truth, own, &mu);
        assert_near(mu + of_row[0], 0.3 + 1.2 * o[0], 1e-6);
        see_until(&random, mu + of_row[0] + exp(of_row[1]) * sn_random_normal(&random), truth, seen[i]);
    }
    const sn_law *law = sn_law_find(SN_LAW_TIMES, "normal");
    sn_law_sample sample = {.n = ROWS, .seen = seen[0], .mu = out[0], .outputs = OUTPUTS, .spreads = true};
    double parameter[SN_LAW_PARAMETERS];
    sn_law_fit(law, &sample, true, parameter);
    for (int k = 0; k < 4; k++) assert_near(parameter[k], truth[k], 0.06);
    sample.spreads = false;
    sn_law_fit(law, &sample, true, parameter);
    assert_true(parameter[3] == 0.0 && parameter[1] > -0.4);
}

/* Exposures that differ much: the row with the most of it, whose curvature is the largest, has a step that
   does not go beyond twice what it needs. */
TEST(a_step_for_counts_suits_the_largest_exposures)
{
    const double seen[][SN_LAW_SEEN] = {
        {3.0, log(3.0)}, {5.0, log(5.0)}, {390.0, log(400.0)}, {4.0, log(4.0)}};
    const sn_law *law = sn_law_find(SN_LAW_COUNTS, "poisson");
    double parameter[SN_LAW_PARAMETERS];
    sn_law_fit(law, &(sn_law_sample){.n = 4, .seen = seen[0]}, true, parameter);
    const double h = 1e-4, slope = (law->pull(law, seen[2], h, parameter, 0.0) -
                                    law->pull(law, seen[2], -h, parameter, 0.0)) /
                                   (2.0 * h);
    assert_true(slope < -0.5 && slope > -2.0);
}

/* Ten times, three of them censored: what survreg of R's survival has of them. */
TEST(times_are_fitted_as_by_survreg)
{
    const double time[] = {3, 5, 1, 8, 2, 9, 4, 7, 12, 6};
    const int event[] = {1, 0, 1, 1, 1, 0, 1, 1, 0, 1};
    const double known[3][3] = {{1.71980327, -0.06708802, -21.01061578},
                                {1.73391047, -0.60468006, -21.08214065},
                                {2.05785863, -0.33228828, -21.21130845}};
    double seen[10][2];
    for (int i = 0; i < 10; i++) {
        seen[i][0] = log(time[i]);
        seen[i][1] = event[i] == 1 ? seen[i][0] : (double)INFINITY;
    }
    for (int k = 0; k < 3; k++) {
        const sn_law *law = sn_law_find(SN_LAW_TIMES, words[k]);
        const sn_law_sample sample = {.n = 10, .seen = seen[0]};
        double parameter[SN_LAW_PARAMETERS], loss = 0.0;
        sn_law_fit(law, &sample, true, parameter);
        for (int i = 0; i < 10; i++) {
            loss += law->loss(law, seen[i], 0.0, parameter, NULL);
            if (event[i] == 1) loss += log(time[i]); /* survreg's is of the times */
        }
        assert_near(parameter[0], known[k][0], 1e-4);
        assert_near(parameter[1], known[k][1], 1e-4);
        assert_near(-loss, known[k][2], 1e-7);
    }
}

/* Without effects the thresholds are the logits of the cumulative shares, each class with half a row more. */
TEST(thresholds_are_cumulative_logits)
{
    double seen[20][2], parameter[SN_LAW_PARAMETERS];
    for (int i = 0; i < 20; i++) {
        seen[i][0] = i < 12 ? 0 : i < 17 ? 1 : 2;
        seen[i][1] = 4; /* and none of the last class */
    }
    sn_law_fit(sn_law_find(SN_LAW_ORDERED, "auto"), &(sn_law_sample){.n = 20, .seen = seen[0]}, true,
               parameter);
    const double below[] = {12.5 / 22.0, 18.0 / 22.0, 21.5 / 22.0};
    for (int k = 0; k < 3; k++) assert_near(parameter[k], log(below[k] / (1.0 - below[k])), 1e-4);
}

/* Outputs that are all larger by a number, to which a long training may come, are fitted as well: the law
   takes the number out. */
TEST(a_constant_in_the_outputs_changes_no_likelihood)
{
    enum { ROWS = 400 };
    static const struct {
        sn_law_kind kind;
        const char *word;
    } cases[] = {{SN_LAW_TIMES, "normal"},     {SN_LAW_TIMES, "logistic"},   {SN_LAW_TIMES, "extreme"},
                 {SN_LAW_INTERVALS, "normal"}, {SN_LAW_ORDERED, "logistic"}, {SN_LAW_ORDERED, "normal"},
                 {SN_LAW_COUNTS, "poisson"},   {SN_LAW_COUNTS, "negbin"}};
    static double seen[ROWS][SN_LAW_SEEN], mu[ROWS];
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        sn_random random;
        double loss[3] = {0.0};
        const sn_law *law = sn_law_find(cases[k].kind, cases[k].word);
        const double constant[3] = {0.0, 15.0, -40.0};
        for (int c = 0; c < 3; c++) {
            random = sn_random_from(36, SN_STREAM_TEST, (uint32_t)k);
            for (int i = 0; i < ROWS; i++) {
                const double signal = sn_random_normal(&random), y = signal + 0.5 * sn_random_normal(&random);
                mu[i] = signal + constant[c];
                if (cases[k].kind == SN_LAW_TIMES) see_until(&random, y, NULL, seen[i]);
                if (cases[k].kind == SN_LAW_INTERVALS) see_between(&random, y, NULL, seen[i]);
                if (cases[k].kind == SN_LAW_ORDERED)
                    see_class(&random, y, (const double[]){-1.0, 0.3, 1.7}, seen[i]);
                if (cases[k].kind == SN_LAW_COUNTS) seen[i][0] = floor(exp(y));
                if (cases[k].kind == SN_LAW_COUNTS) seen[i][1] = 0.0;
            }
            double parameter[SN_LAW_PARAMETERS];
            sn_law_fit(law, &(sn_law_sample){.n = ROWS, .seen = seen[0], .mu = mu}, true, parameter);
            for (int i = 0; i < ROWS; i++) loss[c] += law->loss(law, seen[i], mu[i], parameter, NULL) / ROWS;
            assert_near(loss[c], loss[0], 1e-7);
        }
    }
}

TEST(kinds_know_their_laws)
{
    assert_non_null(sn_law_find(SN_LAW_INTERVALS, "extreme"));
    assert_string_equal(sn_law_find(SN_LAW_COUNTS, "auto")->word, "poisson");
    assert_string_equal(sn_law_find(SN_LAW_ORDERED, "auto")->word, "logistic");
    assert_null(sn_law_find(SN_LAW_COUNTS, "normal"));
    assert_null(sn_law_find(SN_LAW_TIMES, "poisson"));
}

RUN_TESTS(NULL, NULL)
