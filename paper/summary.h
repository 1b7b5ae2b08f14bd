/* Means over trials: what the tables of a report are made of. */
#ifndef PAPER_SUMMARY_H
#define PAPER_SUMMARY_H

#include "paper/printed.h"
#include "paper/report.h"

typedef struct entry {
    int64_t n;       /* trials that are finished */
    double mean, se; /* NaN with too few */
    double seconds;  /* mean over the trials */
    double p_value;  /* paired t-test against the best of the line; NaN for the best and without one */
    bool best, bold;
    bool baseline; /* no reduction */
    printed paper;
    double *values; /* by trial, NaN where there is none */
} entry;

typedef struct line {
    char row[ROW_SIZE];
    int64_t q;
} line;

typedef struct summary {
    size_t n_lines;
    line *lines;
    int64_t n_trials;
    size_t n_methods;
    entry *entries; /* lines x methods */
    double *values;
} summary;

/* One measure of all finished cells of the plan. False when memory ran out. */
bool summary_make(const lab *self, const plan *cells, const report *what, const measure *about, summary *out);
const entry *summary_at(const summary *self, size_t line_at, size_t method);
void summary_free(summary *self);

#endif
