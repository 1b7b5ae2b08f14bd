#include "order/order.h"

#include <math.h>
#include <string.h>

#include "base/json.h"
#include "base/memory.h"
#include "base/take_options.h"
#include "base/words.h"
#include "model/settings_json.h"

stonet_status sn_order_table(stonet_order_result *result, int64_t first, int64_t rows, int64_t columns,
                             const char *const *names)
{
    result->rows = rows;
    result->columns = columns;
    for (int64_t c = 0; c < columns; c++) result->name[c] = names[c];
    SN_TRY(SN_NEW_RAW(result->value, rows * columns));
    for (int64_t i = 0; i < rows; i++)
        for (int64_t c = 0; c < columns; c++)
            *sn_order_cell(result, i, c) = c == 0 ? (double)(first + i) : (double)NAN;
    return STONET_OK;
}

double *sn_order_cell(stonet_order_result *result, int64_t row, int64_t column)
{
    return result->value + row * result->columns + column;
}

double sn_order_eigenvalue(const sn_solved *solved, int64_t k)
{
    const sn_matrix *matrix = &solved->matrix;
    const double own = k < solved->eigen.count ? solved->eigen.value[k] : matrix->noise;
    return fmax((own - matrix->noise) / matrix->scale, 0.0);
}

/* ---- which rule -------------------------------------------------------------------------------- */

#define RULE_WORDS(between)                                                                                  \
    "auto" between "cv" between "ladle" between "augmentation" between "tests" between "bic" between         \
    "independence"
SN_DEFINE_WORDS(sn_order_words, "rule", STONET_ORDER_INDEPENDENCE, RULE_WORDS);

stonet_status stonet_order_rule_find(const char *name, stonet_order_rule *rule)
{
    if (name == NULL || rule == NULL)
        return sn_fail(STONET_ERROR_ARGUMENT, "stonet_order_rule_find needs a name and a place for the rule");
    const int found = sn_words_find(&sn_order_words, name);
    if (found < 0)
        return sn_fail(
            STONET_ERROR_ARGUMENT,
            "there is no rule '%s': choose auto, cv, ladle, augmentation, tests, bic or independence", name);
    *rule = (stonet_order_rule)found;
    return STONET_OK;
}

/* The ladle for a method that is an eigenproblem, unless x is too wide for hundreds of them. Held-out rows
   judge the mean of the response, so a fit to its whole distribution is judged by independence. Times, counts
   and ordered classes are judged by their likelihood, which says nothing of the spread. */
static stonet_order_rule default_rule(const stonet_spec *spec, const stonet_data *data)
{
    enum { WIDE = 200 };
    if (sn_wish_law(sn_spec_task(spec)) != SN_LAW_NONE) return STONET_ORDER_CV;
    if (strcmp(spec->method->name, "stonet") == 0 && !sn_is(spec->settings, "response", "mean"))
        return STONET_ORDER_INDEPENDENCE;
    if (spec->method->candidate == NULL) return STONET_ORDER_CV;
    const int64_t n = stonet_data_rows(data), p = stonet_data_columns(data);
    if (p <= WIDE && p < n) return STONET_ORDER_LADLE;
    return n > p + p / 5 + 1 ? STONET_ORDER_AUGMENTATION : STONET_ORDER_CV;
}

static stonet_status check_rule(const stonet_spec *spec, stonet_order_rule rule)
{
    const bool spectral = rule != STONET_ORDER_CV && rule != STONET_ORDER_INDEPENDENCE;
    if (!spectral || spec->method->candidate != NULL) return STONET_OK;
    return sn_fail(STONET_ERROR_UNSUPPORTED,
                   "rule %s reads the eigenvalues of a candidate matrix, which method '%s' does not have: "
                   "use cv or independence, or one of pca, sir, save, dr, phd",
                   sn_words_name(&sn_order_words, rule), spec->method->name);
}

/* ---- from the table to the numbers ------------------------------------------------------------- */

/* Encodes the rows as a fit would and hands them to the rule as job->problem. job->problem points into this
   function and is of no use after it. */
static stonet_status apply_spectral(stonet_order_rule rule, sn_order_job *job, stonet_order_result *result)
{
    SN_WORKSPACE(scratch);
    SN_AUTO(sn_schema) *schema = NULL;
    SN_AUTO(stonet_data) *part = NULL;
    sn_problem problem;
    sn_encoding encoding;
    if (job->data->weight != NULL || sn_is(job->spec->common, "class_weight", "balanced"))
        return sn_fail(
            STONET_ERROR_UNSUPPORTED,
            "rules that read eigenvalues have no weighted form: use rule cv, or leave the weights out");
    SN_TRY(sn_spec_rows(job->spec, job->data, job->run, &part));
    const stonet_data *data = part != NULL ? part : job->data;
    SN_TRY(sn_spec_encoding(job->spec, data, job->run, &encoding));
    SN_TRY(sn_schema_fit(data, &encoding, job->run, &schema));
    SN_TRY(sn_schema_problem(schema, data, &scratch, &problem));
    job->problem = &problem;
    if (rule == STONET_ORDER_AUGMENTATION) return sn_order_augmentation(job, result);
    if (rule == STONET_ORDER_TESTS) return sn_order_tests(job, result);
    if (rule == STONET_ORDER_BIC) return sn_order_criteria(job, result);
    return sn_order_ladle(job, result);
}

stonet_status stonet_order(const stonet_spec *spec, const stonet_data *data,
                           const stonet_order_options *options, const stonet_run *run,
                           stonet_order_result **out)
{
    if (spec == NULL || data == NULL || out == NULL)
        return sn_fail(STONET_ERROR_ARGUMENT, "stonet_order needs a spec, data and a place for the result");
    *out = NULL;
    stonet_order_options how;
    stonet_run taken;
    SN_TRY(SN_TAKE_OPTIONS(stonet_order_options, STONET_ORDER_OPTIONS_INIT, options, &how));
    SN_TRY(sn_take_run(run, &taken));
    if ((unsigned)how.rule > STONET_ORDER_INDEPENDENCE || how.max < 0 || how.resamples < 0 || how.folds < 0 ||
        !(how.level > 0.0 && how.level < 1.0))
        return sn_fail(STONET_ERROR_ARGUMENT,
                       "stonet_order: max, resamples and folds are not negative, and the level is between 0 "
                       "and 1");
    if (how.rule == STONET_ORDER_AUTO) how.rule = default_rule(spec, data);
    SN_TRY(check_rule(spec, how.rule));
    sn_order_job job = {.spec = spec,
                        .data = data,
                        .run = &taken,
                        .max = how.max,
                        .level = how.level,
                        .resamples = how.resamples,
                        .folds = how.folds};
    SN_AUTO(stonet_order_result) *result = NULL;
    SN_TRY(SN_NEW(result, 1));
    SN_THREADS(taken.threads);
    result->rule = sn_words_name(&sn_order_words, how.rule);
    result->method = spec->method->name;
    SN_TRY(how.rule == STONET_ORDER_CV             ? sn_order_folds(&job, result)
           : how.rule == STONET_ORDER_INDEPENDENCE ? sn_order_independence(&job, result)
                                                   : apply_spectral(how.rule, &job, result));
    return SN_GIVE(result, out);
}

stonet_status stonet_order_dim(const stonet_spec *spec, const stonet_data *data, const stonet_run *run,
                               int64_t *dim)
{
    if (dim == NULL)
        return sn_fail(STONET_ERROR_ARGUMENT, "stonet_order_dim needs a place for the dimension");
    SN_AUTO(stonet_order_result) *found = NULL;
    SN_TRY(stonet_order(spec, data, NULL, run, &found));
    *dim = found->chosen > 0 ? found->chosen : 1;
    return STONET_OK;
}

/* ---- the result -------------------------------------------------------------------------------- */

int64_t stonet_order_chosen(const stonet_order_result *result)
{
    return result != NULL ? result->chosen : -1;
}

const char *stonet_order_rule_name(const stonet_order_result *result)
{
    return result != NULL ? result->rule : "";
}

const char *stonet_order_reason(const stonet_order_result *result)
{
    return result != NULL ? result->reason : "";
}

int64_t stonet_order_rows(const stonet_order_result *result)
{
    return result != NULL ? result->rows : 0;
}

int64_t stonet_order_columns(const stonet_order_result *result)
{
    return result != NULL ? result->columns : 0;
}

const char *stonet_order_column_name(const stonet_order_result *result, int64_t column)
{
    return result != NULL && column >= 0 && column < result->columns ? result->name[column] : NULL;
}

double stonet_order_value(const stonet_order_result *result, int64_t row, int64_t column)
{
    if (result == NULL || row < 0 || row >= result->rows || column < 0 || column >= result->columns)
        return (double)NAN;
    return result->value[row * result->columns + column];
}

static json_t *row_json(const stonet_order_result *result, int64_t row)
{
    json_t *object = json_object();
    for (int64_t c = 0; c < result->columns; c++) {
        const double value = stonet_order_value(result, row, c);
        object = sn_json_put(object, result->name[c],
                             c == 0 ? json_integer((json_int_t)value) : sn_json_number(value));
    }
    return object;
}

char *stonet_order_json(const stonet_order_result *result)
{
    if (result == NULL) return NULL;
    json_t *rows = json_array();
    for (int64_t i = 0; i < result->rows; i++) rows = sn_json_add(rows, row_json(result, i));
    json_t *all = json_pack("{s:s, s:s, s:I, s:s}", "method", result->method, "rule", result->rule, "chosen",
                            (json_int_t)result->chosen, "reason", result->reason);
    return sn_json_text(sn_json_put(all, "rows", rows), true);
}

void stonet_order_free(stonet_order_result *result)
{
    if (result == NULL) return;
    sn_free(result->value);
    sn_free(result);
}
