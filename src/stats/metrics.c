#define _GNU_SOURCE /* qsort_r */
#include "stats/metrics.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "stats/distributions.h"

enum { BINS = 15 };

static double weight_of(const double *weight, int64_t row)
{
    return weight != NULL ? weight[row] : 1.0;
}

/* What the rows count together. */
static double total_of(int64_t n, const double *weight)
{
    double sum = 0.0;
    for (int64_t i = 0; weight != NULL && i < n; i++) sum += weight[i];
    return weight != NULL ? sum : (double)n;
}

/* ---- classes ---- */

static int64_t predicted_class(const sn_class_rows *rows, int64_t i)
{
    const double *p = rows->probability + i * rows->classes;
    int64_t best = 0;
    for (int64_t c = 1; c < rows->classes; c++)
        if (p[c] > p[best]) best = c;
    return best;
}

/* What qsort_r compares rows by: the probability of one class. */
typedef struct class_column {
    const double *value;
    int64_t stride;
} class_column;

static int by_column(const void *a, const void *b, void *user)
{
    const class_column *by = user;
    const double first = by->value[*(const int64_t *)a * by->stride],
                 second = by->value[*(const int64_t *)b * by->stride];
    return (first > second) - (first < second);
}

/* Of one class against the rest; NaN when either has no rows. order: n places. */
static double area_of(const sn_class_rows *rows, int64_t class_code, int64_t *order)
{
    class_column by = {.value = rows->probability + class_code, .stride = rows->classes};
    for (int64_t i = 0; i < rows->n; i++) order[i] = i;
    qsort_r(order, (size_t)rows->n, sizeof *order, by_column, &by);
    double pairs = 0.0, inside = 0.0, outside = 0.0; /* so far, from the least probable row on */
    for (int64_t from = 0, to = 0; from < rows->n; from = to) {
        double tied_inside = 0.0, tied_outside = 0.0;
        for (; to < rows->n && by_column(&order[from], &order[to], &by) == 0; to++)
            *(rows->label[order[to]] == class_code ? &tied_inside : &tied_outside) +=
                weight_of(rows->weight, order[to]);
        pairs += tied_inside * (outside + 0.5 * tied_outside);
        inside += tied_inside;
        outside += tied_outside;
    }
    return pairs / (inside * outside);
}

static stonet_status mean_area(const sn_class_rows *rows, double *auc)
{
    SN_ARRAY(rows->n, int64_t, order);
    double sum = 0.0, met = 0.0;
    for (int64_t c = rows->classes == 2 ? 1 : 0; c < rows->classes; c++) {
        const double own = area_of(rows, c, order);
        if (isnan(own)) continue;
        sum += own;
        met += 1.0;
    }
    *auc = sum / met;
    return STONET_OK;
}

static stonet_status balanced_accuracy(const sn_class_rows *rows, double *accuracy)
{
    SN_ZEROS(rows->classes, double, all);
    SN_ZEROS(rows->classes, double, right);
    double sum = 0.0, met = 0.0;
    for (int64_t i = 0; i < rows->n; i++) {
        const int32_t label = rows->label[i];
        all[label] += weight_of(rows->weight, i);
        if (predicted_class(rows, i) == label) right[label] += weight_of(rows->weight, i);
    }
    for (int64_t c = 0; c < rows->classes; c++) {
        if (all[c] == 0.0) continue;
        met += 1.0;
        sum += right[c] / all[c];
    }
    *accuracy = sum / met;
    return STONET_OK;
}

stonet_status sn_score_classes(const sn_class_rows *rows, stonet_scores *scores)
{
    const double clip = 1e-15, total = total_of(rows->n, rows->weight);
    double wrong = 0.0, log_loss = 0.0, brier = 0.0, apart = 0.0;
    double excess[BINS] = {0}; /* rows of the bin that are right, less their probabilities */
    for (int64_t i = 0; i < rows->n; i++) {
        const double *p = rows->probability + i * rows->classes, weight = weight_of(rows->weight, i);
        const int64_t best = predicted_class(rows, i), label = rows->label[i];
        const double bin = ceil(p[best] * BINS) - 1.0;
        if (best != label) wrong += weight;
        log_loss -= weight * log(fmin(fmax(p[label], clip), 1.0 - clip));
        excess[(int)fmin(fmax(bin, 0.0), BINS - 1)] += weight * ((best == label ? 1.0 : 0.0) - p[best]);
        for (int64_t c = 0; c < rows->classes; c++) {
            const double miss = p[c] - (label == c ? 1.0 : 0.0);
            brier += weight * miss * miss;
        }
    }
    for (int b = 0; b < BINS; b++) apart += fabs(excess[b]);
    scores->error_rate = wrong / total;
    scores->accuracy = 1.0 - scores->error_rate;
    scores->log_loss = log_loss / total;
    scores->brier = brier / total;
    scores->calibration_error = apart / total;
    SN_TRY(balanced_accuracy(rows, &scores->balanced_accuracy));
    return mean_area(rows, &scores->auc);
}

void sn_score_ranks(const sn_class_rows *rows, stonet_scores *scores)
{
    const double total = total_of(rows->n, rows->weight);
    double off = 0.0, square = 0.0, mean[2] = {0.0, 0.0}, second[2] = {0.0, 0.0};
    for (int64_t i = 0; i < rows->n; i++) {
        const double rank[2] = {rows->label[i], (double)predicted_class(rows, i)};
        const double weight = weight_of(rows->weight, i) / total, miss = rank[0] - rank[1];
        off += weight * fabs(miss);
        square += weight * miss * miss;
        for (int k = 0; k < 2; k++) {
            mean[k] += weight * rank[k];
            second[k] += weight * rank[k] * rank[k];
        }
    }
    scores->rank_error = off;
    scores->kappa = 1.0 - square / (second[0] + second[1] - 2.0 * mean[0] * mean[1]);
}

void sn_confusion(const sn_class_rows *rows, int64_t *table)
{
    for (int64_t k = 0; k < rows->classes * rows->classes; k++) table[k] = 0;
    for (int64_t i = 0; i < rows->n; i++) table[rows->label[i] * rows->classes + predicted_class(rows, i)]++;
}

/* ---- numbers ---- */

static double column_mean(int64_t n, int64_t columns, int64_t column, const double *values,
                          const double *weight)
{
    double sum = 0.0;
    for (int64_t i = 0; i < n; i++) sum += weight_of(weight, i) * values[i * columns + column];
    return sum / total_of(n, weight);
}

void sn_score_numbers(int64_t n, int64_t outputs, const double *predicted, const double *y,
                      const double *weight, stonet_scores *scores)
{
    double squares = 0.0, explained = 0.0, correlation = 0.0;
    for (int64_t i = 0; i < n * outputs; i++)
        squares += weight_of(weight, i / outputs) * (predicted[i] - y[i]) * (predicted[i] - y[i]);
    for (int64_t k = 0; k < outputs; k++) {
        const double mean_p = column_mean(n, outputs, k, predicted, weight);
        const double mean_y = column_mean(n, outputs, k, y, weight);
        double residual = 0.0, pp = 0.0, yy = 0.0, py = 0.0;
        for (int64_t i = k; i < n * outputs; i += outputs) {
            const double w = weight_of(weight, i / outputs), miss = predicted[i] - y[i];
            const double dp = predicted[i] - mean_p, dy = y[i] - mean_y;
            residual += w * miss * miss;
            pp += w * dp * dp;
            yy += w * dy * dy;
            py += w * dp * dy;
        }
        if (yy > 0.0)
            explained += 1.0 - residual / yy;
        else
            explained += residual == 0.0 ? 1.0 : 0.0;
        if (pp > 0.0 && yy > 0.0) correlation += py / (sqrt(pp) * sqrt(yy));
    }
    scores->mse = squares / (total_of(n, weight) * (double)outputs);
    scores->r2 = n > 0 ? explained / (double)outputs : (double)NAN;
    scores->correlation = n > 0 ? correlation / (double)outputs : (double)NAN;
}

/* ---- comparing ---- */

double sn_standard_error(int64_t n, const double *values)
{
    const double mean = column_mean(n, 1, 0, values, NULL);
    double squares = 0.0;
    for (int64_t i = 0; i < n; i++) squares += (values[i] - mean) * (values[i] - mean);
    if (n == 1) return 0.0;
    return n > 0 ? sqrt(squares / (double)(n - 1)) / sqrt((double)n) : (double)NAN;
}

/* The mean of a - b, and the sum of the squares about it. */
static double mean_difference(int64_t n, const double *a, const double *b, double *squares)
{
    double mean = 0.0;
    for (int64_t i = 0; i < n; i++) mean += (a[i] - b[i]) / (double)n;
    *squares = 0.0;
    for (int64_t i = 0; i < n; i++) *squares += (a[i] - b[i] - mean) * (a[i] - b[i] - mean);
    return mean;
}

double stonet_paired_t_test(int64_t n, const double *a, const double *b)
{
    if (n < 2 || a == NULL || b == NULL) return 1.0;
    double squares;
    const double mean = mean_difference(n, a, b, &squares);
    const double error = sqrt(squares / ((double)n * (double)(n - 1)));
    if (mean == 0.0) return 1.0;
    if (error == 0.0) return 0.0;
    return sn_t_two_sided((double)(n - 1), mean / error);
}

double sn_fold_t_test(int64_t n, int64_t folds, const double *a, const double *b)
{
    double squares, largest = 0.0;
    const double mean = mean_difference(n, a, b, &squares);
    for (int64_t i = 0; i < n; i++) largest = fmax(largest, fabs(a[i]) + fabs(b[i]));
    const double rounding = 1e-12 * largest;
    if (n < 2 || squares <= (double)n * rounding * rounding) return (double)NAN;
    const double factor = 1.0 / (double)n + 1.0 / (double)(folds - 1);
    return sn_t_two_sided((double)(n - 1), mean / sqrt(factor * squares / (double)(n - 1)));
}
