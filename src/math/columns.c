#include "math/columns.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

void sn_describe_columns(int64_t n, int64_t p, const float *x, sn_column_moments *columns)
{
    memset(columns, 0, (size_t)p * sizeof *columns);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < p; j++) columns[j].mean += (double)x[i * p + j] / (double)n;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < p; j++) {
            double centred = (double)x[i * p + j] - columns[j].mean;
            columns[j].sd += centred * centred / (double)n;
        }
    for (int64_t j = 0; j < p; j++) {
        /* Compared by value: a rounded mean leaves a constant column a variance just above 0. */
        bool constant = true;
        for (int64_t i = 1; i < n && constant; i++) constant = x[i * p + j] == x[j];
        columns[j].sd = constant ? 0 : sqrt(columns[j].sd);
    }
}

void sn_standard_design(int64_t n, int64_t p, const float *x, const sn_column_moments *columns, double *out)
{
    for (int64_t i = 0; i < n; i++) {
        double *row = out + i * (p + 1);
        for (int64_t j = 0; j < p; j++)
            row[j] = columns[j].sd > 0 ? ((double)x[i * p + j] - columns[j].mean) / columns[j].sd : 0;
        row[p] = 1;
    }
}

double sn_standard_penalty(double l2, const sn_column_moments *column)
{
    double square = column->sd * column->sd;
    return square > 0 ? l2 / square : 1;
}

void sn_standard_undo(int64_t p, int64_t m, const sn_column_moments *columns, const double *w, double *coef,
                      double *intercept)
{
    for (int64_t k = 0; k < m; k++) {
        intercept[k] = w[k * (p + 1) + p];
        for (int64_t j = 0; j < p; j++) {
            coef[k * p + j] = columns[j].sd > 0 ? w[k * (p + 1) + j] / columns[j].sd : 0;
            intercept[k] -= coef[k * p + j] * columns[j].mean;
        }
    }
}
