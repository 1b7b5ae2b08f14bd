/* The finished cells of a plan as tables and figures: CSV, JSON, Markdown and SVG files in OUT. */
#ifndef PAPER_REPORT_H
#define PAPER_REPORT_H

#include <stdio.h>

#include "paper/columns.h"

typedef struct measure {
    const char *field; /* of the cells' values, and of the printed numbers */
    const char *title;
    bool higher_is_better;
} measure;

/*
 * One table a measure: a line for each row and dimension, a column for each method, our mean and its standard
 * error, the printed number below. In each line the best method, and those that a paired t-test over the
 * trials does not tell from it at 0.05, are bold. Cells with q = 0 (no reduction) stand in every line of
 * their row and take no part in that.
 */
typedef struct report {
    const char *title;
    const measure *measures;
    size_t n_measures;
    column_list columns;
    const char *notes; /* below the tables; NULL: none */
    const char *lines; /* what stands in the place of the dimension; NULL: the dimension */
} report;

/* Gives an exit status. */
int report_write(const lab *self, const plan *cells, const report *what);
/* Computes what is not finished of the plan, writes the report and frees the plan. Gives an exit status. */
int report_run(lab *self, plan *cells, const report *what, cell_function compute, void *user);

/* The three texts of a report on their way: OUT/EXPERIMENT-table.csv, .md and .json. */
typedef struct documents {
    FILE *csv, *markdown;
    json_t *list;
    char *csv_text, *markdown_text;
    size_t csv_size, markdown_size;
    bool broken; /* an entry of the list is lost */
} documents;
/* Gives an exit status; documents_close in any case. */
int documents_open(const lab *self, documents *out);
/* Puts an entry, which may be NULL where memory ran out. */
void documents_add(documents *to, json_t *made);
/* Writes the files when `result` is EXIT_DONE and lets go of everything. Gives an exit status. */
int documents_close(const lab *self, documents *made, int result);

/* Writes a text to OUT/EXPERIMENT-SUFFIX and says so. Gives an exit status. */
int report_file(const lab *self, const char *suffix, const char *text);

#endif
