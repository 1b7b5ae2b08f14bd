#include "stats/metrics.h"

#include <stonet/stonet.h>

#include <math.h>

#include "stats/distributions.h"

static int64_t most_probable(int64_t classes, const double *probability)
{
    int64_t best = 0;
    for (int64_t c = 1; c < classes; c++) {
        if (probability[c] > probability[best]) best = c;
    }
    return best;
}

double sn_error_rate(int64_t n, int64_t classes, const double *probability, const int32_t *label)
{
    int64_t wrong = 0;
    for (int64_t i = 0; i < n; i++) wrong += most_probable(classes, probability + i * classes) != label[i];
    return (double)wrong / (double)n;
}

double sn_accuracy(int64_t n, int64_t classes, const double *probability, const int32_t *label)
{
    return 1.0 - sn_error_rate(n, classes, probability, label);
}

double sn_log_loss(int64_t n, int64_t classes, const double *probability, const int32_t *label)
{
    const double clip = 1e-15;
    double sum = 0.0;
    for (int64_t i = 0; i < n; i++) {
        sum -= log(fmin(fmax(probability[i * classes + label[i]], clip), 1.0 - clip));
    }
    return sum / (double)n;
}

double sn_mse(int64_t n, int64_t outputs, const double *predicted, const double *y)
{
    double sum = 0.0;
    for (int64_t i = 0; i < n * outputs; i++) sum += (predicted[i] - y[i]) * (predicted[i] - y[i]);
    return sum / (double)(n * outputs);
}

static double column_mean(int64_t n, int64_t columns, int64_t column, const double *values)
{
    double sum = 0.0;
    for (int64_t i = 0; i < n; i++) sum += values[i * columns + column];
    return sum / (double)n;
}

double sn_r2(int64_t n, int64_t outputs, const double *predicted, const double *y)
{
    double sum = 0.0;
    for (int64_t k = 0; k < outputs; k++) {
        double mean = column_mean(n, outputs, k, y);
        double residual = 0.0;
        double total = 0.0;
        for (int64_t i = k; i < n * outputs; i += outputs) {
            residual += (predicted[i] - y[i]) * (predicted[i] - y[i]);
            total += (y[i] - mean) * (y[i] - mean);
        }
        if (total > 0.0) {
            sum += 1.0 - residual / total;
        } else {
            sum += residual == 0.0 ? 1.0 : 0.0;
        }
    }
    return n > 0 ? sum / (double)outputs : NAN;
}

double sn_correlation(int64_t n, int64_t outputs, const double *predicted, const double *y)
{
    double sum = 0.0;
    for (int64_t k = 0; k < outputs; k++) {
        double mean_p = column_mean(n, outputs, k, predicted);
        double mean_y = column_mean(n, outputs, k, y);
        double pp = 0.0;
        double yy = 0.0;
        double py = 0.0;
        for (int64_t i = k; i < n * outputs; i += outputs) {
            double dp = predicted[i] - mean_p;
            double dy = y[i] - mean_y;
            pp += dp * dp;
            yy += dy * dy;
            py += dp * dy;
        }
        if (pp > 0.0 && yy > 0.0) sum += py / (sqrt(pp) * sqrt(yy));
    }
    return n > 0 ? sum / (double)outputs : NAN;
}

double sn_mean(int64_t n, const double *values)
{
    return column_mean(n, 1, 0, values);
}

double sn_standard_deviation(int64_t n, const double *values)
{
    if (n == 1) return 0.0;
    double mean = sn_mean(n, values);
    double sum = 0.0;
    for (int64_t i = 0; i < n; i++) sum += (values[i] - mean) * (values[i] - mean);
    return n > 0 ? sqrt(sum / (double)(n - 1)) : NAN;
}

double sn_standard_error(int64_t n, const double *values)
{
    return sn_standard_deviation(n, values) / sqrt((double)n);
}

double sn_paired_t_test(int64_t n, const double *a, const double *b)
{
    if (n < 2) return 1.0;
    double mean = 0.0;
    for (int64_t i = 0; i < n; i++) mean += (a[i] - b[i]) / (double)n;
    double square = 0.0;
    for (int64_t i = 0; i < n; i++) square += (a[i] - b[i] - mean) * (a[i] - b[i] - mean);
    double error = sqrt(square / ((double)n * (double)(n - 1)));
    if (mean == 0.0) return 1.0;
    if (error == 0.0) return 0.0;
    return sn_t_two_sided((double)(n - 1), mean / error);
}

double stonet_paired_t_test(int64_t n, const double *a, const double *b)
{
    return a != NULL && b != NULL ? sn_paired_t_test(n, a, b) : 1.0;
}
