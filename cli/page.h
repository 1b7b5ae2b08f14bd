/*
 * The page of `stonet report`: one HTML file with everything in it. What it says is one JSON object, made
 * here; cli/page draws it in the browser.
 */
#ifndef CLI_PAGE_H
#define CLI_PAGE_H

#include <stddef.h>

#include "cli/common.h"

/* The page around the JSON, from cli/page and the chart library (cmake/page.cmake). */
extern const unsigned char page_before[], page_after[];
extern const size_t page_before_size, page_after_size;

/* What a page is about. */
typedef struct page_subject {
    const cli_command *command;
    const stonet_model *model;
    const stonet_data *data;
    const stonet_run *run;
    int64_t most_points; /* rows that are shown one by one, at the most */
} page_subject;

/* Z and predictions of all rows. */
typedef struct page_rows {
    int64_t n, dim, outputs; /* outputs: classes or numbers; 0: no predictions */
    bool is_classifier;
    float *z;               /* n x dim */
    double *predicted;      /* n x outputs: probabilities, or numbers; NULL when the model predicts nothing */
    const int32_t *label;   /* true classes in the model's order, or NULL */
    const double *response; /* n x outputs, or NULL */
    int32_t *own_label;     /* what label points to */
} page_rows;

/* Fills *rows; gives an exit status. */
int page_rows_make(const page_subject *about, page_rows *rows);
void page_rows_free(page_rows *rows);
/* The most probable class of a row, the first of equals. */
int64_t page_best_class(const page_rows *rows, int64_t i);

/* A text as JSON, bytes that are no UTF-8 as question marks: json_string would not take it. */
json_t *page_text(const char *text);
/* Enters a value into an object; false, with the value dropped, when either is not there. */
bool page_put(json_t *object, const char *key, json_t *value);

/* Appends to a list and gives it back; NULL, with both dropped, when either is not there. */
json_t *page_add(json_t *list, json_t *value);

/* Parts of the page. Each gives NULL when memory ran out. */

/* Some rows one by one: row, z, y, predicted, probability, and x, the columns named. *shown: how many. */
json_t *page_points(const page_subject *about, const page_rows *rows, const json_t *columns, int64_t *shown);
/* The most probable class against the true one, over all rows. */
json_t *page_confusion(const page_rows *rows);
/* What was promised against what came, in bins: mean, observed, n. */
json_t *page_calibration(const page_rows *rows);
/* Residuals, or probabilities of the true class: edges, counts, label. */
json_t *page_histogram(const page_rows *rows);

/* The page with this content. The JSON cannot end its script element, nor begin a comment in it: <, >, & and
   what is not ASCII are written as \uNNNN. NULL when memory ran out; to be freed. */
char *page_render(const json_t *content);

#endif
