#define _GNU_SOURCE /* qsort_r */
#include "stats/metrics.h"

#include <stonet/stonet.h>

#include <math.h>
#include <stdlib.h>

#include "stats/distributions.h"

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

static int64_t most_probable(int64_t classes, const double *probability)
{
    int64_t best = 0;
    for (int64_t c = 1; c < classes; c++) {
        if (probability[c] > probability[best]) best = c;
    }
    return best;
}

double sn_error_rate(int64_t n, int64_t classes, const double *probability, const int32_t *label,
                     const double *weight)
{
    double wrong = 0.0;
    for (int64_t i = 0; i < n; i++)
        if (most_probable(classes, probability + i * classes) != label[i]) wrong += weight_of(weight, i);
    return wrong / total_of(n, weight);
}

void sn_rank_scores(int64_t n, int64_t classes, const double *probability, const int32_t *label,
                    const double *weight, double *rank_error, double *kappa)
{
    const double total = total_of(n, weight);
    double off = 0.0, square = 0.0, mean[2] = {0.0, 0.0}, second[2] = {0.0, 0.0};
    for (int64_t i = 0; i < n; i++) {
        const double a = label[i], b = (double)most_probable(classes, probability + i * classes);
        const double w = weight_of(weight, i) / total;
        off += w * fabs(a - b);
        square += w * (a - b) * (a - b);
        mean[0] += w * a;
        mean[1] += w * b;
        second[0] += w * a * a;
        second[1] += w * b * b;
    }
    *rank_error = off;
    *kappa = 1.0 - square / (second[0] + second[1] - 2.0 * mean[0] * mean[1]);
}

double sn_accuracy(int64_t n, int64_t classes, const double *probability, const int32_t *label,
                   const double *weight)
{
    return 1.0 - sn_error_rate(n, classes, probability, label, weight);
}

double sn_log_loss(int64_t n, int64_t classes, const double *probability, const int32_t *label,
                   const double *weight)
{
    const double clip = 1e-15;
    double sum = 0.0;
    for (int64_t i = 0; i < n; i++) {
        sum -= weight_of(weight, i) * log(fmin(fmax(probability[i * classes + label[i]], clip), 1.0 - clip));
    }
    return sum / total_of(n, weight);
}

double sn_brier(int64_t n, int64_t classes, const double *probability, const int32_t *label,
                const double *weight)
{
    double sum = 0.0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t c = 0; c < classes; c++) {
            const double miss = probability[i * classes + c] - (label[i] == c ? 1.0 : 0.0);
            sum += weight_of(weight, i) * miss * miss;
        }
    return sum / total_of(n, weight);
}

double sn_calibration_error(int64_t n, int64_t classes, const double *probability, const int32_t *label,
                            const double *weight)
{
    double excess[SN_CALIBRATION_BINS] = {0}; /* rows of the bin that are right, less their probabilities */
    for (int64_t i = 0; i < n; i++) {
        const double *row = probability + i * classes;
        const int64_t best = most_probable(classes, row);
        const double bin = ceil(row[best] * SN_CALIBRATION_BINS) - 1.0;
        excess[(int)fmin(fmax(bin, 0.0), SN_CALIBRATION_BINS - 1)] +=
            weight_of(weight, i) * ((best == label[i] ? 1.0 : 0.0) - row[best]);
    }
    double sum = 0.0;
    for (int b = 0; b < SN_CALIBRATION_BINS; b++) sum += fabs(excess[b]);
    return sum / total_of(n, weight);
}

void sn_confusion(int64_t n, int64_t classes, const double *probability, const int32_t *label, int64_t *table)
{
    for (int64_t k = 0; k < classes * classes; k++) table[k] = 0;
    for (int64_t i = 0; i < n; i++)
        table[label[i] * classes + most_probable(classes, probability + i * classes)]++;
}

double sn_balanced_accuracy(int64_t n, int64_t classes, const double *probability, const int32_t *label,
                            const double *weight)
{
    double sum = 0.0, met = 0.0;
    for (int64_t c = 0; c < classes; c++) {
        double rows = 0.0, right = 0.0;
        for (int64_t i = 0; i < n; i++) {
            if (label[i] != c) continue;
            rows += weight_of(weight, i);
            if (most_probable(classes, probability + i * classes) == c) right += weight_of(weight, i);
        }
        if (rows == 0.0) continue;
        met += 1.0;
        sum += right / rows;
    }
    return sum / met;
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

double sn_auc(int64_t n, int64_t classes, int64_t class_code, const double *probability, const int32_t *label,
              const double *weight, int64_t *order)
{
    class_column by = {.value = probability + class_code, .stride = classes};
    for (int64_t i = 0; i < n; i++) order[i] = i;
    qsort_r(order, (size_t)n, sizeof *order, by_column, &by);
    double pairs = 0.0, inside = 0.0, outside = 0.0; /* so far, from the least probable row on */
    for (int64_t from = 0, to = 0; from < n; from = to) {
        double tied_inside = 0.0, tied_outside = 0.0;
        for (; to < n && by_column(&order[from], &order[to], &by) == 0; to++)
            *(label[order[to]] == class_code ? &tied_inside : &tied_outside) += weight_of(weight, order[to]);
        pairs += tied_inside * (outside + 0.5 * tied_outside);
        inside += tied_inside;
        outside += tied_outside;
    }
    return pairs / (inside * outside);
}

double sn_mse(int64_t n, int64_t outputs, const double *predicted, const double *y, const double *weight)
{
    double sum = 0.0;
    for (int64_t i = 0; i < n * outputs; i++)
        sum += weight_of(weight, i / outputs) * (predicted[i] - y[i]) * (predicted[i] - y[i]);
    return sum / (total_of(n, weight) * (double)outputs);
}

static double column_mean(int64_t n, int64_t columns, int64_t column, const double *values,
                          const double *weight)
{
    double sum = 0.0;
    for (int64_t i = 0; i < n; i++) sum += weight_of(weight, i) * values[i * columns + column];
    return sum / total_of(n, weight);
}

double sn_r2(int64_t n, int64_t outputs, const double *predicted, const double *y, const double *weight)
{
    double sum = 0.0;
    for (int64_t k = 0; k < outputs; k++) {
        double mean = column_mean(n, outputs, k, y, weight);
        double residual = 0.0;
        double total = 0.0;
        for (int64_t i = k; i < n * outputs; i += outputs) {
            residual += weight_of(weight, i / outputs) * (predicted[i] - y[i]) * (predicted[i] - y[i]);
            total += weight_of(weight, i / outputs) * (y[i] - mean) * (y[i] - mean);
        }
        if (total > 0.0) {
            sum += 1.0 - residual / total;
        } else {
            sum += residual == 0.0 ? 1.0 : 0.0;
        }
    }
    return n > 0 ? sum / (double)outputs : NAN;
}

double sn_correlation(int64_t n, int64_t outputs, const double *predicted, const double *y,
                      const double *weight)
{
    double sum = 0.0;
    for (int64_t k = 0; k < outputs; k++) {
        double mean_p = column_mean(n, outputs, k, predicted, weight);
        double mean_y = column_mean(n, outputs, k, y, weight);
        double pp = 0.0;
        double yy = 0.0;
        double py = 0.0;
        for (int64_t i = k; i < n * outputs; i += outputs) {
            double dp = predicted[i] - mean_p;
            double dy = y[i] - mean_y;
            const double w = weight_of(weight, i / outputs);
            pp += w * dp * dp;
            yy += w * dy * dy;
            py += w * dp * dy;
        }
        if (pp > 0.0 && yy > 0.0) sum += py / (sqrt(pp) * sqrt(yy));
    }
    return n > 0 ? sum / (double)outputs : NAN;
}

double sn_mean(int64_t n, const double *values)
{
    return column_mean(n, 1, 0, values, NULL);
}

/* Sample standard deviation (n - 1); 0 when n = 1. */
static double deviation(int64_t n, const double *values)
{
    if (n == 1) return 0.0;
    double mean = sn_mean(n, values);
    double sum = 0.0;
    for (int64_t i = 0; i < n; i++) sum += (values[i] - mean) * (values[i] - mean);
    return n > 0 ? sqrt(sum / (double)(n - 1)) : NAN;
}

double sn_standard_error(int64_t n, const double *values)
{
    return deviation(n, values) / sqrt((double)n);
}

double stonet_paired_t_test(int64_t n, const double *a, const double *b)
{
    if (n < 2 || a == NULL || b == NULL) return 1.0;
    double mean = 0.0;
    for (int64_t i = 0; i < n; i++) mean += (a[i] - b[i]) / (double)n;
    double square = 0.0;
    for (int64_t i = 0; i < n; i++) square += (a[i] - b[i] - mean) * (a[i] - b[i] - mean);
    double error = sqrt(square / ((double)n * (double)(n - 1)));
    if (mean == 0.0) return 1.0;
    if (error == 0.0) return 0.0;
    return sn_t_two_sided((double)(n - 1), mean / error);
}

double sn_fold_t_test(int64_t n, int64_t folds, const double *a, const double *b)
{
    double mean = 0.0, square = 0.0, largest = 0.0;
    for (int64_t i = 0; i < n; i++) {
        mean += (a[i] - b[i]) / (double)n;
        largest = fmax(largest, fabs(a[i]) + fabs(b[i]));
    }
    for (int64_t i = 0; i < n; i++) square += (a[i] - b[i] - mean) * (a[i] - b[i] - mean);
    const double rounding = 1e-12 * largest;
    if (n < 2 || square <= (double)n * rounding * rounding) return NAN;
    const double factor = 1.0 / (double)n + 1.0 / (double)(folds - 1);
    return sn_t_two_sided((double)(n - 1), mean / sqrt(factor * square / (double)(n - 1)));
}
