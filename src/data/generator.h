/* What the built-in models and tables are drawn from. */
#pragma once

#include <stdint.h>

#include "base/status.h"

/* Where the random numbers of a row come from. */
typedef struct sn_row_key {
    uint64_t seed;
    uint32_t row, generator;
} sn_row_key;

/* What a number is for: uses never share numbers. */
enum {
    SN_USE_FEATURES = 0,
    SN_USE_UNIFORM_FEATURES = 1,
    SN_USE_RESPONSE = 2,
    SN_USE_CHOICE = 3,
    SN_USE_COMMON = 4
};

double sn_row_uniform(const sn_row_key *key, int64_t number, uint32_t use); /* in (0, 1) */

/* A whole table, with text, dates and missing cells; the row of the key is not looked at. */
typedef stonet_status sn_table_function(const sn_row_key *key, int64_t rows, stonet_data **out);
/* generators_tables.c */
sn_table_function sn_passengers_table, sn_air_table;
