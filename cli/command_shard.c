/* stonet shard: a table cut into files that can be mapped, read once and never held as a whole. */
#include <stdio.h>

#include "cli/commands.h"
#include "cli/common.h"
#include "cli/say.h"
#include "cli/signals.h"

typedef struct shard_values {
    target_options target;
    int64_t rows;
    bool quiet;
    const char *out;
} shard_values;

static const cli_option options[] = {
    TARGET_OPTION(shard_values, target),
    TABLE_OPTIONS(shard_values, target),
    GROUP_OPTION(shard_values, target),
    COLUMN_OPTIONS(shard_values, target),
    NUMBER_OPTION(shard_values, rows, "rows", "N", "1048576", 1, 1000000000,
                  "Rows of a shard, rounded up to a multiple of 1024; so many are held in memory"),
    FILE_OPTION(shard_values, out, "out", "DIR", "The folder to make"),
    FLAG_OPTION(shard_values, quiet, "quiet", "Say nothing when all goes well"),
};

static int cut(const cli_command *command, const cli_arguments *given, void *parsed)
{
    const shard_values *values = parsed;
    const char *path = given->operand[0];
    if (values->out == NULL) return say_usage(command, "the folder to make is missing: give --out DIR");
    stonet_read_options how;
    TRY(read_options_of(command, &values->target, &how));
    int64_t rows = 0, shards = 0;
    signals_catch(); /* so that what was written so far is removed */
    TRY(outcome(command, stonet_shards_write(path, &how, values->rows, values->out, &rows, &shards)));
    if (!values->quiet)
        fprintf(stderr, "%lld rows in %lld shard%s: %s\n", (long long)rows, (long long)shards,
                shards == 1 ? "" : "s", values->out);
    return EXIT_DONE;
}

const cli_command shard_command = {
    .name = "shard",
    .summary = "Cut a table into files that need not fit in memory",
    .operands = "DATA",
    .details =
        "DATA is read once, with one shard of it in memory at a time, into the folder DIR, which must not be "
        "there yet: DATA-00000.npy .. and index.json. Every command takes DIR for the table, maps the files "
        "and never holds them as a whole. The kinds of the columns are fixed here. DIR appears when it is "
        "complete.",
    OPTIONS_OF(options, shard_values),
    .examples = "  stonet shard large.csv --target y --out large.shards\n"
                "  stonet fit large.shards --target y --dim 2 --out my.model",
    .run = cut,
};
