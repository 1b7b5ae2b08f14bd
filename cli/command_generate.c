/* stonet generate: data from the built-in models. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/common.h"
#include "cli/output.h"
#include "cli/say.h"
#include "cli/table.h"

typedef struct generate_values {
    int64_t rows, seed;
    bool json;
    const char *out, *truth;
} generate_values;

static const cli_option options[] = {
    NUMBER_OPTION(generate_values, rows, "rows", "N", "1000", 1, 1000000000, "How many rows to draw"),
    SEED_OPTION(generate_values, seed),
    OUT_OPTION(generate_values, out, "The .csv or .npy file to write (also .gz): features and response"),
    FILE_OPTION(generate_values, truth, "truth", "FILE",
                "Write the known sufficient predictors to a file of their own"),
    FLAG_OPTION(generate_values, json, "json", "Print the list, or what was written, as JSON"),
};

static int list_generators(const cli_command *command, bool as_json)
{
    AUTO(json_t) *list = take_json(stonet_generators_json());
    if (as_json) return output_json(command, NULL, json_incref(list));
    AUTO(table) *shown = table_create("lrll");
    const char *const heading[] = {"name", "columns", "task", "model"};
    for (int i = 0; i < 4; i++) table_add(shown, "%s", heading[i]);
    size_t i;
    json_t *entry;
    json_array_foreach(list, i, entry)
    {
        table_add(shown, "%s", json_text(entry, "name"));
        table_add(shown, "%lld", (long long)json_integer_value(json_object_get(entry, "columns")));
        table_add(shown, "%s", json_text(entry, "task"));
        table_add(shown, "%s", json_text(entry, "help"));
    }
    return output_table(command, NULL, shown, true);
}

static int write_truth(const cli_command *command, const char *path, const stonet_data *data)
{
    int64_t columns = 0;
    const double *truth = stonet_data_truth(data, &columns);
    __attribute__((cleanup(names_free))) name_list names = {0};
    for (int64_t j = 0; j < columns; j++) names_add(&names, text_of("truth%" PRId64, j + 1));
    return output_matrix(command, path, truth, stonet_data_rows(data), columns,
                         (const char *const *)names.text);
}

/* The truth is the sufficient predictor that the response was made from, one column for each direction. */
static int generate(const cli_command *command, const char *name, const generate_values *values)
{
    if (values->out == NULL) return say_usage(command, "the file to write is missing: give --out FILE");
    const bool to_stdout = strcmp(values->out, "-") == 0;
    if (to_stdout && values->json)
        return say_usage(command, "--json and --out - would both write to standard output");
    TRY(output_check(command, values->out));
    TRY(output_check(command, values->truth));
    AUTO(stonet_data) *data = NULL;
    TRY(outcome(command, stonet_generate(name, values->rows, (uint64_t)values->seed, &data)));
    if (values->truth != NULL && stonet_data_truth(data, NULL) == NULL)
        return say_usage(command, "no sufficient predictor of %s is known: leave out --truth", name);
    TRY(outcome(command, stonet_data_write(data, to_stdout ? "/dev/stdout" : values->out)));
    if (values->truth != NULL) TRY(write_truth(command, values->truth, data));
    if (!values->json) return EXIT_DONE;
    return output_json(command, NULL,
                       json_pack("{s:s, s:s, s:I, s:I, s:s?}", "file", values->out, "model", name, "rows",
                                 (json_int_t)stonet_data_rows(data), "columns",
                                 (json_int_t)stonet_data_columns(data), "truth", values->truth));
}

static int run(const cli_command *command, const cli_arguments *given, void *parsed)
{
    generate_values *values = parsed;
    if (given->n_operands == 0) return list_generators(command, values->json);
    return generate(command, given->operand[0], values);
}

const cli_command generate_command = {
    .name = "generate",
    .summary = "Draw data from a built-in model, or list the models",
    .operands = "[NAME[:P]]",
    .details =
        "Without NAME the models are listed. NAME:P draws P columns instead of the usual number; the further "
        "columns are noise. The sufficient predictors are known, and --truth writes them. passengers and air "
        "are tables with text, dates and missing cells, and have no known predictor.",
    OPTIONS_OF(options, generate_values),
    .examples = "  stonet generate\n"
                "  stonet generate waveform --rows 400 --seed 1 --out train.csv\n"
                "  stonet generate select-regression:200 --rows 2000 --out wide.npy --truth t.csv\n"
                "  stonet generate passengers --rows 400 --out passengers.csv",
    .run = run,
};
