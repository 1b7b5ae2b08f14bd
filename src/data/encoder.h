/*
 * The way from the rows of a table to features as a schema has them: columns found, texts turned into
 * categories, numbers centred and scaled. What can be found out once is, so that any few rows can then be
 * encoded at any time, on any thread.
 */
#ifndef SN_DATA_ENCODER_H
#define SN_DATA_ENCODER_H

#include "data/rows.h"
#include "data/schema.h"

typedef struct sn_encoder sn_encoder;

/* Columns are matched by name when both tables have a header, else by position; the training target's own
   column, if it is still there, is passed over. Schema and data must outlive the encoder. */
stonet_status sn_encoder_create(const sn_schema *schema, const stonet_data *data, sn_encoder **out);
void sn_encoder_free(sn_encoder *encoder);
/* The encoder as a source of rows. */
const sn_row_source *sn_encoder_source(const sn_encoder *encoder);

#endif
