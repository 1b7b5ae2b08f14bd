/*
 * The page of a report: one HTML file with everything in it. What it says is one JSON object, made here;
 * report/page draws it in the browser. JSON is NULL when memory ran out.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/json.h"
#include "base/workspace.h"

/* The page around the JSON, from report/page and the chart library (cmake/page.cmake). */
extern const unsigned char sn_page_before[], sn_page_after[];
extern const size_t sn_page_before_size, sn_page_after_size;

/* What a page is about. */
typedef struct sn_page_subject {
    const stonet_model *model;
    const stonet_data *data;
    const stonet_run *run;
    int64_t most_points; /* rows that are shown one by one, at the most */
} sn_page_subject;

/* Z and predictions of all rows; the arrays live in a workspace of the caller. */
typedef struct sn_page_rows {
    int64_t n, dim, outputs; /* outputs: classes or numbers; 0: no predictions */
    bool is_classifier;
    const double *z; /* n x dim */
    const double
        *predicted;         /* n x outputs: probabilities, or numbers; NULL when the model predicts nothing */
    const int32_t *label;   /* true classes in the model's order, or NULL */
    const double *response; /* n x outputs, or NULL; of a time: until it ended or was no longer seen */
    const double *event;    /* of times: n, 1 where the end was seen; else NULL */
    const double *residual; /* of counts: n quantile residuals; else NULL */
} sn_page_rows;

stonet_status sn_page_rows_make(const sn_page_subject *about, sn_workspace *keep, sn_page_rows *rows);
/* The most probable class of a row, the first of equals. */
int64_t sn_page_best_class(const sn_page_rows *rows, int64_t i);

/* A text as JSON, bytes that are no UTF-8 as question marks: json_string would not take it. */
json_t *sn_page_text(const char *text);

/* Some rows one by one: row, z, y, predicted, probability, and x, the columns named. *shown: how many. */
stonet_status sn_page_points(const sn_page_subject *about, const sn_page_rows *rows, const json_t *columns,
                             int64_t *shown, json_t **out);
/* Rows as curves, one entry a curve: axis, and lines and z of some rows. A model without curves has one if
   the names of its columns are numbers in order. */
stonet_status sn_page_curves(const sn_page_subject *about, const sn_page_rows *rows, json_t **out);
/* The most probable class against the true one, over all rows. */
json_t *sn_page_confusion(const sn_page_rows *rows);
/* What was promised against what came, in bins: mean, observed, n. */
json_t *sn_page_calibration(const sn_page_rows *rows);
/* Times: curves of Kaplan and Meier by thirds of Z1, and the p-value of the log-rank test that they are one.
 */
json_t *sn_page_survival(const sn_page_rows *rows);
/* Residuals, or probabilities of the true class: edges, counts, label. */
json_t *sn_page_histogram(const sn_page_rows *rows);
