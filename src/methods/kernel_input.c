/* What kernel methods are given: features, landmarks, bandwidth, response kernel, and the limits they imply.
 */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "math/kernel.h"
#include "math/kernel_lowrank.h"
#include "methods/kernel_map.h"
#include "methods/linear_map.h"

/* Gaussian kernels of a single target fall below 1e-12 within a few dozen directions; several targets need
   more, and past this many the rest no longer matters to a reduction. */
enum { MOST_RESPONSE_RANK = 2000 };
static const double response_tolerance = 1e-12;

void sn_problem_part_free(sn_problem *part)
{
    sn_free((void *)part->x);
    sn_free((void *)part->label);
    sn_free((void *)part->y);
    memset(part, 0, sizeof *part);
}

stonet_status sn_problem_part_create(const sn_problem *problem, int64_t count, uint64_t seed,
                                     sn_problem *part)
{
    int64_t *row = NULL, p = problem->p, m = problem->outputs;
    float *x = NULL;
    int32_t *label = NULL;
    double *y = NULL;
    stonet_status status;
    *part = *problem;
    part->n = count = count < problem->n ? count : problem->n;
    SN_GOTO(status, SN_NEW_RAW(row, count), done);
    SN_GOTO(status, SN_NEW_RAW(x, count * p), done);
    if (problem->label != NULL)
        SN_GOTO(status, SN_NEW_RAW(label, count), done);
    else
        SN_GOTO(status, SN_NEW_RAW(y, count * m), done);
    SN_GOTO(status, sn_choose_rows(problem->n, count, seed, 2, row), done);
    for (int64_t i = 0; i < count; i++) {
        memcpy(x + i * p, problem->x + row[i] * p, (size_t)p * sizeof *x);
        if (label != NULL) label[i] = problem->label[row[i]];
        if (y != NULL) memcpy(y + i * m, problem->y + row[i] * m, (size_t)m * sizeof *y);
    }
done:
    sn_free(row);
    part->x = x;
    part->label = label;
    part->y = y;
    if (status != STONET_OK) sn_problem_part_free(part);
    return status;
}

int64_t sn_landmarks_setting(const sn_settings *settings)
{
    return sn_is(settings, "landmarks", "none") ? 0 : sn_int(settings, "landmarks");
}

/* Kernel functions of a fit with this setting. */
static int64_t centre_count(int64_t n, int64_t landmarks)
{
    return landmarks == 0 || landmarks > n ? n : landmarks;
}

static stonet_status mean_bandwidth(const sn_kernel_input *input, uint64_t seed, double *s)
{
    SN_TRY(sn_mean_distance(input->n, input->p, input->x, seed, s));
    if (*s > 0.0) return STONET_OK;
    return sn_fail(STONET_ERROR_DATA, "all rows have the same features, so there is nothing to reduce");
}

static stonet_status choose_bandwidth(const sn_settings *settings, uint64_t seed, sn_kernel_input *input)
{
    double s = sn_is(settings, "bandwidth", "auto") ? 0.0 : sn_real(settings, "bandwidth");
    if (!(s > 0.0)) SN_TRY(mean_bandwidth(input, seed, &s));
    input->gamma = sn_real(settings, "complexity") / (2.0 * s * s);
    return STONET_OK;
}

stonet_status sn_median_bandwidth(const sn_kernel_input *input, const sn_settings *settings, uint64_t seed,
                                  double *s)
{
    *s = sn_is(settings, "bandwidth", "auto") ? 0.0 : sn_real(settings, "bandwidth");
    if (*s > 0.0) return STONET_OK;
    SN_TRY(sn_median_distance(input->n, input->p, input->x, seed, s));
    return *s > 0.0 ? STONET_OK : mean_bandwidth(input, seed, s);
}

static stonet_status choose_landmarks(uint64_t seed, sn_kernel_input *input)
{
    int64_t *rows = NULL;
    stonet_status status;
    SN_GOTO(status, SN_NEW_RAW(rows, input->m), done);
    SN_GOTO(status, SN_NEW_RAW(input->centres, input->m * input->p), done);
    SN_GOTO(status, sn_choose_rows(input->n, input->m, seed, 0, rows), done);
    for (int64_t i = 0; i < input->m; i++)
        memcpy(input->centres + i * input->p, input->x + rows[i] * input->p,
               (size_t)input->p * sizeof(double));
done:
    sn_free(rows);
    return status;
}

stonet_status sn_kernel_rows_create(const sn_problem *problem, int64_t landmarks, const stonet_run *run,
                                    sn_kernel_input *input)
{
    memset(input, 0, sizeof *input);
    if (problem->n < 2)
        return sn_fail(STONET_ERROR_DATA, "kernel methods need at least two rows, and there are %lld",
                       (long long)problem->n);
    input->n = problem->n;
    input->p = problem->p;
    input->m = centre_count(problem->n, landmarks);
    input->exact = landmarks == 0;
    stonet_status status;
    SN_GOTO(status, SN_NEW_RAW(input->x, input->n * input->p), failed);
    sn_widen(input->n * input->p, problem->x, input->x);
    if (input->exact)
        input->centres = input->x;
    else
        SN_GOTO(status, choose_landmarks(run != NULL ? run->seed : 1, input), failed);
    return STONET_OK;
failed:
    sn_kernel_input_free(input);
    return status;
}

stonet_status sn_kernel_input_create(const sn_problem *problem, const sn_settings *settings,
                                     const stonet_run *run, sn_kernel_input *input)
{
    SN_TRY(sn_kernel_rows_create(problem, sn_landmarks_setting(settings), run, input));
    stonet_status status = choose_bandwidth(settings, run != NULL ? run->seed : 1, input);
    if (status != STONET_OK) sn_kernel_input_free(input);
    return status;
}

void sn_kernel_input_free(sn_kernel_input *input)
{
    if (input->centres != input->x) sn_free(input->centres);
    sn_free(input->x);
    memset(input, 0, sizeof *input);
}

stonet_status sn_features_create(const sn_kernel_input *input, sn_features *features)
{
    memset(features, 0, sizeof *features);
    stonet_status status;
    SN_GOTO(status,
            sn_landmarks_create(input->m, input->p, input->centres, input->gamma, &features->landmarks),
            failed);
    int64_t rank = features->landmarks.rank;
    SN_GOTO(status, SN_NEW_RAW(features->phi, input->n * rank), failed);
    SN_GOTO(status, SN_NEW_RAW(features->mean, rank), failed);
    SN_GOTO(status, sn_landmarks_features(&features->landmarks, input->n, input->x, features->phi), failed);
    sn_column_means(input->n, rank, features->phi, features->mean);
    sn_subtract_row(input->n, rank, features->mean, features->phi);
    return STONET_OK;
failed:
    sn_features_free(features);
    return status;
}

void sn_features_free(sn_features *features)
{
    sn_landmarks_free(&features->landmarks);
    sn_free(features->phi);
    sn_free(features->mean);
    memset(features, 0, sizeof *features);
}

stonet_status sn_kernel_memory(const sn_problem *problem, const sn_settings *settings, const char *method,
                               double matrices)
{
    double n = (double)problem->n, p = (double)problem->p,
           m = (double)centre_count(problem->n, sn_landmarks_setting(settings));
    double bytes = 8.0 * (n * m * matrices + 3.0 * m * m * (m < n ? 1.0 : 0.0) + n * p + m * p);
    char advice[96] = "set landmarks=2000 (--set landmarks=2000)";
    if (m < n) strcpy(advice, "set fewer landmarks (--set landmarks=500)");
    return sn_memory_require((uint64_t)bytes, method, advice);
}

stonet_status sn_kernel_stage(const stonet_run *run, const char *stage, int64_t done, int64_t total)
{
    sn_progress(run, &(stonet_progress){
                         .stage = stage, .done = done, .total = total, .loss = NAN, .validation_loss = NAN});
    if (!sn_should_stop(run)) return STONET_OK;
    return sn_fail(STONET_ERROR_INTERRUPTED, "stopped at the %s, before there was a result", stage);
}

stonet_status sn_classes_present(const sn_problem *problem, int64_t *count)
{
    unsigned char *seen = NULL;
    SN_TRY(SN_NEW(seen, problem->outputs));
    *count = 0;
    for (int64_t i = 0; i < problem->n; i++) {
        if (seen[problem->label[i]]) continue;
        seen[problem->label[i]] = 1;
        (*count)++;
    }
    sn_free(seen);
    if (*count < 2)
        return sn_fail(STONET_ERROR_DATA, "all rows are of one class, so there is nothing to tell apart");
    return STONET_OK;
}

static stonet_status indicator_factor(const sn_problem *problem, double **factor, int64_t *rank)
{
    int64_t *column = NULL, present = 0;
    stonet_status status;
    SN_GOTO(status, sn_classes_present(problem, rank), done);
    SN_GOTO(status, SN_NEW_RAW(column, problem->outputs), done);
    SN_GOTO(status, SN_NEW(*factor, problem->n * *rank), done);
    for (int64_t c = 0; c < problem->outputs; c++) column[c] = -1;
    for (int64_t i = 0; i < problem->n; i++) {
        int32_t label = problem->label[i];
        if (column[label] < 0) column[label] = present++;
        (*factor)[i * *rank + column[label]] = 1.0;
    }
done:
    sn_free(column);
    return status;
}

stonet_status sn_response_factor(const sn_problem *problem, sn_distance_kind scale, uint64_t seed,
                                 double **factor, int64_t *rank)
{
    *factor = NULL;
    if (problem->task == SN_CLASSIFICATION) return indicator_factor(problem, factor, rank);
    double s = 0.0;
    if (scale == SN_MEDIAN_DISTANCE)
        SN_TRY(sn_median_distance(problem->n, problem->outputs, problem->y, seed, &s));
    if (!(s > 0.0)) SN_TRY(sn_mean_distance(problem->n, problem->outputs, problem->y, seed, &s));
    if (!(s > 0.0))
        return sn_fail(STONET_ERROR_DATA, "the target is constant, so there is nothing to explain");
    return sn_incomplete_cholesky(problem->n, problem->outputs, problem->y, 1.0 / (2.0 * s * s),
                                  response_tolerance, MOST_RESPONSE_RANK, factor, rank);
}

stonet_status sn_kernel_limit(const stonet_run *run, const char *method, int64_t dim, int64_t count,
                              const double *singular, const char *why, int64_t *allowed)
{
    int64_t rank = 0;
    while (rank < count && singular[rank] > 1e-10 * singular[0]) rank++;
    if (rank == 0)
        return sn_fail(STONET_ERROR_DATA,
                       "%s finds no direction: nothing in the features varies with the response", method);
    *allowed = sn_limit_dim(run, method, dim, rank, why);
    return STONET_OK;
}
