/* What a page says of all rows together: confusion, calibration, residuals. */
#include <math.h>
#include <stdlib.h>

#include "math/smallest.h"
#include "report/page.h"
#include "stats/survival.h"

json_t *sn_page_confusion(const sn_page_rows *rows)
{
    const int64_t classes = rows->outputs;
    SN_BLOCK int64_t *count = sn_calloc((size_t)(classes * classes), sizeof *count);
    if (count == NULL) return NULL;
    for (int64_t i = 0; i < rows->n; i++) count[rows->label[i] * classes + sn_page_best_class(rows, i)]++;
    json_t *table = json_array();
    for (int64_t a = 0; a < classes; a++) {
        json_t *line = json_array();
        for (int64_t b = 0; b < classes; b++) line = sn_json_add(line, json_integer(count[a * classes + b]));
        table = sn_json_add(table, line);
    }
    return table;
}

/* ---- calibration ------------------------------------------------------------------------------- */

enum { BINS = 15 };

typedef struct bin {
    int64_t n;
    double promised, came; /* sums */
} bin;

static json_t *bins_json(const bin *bins, int64_t count)
{
    json_t *list = json_array();
    for (int64_t k = 0; k < count; k++) {
        const double n = (double)bins[k].n;
        json_t *one = sn_json_put(json_object(), "n", json_integer(bins[k].n));
        one = sn_json_put(one, "mean", sn_json_number(bins[k].promised / n));
        list = sn_json_add(list, sn_json_put(one, "observed", sn_json_number(bins[k].came / n)));
    }
    return list;
}

/* By the largest probability, in bins of equal width: the share that is right. */
static json_t *calibration_of_classes(const sn_page_rows *rows)
{
    bin bins[BINS] = {{0}};
    for (int64_t i = 0; i < rows->n; i++) {
        const int64_t best = sn_page_best_class(rows, i);
        const double promised = rows->predicted[i * rows->outputs + best];
        int where = (int)(promised * BINS);
        if (where >= BINS) where = BINS - 1;
        bins[where].n++;
        bins[where].promised += promised;
        bins[where].came += rows->label[i] == best;
    }
    return bins_json(bins, BINS);
}

typedef struct pair {
    double promised, came;
} pair;

static int compare_pairs(const void *a, const void *b)
{
    const pair *x = a, *y = b;
    if (x->promised != y->promised) return x->promised < y->promised ? -1 : 1;
    return (x->came > y->came) - (x->came < y->came);
}

/* The first response by its prediction, in bins of equal size: its mean. */
static json_t *calibration_of_numbers(const sn_page_rows *rows)
{
    SN_BLOCK pair *pairs = sn_malloc((size_t)rows->n, sizeof *pairs);
    if (pairs == NULL) return NULL;
    for (int64_t i = 0; i < rows->n; i++)
        pairs[i] = (pair){rows->predicted[i * rows->outputs], rows->response[i * rows->outputs]};
    qsort(pairs, (size_t)rows->n, sizeof *pairs, compare_pairs);
    const int64_t count = rows->n < BINS ? rows->n : BINS;
    bin bins[BINS] = {{0}};
    for (int64_t i = 0; i < rows->n; i++) {
        bin *to = &bins[i * count / rows->n];
        to->n++;
        to->promised += pairs[i].promised;
        to->came += pairs[i].came;
    }
    return bins_json(bins, count);
}

json_t *sn_page_calibration(const sn_page_rows *rows)
{
    return rows->is_classifier ? calibration_of_classes(rows) : calibration_of_numbers(rows);
}

/* What the histogram is of, at one row. */
static double surprise(const sn_page_rows *rows, int64_t i)
{
    if (rows->residual != NULL) return rows->residual[i];
    if (!rows->is_classifier) return rows->response[i * rows->outputs] - rows->predicted[i * rows->outputs];
    return rows->predicted[i * rows->outputs + rows->label[i]];
}

json_t *sn_page_histogram(const sn_page_rows *rows)
{
    enum { CELLS = 40 };
    double low = rows->is_classifier ? 0.0 : (double)INFINITY,
           high = rows->is_classifier ? 1.0 : -(double)INFINITY;
    int64_t count[CELLS] = {0};
    for (int64_t i = 0; i < rows->n && !rows->is_classifier; i++) {
        low = fmin(low, surprise(rows, i));
        high = fmax(high, surprise(rows, i));
    }
    if (!(high > low)) {
        low -= 0.5;
        high += 0.5;
    }
    for (int64_t i = 0; i < rows->n; i++) {
        const int cell = (int)((surprise(rows, i) - low) / (high - low) * CELLS);
        count[cell < 0 ? 0 : cell >= CELLS ? CELLS - 1 : cell]++;
    }
    json_t *edges = json_array(), *counts = json_array();
    for (int k = 0; k <= CELLS; k++)
        edges = sn_json_add(edges, sn_json_number(low + (high - low) * k / CELLS));
    for (int k = 0; k < CELLS; k++) counts = sn_json_add(counts, json_integer(count[k]));
    json_t *all = sn_json_put(json_object(), "edges", edges);
    all = sn_json_put(all, "counts", counts);
    return sn_json_put(all, "label",
                       json_string(rows->is_classifier      ? "probability of the true class"
                                   : rows->residual != NULL ? "randomised quantile residual"
                                                            : "residual"));
}

enum { THIRDS = 3, MOST_STEPS = 400 /* of a curve that is drawn */ };

/* A curve of Kaplan and Meier as the corners of its steps. */
static json_t *curve_json(const sn_kaplan *kaplan, int64_t n, double events)
{
    json_t *x = json_pack("[f]", 0.0), *y = json_pack("[f]", 1.0);
    const int64_t every = (kaplan->steps + MOST_STEPS - 1) / MOST_STEPS;
    double before = 1.0;
    for (int64_t k = 0; k < kaplan->steps; k++) {
        if (k % every != 0 && k != kaplan->steps - 1) continue;
        for (int corner = 0; corner < 2; corner++) {
            x = sn_json_add(x, sn_json_number(kaplan->at[k]));
            y = sn_json_add(y, sn_json_number(corner == 0 ? before : kaplan->after[k]));
        }
        before = kaplan->after[k];
    }
    json_t *curve = sn_json_put(json_object(), "n", json_integer(n));
    curve = sn_json_put(curve, "events", json_integer((json_int_t)events));
    return sn_json_put(sn_json_put(curve, "time", x), "survival", y);
}

/* Which third of Z1 each row is in; equal values are in the same. */
static stonet_status thirds_of(const sn_page_rows *rows, sn_workspace *keep, int **third)
{
    SN_ARRAY(rows->n, double, sorted);
    SN_TRY(SN_TAKE(keep, *third, rows->n));
    for (int64_t i = 0; i < rows->n; i++) sorted[i] = rows->z[i * rows->dim];
    qsort(sorted, (size_t)rows->n, sizeof *sorted, sn_by_double);
    for (int64_t i = 0; i < rows->n; i++) {
        (*third)[i] = 0;
        for (int k = 1; k < THIRDS; k++)
            (*third)[i] += rows->z[i * rows->dim] >= sorted[rows->n * k / THIRDS] ? 1 : 0;
    }
    return STONET_OK;
}

json_t *sn_page_survival(const sn_page_rows *rows)
{
    SN_WORKSPACE(scratch);
    int *third = NULL;
    double *time = NULL, *event = NULL, p_value = (double)NAN;
    if (thirds_of(rows, &scratch, &third) != STONET_OK || SN_TAKE(&scratch, time, rows->n) != STONET_OK ||
        SN_TAKE(&scratch, event, rows->n) != STONET_OK ||
        sn_log_rank(&(sn_times){rows->n, rows->response, rows->event}, third, THIRDS, &p_value) != STONET_OK)
        return NULL;
    json_t *curves = json_array();
    for (int k = 0; k < THIRDS; k++) {
        int64_t n = 0;
        double events = 0.0;
        for (int64_t i = 0; i < rows->n; i++) {
            if (third[i] != k) continue;
            time[n] = rows->response[i];
            event[n] = rows->event[i];
            events += event[n++];
        }
        if (n == 0) continue;
        sn_kaplan kaplan;
        const stonet_status status = sn_kaplan_create(&(sn_times){n, time, event}, false, &kaplan);
        curves = sn_json_add(curves, status == STONET_OK ? sn_json_put(curve_json(&kaplan, n, events),
                                                                       "third", json_integer(k + 1))
                                                         : NULL);
        sn_kaplan_free(&kaplan);
    }
    return sn_json_put(sn_json_put(json_object(), "curves", curves), "p_value", sn_json_number(p_value));
}
