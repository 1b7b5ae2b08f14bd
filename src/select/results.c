#include "select/results.h"

#include <math.h>
#include <stdio.h>

#include "base/json.h"
#include "base/memory.h"
#include "model/settings_json.h"
#include "stats/metrics.h"

static const char *const CRITERION_NAMES[] = {[STONET_CRITERION_AUTO] = "auto",
                                              [STONET_CRITERION_ERROR_RATE] = "error_rate",
                                              [STONET_CRITERION_LOG_LOSS] = "log_loss",
                                              [STONET_CRITERION_MSE] = "mse",
                                              [STONET_CRITERION_DISCORDANCE] = "discordance",
                                              [STONET_CRITERION_DEVIANCE] = "deviance"};

/* What can be scored, and of it what auto is, by the law of the response and, without one, its task. */
#define AND(criterion) (1U << STONET_CRITERION_##criterion)
static const struct {
    const char *of;
    stonet_criterion usual;
    unsigned possible;
} CRITERIA[] = {
    [SN_LAW_NONE] = {"numeric", STONET_CRITERION_MSE, AND(MSE)},
    [SN_LAW_TIMES] = {"censored", STONET_CRITERION_LOG_LOSS, AND(LOG_LOSS) | AND(DISCORDANCE)},
    [SN_LAW_INTERVALS] = {"interval", STONET_CRITERION_LOG_LOSS, AND(LOG_LOSS)},
    [SN_LAW_COUNTS] = {"count", STONET_CRITERION_LOG_LOSS, AND(LOG_LOSS) | AND(DEVIANCE)},
    [SN_LAW_ORDERED] = {"ordered", STONET_CRITERION_LOG_LOSS, AND(LOG_LOSS) | AND(ERROR_RATE)},
    [SN_LAW_ORDERED + 1] = {"class", STONET_CRITERION_ERROR_RATE, AND(LOG_LOSS) | AND(ERROR_RATE)},
};

stonet_status sn_criterion_resolve(stonet_criterion wish, const sn_strata *strata, stonet_criterion *out)
{
    if ((unsigned)wish > STONET_CRITERION_DEVIANCE)
        return sn_fail(STONET_ERROR_ARGUMENT, "there is no such criterion");
    const int kind =
        strata->law == SN_LAW_NONE && strata->is_classifier ? SN_LAW_ORDERED + 1 : (int)strata->law;
    *out = wish == STONET_CRITERION_AUTO ? CRITERIA[kind].usual : wish;
    if ((CRITERIA[kind].possible >> *out & 1U) == 0)
        return sn_fail(STONET_ERROR_ARGUMENT, "the criterion %s is not for %s targets", CRITERION_NAMES[*out],
                       CRITERIA[kind].of);
    return STONET_OK;
}

json_t *sn_spec_settings_json(const stonet_spec *spec)
{
    json_t *flat = sn_settings_json(spec->common, false);
    SN_AUTO(json_t) *of_learner = sn_settings_json(spec->learner_settings, false);
    json_object_del(flat, "dim");
    flat = sn_json_join(flat, sn_settings_json(spec->settings, false));
    const char *key;
    json_t *value;
    json_object_foreach(of_learner, key, value)
    {
        char name[128];
        snprintf(name, sizeof name, "learner.%.100s", key);
        flat = sn_json_put(flat, name, json_incref(value));
    }
    if (of_learner != NULL) return flat;
    json_decref(flat);
    return NULL;
}

static stonet_status create_row(const stonet_spec *spec, int64_t n_splits, sn_row *row)
{
    SN_TRY(stonet_spec_copy(spec, &row->spec));
    SN_TRY(SN_NEW(row->found, n_splits));
    SN_TRY(SN_NEW(row->value, n_splits));
    // NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers is meant
    SN_TRY(SN_NEW(row->chosen, n_splits));
    for (int64_t k = 0; k < n_splits; k++) row->value[k] = NAN;
    row->mean = row->se = row->p_value = NAN;
    row->settings = sn_json_text(sn_spec_settings_json(spec), false);
    return row->settings != NULL ? STONET_OK : STONET_ERROR_MEMORY;
}

stonet_status sn_results_create(const stonet_spec *const *specs, int64_t n_specs, int64_t n_splits,
                                stonet_criterion criterion, stonet_results **out)
{
    SN_AUTO(stonet_results) *results = NULL;
    SN_TRY(SN_NEW(results, 1));
    results->n_splits = n_splits;
    results->criterion = criterion;
    SN_TRY(SN_NEW(results->row, n_specs));
    results->n_rows = n_specs;
    for (int64_t i = 0; i < n_specs; i++) SN_TRY(create_row(specs[i], n_splits, &results->row[i]));
    return SN_GIVE(results, out);
}

void stonet_results_free(stonet_results *results)
{
    if (results == NULL) return;
    for (int64_t i = 0; i < results->n_rows; i++) {
        sn_row *row = &results->row[i];
        stonet_spec_free(row->spec);
        for (int64_t k = 0; row->chosen != NULL && k < results->n_splits; k++) json_decref(row->chosen[k]);
        SN_FREE_ALL(row->settings, row->found, row->value, row->learners, row->failure, row->chosen);
    }
    sn_free(results->row);
    sn_free(results);
}

int64_t sn_row_dim(const sn_row *row)
{
    return row->open_dim ? 0 : sn_int(row->spec->common, "dim");
}

stonet_status sn_results_take(stonet_results *results, int64_t row, int64_t split, sn_job *job)
{
    sn_row *to = &results->row[row];
    if (job->open_dim && job->found.dim > 0) {
        to->chosen[split] = json_pack("{s:I}", "dim", (json_int_t)job->found.dim);
        if (to->chosen[split] == NULL) return sn_json_failed();
    }
    to->found[split] = job->found;
    to->seconds += job->found.seconds;
    if (job->found.done) to->value[split] = job->found.value;
    return to->failure == NULL ? SN_GIVE(job->failure, &to->failure) : STONET_OK;
}

/* A candidate's standing: how many splits it has, and their means. */
typedef struct standing {
    int64_t done;
    double mean, tie;
} standing;

static void count_in(const sn_found *found, standing *to)
{
    if (!found->done || isnan(found->value)) return;
    to->done++;
    to->mean += found->value;
    to->tie += found->tie;
}

static void divide(standing *sums)
{
    sums->mean /= (double)sums->done;
    sums->tie /= (double)sums->done;
}

static bool is_better(const standing *a, const standing *b)
{
    if (a->done != b->done) return a->done > b->done;
    if (a->mean != b->mean) return a->mean < b->mean;
    return a->tie < b->tie;
}

int64_t sn_best_of_jobs(const sn_job *job, int64_t n, int64_t splits)
{
    int64_t best = -1;
    standing of_best = {0};
    for (int64_t i = 0; i < n; i++) {
        standing here = {0};
        for (int64_t k = 0; k < splits; k++) count_in(&job[i * splits + k].found, &here);
        if (here.done == 0) continue;
        divide(&here);
        if (best < 0 || is_better(&here, &of_best)) {
            best = i;
            of_best = here;
        }
    }
    return best;
}

/* Means and standard errors over the finished splits of each row. The best row has the most finished splits,
   then the smallest mean, then the smaller tie-breaker. room: n_splits numbers. */
static void summarise(stonet_results *results, double *room)
{
    standing of_best = {0};
    results->best = -1;
    for (int64_t i = 0; i < results->n_rows; i++) {
        sn_row *row = &results->row[i];
        standing here = {0};
        for (int64_t k = 0; k < results->n_splits; k++) {
            if (!isnan(row->value[k])) room[here.done] = row->value[k];
            count_in(&row->found[k], &here);
        }
        row->n_done = here.done;
        if (here.done == 0) continue;
        divide(&here);
        row->mean = here.mean;
        row->se = here.done > 1 ? sn_standard_error(here.done, room) : NAN;
        if (results->best < 0 || is_better(&here, &of_best)) {
            results->best = i;
            of_best = here;
        }
    }
}

/* Corrected paired t-tests of every row against the best, over the folds both have. */
static void test_against_best(stonet_results *results, double *a, double *b)
{
    const sn_row *best = &results->row[results->best];
    for (int64_t i = 0; i < results->n_rows; i++) {
        int64_t count = 0;
        for (int64_t k = 0; k < results->n_splits; k++) {
            if (isnan(results->row[i].value[k]) || isnan(best->value[k])) continue;
            a[count] = results->row[i].value[k];
            b[count++] = best->value[k];
        }
        if (i != results->best && count > 1)
            results->row[i].p_value = sn_fold_t_test(count, results->n_splits, a, b);
    }
}

/* "kernel", or "kernel 4, linear 1" of five splits. */
static stonet_status name_learners(int64_t n_splits, sn_row *row)
{
    char text[128] = "";
    size_t length = 0;
    for (size_t i = 0; i < sn_learner_count(); i++) {
        int64_t count = 0;
        for (int64_t k = 0; k < n_splits; k++)
            count += row->found[k].done && row->found[k].learner == (int64_t)i;
        if (count == 0 || length >= sizeof text) continue;
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%s", length > 0 ? ", " : "",
                                   sn_learner_at(i)->name);
        if (count < row->n_done && length < sizeof text)
            length += (size_t)snprintf(text + length, sizeof text - length, " %lld", (long long)count);
    }
    if (length == 0) return STONET_OK;
    return sn_text_copy(text, &row->learners);
}

stonet_status sn_results_finish(stonet_results *results, bool stopped)
{
    results->outcome = stopped ? STONET_STOPPED : STONET_DONE;
    SN_ZEROS(2 * results->n_splits, double, room);
    summarise(results, room);
    for (int64_t i = 0; i < results->n_rows; i++) SN_TRY(name_learners(results->n_splits, &results->row[i]));
    if (results->best >= 0 && results->compares) test_against_best(results, room, room + results->n_splits);
    if (results->best >= 0) return STONET_OK;
    if (stopped) return sn_fail(STONET_ERROR_INTERRUPTED, "stopped before the first fit was finished");
    for (int64_t i = 0; i < results->n_rows; i++) {
        if (results->row[i].failure == NULL) continue;
        if (results->compares) return STONET_OK;
        return sn_fail(STONET_ERROR_NUMERIC, "no fit succeeded; the first one failed with: %s",
                       results->row[i].failure);
    }
    return sn_fail(STONET_ERROR_DATA, "no split has rows to score on");
}

/* ---- reading ---- */

int64_t stonet_results_rows(const stonet_results *results)
{
    return results != NULL ? results->n_rows : 0;
}

int64_t stonet_results_best(const stonet_results *results)
{
    return results != NULL ? results->best : -1;
}

/* Whether row a is at most so many standard errors of the paired difference above row b. */
static bool is_within(const stonet_results *results, const sn_row *a, const sn_row *b, double standard_errors)
{
    double mean = 0.0, squares = 0.0, n = (double)results->n_splits;
    for (int64_t k = 0; k < results->n_splits; k++) mean += (a->value[k] - b->value[k]) / n;
    for (int64_t k = 0; k < results->n_splits; k++) {
        double off = a->value[k] - b->value[k] - mean;
        squares += off * off;
    }
    double se = n > 1.0 ? sqrt(squares / (n - 1.0) / n) : 0.0;
    return mean <= standard_errors * se; /* not so where a split is missing: the mean is NaN */
}

int64_t stonet_results_simplest(const stonet_results *results, double standard_errors)
{
    if (results == NULL) return -1;
    for (int64_t i = 0; i < results->best; i++)
        if (is_within(results, &results->row[i], &results->row[results->best], standard_errors)) return i;
    return results->best;
}

stonet_outcome stonet_results_outcome(const stonet_results *results)
{
    return results != NULL ? results->outcome : STONET_DONE;
}

const char *stonet_results_criterion(const stonet_results *results)
{
    return results != NULL ? CRITERION_NAMES[results->criterion] : NULL;
}

stonet_status stonet_results_row(const stonet_results *results, int64_t index, stonet_result_row *row)
{
    if (results == NULL || row == NULL || index < 0 || index >= results->n_rows)
        return sn_fail(STONET_ERROR_ARGUMENT, "the results have no such row");
    const sn_row *from = &results->row[index];
    *row = (stonet_result_row){.method = from->spec->method->name,
                               .dim = sn_row_dim(from),
                               .settings = from->settings,
                               .mean = from->mean,
                               .se = from->se,
                               .seconds = from->seconds,
                               .p_value = from->p_value,
                               .n_values = results->n_splits,
                               .values = from->value,
                               .failure = from->failure};
    return STONET_OK;
}

const char *stonet_results_learner(const stonet_results *results, int64_t index)
{
    return results != NULL && index >= 0 && index < results->n_rows ? results->row[index].learners : NULL;
}

stonet_status stonet_results_spec(const stonet_results *results, int64_t index, stonet_spec **out)
{
    if (results == NULL || out == NULL || index < 0 || index >= results->n_rows)
        return sn_fail(STONET_ERROR_ARGUMENT, "the results have no such row");
    return stonet_spec_copy(results->row[index].spec, out);
}
