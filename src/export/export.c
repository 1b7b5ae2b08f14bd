/* Models for programs that do not have the library. */
#include <ctype.h>
#include <string.h>

#include "base/memory.h"
#include "data/schema.h"
#include "export/writers.h"

#define FORMAT_WORDS(between) "onnx" between "c" between "json" between "onnx-matrix"
SN_DEFINE_WORDS(sn_export_words, "format", STONET_EXPORT_ONNX_MATRIX, FORMAT_WORDS);

stonet_status stonet_export_format_find(const char *name, stonet_export_format *format)
{
    if (name == NULL || format == NULL)
        return sn_fail(STONET_ERROR_ARGUMENT, "stonet_export_format_find needs a name and a place");
    const int found = sn_words_find(&sn_export_words, name);
    if (found < 0)
        return sn_fail(STONET_ERROR_ARGUMENT,
                       "there is no export format '%.40s': choose onnx, onnx-matrix, c or json", name);
    *format = (stonet_export_format)found;
    return STONET_OK;
}

const char *sn_exported_numbers(const sn_exported *exported)
{
    switch (exported->schema->law) {
    case SN_LAW_TIMES:
    case SN_LAW_INTERVALS:
        return "the median time";
    case SN_LAW_COUNTS:
        return "the mean count for an exposure of 1";
    case SN_LAW_NONE:
    case SN_LAW_ORDERED:
        break;
    }
    return "numbers in units of the targets";
}

const char *sn_exported_output(const sn_exported *exported, int64_t k)
{
    return exported->schema->task == SN_CLASSIFICATION ? exported->schema->classes.text[k]
                                                       : exported->schema->target_name[k];
}

bool sn_exported_fills(const sn_exported *exported)
{
    return exported->schema->missing != SN_MISSING_ERROR && exported->schema->imputer == NULL;
}

/* The name begins all that a C file declares. */
static stonet_status check_name(const char *name)
{
    enum { LONGEST = 60 };
    bool good = isalpha((unsigned char)name[0]) && strlen(name) <= LONGEST;
    for (const char *c = name; *c != '\0'; c++)
        good = good && (unsigned char)*c < 128 && (isalnum((unsigned char)*c) || *c == '_');
    return good ? STONET_OK
                : sn_fail(STONET_ERROR_ARGUMENT,
                          "'%.80s' cannot be a name in C: use up to 60 letters, digits and underscores, "
                          "a letter first",
                          name);
}

static stonet_status write(const stonet_model *model, const sn_formula *formula, stonet_export_format format,
                           const char *name, sn_bytes *out)
{
    SN_FREED_BY(sn_na_free) sn_na na = {0};
    SN_TRY(sn_na_parse(model->schema->na, &na));
    const sn_exported exported = {.model = model,
                                  .schema = model->schema,
                                  .formula = formula,
                                  .name = name,
                                  .na = na,
                                  .matrix = format == STONET_EXPORT_ONNX_MATRIX};
    switch (format) {
    case STONET_EXPORT_ONNX:
    case STONET_EXPORT_ONNX_MATRIX:
        return sn_export_onnx(&exported, out);
    case STONET_EXPORT_C:
        return sn_export_c(&exported, out);
    case STONET_EXPORT_JSON:
        return sn_export_json(&exported, out);
    default:
        return sn_fail(STONET_ERROR_ARGUMENT, "there is no export format %d", (int)format);
    }
}

stonet_status stonet_model_export(const stonet_model *model, stonet_export_format format, const char *name,
                                  unsigned char **bytes, size_t *size)
{
    if (model == NULL || bytes == NULL || size == NULL)
        return sn_fail(STONET_ERROR_ARGUMENT, "stonet_model_export needs a model and a place for the bytes");
    if (name == NULL) name = "model";
    SN_TRY(check_name(name));
    SN_FREED_BY(sn_formula_free) sn_formula formula = {0};
    SN_FREED_BY(sn_bytes_free) sn_bytes out = {0};
    SN_TRY(sn_closed_form(model, &formula));
    SN_TRY(write(model, &formula, format, name, &out));
    *size = out.pack.size;
    return SN_GIVE(out.pack.bytes, bytes);
}
