/* A model and its formula as files of others. */
#pragma once

#include "data/na.h"
#include "export/bytes.h"
#include "export/formula.h"
#include "model/model.h"

/* What is written. */
typedef struct sn_exported {
    const stonet_model *model;
    const sn_schema *schema;
    const sn_formula *formula;
    const char *name; /* a C identifier */
    sn_na na;         /* words for missing cells besides the usual ones */
    bool matrix;      /* ONNX: one matrix of float32 is the input */
} sn_exported;

stonet_status sn_export_c(const sn_exported *exported, sn_bytes *out);
stonet_status sn_export_onnx(const sn_exported *exported, sn_bytes *out);
stonet_status sn_export_json(const sn_exported *exported, sn_bytes *out);

/* Whether a missing cell counts as the average of its column; else (refused, or drawn given the other cells)
   a row that has one has no answer. */
bool sn_exported_fills(const sn_exported *exported);
/* What answers that are numbers are. */
const char *sn_exported_numbers(const sn_exported *exported);
/* The name of output k: a class, or a target. */
const char *sn_exported_output(const sn_exported *exported, int64_t k);

/* Numbers and texts as C has them: a double constant that is exactly the number, */
void sn_c_number(sn_bytes *out, double value);
/* a string literal of the same bytes, */
void sn_c_string(sn_bytes *out, const char *text);
/* and "static const double NAMEk[count] = {..};". */
void sn_c_table(sn_bytes *out, const char *name, int k, int64_t count, const double *values);
