/* What held-out rows with missing cells cost: by brute force, and that the truth costs least where gaps
 * depend on y. */
#include "base/memory.h"
#include "base/test_kit.h"
#include "choice/held_out.h"
#include "choice/incomplete.h"
#include "engine/engines.h"
#include "net/loss.h"
#include "stonet/test_table.h"

enum { P = 2, DRAWS = 100 };

static double normal(uint32_t row, uint32_t what, uint32_t draw)
{
    return sn_noise_normal(3, SN_STREAM_TEST, row, what, 0, draw, 0);
}

/* Two features, N(0, 1) each and independent; the first one is missing where `gap` says so. */
static table_rows source_of(const float *x, const bool *gap)
{
    table_rows rows = table_of_rows(x, P, 0);
    rows.gap = gap;
    return rows;
}

/* One layer: theta is outputs x 2 weights and the biases. */
static sn_shape layer(sn_task task, int64_t outputs)
{
    sn_shape shape = {.layers = 1, .width = {P, outputs}, .task = task};
    OK(sn_shape_layout(&shape));
    return shape;
}

static void outputs_at(const table_rows *from, const sn_shape *shape, const float *theta, int64_t row,
                       uint32_t draw, double *mu)
{
    const sn_rows one = sn_rows_range(row, 1);
    float x[P];
    fetch_table(&from->base, &one, draw, x, P);
    for (int64_t k = 0; k < shape->width[1]; k++)
        mu[k] = (double)(theta[shape->bias_at[0] + k] + theta[P * k] * x[0] + theta[P * k + 1] * x[1]);
}

/* Minus the log density of a row without its constant, for a variance v of each of m numbers; of a class, or
   of mean and spread (net/loss.h), all. */
static double minus_log(const table_rows *from, const sn_problem *problem, const sn_shape *shape,
                        const float *theta, int64_t row, double v)
{
    const int64_t m = shape->width[1];
    const int draws = from->gap[row] ? DRAWS : 1;
    double sum = 0.0, mu[3];
    for (int d = 1; d <= draws; d++) {
        double square = 0.0, total = 0.0;
        outputs_at(from, shape, theta, row, (uint32_t)d, mu);
        for (int64_t k = 0; k < m; k++) total += exp(mu[k]);
        for (int64_t k = 0; k < m && problem->y != NULL; k++)
            square += pow(problem->y[row * m + k] - mu[k], 2.0);
        const float out[3] = {(float)mu[0], (float)mu[1], 0.0F};
        sum += shape->spread        ? exp(-sn_spread_loss(out, m, problem->y + m * row))
               : problem->y != NULL ? exp(-0.5 * square / v)
                                    : exp(mu[problem->label[row]]) / total;
    }
    return -log(sum / draws);
}

/* The weighted mean of minus the log density over the rows of a fold, by a variance v. */
static double mean_of(const table_rows *from, const sn_problem *problem, const sn_shape *shape,
                      const float *theta, const sn_rows *rows, double v)
{
    double sum = 0.0, weights = 0.0;
    for (int64_t i = 0; i < rows->n; i++) {
        const int64_t row = sn_rows_at(rows, i);
        sum += (double)problem->weight[row] * minus_log(from, problem, shape, theta, row, v);
        weights += (double)problem->weight[row];
    }
    return sum / weights;
}

/* Numbers: V is exp(2 L / m - 1) with the least L = m log(v) / 2 + r over v, by a fine search; and every loss
   is that of the formula. Classes: minus the log of the mean probability, and the class that this says. Mean
   and spread: minus the log of the mean density. */
TEST(losses_by_hand)
{
    enum { N = 40, NUMBERS = 0, CLASSES, SPREADS, KINDS };
    for (int kind = NUMBERS; kind < KINDS; kind++) {
        const sn_task task = kind == CLASSES ? SN_CLASSIFICATION : SN_REGRESSION;
        const int64_t m = kind == CLASSES ? 3 : 2;
        sn_shape shape = layer(task, m);
        const float theta[] = {0.9F, -0.2F, 0.3F, 0.8F, -1.1F, 0.4F, 0.1F, 0.2F, -0.3F};
        float x[P * N], weight[N];
        double y[3 * N];
        int32_t label[N];
        bool gap[N];
        shape.spread = kind == SPREADS;
        for (uint32_t i = 0; i < N; i++) {
            x[P * i] = (float)normal(i, 1, 0);
            x[P * i + 1] = (float)normal(i, 2, 0);
            for (uint32_t k = 0; k < 3; k++) y[m * i + k % m] = normal(i, 3 + k, 0);
            if (kind == SPREADS) y[m * i + 1] = 0.0;
            label[i] = (int32_t)(i % 3);
            gap[i] = i % 3 != 1;
            weight[i] = (float)(1 + i % 2);
        }
        const table_rows from = source_of(x, gap);
        sn_problem problem = {.n = N,
                              .p = P,
                              .task = task,
                              .outputs = m,
                              .source = &from.base,
                              .weight = weight,
                              .joint = true};
        if (kind == CLASSES)
            problem.label = label;
        else
            problem.y = y;
        const sn_rows all = sn_rows_range(0, N);
        SN_FREED_BY(sn_folds_free) sn_folds folds = {0};
        SN_FREED_BY(sn_held_out_free) sn_held_out cost = {0};
        OK(sn_folds_make(&problem, &all, 2, &folds));
        OK(sn_held_out_create(&folds, &cost));
        OK(sn_folds_measure(&folds, 1, &(sn_use){&problem, &sn_engine_cpu, &shape, theta, 1}, &cost));
        const sn_fold *fold = &folds.fold[1];
        double v = 1.0, least = (double)INFINITY;
        for (double at = 0.05; at < 20.0 && kind == NUMBERS; at *= 1.0005) {
            const double l =
                0.5 * (double)m * log(at) + mean_of(&from, &problem, &shape, theta, &fold->test, at);
            if (l < least) v = at;
            least = fmin(l, least);
        }
        const double r = mean_of(&from, &problem, &shape, theta, &fold->test, v);
        const double big = exp(2.0 * least / (double)m - 1.0);
        for (int64_t i = 0; i < fold->test.n; i++) {
            const int64_t row = sn_rows_at(&fold->test, i);
            const double counts = sn_folds_weight(&folds, &problem, row);
            const double own = minus_log(&from, &problem, &shape, theta, row, v);
            const double loss = kind == NUMBERS ? big * (0.5 * (double)m + own - r) : own;
            assert_true(fabs(cost.loss[fold->first + i] - counts * loss) < 2e-3 * (1.0 + fabs(loss)));
            double share[3] = {0}, mu[3];
            for (uint32_t d = 1; d <= DRAWS && kind == CLASSES; d++) {
                outputs_at(&from, &shape, theta, row, d, mu);
                const double total = exp(mu[0]) + exp(mu[1]) + exp(mu[2]);
                for (int k = 0; k < 3; k++) share[k] += exp(mu[k]) / total;
            }
            const int best = share[0] >= share[1] && share[0] >= share[2] ? 0 : share[1] >= share[2] ? 1 : 2;
            if (kind == CLASSES) assert_true((cost.wrong[fold->first + i] > 0.0) == (best != label[row]));
        }
    }
}

/* y = x_1 + x_2 / 2 + e / 2, and x_1 is missing where y is large. The truth costs less than its neighbours.
   By squared errors at the expected cells it does not: a larger constant seems better. */
TEST(the_truth_costs_least)
{
    enum { N = 4000, NEIGHBOURS = 7 };
    static const float theta[NEIGHBOURS][P + 1] = {
        {1.0F, 0.5F, 0.0F}, {0.8F, 0.5F, 0.0F},  {1.2F, 0.5F, 0.0F},  {1.0F, 0.4F, 0.0F},
        {1.0F, 0.6F, 0.0F}, {1.0F, 0.5F, 0.15F}, {1.0F, 0.5F, -0.15F}};
    static float x[P * N];
    static double y[N];
    static bool gap[N];
    const sn_shape shape = layer(SN_REGRESSION, 1);
    for (uint32_t i = 0; i < N; i++) {
        x[P * i] = (float)normal(i, 1, 0);
        x[P * i + 1] = (float)normal(i, 2, 0);
        y[i] = (double)x[P * i] + 0.5 * (double)x[P * i + 1] + 0.5 * normal(i, 3, 0);
        gap[i] = y[i] + normal(i, 4, 0) > 0.5;
    }
    const table_rows from = source_of(x, gap);
    const sn_rows all = sn_rows_range(0, N);
    double mean[2][NEIGHBOURS];
    for (int joint = 0; joint < 2; joint++)
        for (int k = 0; k < NEIGHBOURS; k++) {
            const sn_problem problem = {.n = N,
                                        .p = P,
                                        .task = SN_REGRESSION,
                                        .outputs = 1,
                                        .y = y,
                                        .source = &from.base,
                                        .joint = joint == 1};
            SN_FREED_BY(sn_folds_free) sn_folds folds = {0};
            SN_FREED_BY(sn_held_out_free) sn_held_out cost = {0};
            OK(sn_folds_make(&problem, &all, 2, &folds));
            OK(sn_held_out_create(&folds, &cost));
            for (int f = 0; f < folds.count; f++)
                OK(sn_folds_measure(&folds, f, &(sn_use){&problem, &sn_engine_cpu, &shape, theta[k], 1},
                                    &cost));
            mean[joint][k] = sn_mean_loss(cost.loss, 0, folds.rows);
        }
    for (int k = 1; k < NEIGHBOURS; k++) assert_true(mean[1][0] < mean[1][k]);
    assert_true(mean[0][5] < mean[0][0]);
}

RUN_TESTS(NULL, NULL)
