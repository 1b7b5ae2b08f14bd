/* Rows kept aside: each once, kin together, and what they cost by brute force. */
#include "base/test_kit.h"
#include "choice/held_out.h"
#include "engine/test_oracle.h"
#include "math/noise.h"
#include "stats/distributions.h"

enum { P = 3 };

static void assert_near(double got, double expected)
{
    assert_true(fabs(got - expected) <= 1e-9 * fmax(1.0, fabs(expected)));
}

/* Every row of a list is held out once, or never where a few parts are enough, and trained on otherwise. */
TEST(each_row_once)
{
    static const struct {
        int64_t n;
        int folds;
        int64_t held_out;
    } cases[] = {{3, 3, 3}, {7, 5, 7}, {1000, 5, 1000}, {2000, 3, 1200}, {12000, 1, 2400}, {51000, 1, 10000}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const int64_t n = cases[k].n;
        int64_t *list = malloc((size_t)n * sizeof *list), rows = 0;
        SN_BLOCK int *seen = calloc((size_t)(2 * n), sizeof *seen);
        SN_BLOCK float *weight = malloc((size_t)(2 * n) * sizeof *weight);
        double sum = 0.0;
        assert_true(list != NULL && seen != NULL && weight != NULL);
        for (int64_t i = 0; i < n; i++) list[i] = 2 * i + 1;
        for (int64_t i = 0; i < 2 * n; i++) weight[i] = (float)(1 + i % 5);
        const sn_problem problem = {
            .n = 2 * n, .p = 1, .task = SN_REGRESSION, .outputs = 1, .weight = weight};
        const sn_rows all = sn_rows_list(list, n);
        SN_FREED_BY(sn_folds_free) sn_folds folds = {0};
        OK(sn_folds_make(&problem, &all, 3, &folds));
        assert_int_equal(folds.count, cases[k].folds);
        assert_int_equal(folds.rows, cases[k].held_out);
        for (int f = 0; f < folds.count; f++) {
            const sn_fold *fold = &folds.fold[f];
            assert_int_equal(fold->first, rows);
            assert_int_equal(sn_folds_rows(&folds, f), rows);
            assert_int_equal(fold->train.n + fold->test.n, n);
            for (int64_t i = 0; i < fold->test.n; i++) {
                seen[sn_rows_at(&fold->test, i)]++;
                sum += (double)weight[sn_rows_at(&fold->test, i)];
            }
            for (int64_t i = 0; i < fold->train.n; i++) seen[sn_rows_at(&fold->train, i)] += 10;
            rows += fold->test.n;
        }
        assert_int_equal(sn_folds_rows(&folds, folds.count), rows);
        for (int64_t i = 0; i < 2 * n; i++) {
            const int once = 10 * (folds.count - 1) + 1, never = 10 * folds.count;
            assert_true(i % 2 == 0 ? seen[i] == 0 : seen[i] == once || (rows < n && seen[i] == never));
            if (i < 20)
                assert_near(sn_folds_weight(&folds, &problem, i), (double)weight[i] / (sum / (double)rows));
        }
        free(list);
    }
}

/* Rows that belong together are held out in the same fold; of copies one is held out, and none is trained on
   meanwhile. */
TEST(kin_stay_together)
{
    enum { N = 60, DIFFERENT = 13 };
    int64_t kin[N];
    for (int i = 0; i < N; i++) kin[i] = 7 * (i % DIFFERENT);
    const sn_rows all = sn_rows_range(0, N);
    for (uint64_t seed = 1; seed <= 20; seed++) {
        const sn_problem problem = {
            .n = N, .p = 1, .task = SN_REGRESSION, .outputs = 1, .kin = kin, .copies = seed > 10};
        const int each = problem.copies ? DIFFERENT : N;
        SN_FREED_BY(sn_folds_free) sn_folds folds = {0};
        int held_out[DIFFERENT] = {0};
        OK(sn_folds_make(&problem, &all, seed, &folds));
        assert_int_equal(folds.count, SN_FOLDS);
        assert_int_equal(folds.rows, each);
        for (int f = 0; f < folds.count; f++)
            for (int64_t i = 0; i < folds.fold[f].test.n; i++) {
                const int64_t row = sn_rows_at(&folds.fold[f].test, i);
                held_out[row % DIFFERENT]++;
                for (int64_t k = 0; k < folds.fold[f].train.n; k++)
                    assert_int_not_equal(sn_rows_at(&folds.fold[f].train, k) % DIFFERENT, row % DIFFERENT);
            }
        for (int i = 0; i < DIFFERENT; i++)
            assert_int_equal(held_out[i], problem.copies ? 1 : N / DIFFERENT + (i < N % DIFFERENT));
    }
}

/* Groups of three rows whose losses are the same, in any order, and a single fold, as of many rows: the mean
   is as sure as that of a third of the rows. */
TEST(kin_err_together)
{
    enum { GROUPS = 200, EACH = 3, N = GROUPS * EACH };
    int64_t kin[N];
    double v[N], of[GROUPS], square = 0.0;
    sn_random random = sn_random_from(1, SN_STREAM_TEST, 4);
    for (int i = 0; i < N; i++) kin[i] = 7 * (i % GROUPS);
    const sn_problem problem = {.n = N, .p = 1, .task = SN_REGRESSION, .outputs = 1, .kin = kin};
    const sn_rows all = sn_rows_range(0, N);
    SN_FREED_BY(sn_folds_free) sn_folds folds = {0};
    OK(sn_folds_make(&problem, &all, 5, &folds));
    sn_folds one = folds;
    one.count = 1;
    one.rows = sn_folds_rows(&folds, 1);
    const double groups = (double)one.rows / EACH;
    for (int g = 0; g < GROUPS; g++) of[g] = sn_random_normal(&random);
    for (int64_t i = 0; i < one.rows; i++) v[i] = of[sn_rows_at(&folds.fold[0].test, i) % GROUPS];
    const sn_fold_mean found = sn_held_out_mean(&one, v, NULL);
    for (int64_t i = 0; i < one.rows; i++) square += (v[i] - found.mean) * (v[i] - found.mean) / EACH;
    assert_near(found.se, sqrt(square / (groups - 1.0) / groups));
    assert_near(found.df, groups - 1.0);
}

/* The response has no say in which row is held out when. */
TEST(folds_are_blind)
{
    enum { N = 40 };
    int32_t label[2][N];
    const sn_rows all = sn_rows_range(0, N);
    for (int i = 0; i < N; i++) {
        label[0][i] = i % 2;
        label[1][i] = i < 3;
    }
    for (uint64_t seed = 1; seed <= 20; seed++) {
        sn_folds folds[2];
        for (int k = 0; k < 2; k++) {
            const sn_problem problem = {
                .n = N, .p = 1, .task = SN_CLASSIFICATION, .outputs = 2, .label = label[k]};
            OK(sn_folds_make(&problem, &all, seed, &folds[k]));
        }
        assert_int_equal(folds[0].count, folds[1].count);
        for (int f = 0; f < folds[0].count; f++)
            assert_memory_equal(folds[0].fold[f].lists[1], folds[1].fold[f].lists[1], N * sizeof(int64_t));
        for (int k = 0; k < 2; k++) sn_folds_free(&folds[k]);
    }
}

/* The outputs of a network with one hidden layer of tanh units for a row. */
static void outputs_of(const oracle *o, int64_t row, double *mu)
{
    const int64_t *width = o->shape.width;
    double unit[8];
    for (int64_t a = 0; a < width[1]; a++) {
        double sum = (double)o->theta[o->shape.bias_at[0] + a];
        for (int64_t j = 0; j < width[0]; j++)
            sum += (double)o->theta[o->shape.weight_at[0] + a * width[0] + j] * (double)o->x[row * P + j];
        unit[a] = tanh(sum);
    }
    for (int64_t c = 0; c < width[2]; c++) {
        mu[c] = (double)o->theta[o->shape.bias_at[1] + c];
        for (int64_t a = 0; a < width[1]; a++)
            mu[c] += (double)o->theta[o->shape.weight_at[1] + c * width[1] + a] * unit[a];
    }
}

/* The losses of a network on the rows of one fold, and nothing else, by the formulas of net/loss.h. */
TEST(losses_by_hand)
{
    enum { N = 53 };
    for (int task = SN_REGRESSION; task <= SN_CLASSIFICATION; task++) {
        const int64_t width[] = {P, 4, 3};
        const sn_rows all = sn_rows_range(0, N);
        SN_FREED_BY(oracle_free) oracle o = oracle_make(2, width, SN_TANH, (sn_task)task, N, 6);
        float weight[N];
        SN_FREED_BY(sn_folds_free) sn_folds folds = {0};
        SN_FREED_BY(sn_held_out_free) sn_held_out cost = {0};
        for (int i = 0; i < N; i++) weight[i] = (float)(1 + i % 3);
        o.problem.weight = weight;
        OK(sn_folds_make(&o.problem, &all, 2, &folds));
        OK(sn_held_out_create(&folds, &cost));
        const sn_use network = {&o.problem, &sn_engine_cpu, &o.shape, o.theta, 1};
        OK(sn_folds_measure(&folds, 1, &network, &cost));
        for (int f = 0; f < folds.count; f++)
            for (int64_t i = 0; i < folds.fold[f].test.n; i++) {
                const int64_t at = folds.fold[f].first + i, row = sn_rows_at(&folds.fold[f].test, i);
                double mu[3], sum = 0.0;
                int best = 0;
                if (f != 1) assert_true(cost.loss[at] == 0.0 && cost.wrong[at] == 0.0);
                if (f != 1) continue;
                outputs_of(&o, row, mu);
                for (int c = 0; c < 3; c++) {
                    sum += task == SN_CLASSIFICATION ? exp(mu[c]) : 0.5 * pow(o.y[row * 3 + c] - mu[c], 2);
                    best = mu[c] > mu[best] ? c : best;
                }
                const double loss = task == SN_CLASSIFICATION ? log(sum) - mu[o.label[row]] : sum;
                const double counts = sn_folds_weight(&folds, &o.problem, row);
                assert_true(fabs(cost.loss[at] - counts * loss) < 1e-5 * (1.0 + counts * loss));
                if (task == SN_CLASSIFICATION)
                    assert_near(cost.wrong[at], best != o.label[row] ? counts : 0.0);
            }
    }
}

/* Two folds of two rows: 1, 3 and 6, 6. The mean squares are 16 between them and 1 within, so that se^2 is
   (1 + 15) / 4, and the degrees of freedom are 16^2 / (1 / 2 + 15^2). */
TEST(means_by_hand)
{
    const double loss[] = {1, 3, 6, 6}, other[] = {0, 2, 5, 5};
    sn_fold fold[] = {{.test = {.n = 2}}, {.test = {.n = 2}, .first = 2}};
    sn_folds folds = {.count = 2, .fold = fold, .rows = 4};
    sn_fold_mean mean = sn_held_out_mean(&folds, loss, NULL);
    assert_near(mean.mean, 4.0);
    assert_near(mean.se, 2.0);
    assert_near(mean.df, 256.0 / 225.5);
    mean = sn_held_out_mean(&folds, loss, other); /* 1 everywhere */
    assert_true(mean.mean == 1.0 && mean.se == 0.0 && mean.df == 3.0 && sn_gain_is_clear(&mean));
    const double alike[] = {0, 2, 2, 0}; /* nothing between the folds: 2 within */
    mean = sn_held_out_mean(&folds, alike, NULL);
    assert_near(mean.se, sqrt(2.0 / 4.0));
    assert_near(mean.df, 2.0);
    folds.count = 1; /* rows of a single fold, as in any book */
    fold[0].test.n = 4;
    mean = sn_held_out_mean(&folds, loss, NULL);
    assert_near(mean.se, sqrt((9.0 + 1.0 + 4.0 + 4.0) / 3.0 / 4.0));
    assert_near(mean.df, 3.0);
    const double lost[] = {1, (double)NAN, 1, 1}; /* a network that is lost is the worst, not the best */
    mean = sn_held_out_mean(&folds, lost, NULL);
    assert_true(mean.df == 0.0 && !sn_gain_is_clear(&mean));
    assert_true(sn_mean_loss(lost, 0, 4) == (double)INFINITY);
    assert_near(sn_mean_loss(loss, 1, 2), 4.5);
}

/* A loss above 0: exp(log m -+ t se / m); a rate: Wilson's interval of 10 rows with one error, as textbooks
   have it; a negative loss: m -+ t se. The se of squares that vary less than those of normal numbers is of
   these: W is 2 m^2, of two outputs half of it. */
TEST(intervals_by_hand)
{
    double loss[10] = {4, 2, 3, 3, 3, 3, 3, 3, 3, 3}, wrong[10] = {1};
    sn_fold fold = {.test = {.n = 10}};
    const sn_folds folds = {.count = 1, .fold = &fold, .rows = 10};
    const sn_held_out cost = {loss, wrong};
    const double off = 2.2621571628540993 * sqrt(2.0 / 9.0 / 10.0); /* t of nine degrees of freedom */
    const sn_shape plain = {0}, spread = {.spread = true};
    const sn_problem number = {.task = SN_REGRESSION, .outputs = 1}, class = {.task = SN_CLASSIFICATION},
                     two = {.task = SN_REGRESSION, .outputs = 2};
    const sn_estimate numbers = sn_estimate_of(&folds, &cost, &number, &spread),
                      squares = sn_estimate_of(&folds, &cost, &number, &plain),
                      twice = sn_estimate_of(&folds, &cost, &two, &plain),
                      classes = sn_estimate_of(&folds, &cost, &class, &plain),
                      none = sn_estimate_of(&folds, &(sn_held_out){0}, &number, &plain);
    assert_true(isnan(numbers.error) && isnan(none.loss) && isnan(none.low));
    assert_near(numbers.low, 3.0 * exp(-off / 3.0));
    assert_near(numbers.high, 3.0 * exp(off / 3.0));
    assert_near(squares.loss_se, 3.0 * sqrt(2.0 / 10.0));
    assert_near(log(squares.high / 3.0), off / sqrt(2.0 / 9.0 / 10.0) * sqrt(2.0 / 10.0));
    assert_near(twice.loss_se, 3.0 * sqrt(1.0 / 10.0));
    assert_near(classes.error, 0.1);
    assert_near(classes.error_se, 0.1);
    const double z2 = 1.959963984540054 * 1.959963984540054; /* the standard error is that of nine rows */
    const double middle = (0.1 + z2 / 18.0) / (1.0 + z2 / 9.0);
    const double half = sqrt(z2 * (0.09 / 9.0 + z2 / 324.0)) / (1.0 + z2 / 9.0);
    assert_near(classes.low, middle - half);
    assert_near(classes.high, middle + half);
    wrong[0] = 0.0; /* no error in ten rows: z^2 / (n + z^2) */
    const sn_estimate perfect = sn_estimate_of(&folds, &cost, &class, &plain);
    assert_true(perfect.low == 0.0 && fabs(perfect.high - z2 / (10.0 + z2)) < 1e-12);
    for (int i = 0; i < 10; i++) loss[i] -= 6.0;
    const sn_estimate likelihood = sn_estimate_of(&folds, &cost, &number, &spread);
    assert_near(likelihood.low, -3.0 - off);
    assert_near(likelihood.high, -3.0 + off);
}

/* A number of variance 1: normal, of Student's t with five degrees of freedom, uniform. */
enum { LAWS = 3, MOST_DRAWN = 200 };

static double draw_number(sn_random *random, int law)
{
    if (law == 2) return sqrt(3.0) * (2.0 * sn_random_uniform(random) - 1.0);
    const double top = sn_random_normal(random);
    double squares = 0.0;
    if (law == 0) return top;
    for (int k = 0; k < 5; k++) squares += pow(sn_random_normal(random), 2);
    return top / sqrt(squares / 5.0) * sqrt(3.0 / 5.0);
}

/* The squares of n numbers less the mean of those of the other folds. Gives half the mean square of fresh
   numbers less the mean of all, as a fit has it. */
static double guess_squares(sn_random *random, int law, const sn_folds *folds, double *loss)
{
    double y[MOST_DRAWN], mean = 0.0;
    const double n = (double)folds->rows;
    for (int64_t i = 0; i < folds->rows; i++) {
        y[i] = draw_number(random, law);
        mean += y[i] / n;
    }
    for (int k = 0; k < folds->count; k++) {
        const sn_fold *fold = &folds->fold[k];
        double others = mean * n;
        for (int64_t i = fold->first; i < fold->first + fold->test.n; i++) others -= y[i];
        for (int64_t i = fold->first; i < fold->first + fold->test.n; i++)
            loss[i] = 0.5 * pow(y[i] - others / (n - (double)fold->test.n), 2);
    }
    return 0.5 * (1.0 + mean * mean);
}

/* The 95 % interval of a held-out mean square holds that of fresh rows in nine of ten samples, whatever the
   tails of the noise are. It is not longer than this needs: of normal noise it is at most a quarter longer
   than the textbook's, of the sum of squares. */
TEST(intervals_hold_fresh_squares)
{
    enum { SAMPLES = 4000 };
    static const int64_t sizes[] = {20, 30, 50, MOST_DRAWN};
    const sn_problem problem = {.task = SN_REGRESSION, .outputs = 1};
    for (int law = 0; law < LAWS; law++)
        for (size_t size = 0; size < sizeof sizes / sizeof *sizes; size++) {
            sn_fold fold[SN_FOLDS];
            const sn_folds folds = {.count = SN_FOLDS, .fold = fold, .rows = sizes[size]};
            double loss[MOST_DRAWN], wrong[MOST_DRAWN] = {0.0}, held = 0.0, length = 0.0;
            sn_random random = sn_random_from(5, SN_STREAM_TEST, (uint32_t)(10 * size) + (uint32_t)law);
            for (int k = 0; k < SN_FOLDS; k++)
                fold[k] = (sn_fold){.first = k * folds.rows / SN_FOLDS, .test = {.n = folds.rows / SN_FOLDS}};
            for (int s = 0; s < SAMPLES; s++) {
                const double fresh = guess_squares(&random, law, &folds, loss);
                const sn_estimate got =
                    sn_estimate_of(&folds, &(sn_held_out){loss, wrong}, &problem, &(sn_shape){0});
                held += fresh >= got.low && fresh <= got.high ? 1.0 / SAMPLES : 0.0;
                length += log(got.high / got.low) / SAMPLES;
            }
            const double n = (double)folds.rows;
            const double normal = 2.0 * sn_t_quantile(n - 1.0, 0.975) * sqrt(2.0 / n);
            if (held < 0.9) fail_msg("law %d, %g rows: %g of the intervals hold", law, n, held);
            if (law == 0 && length > 1.25 * normal) fail_msg("%g rows: the length is %g", n, length);
        }
}

RUN_TESTS(NULL, NULL)
