/* The finished cells of a plan as tables and figures: CSV, JSON, Markdown and SVG files in OUT. */
#ifndef PAPER_REPORT_H
#define PAPER_REPORT_H

#include "paper/lab.h"

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
    const char *const *methods; /* in the order of the columns */
    size_t n_methods;
    const char *notes; /* below the tables; NULL: none */
} report;

/* Gives an exit status. */
int report_write(const lab *self, const plan *cells, const report *what);

/* Writes a text to OUT/EXPERIMENT-SUFFIX and says so. Gives an exit status. */
int report_file(const lab *self, const char *suffix, const char *text);

#endif
