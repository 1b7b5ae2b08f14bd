/*
 * Tables as they come from people: text, dates, missing cells. Nothing in them is the target yet, and no
 * sufficient predictor is known.
 *   passengers   who survived, by sex, class and age; the age of those who did not is missing more often
 *   air          ozone by the day, with the season in it; some of the sun's radiation and of the ozone is
 *                missing
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/memory.h"
#include "data/generator.h"

enum { NAME_SIZE = 12, MOST_NUMBERS = 5 }; /* "P4294967295" */

/* The arrays of a table while it is made. */
typedef struct parts {
    int64_t rows;
    double *number[MOST_NUMBERS];
    int32_t *sex, *class, *survived;
    char (*text)[NAME_SIZE];
    const char **name;
    stonet_columns *columns;
} parts;

static void free_parts(parts *p)
{
    for (int k = 0; k < MOST_NUMBERS; k++) sn_free(p->number[k]);
    SN_FREE_ALL(p->sex, p->class, p->survived, p->text, p->name);
    stonet_columns_free(p->columns);
}

/* One digit behind the point, as a meter shows. */
static double shown(double value)
{
    return round(10 * value) / 10;
}

/* P(survived) = .8 for a woman, .25 for a man, .15 less in the third class, .002 less a year of age. */
static void draw_passenger(const sn_row_key *key, parts *p)
{
    const uint32_t i = key->row;
    double u[5];
    for (int k = 0; k < 5; k++) u[k] = sn_row_uniform(key, k, SN_USE_CHOICE);
    const bool woman = u[0] < 0.4;
    const double age = floor(70 * u[2]);
    p->sex[i] = woman ? 0 : 1;
    p->class[i] = u[1] < 0.3 ? 0 : u[1] < 0.5 ? 1 : 2;
    p->survived[i] = u[3] < (woman ? 0.8 : 0.25) - (p->class[i] == 2 ? 0.15 : 0) - 0.002 * age ? 1 : 0;
    p->number[0][i] = u[4] < (p->survived[i] == 1 ? 0.95 : 0.7) ? age : (double)NAN;
    snprintf(p->text[i], NAME_SIZE, "P%lu", (unsigned long)i + 1);
    p->name[i] = p->text[i];
}

/* A made-up table like the passenger lists of statistics courses: names, three columns of categories, and
   ages that are missing more often for those who died. */
static stonet_status make_passengers(const sn_row_key *key, parts *p)
{
    static const char *const sex[] = {"woman", "man"}, *const class[] = {"first", "second", "third"},
                             *const survived[] = {"no", "yes"};
    SN_TRY(SN_NEW_RAW(p->number[0], p->rows));
    SN_TRY(SN_NEW_RAW(p->sex, p->rows));
    SN_TRY(SN_NEW_RAW(p->class, p->rows));
    SN_TRY(SN_NEW_RAW(p->survived, p->rows));
    SN_TRY(SN_NEW_RAW(p->text, p->rows));
    SN_TRY(SN_NEW_RAW(p->name, p->rows));
    for (int64_t i = 0; i < p->rows; i++)
        draw_passenger(&(sn_row_key){key->seed, (uint32_t)i, key->generator}, p);
    SN_TRY(stonet_data_add_texts(p->columns, "name", p->name));
    SN_TRY(stonet_data_add_codes(p->columns, "sex", p->sex, sex, 2, 0));
    SN_TRY(stonet_data_add_numbers(p->columns, "age", p->number[0]));
    SN_TRY(stonet_data_add_codes(p->columns, "class", p->class, class, 3, 0));
    return stonet_data_add_codes(p->columns, "survived", p->survived, survived, 2, 0);
}

enum { DATE, SOLAR, WIND, TEMP, OZONE, TEN_YEARS = 3653 };

/* temp = 75 - 20 cos(time of the year) + .03 solar + noise, ozone = temp - 40 + .05 solar + 100 / wind +
   noise, both noises uniform in (0, 10). Dates begin anew after ten years. */
static void draw_day(const sn_row_key *key, parts *p)
{
    static const double first = 19723, year = 365.25; /* 2024-01-01 */
    const uint32_t i = key->row, day = i % TEN_YEARS;
    double u[6];
    for (int k = 0; k < 6; k++) u[k] = sn_row_uniform(key, k, SN_USE_CHOICE);
    const double solar = floor(300 * u[0]), wind = shown(2 + 16 * u[1]);
    const double temp = shown(75 - 20 * cos(2 * M_PI * day / year) + 0.03 * solar + 10 * u[2]);
    p->number[DATE][i] = first + day;
    p->number[SOLAR][i] = u[3] < 0.1 ? (double)NAN : solar;
    p->number[WIND][i] = wind;
    p->number[TEMP][i] = temp;
    p->number[OZONE][i] = u[4] < 0.2 ? (double)NAN : shown(temp - 40 + 0.05 * solar + 100 / wind + 10 * u[5]);
}

static stonet_status make_air(const sn_row_key *key, parts *p)
{
    static const char *const name[] = {"date", "solar", "wind", "temp", "ozone"};
    for (int k = 0; k < MOST_NUMBERS; k++) SN_TRY(SN_NEW_RAW(p->number[k], p->rows));
    for (int64_t i = 0; i < p->rows; i++) draw_day(&(sn_row_key){key->seed, (uint32_t)i, key->generator}, p);
    SN_TRY(stonet_data_add_dates(p->columns, name[DATE], p->number[DATE]));
    for (int k = SOLAR; k < MOST_NUMBERS; k++)
        SN_TRY(stonet_data_add_numbers(p->columns, name[k], p->number[k]));
    return STONET_OK;
}

static stonet_status make_table(stonet_status (*make)(const sn_row_key *key, parts *p), const sn_row_key *key,
                                int64_t rows, stonet_data **out)
{
    SN_FREED_BY(free_parts) parts p = {.rows = rows};
    SN_TRY(stonet_data_begin(rows, &p.columns));
    SN_TRY(make(key, &p));
    return stonet_data_end(p.columns, NULL, out);
}

stonet_status sn_passengers_table(const sn_row_key *key, int64_t rows, stonet_data **out)
{
    return make_table(make_passengers, key, rows, out);
}

stonet_status sn_air_table(const sn_row_key *key, int64_t rows, stonet_data **out)
{
    return make_table(make_air, key, rows, out);
}
