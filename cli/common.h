/* What several commands share: options for data and runs, reading data, JSON from the library. */
#pragma once

#include <jansson.h>
#include <stdlib.h>

#include <stonet/stonet.h>

#include "cli/options.h"
#include "cli/room.h"
#include "cli/say.h"
#include "cli/table.h"

typedef struct target_options {
    stonet_read_options read; /* as far as the options have its types; read_options_of adds the rest */
    const char *header;
    text_list ordinal;
    bool drop_missing;
    const char *event, *low, *high, *exposure; /* --target with the second column that it has */
} target_options;

typedef struct run_options {
    int64_t seed, threads;
    bool quiet;
} run_options;

/* Where unfinished work is kept. */
typedef struct checkpoint_options {
    const char *file;
    double every;
} checkpoint_options;

/* What to fit, apart from the dimension. */
typedef struct spec_options {
    const char *method, *config, *learner;
    text_list set;
} spec_options;

/* Ends a function that gives an exit status when one that it calls did not succeed. */
#define TRY(call)                                                                                            \
    do {                                                                                                     \
        const int try_result_ = (call);                                                                      \
        if (try_result_ != EXIT_DONE) return try_result_;                                                    \
    } while (0)

/* A variable that is freed when it goes out of scope, as SN_AUTO in src/base/memory.h:
       AUTO(stonet_model) *model = NULL; */
#define AUTO(type) __attribute__((cleanup(drop_##type))) type
// NOLINTBEGIN(bugprone-macro-parentheses): types and members cannot stand in parentheses
#define FREED_BY(type, function)                                                                             \
    static inline void drop_##type(type **variable)                                                          \
    {                                                                                                        \
        function(*variable);                                                                                 \
    }
FREED_BY(stonet_model, stonet_model_free)
FREED_BY(stonet_data, stonet_data_free)
FREED_BY(stonet_spec, stonet_spec_free)
FREED_BY(stonet_results, stonet_results_free)
FREED_BY(stonet_order_result, stonet_order_free)
FREED_BY(stonet_coef_result, stonet_coef_free)
FREED_BY(stonet_importance_result, stonet_importance_free)
FREED_BY(table, table_free)
FREED_BY(json_t, json_decref)

/* Rows of an option table; `type` is the command's struct, `field` its member of the type above. */
#define TARGET_OPTIONS(type, field)                                                                          \
    TARGET_OPTION(type, field),                                                                              \
        TEXT_OPTION(type, field.read.target_file, "target-file", "FILE",                                     \
                    "The response in a file of its own, row by row"),                                        \
        TABLE_OPTIONS(type, field)
#define TARGET_OPTION(type, field)                                                                           \
    TEXT_OPTION(type, field.read.target, "target", "COL",                                                    \
                "The response: a column by name or 1-based number; several, separated by commas")
/* The other columns, and how a file is read. */
#define TABLE_OPTIONS(type, field)                                                                           \
    TEXT_OPTION(type, field.read.weights, "weights", "COL",                                                  \
                "The column that says what each row counts, from 0 on; it is no feature"),                   \
        FLAG_OPTION(type, field.drop_missing, "drop-missing-target",                                         \
                    "Leave out rows whose response is missing, which are an error otherwise"),               \
        READ_OPTIONS(type, field)
/* For commands that fit: responses of two columns, by name_response. */
#define RESPONSE_OPTIONS(type, field)                                                                        \
    TEXT_OPTION(type, field.event, "event", "COL",                                                           \
                "The target is a time, and this column says whether its end was seen (1) or not (0)"),       \
        TEXT_OPTION(type, field.low, "target-low", "COL",                                                    \
                    "The target is a time between this column and that of --target-high; an empty cell: "    \
                    "open"),                                                                                 \
        TEXT_OPTION(type, field.high, "target-high", "COL", "The other bound"),                              \
        TEXT_OPTION(type, field.exposure, "exposure", "COL",                                                 \
                    "The target is a count, and this column is what it was counted over")
/* For commands that hold out or draw rows. */
#define GROUP_OPTION(type, field)                                                                            \
    TEXT_OPTION(type, field.read.group, "group", "COL",                                                      \
                "The column that says which rows belong together, such as one patient's: they are never "    \
                "split; it is no feature")
/* For commands that fit on a table: which of its columns are features. */
#define COLUMN_OPTIONS(type, field)                                                                          \
    TEXT_OPTION(type, field.read.features, "features", "COLS",                                               \
                "The columns that are features, by name, number or range of numbers (3-7) [default: all]"),  \
        TEXT_OPTION(type, field.read.drop, "drop", "COLS", "Columns to leave out"),                          \
        ID_OPTION(type, field,                                                                               \
                  "A column that names the rows: no feature, and carried to the output of "                  \
                  "'transform' and 'predict'"),                                                              \
        TEXTS_OPTION(type, field.ordinal, "ordinal", "COL=LOW,..,HIGH",                                      \
                     "A text column whose values have this order: one feature, the rank; of the target: "    \
                     "ordered classes"),                                                                     \
        TEXT_OPTION(type, field.read.season, "season", "COLS",                                               \
                    "Columns of dates (2024-05-01) whose time of the year counts, beside the days")
#define ID_OPTION(type, field, text) TEXT_OPTION(type, field.read.id, "id", "COL", text)
/* How files are read, for commands without a response too. */
#define READ_OPTIONS(type, field)                                                                            \
    HEADER_OPTION(type, field.header), NA_OPTION(type, field.read.na),                                       \
        MAX_BYTES_OPTION(type, field.read.max_bytes)
#define MAX_BYTES_OPTION(type, field)                                                                        \
    NUMBER_OPTION(                                                                                           \
        type, field, "max-bytes", "N", "0", 0, INT64_MAX,                                                    \
        "Bytes that packed data or a pipe may give; 0: 32 times the size of a .gz, at least 256 MiB")
#define NA_OPTION(type, field)                                                                               \
    TEXT_OPTION(type, field, "na", "WORDS",                                                                  \
                "More words for missing cells, beside empty, NA, NaN, null, ? and .: unknown,-999")
#define HEADER_OPTION(type, field)                                                                           \
    WORD_OPTION(type, field, "header", "yes|no", "auto",                                                     \
                "Whether the first line of a text file names the columns; auto: judged from the content")
#define SEED_OPTION(type, field)                                                                             \
    NUMBER_OPTION(type, field, "seed", "S", "1", 0, INT64_MAX,                                               \
                  "Start of all randomness: same seed, same result")
#define THREADS_OPTION(type, field)                                                                          \
    NUMBER_OPTION(type, field, "threads", "N", "0", 0, 1024,                                                 \
                  "Threads to use, 0 for OMP_NUM_THREADS or all cores; the result does not depend on it")
#define QUIET_OPTION(type, field)                                                                            \
    FLAG_OPTION(type, field, "quiet", "No notes, progress or summary; errors are still shown")
#define RUN_OPTIONS(type, field)                                                                             \
    SEED_OPTION(type, field.seed), THREADS_OPTION(type, field.threads), QUIET_OPTION(type, field.quiet)
#define CHECKPOINT_OPTIONS(type, field)                                                                      \
    FILE_OPTION(type, field.file, "checkpoint", "FILE",                                                      \
                "Keep what is done so far in FILE: the same command, run again, goes on from there to "      \
                "the same result. Removed at the end"),                                                      \
        REAL_OPTION(type, field.every, "every", "SECONDS", "60", 0, 1e6,                                     \
                    "With --checkpoint: how often the file is written")
#define OUT_OPTION(type, field, text) FILE_OPTION(type, field, "out", "FILE", text)
#define JSON_OPTION(type, field)      FLAG_OPTION(type, field, "json", "Print JSON")
#define SET_OPTION(type, field)                                                                              \
    TEXTS_OPTION(type, field, "set", "NAME=VALUE",                                                           \
                 "A setting of the method, of all methods or (learner.NAME) of the learner: see 'stonet "    \
                 "methods NAME'")
#define LEARNER_OPTION(type, field)                                                                          \
    TEXT_OPTION(type, field, "learner", "NAME",                                                              \
                "What predicts the response from Z, for methods that do not themselves")
#define SPEC_OPTIONS(type, field)                                                                            \
    TEXT_OPTION(type, field.method, "method", "NAME",                                                        \
                "How to reduce: see 'stonet methods' (stonet, unless --config says otherwise)"),             \
        SET_OPTION(type, field.set),                                                                         \
        TEXT_OPTION(                                                                                         \
            type, field.config, "config", "FILE.json",                                                       \
            "Method and settings from a file, as 'stonet tune --best' writes it; options override it"),      \
        LEARNER_OPTION(type, field.learner)

// NOLINTEND(bugprone-macro-parentheses)

bool has_target(const target_options *target);

/* These give an exit status, EXIT_DONE for success, and say what is wrong otherwise. */

/* A response must be named in exactly one way. */
int require_target(const cli_command *command, const target_options *target);
/* What the options say of how a table is read. */
int read_options_of(const cli_command *command, const target_options *target, stonet_read_options *options);
/* The same where a model is at hand, whose own response is meant when none is named. */
int require_target_of_model(const cli_command *command, target_options *target);
int read_data(const cli_command *command, const char *path, const target_options *target, int64_t threads,
              stonet_data **data);
/* Of the columns alone that the model uses, and the target if there is one. */
int read_data_for(const cli_command *command, const stonet_model *model, const char *path,
                  const target_options *target, int64_t threads, stonet_data **data);
int read_model(const cli_command *command, const char *path, stonet_model **model);
/* To a file, or with the path "-" to standard output. */
int write_model(const cli_command *command, const char *path, const stonet_model *model);
/* Tells, on stderr, which texts of these rows the model has never met. */
int say_unseen(const cli_command *command, const stonet_model *model, const stonet_data *data, bool quiet);
/* Tells, on stderr, when they may be the rows it was fitted on, for a command whose answers should come from
   others. */
int say_met(const cli_command *command, const stonet_model *model, const stonet_data *data, bool quiet);
/* A spec from --config or --method, then --learner, --dim (may be NULL) and every --set. */
int make_spec(const cli_command *command, const spec_options *options, const char *dim, stonet_spec **spec);
/* Splits "NAME=VALUE" of an option; *name is to be freed. */
int split_setting(const cli_command *command, const char *option, const char *text, char **name,
                  const char **value);
/* --event, --target-low and --exposure: two target columns, and the task that they belong to. *made: their
   names as one text, to be freed. */
int name_response(const cli_command *command, target_options *target, stonet_spec *spec, char **made);
/* A word that an option takes, and the number behind it. */
typedef struct word_choice {
    const char *name;
    int value;
} word_choice;
/* Finds the number of a name, or says which names there are: "a, b or c". */
int find_choice(const cli_command *command, const char *option, const word_choice *known, size_t count,
                const char *name, int *value);
#define FIND_CHOICE(command, option, known, name, value)                                                     \
    find_choice((command), (option), (known), sizeof(known) / sizeof *(known), (name), (value))
/* The number behind error_rate, log_loss, mse or auto. */
int parse_criterion(const cli_command *command, const char *text, stonet_criterion *criterion);

/* A share between 0 and 1, both excluded, given to an option; NULL text leaves *level as it is. */
int parse_level(const cli_command *command, const char *option, const char *text, double *level);

/* "calibrated by cv+ with 300 rows, temperature 1.1", on stderr. */
void say_calibration(const stonet_model *model);

/* A note or a warning on stderr. */
void say_message(stonet_level level, const char *text, void *user);
/* A run with notes and a progress line on stderr (neither when quiet) that Ctrl-C stops. */
stonet_run run_of(const run_options *options);

/* Opens the checkpoint of --checkpoint, if it is there, and gives it to the run. */
int open_checkpoint(const cli_command *command, const checkpoint_options *options, stonet_run *run);
/* Lets go of it; done: the results are where they should be, and the file is removed. Returns `result`, or
   that of a failure here. */
int close_checkpoint(const cli_command *command, stonet_run *run, int result);

/* JSON from a text the library made, which is freed. */
json_t *take_json(char *text);
/* The same to a file or stdout, as output_json. */
int output_made_json(const cli_command *command, const char *path, char *text);
/* A real, or null when it is not finite. */
json_t *json_number(double value);
/* Append to a list, or put into an object, what then belongs to it; both return it. */
json_t *json_add(json_t *list, json_t *value);
json_t *json_put(json_t *object, const char *key, json_t *value);
/* The names of the objects of a list, with `between` between them; to be freed. */
char *names_of(const json_t *list, const char *between);
/* The text under a key, "" when there is none. */
const char *json_text(const json_t *object, const char *key);
