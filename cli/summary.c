#include "cli/summary.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "cli/common.h"
#include "cli/progress.h"

/* The p-value from which on a row is not told from the best. */
static const double not_told = 0.05;

typedef struct standing {
    const char *method;
    int64_t dim; /* 0: chosen (auto); -1 when it differs between the data sets, as for 'none' */
    double rank, seconds;
    int64_t best, among_best, failed;
} standing;

/* Whether a comes before b: more splits done, then the smaller mean. */
static bool is_before(const stonet_result_row *a, const stonet_result_row *b)
{
    int64_t done_a = 0;
    int64_t done_b = 0;
    for (int64_t k = 0; k < a->n_values; k++) done_a += !isnan(a->values[k]);
    for (int64_t k = 0; k < b->n_values; k++) done_b += !isnan(b->values[k]);
    return done_a != done_b ? done_a > done_b : a->mean < b->mean;
}

static double rank_of(const stonet_result_row *rows, int64_t count, int64_t i)
{
    double before = 0;
    double after = 0;
    for (int64_t j = 0; j < count; j++) {
        before += is_before(&rows[j], &rows[i]);
        after += is_before(&rows[i], &rows[j]);
    }
    /* Places before + 1 .. count - after are shared by this row and its equals. */
    return 0.5 * (before + 1 + (double)count - after);
}

/* Adds the rows of one table to the standings. A row counts among the best if it is best, or if its p-value
   against the best is not below 0.05. */
static void add_set(const stonet_results *results, stonet_result_row *rows, int64_t count, bool is_first,
                    standing *standings)
{
    for (int64_t i = 0; i < count; i++)
        if (stonet_results_row(results, i, &rows[i]) != STONET_OK)
            rows[i] = (stonet_result_row){.method = "?"};
    for (int64_t i = 0; i < count; i++) {
        standing *to = &standings[i];
        const stonet_result_row *row = &rows[i];
        bool is_best = i == stonet_results_best(results);
        to->method = row->method;
        to->dim = is_first || to->dim == row->dim ? row->dim : -1;
        to->rank += rank_of(rows, count, i);
        to->seconds += row->seconds;
        to->best += is_best;
        to->among_best += is_best || (row->failure == NULL && !(row->p_value < not_told));
        to->failed += row->failure != NULL;
    }
}

static int compare_ranks(const void *a, const void *b)
{
    double x = ((const standing *)a)->rank;
    double y = ((const standing *)b)->rank;
    return (x > y) - (x < y);
}

/* dim is "auto" where it was chosen and "-" where it differs between the tables. Ranks are means over the
   tables, times are sums. */
static void fill_table(table *shown, const standing *standings, int64_t count, int64_t n_sets)
{
    static const char *const HEADING[] = {"method", "dim", "mean rank", "best", "not told", "failed", "time"};
    for (size_t j = 0; j < sizeof HEADING / sizeof *HEADING; j++) table_add(shown, "%s", HEADING[j]);
    for (int64_t i = 0; i < count; i++) {
        const standing *from = &standings[i];
        char spent[32];
        progress_duration(from->seconds, spent);
        table_add(shown, "%s", from->method);
        if (from->dim > 0)
            table_add(shown, "%" PRId64, from->dim);
        else
            table_add(shown, from->dim == 0 ? "auto" : "-");
        table_add(shown, "%.2f", from->rank / (double)n_sets);
        table_add(shown, "%" PRId64, from->best);
        table_add(shown, "%" PRId64, from->among_best);
        table_add(shown, "%" PRId64, from->failed);
        table_add(shown, "%s", spent);
    }
}

table *summary_table(const stonet_results *const *results, int64_t n_sets)
{
    int64_t count = n_sets > 0 ? stonet_results_rows(results[0]) : 0;
    BLOCK standing *standings = room_for(count, sizeof *standings);
    BLOCK stonet_result_row *rows = room_for(count, sizeof *rows);
    table *shown = table_create("lrrrrrr");
    for (int64_t k = 0; k < n_sets; k++) add_set(results[k], rows, count, k == 0, standings);
    qsort(standings, (size_t)count, sizeof *standings, compare_ranks);
    fill_table(shown, standings, count, n_sets);
    return shown;
}
