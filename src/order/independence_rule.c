/*
 * Conditional independence in sequence: the method is fitted on one half of the rows, and on the other half
 * the response is tested given the k columns of Z, k = 1, 2, ..; the halves are exchanged and the two
 * p-values combined (Cauchy). The first k that is not rejected is chosen.
 *
 * Where one training serves all k, the response is tested for independence of the later columns of Z: which
 * columns are needed is another question than whether the fit has found all there is, which few rows leave
 * open. The reason answers the second by a test of x given the chosen columns. The first columns of a fit are
 * never quite those of the truth, and later ones repair that a little. So k is ruled out only if a prediction
 * from the first k columns, too, loses a twentieth of what all columns explain. Other methods are tested for
 * independence of x at every k.
 */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "order/order.h"
#include "stats/independence.h"

enum { LARGEST = 5 };
/* What later columns must add, of what all columns explain: as the rule cv has it. */
static const double NEGLIGIBLE = 0.05;

/* The models of the halves: `each` dimensions that one training serves, or one. */
typedef struct fits {
    const sn_order_job *job;
    const sn_splits *halves;
    int64_t each;
    stonet_model **model;
} fits;

static void fits_free(fits *self)
{
    for (int64_t m = 0; self->model != NULL && m < 2 * self->each; m++) {
        stonet_model_free(self->model[m]);
        self->model[m] = NULL;
    }
}

/* What a test of k columns says: on each half, together (Cauchy), and the shares of the response that are
   lost and explained, means of the halves. */
typedef struct answer {
    double half[2], p_value, lost, explained;
} answer;

/* Tests the columns of dimension k on both halves against the later ones, or against x. */
static stonet_status test_columns(const fits *self, int64_t k, bool later, answer *out)
{
    *out = (answer){.half = {1.0, 1.0}};
    for (int64_t half = 0; half < 2; half++) {
        stonet_model *const *of_half = self->model + half * self->each;
        const stonet_model *model = of_half[(k - 1) % self->each], *larger = of_half[self->each - 1];
        const sn_rows *rows = &self->halves->split[half].held_out;
        if (later && larger->dim <= model->dim) continue; /* no more directions among the units */
        stonet_sufficiency_result found = {.p_value = 0.0};
        SN_AUTO(stonet_data) *held_out = NULL;
        SN_TRY(stonet_data_subset(self->job->data, rows->list, rows->n, &held_out));
        SN_TRY(sn_sufficiency(model, later ? larger : NULL, held_out, NULL, self->job->run, &found));
        out->half[half] = found.p_value;
        out->lost += 0.5 * (found.gain.explained_zx - found.gain.explained_z);
        out->explained += 0.5 * found.gain.explained_zx;
    }
    out->p_value = sn_cauchy_combination(2, out->half);
    return STONET_OK;
}

/* The reason for columns of one training, with a word on what x says beyond them. */
static stonet_status tell_columns(const fits *self, stonet_order_result *result)
{
    answer of_x;
    const int64_t k = result->chosen;
    const double p = *sn_order_cell(result, k - 1, 1), level = self->job->level;
    SN_TRY(test_columns(self, k, false, &of_x));
    char beyond[160];
    sn_format(beyond, sizeof beyond,
              of_x.p_value <= level ? "x says more than Z (p = %.3g), so the fit loses something"
                                    : "there is no sign that x says more than Z (p = %.3g)",
              of_x.p_value);
    if (k == self->each)
        sn_format(result->reason, sizeof result->reason,
                  "all %lld columns of Z say something about the response, and %s", (long long)k, beyond);
    else if (p > level)
        sn_format(result->reason, sizeof result->reason,
                  "the columns of Z after %lld add nothing about the response (p = %.3g), and %s",
                  (long long)k, p, beyond);
    else
        sn_format(result->reason, sizeof result->reason,
                  "the columns of Z after %lld add less than a twentieth of what all explain of the response "
                  "(p = %.3g), and %s",
                  (long long)k, p, beyond);
    return STONET_OK;
}

/* The largest k: further columns of Z have no effect. Of each target location-scale has two numbers, an
   ensemble four, and one for each pair of targets. */
static int64_t largest(const sn_order_job *job)
{
    int64_t targets = 0, most = job->max > 0 ? job->max : LARGEST;
    (void)stonet_data_targets(job->data, &targets);
    if (strcmp(job->spec->method->name, "stonet") != 0) return most;
    const int64_t effects = sn_is(job->spec->settings, "response", "location-scale") ? 2 * targets
                            : sn_is(job->spec->settings, "response", "ensemble") ? targets * (targets + 7) / 2
                                                                                 : most;
    return effects > 0 && effects < most ? effects : most;
}

stonet_status sn_order_independence(const sn_order_job *job, stonet_order_result *result)
{
    static const char *const names[] = {"k", "p_value", "p_first_half", "p_second_half", "lost", "explained"};
    SN_WORKSPACE(scratch);
    SN_FREED_BY(sn_strata_free) sn_strata strata = {0};
    SN_FREED_BY(sn_splits_free) sn_splits halves = {0};
    const int64_t most = largest(job);
    bool enough = false;
    SN_FREED_BY(fits_free)
    fits self = {.job = job, .halves = &halves, .each = job->spec->method->keeps ? most : 1};
    // NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers is meant
    SN_TRY(SN_TAKE_ZERO(&scratch, self.model, 2 * self.each));
    SN_TRY(sn_strata_create(job->spec, job->data, &strata));
    SN_TRY(sn_splits_fold(job->data, NULL, &strata, 2, job->run->seed, &halves));
    SN_TRY(sn_order_table(result, 1, most, SN_ORDER_COLUMNS, names));
    for (int64_t k = 1; k <= most && !enough; k++) {
        const bool later = self.each > 1;
        SN_ARRAY(self.each, int64_t, dims);
        for (int64_t i = 0; i < self.each; i++) dims[i] = k + i;
        if (!later) fits_free(&self);
        if (!later || k == 1) SN_TRY(sn_order_fit(job, &halves, dims, self.each, self.model));
        enough = later && k == self.each; /* no column is left to ask about */
        if (!enough) {
            answer found;
            SN_TRY(test_columns(&self, k, later, &found));
            const double line[] = {found.p_value, found.half[0], found.half[1], found.lost, found.explained};
            memcpy(sn_order_cell(result, k - 1, 1), line, sizeof line);
            enough = found.p_value > job->level || /* explained < 0: worse than a constant */
                     (later && found.lost <= NEGLIGIBLE * fmax(found.explained, 0.0));
        }
        if (sn_should_stop(job->run))
            return sn_fail(STONET_ERROR_INTERRUPTED, "stopped before the dimension was chosen");
        result->rows = result->chosen = k;
    }
    if (self.each > 1) return tell_columns(&self, result);
    const long long k = (long long)result->chosen;
    if (!enough)
        sn_format(
            result->reason, sizeof result->reason,
            "not sufficient at any dimension tried (up to %lld): the fit loses something at all of them, so "
            "this is no choice but the largest that was tried",
            k);
    else
        sn_format(
            result->reason, sizeof result->reason,
            "%lld is the first dimension with no sign that x says more about the response than Z (p = %.3g)",
            k, *sn_order_cell(result, k - 1, 1));
    return STONET_OK;
}
