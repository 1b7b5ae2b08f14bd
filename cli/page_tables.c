/* What a page says of all rows together: confusion, calibration, residuals. */
#include <math.h>
#include <stdlib.h>

#include "cli/page.h"

json_t *page_confusion(const page_rows *rows)
{
    const int64_t classes = rows->outputs;
    int64_t *count = calloc((size_t)(classes * classes + 1), sizeof *count);
    json_t *table = json_array();
    bool whole = count != NULL && table != NULL;
    for (int64_t i = 0; whole && i < rows->n; i++)
        if (rows->label[i] >= 0) count[rows->label[i] * classes + page_best_class(rows, i)]++;
    for (int64_t a = 0; whole && a < classes; a++) {
        json_t *line = json_array();
        whole = line != NULL && json_array_append_new(table, line) == 0;
        for (int64_t b = 0; whole && b < classes; b++)
            whole = json_array_append_new(line, json_integer(count[a * classes + b])) == 0;
    }
    free(count);
    if (whole) return table;
    json_decref(table);
    return NULL;
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
    for (int64_t k = 0; list != NULL && k < count; k++) {
        const double n = (double)bins[k].n;
        json_t *one = json_object();
        if (!page_put(one, "n", json_integer(bins[k].n)) ||
            !page_put(one, "mean", json_number(bins[k].promised / n)) ||
            !page_put(one, "observed", json_number(bins[k].came / n)) || json_array_append(list, one) != 0) {
            json_decref(one);
            json_decref(list);
            return NULL;
        }
        json_decref(one);
    }
    return list;
}

/* By the largest probability, in bins of equal width: the share that is right. */
static json_t *calibration_of_classes(const page_rows *rows)
{
    bin bins[BINS] = {{0}};
    for (int64_t i = 0; i < rows->n; i++) {
        const double *at = rows->predicted + i * rows->outputs;
        const int64_t best = page_best_class(rows, i);
        if (rows->label[i] < 0) continue;
        int where = (int)(at[best] * BINS);
        if (where >= BINS) where = BINS - 1;
        bins[where].n++;
        bins[where].promised += at[best];
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
static json_t *calibration_of_numbers(const page_rows *rows)
{
    pair *pairs = malloc((size_t)(rows->n + 1) * sizeof *pairs);
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
    free(pairs);
    return bins_json(bins, count);
}

json_t *page_calibration(const page_rows *rows)
{
    return rows->is_classifier ? calibration_of_classes(rows) : calibration_of_numbers(rows);
}

/* ---- residuals --------------------------------------------------------------------------------- */

/* What the histogram is of, at one row; NaN: nothing. */
static double surprise(const page_rows *rows, int64_t i)
{
    if (!rows->is_classifier) return rows->response[i * rows->outputs] - rows->predicted[i * rows->outputs];
    return rows->label[i] >= 0 ? rows->predicted[i * rows->outputs + rows->label[i]] : (double)NAN;
}

json_t *page_histogram(const page_rows *rows)
{
    enum { CELLS = 40 };
    double low = rows->is_classifier ? 0.0 : INFINITY, high = rows->is_classifier ? 1.0 : -INFINITY;
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
        const double value = surprise(rows, i);
        if (isnan(value)) continue;
        const int cell = (int)((value - low) / (high - low) * CELLS);
        count[cell < 0 ? 0 : cell >= CELLS ? CELLS - 1 : cell]++;
    }
    json_t *edges = json_array(), *counts = json_array();
    bool whole = edges != NULL && counts != NULL;
    for (int k = 0; whole && k <= CELLS; k++)
        whole = json_array_append_new(edges, json_number(low + (high - low) * k / CELLS)) == 0;
    for (int k = 0; whole && k < CELLS; k++)
        whole = json_array_append_new(counts, json_integer(count[k])) == 0;
    json_t *all = whole ? json_pack("{s:O, s:O, s:s}", "edges", edges, "counts", counts, "label",
                                    rows->is_classifier ? "probability of the true class" : "residual")
                        : NULL;
    json_decref(edges);
    json_decref(counts);
    return all;
}
