#include "stats/temperature.h"

#include <math.h>
#include <stddef.h>

static const double LARGEST_LOG = 3.0, SMALLEST = 1e-300;

static double largest(int64_t classes, const double *p)
{
    double most = p[0];
    for (int64_t c = 1; c < classes; c++) most = fmax(most, p[c]);
    return most;
}

/* -log softmax(log p / T)[label], with b = 1 / T. */
static double row_loss(int64_t classes, const double *p, int32_t label, double b)
{
    const double top = largest(classes, p);
    double sum = 0.0;
    for (int64_t c = 0; c < classes; c++) sum += pow(p[c] / top, b);
    return log(sum) - b * log(fmax(p[label] / top, SMALLEST));
}

/* The rows on which the temperature is fitted. */
typedef struct asked {
    int64_t n, classes;
    const double *p;
    const int32_t *label;
    const double *weight;
} asked;

static double loss(const asked *rows, double t)
{
    const double b = exp(-t);
    double sum = 0.5 * t * t;
    for (int64_t i = 0; i < rows->n; i++)
        sum += (rows->weight != NULL ? rows->weight[i] : 1.0) *
               row_loss(rows->classes, rows->p + i * rows->classes, rows->label[i], b);
    return sum;
}

/* Golden section: the loss falls, then rises. */
double sn_temperature_fit(int64_t n, int64_t classes, const double *p, const int32_t *label,
                          const double *weight)
{
    const asked rows = {n, classes, p, label, weight};
    const double part = 0.5 * (sqrt(5.0) - 1.0);
    double from = -LARGEST_LOG, to = LARGEST_LOG;
    double left = to - part * (to - from), right = from + part * (to - from);
    double at_left = loss(&rows, left), at_right = loss(&rows, right);
    while (to - from > 1e-5) {
        if (at_left <= at_right) {
            to = right;
            right = left;
            at_right = at_left;
            left = to - part * (to - from);
            at_left = loss(&rows, left);
        } else {
            from = left;
            left = right;
            at_left = at_right;
            right = from + part * (to - from);
            at_right = loss(&rows, right);
        }
    }
    return exp(0.5 * (from + to));
}

void sn_temperature_apply(int64_t n, int64_t classes, double temperature, double *p)
{
    const double b = 1.0 / temperature;
    for (int64_t i = 0; i < n; i++) {
        double *row = p + i * classes, sum = 0.0;
        const double top = largest(classes, row);
        for (int64_t c = 0; c < classes; c++) sum += row[c] = pow(row[c] / top, b);
        for (int64_t c = 0; c < classes; c++) row[c] /= sum;
    }
}
