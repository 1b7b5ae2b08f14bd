#include "methods/square_terms.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "math/linalg.h"

stonet_status sn_square_terms_make(const sn_sample *sample, const double *v, const double *weight,
                                   sn_workspace *keep, sn_square_terms *out)
{
    const int64_t n = sample->problem->n, rank = sample->whitening.rank, count = rank * (rank + 1) / 2;
    const double root = sqrt(2.0);
    SN_WORKSPACE(scratch);
    sn_blocks rows = sn_whitened_blocks(&sample->whitening, sample->problem->x);
    SN_TRY(sn_blocks_open(&rows, 0, n, &scratch));
    const int64_t most = sn_block_rows(n, count); /* terms are more than columns, as a rule */
    if (rows.most > most) rows.most = most;
    SN_ARRAY(rows.most * rank, double, turned);
    SN_ARRAY(rows.most * count, double, terms);
    SN_ZEROS(count, double, mean);
    SN_TRY(SN_TAKE_ZERO(keep, out->covariance, count * count));
    out->rank = rank;
    out->count = count;
    while (sn_blocks_next(&rows)) {
        sn_multiply(sn_as(rows.z, rows.count, rank), sn_as(v, rank, rank), turned);
        for (int64_t i = 0; i < rows.count; i++) {
            const double w = weight != NULL ? weight[rows.at + i] : 1.0, *of = turned + i * rank;
            double *term = terms + i * count;
            for (int64_t a = 0; a < rank; a++) {
                *term++ = w * (of[a] * of[a] - 1.0);
                for (int64_t b = a + 1; b < rank; b++) *term++ = root * w * of[a] * of[b];
            }
            for (int64_t c = 0; c < count; c++) mean[c] += terms[i * count + c] / (double)n;
        }
        sn_syrk_tn(count, rows.count, 1.0 / (double)(n - 1), terms, 1.0, out->covariance);
    }
    for (int64_t c = 0; c < count; c++)
        for (int64_t d = 0; d < count; d++)
            out->covariance[c * count + d] -= (double)n / (double)(n - 1) * mean[c] * mean[d];
    return STONET_OK;
}

void sn_square_terms_traces(const sn_square_terms *terms, int64_t k, double *trace, double *squares)
{
    /* The terms with a, b >= k are the last ones. */
    const int64_t left = terms->rank - k, first = terms->count - left * (left + 1) / 2;
    *trace = 0.0;
    *squares = 0.0;
    for (int64_t c = first; c < terms->count; c++) {
        const double *row = terms->covariance + c * terms->count;
        *trace += row[c];
        *squares += sn_dot(terms->count - first, row + first, row + first);
    }
}
