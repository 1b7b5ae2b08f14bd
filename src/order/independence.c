/*
 * Conditional independence in sequence: the method is fitted on one half of the rows, and on the other half
 * the response is tested given the k columns of Z, k = 1, 2, ..; the halves are exchanged and the two
 * p-values combined (Cauchy). The first k that is not rejected is chosen.
 *
 * Where one training serves all k, the response is tested for independence of the later columns of Z: which
 * columns are needed is another question than whether the fit has found all there is, which few rows leave
 * open. The reason answers the second by a test of x given the chosen columns. Other methods are tested for
 * independence of x at every k.
 */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "order/order.h"

enum { LARGEST = 5 };

/* Tests the rows that a split holds out; larger as for sn_sufficiency. */
static stonet_status test_half(const sn_order_job *job, const sn_split *split, const stonet_model *model,
                               const stonet_model *larger, double *p_value)
{
    SN_AUTO(stonet_data) *held_out = NULL;
    stonet_sufficiency_result found = {.p_value = 0.0};
    SN_TRY(stonet_data_subset(job->data, split->held_out.list, split->held_out.n, &held_out));
    const stonet_status status = sn_sufficiency(model, larger, held_out, NULL, job->run, &found);
    *p_value = found.p_value;
    return status;
}

/* The Cauchy combination of two p-values, which may depend on each other. */
static double combine(double a, double b)
{
    const double pi = 3.14159265358979323846;
    return 0.5 - atan(0.5 * (tan((0.5 - a) * pi) + tan((0.5 - b) * pi))) / pi;
}

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

/* Tests the columns of dimension k on both halves against the later ones, or against x; cell has room for two
   p-values. */
static stonet_status test_columns(const fits *self, int64_t k, bool later, double *cell)
{
    for (int64_t half = 0; half < 2; half++) {
        stonet_model *const *of_half = self->model + half * self->each;
        const stonet_model *model = of_half[(k - 1) % self->each], *larger = of_half[self->each - 1];
        cell[half] = 1.0;
        if (later && larger->dim <= model->dim) continue; /* no more directions among the units */
        SN_TRY(test_half(self->job, &self->halves->split[half], model, later ? larger : NULL, &cell[half]));
    }
    return STONET_OK;
}

static stonet_status test_dim(fits *self, int64_t k, stonet_order_result *result)
{
    SN_ARRAY(self->each, int64_t, dims);
    for (int64_t i = 0; i < self->each; i++) dims[i] = k + i;
    if (self->each == 1) fits_free(self);
    if (self->each == 1 || k == 1)
        SN_TRY(sn_order_fit(self->job, self->halves, dims, self->each, self->model));
    double *cell = sn_order_cell(result, k - 1, 1);
    SN_TRY(test_columns(self, k, self->each > 1, cell + 1));
    cell[0] = combine(cell[1], cell[2]);
    return STONET_OK;
}

/* The reason for columns of one training, with a word on what x says beyond them. */
static stonet_status tell_columns(const fits *self, stonet_order_result *result)
{
    double of[2];
    const int64_t k = result->chosen;
    SN_TRY(test_columns(self, k, false, of));
    const double p = combine(of[0], of[1]);
    char beyond[160];
    sn_format(beyond, sizeof beyond,
              p <= self->job->level ? "x says more than Z (p = %.3g), so the fit loses something"
                                    : "there is no sign that x says more than Z (p = %.3g)",
              p);
    if (k < self->each)
        sn_format(result->reason, sizeof result->reason,
                  "the columns of Z after %lld add nothing about the response (p = %.3g), and %s",
                  (long long)k, *sn_order_cell(result, k - 1, 1), beyond);
    else
        sn_format(result->reason, sizeof result->reason,
                  "all %lld columns of Z say something about the response, and %s", (long long)k, beyond);
    return STONET_OK;
}

static stonet_status tell(const fits *self, bool rejected, stonet_order_result *result)
{
    const int64_t k = result->chosen;
    if (self->each > 1) return tell_columns(self, result);
    if (rejected)
        sn_format(
            result->reason, sizeof result->reason,
            "not sufficient at any dimension tried (up to %lld): the fit loses something at all of them, so "
            "this is no choice but the largest that was tried",
            (long long)k);
    else
        sn_format(
            result->reason, sizeof result->reason,
            "%lld is the first dimension with no sign that x says more about the response than Z (p = %.3g)",
            (long long)k, *sn_order_cell(result, k - 1, 1));
    return STONET_OK;
}

static stonet_status test_each(fits *self, int64_t most, stonet_order_result *result)
{
    static const char *const names[] = {"k", "p_value", "p_first_half", "p_second_half"};
    bool rejected = true;
    SN_TRY(sn_order_table(result, 1, most, 4, names));
    for (int64_t k = 1; k <= most && rejected; k++) {
        SN_TRY(test_dim(self, k, result));
        if (sn_should_stop(self->job->run))
            return sn_fail(STONET_ERROR_INTERRUPTED, "stopped before the dimension was chosen");
        rejected = *sn_order_cell(result, k - 1, 1) <= self->job->level;
        result->rows = result->chosen = k;
    }
    return tell(self, rejected, result);
}

/* What a law of two numbers, mean and spread, needs for each target. */
static int64_t largest(const sn_order_job *job)
{
    int64_t targets = 0;
    (void)stonet_data_targets(job->data, &targets);
    const bool two = strcmp(job->spec->method->name, "stonet") == 0 &&
                     sn_is(job->spec->settings, "response", "location-scale");
    return two && 2 * targets < LARGEST ? 2 * targets : LARGEST;
}

stonet_status sn_order_independence(const sn_order_job *job, stonet_order_result *result)
{
    SN_WORKSPACE(scratch);
    SN_FREED_BY(sn_strata_free) sn_strata strata = {0};
    SN_FREED_BY(sn_splits_free) sn_splits halves = {0};
    const int64_t most = job->max > 0 ? job->max : largest(job);
    SN_FREED_BY(fits_free)
    fits self = {.job = job, .halves = &halves, .each = job->spec->method->keeps ? most : 1};
    // NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers is meant
    SN_TRY(SN_TAKE_ZERO(&scratch, self.model, 2 * self.each));
    SN_TRY(sn_strata_create(job->spec, job->data, &strata));
    SN_TRY(sn_splits_fold(job->data, NULL, &strata, 2, job->run->seed, &halves));
    return test_each(&self, most, result);
}
