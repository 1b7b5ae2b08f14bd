/*
 * How curves are prepared (curves=auto). The choice is made before a method sees the rows, for every method
 * alike. Ridge or logistic regression on kernel features judges the ways, as it follows bent relations like a
 * network. Each way to prepare a row looks at that row alone, so only the choice among them is learned: the
 * least loss on five parts of the rows, held out in turn, wins.
 */
#include <math.h>

#include "base/checkpoint.h"
#include "base/memory.h"
#include "base/pack.h"
#include "base/workspace.h"
#include "learners/learner.h"
#include "math/kernel.h"
#include "model/model.h"

enum {
    FEWEST_ROWS = 30,
    MOST_ROWS = 500, /* looked at */
    SUBSTREAM = 77   /* of the subset of the rows */
};
/* Above, columns are not smooth along their order, and no curves: noise is at 1. */
static const double ROUGH = 0.05;

static stonet_status is_smooth(const stonet_data *train, const sn_encoding *encoding, bool *smooth)
{
    SN_AUTO(sn_schema) *schema = NULL;
    sn_encoding curves = *encoding;
    double roughness;
    curves.curves = SN_CURVE_CENTRE;
    SN_TRY(sn_schema_fit(train, &curves, NULL, &schema));
    SN_TRY(sn_schema_roughness(schema, train, &roughness));
    *smooth = roughness < ROUGH;
    return STONET_OK;
}

/* Sets encoding->curves to the way with the least held-out loss. SN_CURVE_NONE is tried first, so rows stay
   as they are unless another way has a smaller loss. */
static stonet_status choose_curves(const stonet_data *train, const stonet_run *run, sn_encoding *encoding)
{
    sn_encoding tried = *encoding;
    double least = (double)INFINITY, plain = (double)INFINITY;
    bool smooth;
    SN_TRY(is_smooth(train, encoding, &smooth));
    if (!smooth) {
        sn_message(run, STONET_NOTE,
                   "curves=auto: the columns are not smooth along their order, so rows stay as they are");
        return STONET_OK;
    }
    for (int how = 0; how < sn_curve_words.count && !sn_should_stop(run); how++) {
        double loss;
        SN_WORKSPACE(scratch);
        SN_AUTO(sn_schema) *schema = NULL;
        sn_problem problem;
        tried.curves = (sn_curve)how;
        SN_TRY(sn_schema_fit(train, &tried, NULL, &schema));
        SN_TRY(sn_schema_problem(schema, train, &scratch, &problem));
        SN_TRY(sn_kernel_loss(&problem, run, &loss));
        if (how == SN_CURVE_NONE) plain = loss;
        if (!(loss < least)) continue;
        least = loss;
        encoding->curves = tried.curves;
    }
    sn_message(run, STONET_NOTE,
               "curves=%s was chosen: the held-out loss of a kernel regression is %.4g with it and %.4g with "
               "curves=none",
               sn_words_name(&sn_curve_words, encoding->curves), least, plain);
    return STONET_OK;
}

/* The same by some rows, where there are many. */
static stonet_status choose_by_some(const stonet_data *train, const stonet_run *run, sn_encoding *encoding)
{
    if (encoding->task == SN_TASK_WISH_NONE || sn_wish_law(encoding->task) != SN_LAW_NONE ||
        stonet_data_rows(train) < FEWEST_ROWS) {
        sn_message(run, STONET_NOTE,
                   "curves=auto needs %d rows with classes or numbers to choose by, so rows stay as they are",
                   FEWEST_ROWS);
        return STONET_OK;
    }
    const int64_t n = stonet_data_rows(train);
    if (n <= MOST_ROWS) return choose_curves(train, run, encoding);
    SN_AUTO(stonet_data) *part = NULL;
    int64_t rows[MOST_ROWS];
    SN_TRY(sn_choose_rows(n, MOST_ROWS, run->seed, SUBSTREAM, rows));
    SN_TRY(stonet_data_subset(train, rows, MOST_ROWS, &part));
    return choose_curves(part, run, encoding);
}

/* Fits that differ in the dimension alone share the choice by the checkpoint of the run. */
stonet_status sn_curves_choose(const stonet_data *train, const stonet_run *run, sn_encoding *encoding)
{
    static const char KEY[] = "curves";
    SN_FREED_BY(sn_pack_clear) sn_pack record = {0};
    SN_TRY(sn_checkpoint_get(run->checkpoint, KEY, &record));
    if (record.size > 0) {
        int64_t how;
        SN_TRY(sn_unpack_int(&(sn_unpack){record.bytes, record.size}, &how));
        if (how < 0 || how >= sn_curve_words.count)
            return sn_fail(STONET_ERROR_FORMAT, "a record of finished work has no way to prepare curves");
        encoding->curves = (sn_curve)how;
        return STONET_OK;
    }
    SN_TRY(choose_by_some(train, run, encoding));
    SN_TRY(sn_pack_int(&record, (int64_t)encoding->curves));
    return sn_should_stop(run) ? STONET_OK : sn_checkpoint_put(run->checkpoint, KEY, &record);
}
