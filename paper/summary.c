#include "paper/summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "paper/statistics.h"

static const double significance = 0.05;

const entry *summary_at(const summary *self, size_t line_at, size_t method)
{
    return &self->entries[line_at * self->n_methods + method];
}

void summary_free(summary *self)
{
    free(self->lines);
    free(self->entries);
    free(self->values);
    *self = (summary){0};
}

static bool has_line(const summary *self, const cell *what)
{
    for (size_t i = 0; i < self->n_lines; i++)
        if (self->lines[i].q == what->q && strcmp(self->lines[i].row, what->row) == 0) return true;
    return false;
}

static bool row_has_dims(const plan *cells, const char *row)
{
    for (size_t i = 0; i < cells->count; i++)
        if (cells->cell[i].q > 0 && strcmp(cells->cell[i].row, row) == 0) return true;
    return false;
}

/* The lines in the order of the plan; a row without any dimension has a line of its own with q = 0. */
static bool make_lines(const plan *cells, summary *out)
{
    out->lines = calloc(cells->count + 1, sizeof *out->lines);
    if (out->lines == NULL) return false;
    for (size_t i = 0; i < cells->count; i++) {
        const cell *what = &cells->cell[i];
        if (what->trial > out->n_trials) out->n_trials = what->trial;
        if (has_line(out, what) || (what->q == 0 && row_has_dims(cells, what->row))) continue;
        line *made = &out->lines[out->n_lines++];
        made->q = what->q;
        memcpy(made->row, what->row, sizeof made->row);
    }
    return true;
}

static void fill_entry(const lab *self, const plan *cells, const line *at, const char *method,
                       const char *field, int64_t n_trials, entry *out)
{
    double seconds = 0;
    double *kept = out->values + n_trials; /* the finite ones, for the mean */
    for (int64_t t = 0; t < n_trials; t++) out->values[t] = (double)NAN;
    for (size_t i = 0; i < cells->count; i++) {
        const cell *what = &cells->cell[i];
        bool meant = what->q == at->q || what->q == 0;
        if (!meant || strcmp(what->row, at->row) != 0 || strcmp(what->method, method) != 0) continue;
        out->baseline = what->q == 0 && at->q > 0;
        double value = lab_value(self, what, field);
        if (!isfinite(value)) continue;
        out->values[what->trial - 1] = value;
        kept[out->n++] = value;
        seconds += json_number_value(json_object_get(lab_find(self, what), "seconds"));
    }
    out->mean = out->n > 0 ? mean_of(out->n, kept) : (double)NAN;
    out->se = out->n > 1 ? standard_error_of(out->n, kept) : (double)NAN;
    out->seconds = out->n > 0 ? seconds / (double)out->n : (double)NAN;
}

/* The p-value of the paired t-test over the trials that both have; NaN with fewer than two. */
static double compare(int64_t n_trials, const double *a, const double *b, double *room)
{
    int64_t n = 0;
    for (int64_t t = 0; t < n_trials; t++) {
        if (!isfinite(a[t]) || !isfinite(b[t])) continue;
        room[n] = a[t];
        room[n_trials + n++] = b[t];
    }
    return n > 1 ? stonet_paired_t_test(n, room, room + n_trials) : (double)NAN;
}

/* Baselines do not compete, nor those with fewer than half the trials of the line: one lucky trial is no best
   method. */
static bool competes(const entry *one, int64_t most)
{
    return one->n > 0 && 2 * one->n >= most && !one->baseline;
}

static void mark_best(const measure *about, entry *entries, size_t count, int64_t n_trials, double *room)
{
    entry *best = NULL;
    int64_t most = 0;
    for (size_t m = 0; m < count; m++) most = entries[m].n > most ? entries[m].n : most;
    for (size_t m = 0; m < count; m++) {
        entry *one = &entries[m];
        if (!competes(one, most)) continue;
        if (best == NULL || (about->higher_is_better ? one->mean > best->mean : one->mean < best->mean))
            best = one;
    }
    for (size_t m = 0; m < count; m++) {
        entry *one = &entries[m];
        one->p_value = (double)NAN;
        if (best == NULL || !competes(one, most)) continue;
        one->best = one == best;
        if (!one->best) one->p_value = compare(n_trials, one->values, best->values, room);
        one->bold = one->best || one->p_value >= significance;
    }
}

bool summary_make(const lab *self, const plan *cells, const report *what, const measure *about, summary *out)
{
    *out = (summary){.n_methods = what->columns.count};
    if (!make_lines(cells, out)) return false;
    size_t count = out->n_lines * what->columns.count, trials = (size_t)out->n_trials;
    out->entries = calloc(count + 1, sizeof *out->entries);
    out->values = calloc((count + 2) * (trials + 1) * 2, sizeof *out->values);
    if (out->entries == NULL || out->values == NULL) {
        summary_free(out);
        return false;
    }
    double *room = out->values + count * 2 * trials;
    for (size_t k = 0; k < count; k++) {
        const line *at = &out->lines[k / what->columns.count];
        const char *method = what->columns.at[k % what->columns.count].name;
        out->entries[k].values = out->values + k * 2 * trials;
        out->entries[k].paper = printed_number(self->command->name, at->row, at->q, method, about->field);
        fill_entry(self, cells, at, method, about->field, out->n_trials, &out->entries[k]);
    }
    for (size_t i = 0; i < out->n_lines; i++)
        mark_best(about, &out->entries[i * what->columns.count], what->columns.count, out->n_trials, room);
    return true;
}
