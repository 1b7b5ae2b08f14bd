/*
 * The way from the rows of a table to features as a schema has them: columns found, texts turned into
 * categories, numbers centred and scaled. What can be found out once is, so that any few rows can then be
 * encoded at any time, on any thread.
 */
#pragma once

#include "base/memory.h"
#include "data/rows.h"
#include "data/schema.h"

typedef struct sn_encoder sn_encoder;

/* Columns are matched by name when both tables have a header, else by position; the training target's own
   column, if it is still there, is passed over. Schema and data must outlive the encoder. */
stonet_status sn_encoder_create(const sn_schema *schema, const stonet_data *data, sn_encoder **out);
/* What the draws of missing cells are keyed by. Either the seed and the number of the row, as in training; or
   the content of the row, so that the same row gets the same draws wherever it stands. Without this call:
   seed 1, by content. */
void sn_encoder_key(sn_encoder *encoder, uint64_t seed, bool by_content);
/* Draws (not what is expected, draw 0) are given the response of the row too. For the table that the schema
   was fitted to. */
void sn_encoder_give_response(sn_encoder *encoder);
/* Leaves missing cells as they are, NaN: for whoever learns what is to stand for them. */
void sn_encoder_leave_missing(sn_encoder *encoder);
void sn_encoder_free(sn_encoder *encoder);
SN_DROP(sn_encoder, sn_encoder_free)
/* The encoder as a source of rows. */
const sn_row_source *sn_encoder_source(const sn_encoder *encoder);
