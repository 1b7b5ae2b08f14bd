/* stonet_report: what a page says, from the calls that answer each part of it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/take_options.h"
#include "data/utf8.h"
#include "model/model.h"
#include "report/page.h"

enum { POINTS = 20000, MEASURED = 2000 /* rows, of importance and coefficients */ };

/* Enters a part that was made of calls which say themselves why they fail; takes it over. */
static stonet_status enter(json_t *content, const char *key, json_t *part)
{
    return json_object_set_new(content, key, part) == 0 ? STONET_OK : sn_json_failed();
}

/* A text of JSON that a call of the library gave; NULL: it said why. */
static stonet_status enter_text(json_t *content, const char *key, char *text)
{
    if (text == NULL) return sn_json_failed();
    json_t *part = json_loads(text, 0, NULL);
    stonet_string_free(text);
    return enter(content, key, part);
}

json_t *sn_page_text(const char *text)
{
    SN_BLOCK char *copy = sn_strdup(text != NULL ? text : "");
    if (copy == NULL) return NULL;
    for (size_t i = 0; copy[i] != '\0';) {
        const size_t length = sn_utf8_sequence(copy + i, strlen(copy + i));
        if (length == 0) copy[i] = '?';
        i += length > 0 ? length : 1;
    }
    return json_string(copy);
}

/* The page with this content. The JSON cannot end its script element, nor begin a comment in it: <, >, & and
   what is not ASCII are written as \uNNNN. NULL when memory ran out; to be freed by free(). */
static char *render(const json_t *content)
{
    SN_BLOCK char *json = sn_json_print(content, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(6));
    if (json == NULL) return NULL;
    char *page = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&page, &size);
    if (out != NULL) {
        fwrite(sn_page_before, 1, sn_page_before_size, out);
        /* These letters are in texts alone, so that an escape is the same JSON. */
        for (const char *at = json; *at != '\0'; at++) {
            if (*at == '<' || *at == '>' || *at == '&')
                fprintf(out, "\\u%04x", (unsigned)*at);
            else
                fputc(*at, out);
        }
        fwrite(sn_page_after, 1, sn_page_after_size, out);
        const bool failed = ferror(out) != 0;
        if (fclose(out) != 0 || failed) {
            free(page);
            page = NULL;
        }
    }
    return page;
}

/* ---- answers ------------------------------------------------------------------------------------ */

/* At most `most` rows, drawn by the seed. */
static stonet_status sample(const sn_page_subject *about, int64_t most, stonet_data **out)
{
    enum { STREAM = 15 };
    const int64_t n = stonet_data_rows(about->data);
    SN_ARRAY(n, int64_t, order);
    SN_TRY(stonet_permutation(about->run->seed, STREAM, n, order));
    return stonet_data_subset(about->data, order, n < most ? n : most, out);
}

/* {"kind", "measured", "rows"} */
static stonet_status put_importance(json_t *content, const sn_page_subject *about, const char *kind,
                                    const stonet_data *rows)
{
    stonet_importance_options how = STONET_IMPORTANCE_OPTIONS_INIT;
    SN_AUTO(stonet_importance_result) *found = NULL;
    SN_TRY(stonet_importance_kind_find(kind, &how.kind));
    SN_TRY(stonet_importance(about->model, rows, &how, about->run, &found));
    SN_AUTO(json_t) *all =
        json_pack("{s:s, s:I}", "kind", kind, "measured", (json_int_t)stonet_data_rows(rows)); /* or NULL */
    SN_TRY(enter_text(all, "rows", stonet_importance_json(found)));
    return enter(content, "importance", json_incref(all));
}

static stonet_status put_coef(json_t *content, const sn_page_subject *about, const stonet_data *rows)
{
    SN_AUTO(stonet_coef_result) *found = NULL;
    SN_TRY(stonet_coef(about->model, rows, NULL, about->run, &found));
    return enter_text(content, "coef", stonet_coef_json(found));
}

/* The parts that take time. */
static stonet_status put_answers(json_t *content, const sn_page_subject *about, const char *importance)
{
    SN_AUTO(stonet_data) *rows = NULL;
    SN_TRY(sample(about, MEASURED, &rows));
    SN_TRY(put_coef(content, about, rows));
    const bool predicts = json_array_size(json_object_get(content, "scores")) > 0;
    return predicts && strcmp(importance, "none") != 0 ? put_importance(content, about, importance, rows)
                                                       : STONET_OK;
}

/* The scores that have a meaning for the response, [name, value] each. */
static stonet_status put_scores(json_t *content, const sn_page_subject *about)
{
    stonet_scores scores = STONET_SCORES_INIT;
    const stonet_use_options how = {.size = sizeof how, .threads = about->run->threads, .seed = 1};
    SN_TRY(stonet_score(about->model, about->data, &how, &scores));
    const char *sets = scores.is_classifier ? "mean size of the sets" : "mean width of the intervals";
    const struct {
        const char *name;
        double value;
    } all[] = {
        {"error rate", scores.error_rate},
        {"balanced accuracy", scores.balanced_accuracy},
        {"log loss", scores.log_loss},
        {"Brier score", scores.brier},
        {"AUC", scores.auc},
        {"calibration error", scores.calibration_error},
        {"R²", scores.r2},
        {"mean squared error", scores.mse},
        {"correlation", scores.correlation},
        {"nominal coverage", scores.level},
        {"coverage", scores.coverage},
        {sets, scores.width},
        {"Harrell's C", scores.concordance},
        {"Uno's C", scores.uno},
        {"integrated Brier score", scores.integrated_brier},
        {"deviance", scores.deviance},
        {"deviance explained", scores.deviance_explained},
        {"mean rank error", scores.rank_error},
        {"quadratic kappa", scores.kappa},
        {"log likelihood", scores.log_likelihood},
    };
    json_t *list = json_array();
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        if (!isnan(all[k].value))
            list =
                sn_json_add(list, sn_json_add(json_pack("[s]", all[k].name), sn_json_number(all[k].value)));
    return enter(content, "scores", list);
}

/* ---- facts -------------------------------------------------------------------------------------- */

static json_t *class_names(const stonet_model *model)
{
    json_t *names = json_array();
    for (int64_t k = 0; stonet_model_is_classifier(model) && k < stonet_model_outputs(model); k++)
        names = sn_json_add(names, sn_page_text(stonet_model_class_label(model, k)));
    return names;
}

/* The names of the responses in the JSON of the model: of several numbers a list, else one or none. */
static json_t *target_names(const json_t *about)
{
    const json_t *several = json_object_get(about, "targets"), *one = json_object_get(about, "target");
    json_t *names = json_array();
    for (size_t k = 0; k < json_array_size(several); k++)
        names = sn_json_add(names, json_incref(json_object_get(json_array_get(several, k), "name")));
    if (!json_is_array(several) && json_is_string(one))
        names = sn_json_add(names, json_incref((json_t *)one));
    return names;
}

static stonet_status put_facts(json_t *content, const sn_page_subject *about, const sn_page_rows *rows)
{
    SN_TRY(enter(content, "version", json_string(stonet_version())));
    SN_TRY(enter(content, "task", json_string(stonet_model_task(about->model))));
    SN_TRY(enter(content, "rows", json_integer(rows->n)));
    int met = 0;
    SN_TRY(stonet_model_met(about->model, about->data, &met));
    SN_TRY(enter(content, "met", json_boolean(met)));
    SN_TRY(enter_text(content, "about", stonet_model_json(about->model)));
    SN_TRY(enter(content, "targets", target_names(json_object_get(content, "about"))));
    if (about->model->history != NULL) SN_TRY(enter(content, "history", sn_page_text(about->model->history)));
    SN_TRY(enter(content, "scores", json_array()));
    return enter(content, "classes", class_names(about->model));
}

/* What is told of all rows; needs predictions and responses. */
static stonet_status put_tables(json_t *content, const sn_page_rows *rows)
{
    if (rows->predicted == NULL || (rows->label == NULL && rows->response == NULL)) return STONET_OK;
    if (rows->event != NULL) return enter(content, "survival", sn_page_survival(rows));
    if (rows->is_classifier) SN_TRY(enter(content, "confusion", sn_page_confusion(rows)));
    SN_TRY(enter(content, "calibration", sn_page_calibration(rows)));
    return enter(content, "histogram", sn_page_histogram(rows));
}

static bool is_among(const json_t *names, const json_t *name)
{
    for (size_t i = 0; i < json_array_size(names); i++)
        if (json_equal(json_array_get(names, i), name)) return true;
    return false;
}

/* The names of the variables to show beside a row: the most important, or the first. */
static json_t *variables_of(const stonet_data *data, const json_t *importance)
{
    enum { MOST = 8 };
    json_t *names = json_array();
    const json_t *rows = json_object_get(importance, "rows");
    for (size_t k = 0; rows != NULL && k < json_array_size(rows) && k < MOST; k++) {
        const json_t *best = NULL;
        for (size_t j = 0; j < json_array_size(rows); j++) {
            const json_t *row = json_array_get(rows, j);
            if (is_among(names, json_object_get(row, "variable"))) continue;
            if (best == NULL || json_number_value(json_object_get(row, "importance")) >
                                    json_number_value(json_object_get(best, "importance")))
                best = row;
        }
        if (best != NULL) names = sn_json_add(names, json_incref(json_object_get(best, "variable")));
    }
    for (int64_t j = 0; rows == NULL && j < stonet_data_columns(data) && j < MOST; j++)
        names = sn_json_add(names, sn_page_text(stonet_data_column_name(data, j)));
    return names;
}

static stonet_status put_points(json_t *content, const sn_page_subject *about, const sn_page_rows *rows)
{
    int64_t shown = 0;
    json_t *points = NULL;
    SN_AUTO(json_t) *variables = variables_of(about->data, json_object_get(content, "importance"));
    if (variables == NULL) return sn_json_failed();
    SN_TRY(sn_page_points(about, rows, variables, &shown, &points));
    SN_TRY(enter(content, "points", points));
    return enter(content, "shown", json_integer(shown));
}

/* The table of stonet_order_json. */
static stonet_status put_order(json_t *content, const char *text)
{
    if (text == NULL) return STONET_OK;
    json_error_t error;
    SN_AUTO(json_t) *order = json_loads(text, 0, &error);
    if (order == NULL)
        return sn_json_unread(&error, sn_fail(STONET_ERROR_FORMAT,
                                              "the table of dimensions is not what 'stonet order --json' "
                                              "prints: %s",
                                              error.text));
    const bool fits =
        json_is_array(json_object_get(order, "rows")) && json_is_string(json_object_get(order, "rule")) &&
        json_is_string(json_object_get(order, "method")) && json_is_string(json_object_get(order, "reason"));
    if (fits) return enter(content, "order", json_incref(order));
    return sn_fail(STONET_ERROR_FORMAT,
                   "the table of dimensions is not what 'stonet order --json' prints: its parts are others");
}

static stonet_status fill(json_t *content, const sn_page_subject *about, const stonet_report_options *how)
{
    SN_WORKSPACE(scratch);
    sn_page_rows rows;
    SN_TRY(put_order(content, how->order));
    SN_TRY(enter(content, "model", sn_page_text(how->model_name)));
    SN_TRY(enter(content, "data", sn_page_text(how->data_name)));
    SN_TRY(sn_page_rows_make(about, &scratch, &rows));
    SN_TRY(put_facts(content, about, &rows));
    SN_TRY(put_tables(content, &rows));
    if (rows.predicted != NULL) SN_TRY(put_scores(content, about));
    SN_TRY(put_answers(content, about, how->importance != NULL ? how->importance : "permutation"));
    json_t *curves = NULL;
    SN_TRY(sn_page_curves(about, &rows, &curves));
    SN_TRY(enter(content, "curves", curves));
    return put_points(content, about, &rows);
}

stonet_status stonet_report(const stonet_model *model, const stonet_data *data,
                            const stonet_report_options *options, const stonet_run *run, char **html)
{
    if (model == NULL || data == NULL || html == NULL)
        return sn_fail(STONET_ERROR_ARGUMENT, "stonet_report needs a model, data and a place for the page");
    *html = NULL;
    stonet_report_options how;
    stonet_run taken;
    SN_TRY(SN_TAKE_OPTIONS(stonet_report_options, STONET_REPORT_OPTIONS_INIT, options, &how));
    SN_TRY(sn_take_run(run, &taken));
    if (how.points < 0)
        return sn_fail(STONET_ERROR_ARGUMENT, "stonet_report: the number of points is negative");
    if (sn_page_before_size == 0)
        return sn_fail(STONET_ERROR_UNSUPPORTED,
                       "this build of the library has no page: it was made without the chart library d3");
    const sn_page_subject about = {
        .model = model, .data = data, .run = &taken, .most_points = how.points > 0 ? how.points : POINTS};
    SN_AUTO(json_t) *content = json_object();
    SN_TRY(content != NULL ? fill(content, &about, &how) : sn_json_failed());
    *html = render(content);
    if (*html != NULL) return STONET_OK;
    return sn_fail(STONET_ERROR_MEMORY, "memory ran out while the page was written");
}
