/* stonet export: a model for programs that do not have the library. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/common.h"
#include "cli/output.h"
#include "cli/say.h"

typedef struct export_values {
    const char *format, *name, *out;
    bool json;
} export_values;

static const cli_option options[] = {
    TEXT_OPTION(export_values, format, "format", "FORMAT",
                "onnx: a graph for ONNX runtimes, the columns its inputs by name; onnx-matrix: the same with "
                "one matrix of float32 as input; c: a file of C99 that needs nothing else; json: every step "
                "with its numbers, for people"),
    OUT_OPTION(export_values, out, "Write this file instead of stdout; without --format its ending decides"),
    WORD_OPTION(export_values, name, "name", "NAME", "model",
                "What the names in a C file begin with, and the name of an ONNX graph"),
    FLAG_OPTION(export_values, json, "json", "Print what was written as JSON (with --out)"),
};

static const char *const FORMATS[] = {[STONET_EXPORT_ONNX] = "onnx",
                                      [STONET_EXPORT_C] = "c",
                                      [STONET_EXPORT_JSON] = "json",
                                      [STONET_EXPORT_ONNX_MATRIX] = "onnx-matrix"};

/* The format by its name, or by the ending of the file to write. */
static int find_format(const cli_command *command, const export_values *values, stonet_export_format *format)
{
    const char *name = values->format;
    if (name == NULL && values->out != NULL) {
        const char *dot = strrchr(values->out, '.');
        if (dot != NULL) name = dot + 1;
    }
    if (name == NULL) return say_usage(command, "say which --format: onnx, onnx-matrix, c or json");
    if (values->json && (values->out == NULL || strcmp(values->out, "-") == 0))
        return say_usage(command, "--json tells of the file that is written: name one with --out");
    if (stonet_export_format_find(name, format) == STONET_OK) return EXIT_DONE;
    return say_usage(command, "%s", stonet_last_error());
}

static int write_bytes(const cli_command *command, const export_values *values, stonet_export_format format,
                       const unsigned char *bytes, size_t size)
{
    if (values->out != NULL) {
        return outcome(command, stonet_bytes_write(values->out, bytes, size));
    }
    if ((format == STONET_EXPORT_ONNX || format == STONET_EXPORT_ONNX_MATRIX) && isatty(STDOUT_FILENO))
        return say_usage(command, "an ONNX file is not text for a terminal: name a file with --out");
    if (fwrite(bytes, 1, size, stdout) == size && fflush(stdout) == 0) return EXIT_DONE;
    return say_error(command, "stdout could not be written");
}

/* Says, where the training rows had missing cells, that rows with such cells are not answered elsewhere. */
static void note_missing(const stonet_model *model)
{
    AUTO(json_t) *about = take_json(stonet_model_json(model));
    const json_t *missing = json_object_get(about, "missing");
    const size_t columns = json_object_size(json_object_get(missing, "cells"));
    if (columns > 0 && strcmp(json_text(missing, "way"), "mean") != 0)
        say_line(
            "note: training rows had missing cells in %zu %s; the file gives no answer for rows with such "
            "cells; a model fitted with --set missing=mean does",
            columns, columns == 1 ? "column" : "columns");
}

/* Writes the file, or to standard output without --out. --json tells about the file, so it needs --out. */
static int run(const cli_command *command, const cli_arguments *given, void *parsed)
{
    export_values *values = parsed;
    AUTO(stonet_model) *model = NULL;
    stonet_export_format format = STONET_EXPORT_ONNX;
    BLOCK unsigned char *bytes = NULL;
    size_t size = 0;
    TRY(find_format(command, values, &format));
    TRY(read_model(command, given->operand[0], &model));
    TRY(outcome(command, stonet_model_export(model, format, values->name, &bytes, &size)));
    note_missing(model);
    TRY(write_bytes(command, values, format, bytes, size));
    if (!values->json) return EXIT_DONE;
    return output_json(command, NULL,
                       json_pack("{s:s, s:s, s:s, s:I}", "file", values->out, "format", FORMATS[format],
                                 "name", values->name, "bytes", (json_int_t)size));
}

const cli_command export_command = {
    .name = "export",
    .summary = "Write a model as ONNX, C or JSON, for programs that do not have stonet",
    .operands = "MODEL",
    .details =
        "Encoding of columns, scaling, Z and prediction are all in the file. They give what 'stonet "
        "transform' and 'stonet predict' give, to about 1e-6. Draws, standard errors, intervals and sets are "
        "not in the file. A category that training never saw counts as the average of the training rows, as "
        "it does here. So does a missing cell of a model with missing=mean. Of other models a row with a "
        "missing cell has no answer: NaN from ONNX, a status from C.",
    OPTIONS_OF(options, export_values),
    .examples = "  stonet export my.model --out my_model.onnx\n"
                "  stonet export my.model --format c --name credit --out credit.c\n"
                "  stonet export my.model --format json | less",
    .run = run,
};
