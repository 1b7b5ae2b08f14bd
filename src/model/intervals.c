/* Intervals and sets of a calibrated model, block by block. */
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/workspace.h"
#include "math/smallest.h"
#include "model/calibration.h"
#include "stats/conformal.h"

int stonet_model_is_calibrated(const stonet_model *model)
{
    return model != NULL && model->calibration != NULL;
}

int64_t stonet_model_calibration_rows(const stonet_model *model, int64_t code)
{
    if (model == NULL || model->calibration == NULL) return 0;
    const sn_calibration *calibration = model->calibration;
    if (code < 0) return calibration->rows;
    int64_t rows = 0;
    for (int64_t i = 0; calibration->label != NULL && i < calibration->rows; i++)
        rows += calibration->label[i] == code;
    return rows;
}

/* for_classes: the caller wants sets of classes, else intervals of numbers. what: "sets" or "intervals", for
   the messages. */
static stonet_status check(const stonet_model *model, const stonet_use_options *how, bool for_classes,
                           const char *what)
{
    if (!(how->level > 0.0 && how->level < 1.0))
        return sn_fail(STONET_ERROR_ARGUMENT, "the level is %g, and must be between 0 and 1: 0.9 is usual",
                       how->level);
    if (sn_schema_outputs(model->schema) == 0)
        return sn_fail(STONET_ERROR_UNSUPPORTED, "this model was fitted without a response: it has no %s",
                       what);
    if ((model->schema->task == SN_CLASSIFICATION) != for_classes)
        return sn_fail(STONET_ERROR_UNSUPPORTED, "this model predicts %s, so it has %s and no %s",
                       for_classes ? "numbers" : "classes", for_classes ? "intervals" : "sets", what);
    if (model->calibration != NULL) return STONET_OK;
    return sn_fail(
        STONET_ERROR_UNSUPPORTED,
        "this model was not calibrated, so it has no %s: let the fit calibrate it, or calibrate the "
        "model ('stonet calibrate', stonet_calibrate)",
        what);
}

/* The scores of one output, sorted, in a list for each model that predicts; with code >= 0, of the rows of
   that class alone. */
static stonet_status make_lists(const sn_calibration *calibration, int64_t output, int64_t code,
                                sn_workspace *keep, sn_score_lists *out)
{
    const int64_t lists = sn_calibration_lists(calibration), rows = calibration->rows;
    const double *score = calibration->score + output * rows;
    int64_t *start = NULL;
    double *sorted = NULL;
    SN_TRY(SN_TAKE(keep, start, lists + 1));
    SN_TRY(SN_TAKE(keep, sorted, rows));
    int64_t at = 0;
    for (int64_t l = 0; l < lists; l++) {
        start[l] = at;
        for (int64_t i = 0; i < rows; i++)
            if (calibration->member_of[i] == l && (code < 0 || calibration->label[i] == code))
                sorted[at++] = score[i];
        qsort(sorted + start[l], (size_t)(at - start[l]), sizeof *sorted, sn_by_double);
    }
    start[lists] = at;
    *out = (sn_score_lists){.count = lists, .start = start, .score = sorted};
    return STONET_OK;
}

/* Block by block: the order statistics of predictions plus and minus calibration scores. */
static stonet_status intervals(const stonet_model *model, const stonet_data *data, double level, double *low,
                               double *high)
{
    const sn_calibration *calibration = model->calibration;
    const int64_t outputs = sn_schema_outputs(model->schema), n = stonet_data_rows(data);
    const int64_t asked = sn_calibration_lists(calibration), block = sn_calibration_block(model);
    const int64_t answers = asked * (n < block ? n : block) * outputs, room = calibration->rows + 2 * asked;
    /* Bonferroni: all outputs of a row are in their intervals. */
    const double each = outputs > 1 ? 1.0 - (1.0 - level) / (double)outputs : level;
    const int64_t rank = sn_conformal_rank(calibration->rows, each);
    SN_WORKSPACE(scratch);
    double *spread = NULL; /* as predicted: asked x rows x outputs; NULL: scores are not over any */
    SN_ARRAY(outputs, sn_score_lists, lists);
    SN_ARRAY(answers, double, predicted);
    if (sn_calibration_uses_spread(calibration)) SN_TRY(SN_TAKE(&scratch, spread, answers));
    SN_ARRAY(omp_get_max_threads() * room, double, rooms);
    for (int64_t j = 0; j < outputs; j++) SN_TRY(make_lists(calibration, j, -1, &scratch, &lists[j]));
    for (int64_t first = 0; first < n; first += block) {
        const int64_t count = n - first < block ? n - first : block, cells = count * outputs;
        SN_TRY(sn_calibration_ask_all(model, data, first, count, predicted, spread));
#pragma omp parallel for schedule(static)
        for (int64_t cell = 0; cell < cells; cell++) {
            double *own = rooms + omp_get_thread_num() * room;
            double *centre = own + calibration->rows, *of = spread != NULL ? centre + asked : NULL;
            for (int64_t l = 0; l < asked; l++) centre[l] = predicted[l * cells + cell];
            for (int64_t l = 0; of != NULL && l < asked; l++) of[l] = spread[l * cells + cell];
            sn_conformal_interval(&lists[cell % outputs], rank, centre, of, own, low + first * outputs + cell,
                                  high + first * outputs + cell);
        }
    }
    for (int64_t i = 0; model->schema->law == SN_LAW_COUNTS && i < n; i++) {
        low[i] = fmax(ceil(low[i]), 0.0); /* what lies between has no count in it */
        high[i] = floor(high[i]);
    }
    return STONET_OK;
}

stonet_status stonet_predict_interval(const stonet_model *model, const stonet_data *data,
                                      const stonet_use_options *options, double *low, double *high)
{
    if (model == NULL || data == NULL || low == NULL || high == NULL)
        return sn_fail(STONET_ERROR_ARGUMENT,
                       "stonet_predict_interval needs a model, data and room for both ends");
    stonet_use_options how;
    SN_TRY(sn_use_level(options, data, "stonet_predict_interval", &how));
    SN_TRY(check(model, &how, false, "intervals"));
    SN_THREADS(how.threads);
    return intervals(model, data, how.level, low, high);
}

/* How many scores may be smaller than that of a class in the set. */
typedef struct set_rule {
    sn_score_lists lists;
    int64_t rank;
} set_rule;

/* One rule for all classes, or with by_class one for each; a class with too few rows takes the common one. */
static stonet_status make_rules(const sn_calibration *calibration, int64_t classes, bool by_class,
                                double level, sn_workspace *keep, set_rule *rule)
{
    set_rule common = {.rank = sn_conformal_rank(calibration->rows, level)};
    SN_TRY(make_lists(calibration, 0, -1, keep, &common.lists));
    for (int64_t c = 0; c < classes; c++) {
        rule[c] = common;
        if (!by_class) continue;
        set_rule own = {0};
        SN_TRY(make_lists(calibration, 0, c, keep, &own.lists));
        const int64_t rows = own.lists.start[own.lists.count];
        own.rank = sn_conformal_rank(rows, level);
        if (own.rank <= rows) rule[c] = own;
    }
    return STONET_OK;
}

double stonet_model_class_coverage(const stonet_model *model, double level, int64_t code)
{
    const sn_calibration *calibration = model != NULL ? model->calibration : NULL;
    if (calibration == NULL || calibration->label == NULL || !(level > 0.0 && level < 1.0)) return NAN;
    const int64_t n = calibration->rows, rank = sn_conformal_rank(n, level);
    SN_BLOCK double *score = sn_malloc((size_t)n, sizeof *score);
    double most = INFINITY;
    if (score == NULL) return NAN;
    memcpy(score, calibration->score, (size_t)n * sizeof *score);
    if (rank <= n) most = sn_kth_smallest(n, rank - 1, score);
    int64_t rows = 0, inside = 0;
    for (int64_t i = 0; i < n; i++) {
        rows += calibration->label[i] == code;
        inside += calibration->label[i] == code && calibration->score[i] <= most;
    }
    return rows > 0 ? (double)inside / (double)rows : (double)NAN;
}

static int64_t most_probable(int64_t classes, const double *p)
{
    int64_t best = 0;
    for (int64_t c = 1; c < classes; c++)
        if (p[c] > p[best]) best = c;
    return best;
}

/* Block by block: class c is in the set of row i when fewer than its rank of calibration scores lie below the
   score of (i, c). An empty set gets the most probable class. */
static stonet_status sets(const stonet_model *model, const stonet_data *data, const stonet_use_options *how,
                          unsigned char *inside)
{
    const sn_calibration *calibration = model->calibration;
    const int64_t classes = sn_schema_outputs(model->schema), n = stonet_data_rows(data);
    const int64_t asked = sn_calibration_lists(calibration), most = sn_calibration_block(model);
    const int64_t block = n < most ? n : most;
    SN_WORKSPACE(scratch);
    SN_ARRAY(classes, set_rule, rule);
    SN_ARRAY(asked * block * classes, double, predicted);
    SN_ARRAY(block, double, u);
    SN_ARRAY(block * classes, double, own); /* of the model itself */
    SN_ARRAY(asked * classes, double, score);
    SN_ARRAY(asked, double, bound);
    SN_ARRAY(classes, int64_t, order);
    SN_TRY(make_rules(calibration, classes, how->by_class != 0, how->level, &scratch, rule));
    for (int64_t first = 0; first < n; first += block) {
        const int64_t count = n - first < block ? n - first : block;
        SN_TRY(sn_calibration_ask_all(model, data, first, count, predicted, NULL));
        SN_TRY(sn_calibration_ask(model, model, data, first, count, own, NULL));
        SN_TRY(sn_calibration_uniforms(model, data, first, count, u));
        for (int64_t i = 0; i < count; i++) {
            unsigned char *in = inside + (first + i) * classes;
            int size = 0;
            for (int64_t l = 0; l < asked; l++)
                sn_calibration_class_scores(calibration->score_kind, classes,
                                            predicted + (l * count + i) * classes, u[i], order,
                                            score + l * classes);
            for (int64_t c = 0; c < classes; c++) {
                for (int64_t l = 0; l < asked; l++) bound[l] = score[l * classes + c];
                in[c] = sn_conformal_below(&rule[c].lists, bound) < rule[c].rank;
                size += in[c];
            }
            if (size == 0) in[most_probable(classes, own + i * classes)] = 1;
        }
    }
    return STONET_OK;
}

stonet_status stonet_predict_set(const stonet_model *model, const stonet_data *data,
                                 const stonet_use_options *options, unsigned char *inside)
{
    if (model == NULL || data == NULL || inside == NULL)
        return sn_fail(STONET_ERROR_ARGUMENT, "stonet_predict_set needs a model, data and room for the sets");
    stonet_use_options how;
    SN_TRY(sn_use_level(options, data, "stonet_predict_set", &how));
    SN_TRY(check(model, &how, true, "sets"));
    SN_THREADS(how.threads);
    return sets(model, data, &how, inside);
}
