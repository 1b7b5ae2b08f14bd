#include "data/kin.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "data/schema_parts.h"
#include "math/smallest.h"

enum {
    MOST_ROWS = 1 << 21,  /* looked at for copies: a few arrays of that many numbers are held */
    MOST_CELLS = 1 << 28, /* read for that */
    AT_ONCE = 256,        /* rows that a thread takes */
    SAMPLE = 500,         /* different rows, by which it is told how fine the columns are, */
    MOST_COLUMNS = 1000   /* and so many columns of them */
};
static const double BEYOND_CHANCE = 10.0; /* times the pairs that are alike by chance */
static const double MANY = 0.1;           /* of the rows have near-copies: that is said */

/* An open table of rows; keys that are no hashes yet become one. */
static stonet_status first_of(const uint64_t *key, int64_t n, int64_t *first, int64_t *count)
{
    const uint64_t spread = 0x9E3779B97F4A7C15U;
    int bits = 4;
    while ((int64_t)1 << bits < 2 * n) bits++;
    const uint64_t mask = ((uint64_t)1 << bits) - 1;
    SN_ZEROS((int64_t)1 << bits, int64_t, at); /* row + 1; 0: free */
    *count = 0;
    for (int64_t i = 0; i < n; i++) {
        uint64_t place = key[i] * spread >> (64 - bits);
        while (at[place] != 0 && key[at[place] - 1] != key[i]) place = (place + 1) & mask;
        if (at[place] == 0) {
            at[place] = i + 1;
            ++*count;
        }
        first[i] = at[place] - 1;
    }
    return STONET_OK;
}

stonet_status sn_kin_first(const int64_t *kin, int64_t n, int64_t *first, int64_t *count)
{
    return first_of((const uint64_t *)kin, n, first, count);
}

/* ---- rows as numbers ----------------------------------------------------------------------------- */

/* A table, and the columns of it that tell rows apart. */
typedef struct look {
    const stonet_data *data;
    int64_t *column, columns;
    int threads;
    double *room; /* of each thread, for the features of a row */
} look;

/* One hash of each row: of its features and response, of its features, of these to three digits. */
typedef struct hashes {
    uint64_t *whole, *features, *near;
} hashes;

/* What only names the rows is no feature, and tells all of them apart. */
static stonet_status names_rows(const stonet_data *data, const sn_column *column, bool *names)
{
    *names = false;
    if (column->kind == SN_COLUMN_NUMBER)
        return column->unnamed ? sn_column_counts_rows(data, column->slot, names) : STONET_OK;
    const sn_dictionary *words = &data->text_values[column->slot];
    *names = !words->ordered && sn_is_identifier(words->count, data->n);
    return STONET_OK;
}

static stonet_status find_columns(const stonet_data *data, int threads, sn_workspace *keep, look *at)
{
    *at = (look){.data = data, .threads = threads};
    SN_TRY(SN_TAKE(keep, at->column, data->n_columns));
    SN_TRY(SN_TAKE(keep, at->room, (int64_t)2 * threads * data->n_columns));
    for (int64_t j = 0; j < data->n_columns; j++) {
        bool names = false;
        if (data->sparse == NULL) SN_TRY(names_rows(data, &data->column[j], &names));
        if (!names) at->column[at->columns++] = j;
    }
    return STONET_OK;
}

/* A number as it is compared: 0 and -0 are alike. near: to a thousandth of itself, ten bits. */
static double as_compared(double value, bool near)
{
    uint64_t bits;
    if (!near) return value + 0.0;
    value += 0.0;
    memcpy(&bits, &value, sizeof bits);
    bits = (bits + ((uint64_t)1 << 41)) >> 42 << 42;
    memcpy(&value, &bits, sizeof bits);
    return value;
}

/* As one number whatever stands in the cell: missing ones are alike. */
static double cell(const look *at, int64_t row, int64_t column, bool near)
{
    const sn_column *about = &at->data->column[column];
    if (about->kind == SN_COLUMN_TEXT) return (double)at->data->text_code[about->slot][row];
    const double value = sn_frame_number(at->data, row, about->slot);
    return isnan(value) ? -(double)INFINITY : as_compared(value, near);
}

static double target(const stonet_data *data, int64_t row, int64_t k)
{
    return data->label != NULL ? (double)data->label[row]
                               : as_compared(data->y[row * data->n_targets + k], false);
}

/* The features of a row, as they are compared. Returns how many numbers that are. */
static int64_t gather(const look *at, int64_t row, double *room)
{
    const sn_cells *sparse = at->data->sparse;
    int64_t count = 0;
    if (sparse == NULL)
        for (int64_t j = 0; j < at->columns; j++) room[count++] = cell(at, row, at->column[j], false);
    for (int64_t c = sparse != NULL ? sparse->start[row] : 0; sparse != NULL && c < sparse->start[row + 1];
         c++) {
        room[count++] = (double)sparse->column[c];
        room[count++] = as_compared((double)sparse->value[c], false);
    }
    return count;
}

/* The numbers among them, to three digits. */
static void round_gathered(const look *at, int64_t count, double *room)
{
    for (int64_t k = 0; k < count; k++)
        if (at->data->sparse != NULL ? k % 2 == 1 : at->data->column[at->column[k]].kind == SN_COLUMN_NUMBER)
            room[k] = as_compared(room[k], true);
}

static void hash_row(const look *at, int64_t row, double *room, const hashes *out)
{
    sn_hash hash;
    const int64_t count = gather(at, row, room);
    sn_hash_begin(&hash);
    sn_hash_add(&hash, room, (size_t)count * sizeof *room);
    out->features[row] = sn_hash_value(&hash);
    for (int64_t k = 0; k < at->data->n_targets; k++) {
        const double value = target(at->data, row, k);
        sn_hash_add(&hash, &value, sizeof value);
    }
    out->whole[row] = sn_hash_value(&hash);
    if (out->near == NULL) return;
    round_gathered(at, count, room);
    sn_hash_begin(&hash);
    sn_hash_add(&hash, room, (size_t)count * sizeof *room);
    out->near[row] = sn_hash_value(&hash);
}

static void hash_rows(const look *at, const hashes *out)
{
#pragma omp parallel for num_threads(at->threads) schedule(dynamic, AT_ONCE)
    for (int64_t i = 0; i < at->data->n; i++) {
        hash_row(at, i, at->room + (int64_t)2 * omp_get_thread_num() * at->data->n_columns, out);
        sn_frame_passed(at->data, i); /* some of these rows may be on the way yet: they come back */
    }
}

/* ---- copies, or chance --------------------------------------------------------------------------- */

/* log of the share of pairs with the same value; the number of such pairs counts as 1 at least. */
static double log_share_alike(double *value, int64_t n)
{
    double pairs = 0.0;
    qsort(value, (size_t)n, sizeof *value, sn_by_double);
    for (int64_t i = 1, run = 1; i < n; i++) {
        run = value[i] == value[i - 1] ? run + 1 : 1;
        pairs += (double)(run - 1);
    }
    return log(fmax(pairs, 1.0) / (0.5 * (double)n * (double)(n - 1)));
}

/*
 * How many pairs of rows would be alike if all rows were drawn anew. With l_j the share of pairs of different
 * rows (those with first[i] = i) that agree in column j,
 *
 *     n (n - 1) / 2 * sqrt(prod_j l_j)
 *
 * Columns that do not depend on each other would give the product itself; its root allows for those that do.
 * Coarse tables repeat rows by chance, such as all combinations of a few flags; fine ones do not.
 */
typedef struct chance {
    double pairs;    /* of features, and of the response if it counts too, */
    double response; /* and the share of pairs whose response agrees */
} chance;

/* How many pairs of rows would be equal by chance if the columns were independent, from a sample of the
   rows and columns. */
static stonet_status find_chance(const look *at, const int64_t *first, int64_t different, bool near,
                                 chance *out)
{
    const stonet_data *data = at->data;
    const int64_t step = (different + SAMPLE - 1) / SAMPLE,
                  skip = (at->columns + MOST_COLUMNS - 1) / MOST_COLUMNS;
    int64_t n = 0, seen = 0;
    double features = 0.0, response = 0.0;
    SN_ARRAY(SAMPLE, int64_t, row);
    SN_ARRAY(SAMPLE, double, value);
    for (int64_t i = 0; i < data->n; i++)
        if (first[i] == i && seen++ % step == 0) row[n++] = i;
    *out = (chance){.pairs = (double)INFINITY, .response = 1.0};
    if (n < 2) return STONET_OK;
    for (int64_t j = 0; j < at->columns; j += skip) {
        for (int64_t i = 0; i < n; i++) value[i] = cell(at, row[i], at->column[j], near);
        features += log_share_alike(value, n);
    }
    for (int64_t k = 0; k < data->n_targets; k++) {
        for (int64_t i = 0; i < n; i++) value[i] = target(data, row[i], k);
        response += log_share_alike(value, n);
    }
    out->response = exp(response);
    out->pairs =
        0.5 * (double)data->n * (double)(data->n - 1) * exp(0.5 * (features + (near ? 0.0 : response)));
    return STONET_OK;
}

/* Pairs of rows that are alike; size (n) is scratch. */
static double count_pairs(const int64_t *first, int64_t n, int64_t *size)
{
    double pairs = 0.0;
    memset(size, 0, (size_t)n * sizeof *size);
    for (int64_t i = 0; i < n; i++) pairs += (double)size[first[i]]++;
    return pairs;
}

/* Whether rows that are the same are copies. Features that come back with another response say that it is
   measured anew each time: then it agrees by chance at times. */
static stonet_status are_copies(const look *at, const int64_t *first, int64_t different,
                                const int64_t *first_features, int64_t *size, bool *copies)
{
    const int64_t n = at->data->n;
    const double same = count_pairs(first, n, size), alike = count_pairs(first_features, n, size);
    *copies = false;
    if (same == 0.0) return STONET_OK;
    chance by;
    SN_TRY(find_chance(at, first, different, false, &by));
    const double again = (alike - same) * by.response / fmax(1.0 - by.response, 1e-9);
    *copies = same > BEYOND_CHANCE * (by.pairs + again);
    return STONET_OK;
}

/* The share of rows with another, different row of nearly the same features; 0 where chance explains it. */
static stonet_status near_share(const look *at, const int64_t *first, const int64_t *first_near,
                                int64_t different_near, int64_t *size, double *share)
{
    const int64_t n = at->data->n;
    int64_t rows = 0;
    double pairs = 0.0;
    *share = 0.0;
    memset(size, 0, (size_t)n * sizeof *size);
    for (int64_t i = 0; i < n; i++)
        if (first[i] == i) pairs += (double)size[first_near[i]]++;
    for (int64_t i = 0; i < n; i++) rows += size[first_near[i]] > 1;
    if ((double)rows < MANY * (double)n) return STONET_OK;
    chance by;
    SN_TRY(find_chance(at, first_near, different_near, true, &by));
    if (pairs > BEYOND_CHANCE * by.pairs) *share = (double)rows / (double)n;
    return STONET_OK;
}

/* *first: of each row, the first that it is a copy of; NULL: there are none. */
static stonet_status find_copies(const stonet_data *data, const stonet_run *run, bool grouped,
                                 sn_workspace *keep, int64_t **first)
{
    *first = NULL;
    if (data->n > MOST_ROWS || data->n_columns > MOST_CELLS / data->n) return STONET_OK;
    SN_TRY(sn_frame_check(data));
    SN_WORKSPACE(scratch);
    const bool tells = run != NULL && run->on_message != NULL;
    look at;
    hashes hash = {0};
    int64_t *whole = NULL, different, count;
    SN_TRY(find_columns(data, sn_threads(run), &scratch, &at));
    if (at.columns == 0) return STONET_OK;
    SN_TRY(SN_TAKE(&scratch, hash.whole, data->n));
    SN_TRY(SN_TAKE(&scratch, hash.features, data->n));
    if (tells && !grouped) SN_TRY(SN_TAKE(&scratch, hash.near, data->n));
    hash_rows(&at, &hash);
    SN_TRY(SN_TAKE(keep, whole, data->n));
    SN_ARRAY(data->n, int64_t, other);
    SN_ARRAY(data->n, int64_t, size);
    SN_TRY(first_of(hash.whole, data->n, whole, &different));
    SN_TRY(first_of(hash.features, data->n, other, &count));
    bool copies;
    SN_TRY(are_copies(&at, whole, different, other, size, &copies));
    const long long repeated = (long long)(data->n - different);
    if (copies) {
        *first = whole;
        sn_message(run, STONET_NOTE,
                   "%lld of %lld rows repeat%s another row exactly: copies stay together when rows are held "
                   "out",
                   repeated, (long long)data->n, repeated == 1 ? "s" : "");
    }
    if (hash.near == NULL) return STONET_OK;
    double share;
    SN_TRY(first_of(hash.near, data->n, other, &count));
    SN_TRY(near_share(&at, whole, other, count, size, &share));
    if (share > 0.0)
        sn_message(run, STONET_NOTE,
                   "%.0f%% of the rows have nearly the same features as another row, so held-out errors may "
                   "be too small: if rows belong together, name the column that says so (group)",
                   100.0 * share);
    return STONET_OK;
}

static int64_t root_of(int64_t *parent, int64_t row)
{
    while (parent[row] != row) row = parent[row] = parent[parent[row]];
    return row;
}

/* Rows that are copies of each other join their groups; of two roots the earlier row is kept. */
static void join(int64_t *kin, const int64_t *copy, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        const int64_t a = root_of(kin, i), b = root_of(kin, copy[i]);
        kin[a > b ? a : b] = a < b ? a : b;
    }
    for (int64_t i = 0; i < n; i++) kin[i] = kin[kin[i]]; /* roots come before their rows */
}

stonet_status sn_kin_find(const stonet_data *data, const stonet_run *run, sn_workspace *keep,
                          const int64_t **kin)
{
    const bool grouped = sn_frame_has_groups(data);
    int64_t *copy = NULL, *group = NULL, count = data->n;
    *kin = NULL;
    if (data->n < 2) return STONET_OK;
    if (grouped) {
        SN_TRY(SN_TAKE(keep, group, data->n));
        SN_ARRAY(data->n, int64_t, number);
        for (int64_t i = 0; i < data->n; i++) number[i] = sn_frame_group(data, i);
        SN_TRY(sn_kin_first(number, data->n, group, &count));
    }
    SN_TRY(find_copies(data, run, grouped, keep, &copy));
    if (grouped && copy != NULL) join(group, copy, data->n);
    *kin = grouped ? group : copy;
    if (!grouped) return STONET_OK;
    count = 0;
    for (int64_t i = 0; i < data->n; i++) count += group[i] == i;
    if (count > 1) return STONET_OK;
    *kin = NULL;
    sn_message(run, STONET_WARNING,
               "all rows are of one group, so single rows are held out in place of groups");
    return STONET_OK;
}
