/* stonet compare: several methods and dimensions on the same splits. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/common.h"
#include "cli/progress.h"
#include "cli/results.h"
#include "cli/say.h"

typedef struct compare_values {
    target_options target;
    run_options run;
    results_options results;
    const char *methods, *dims, *learner, *criterion, *test, *test_target_file;
    text_list set, grid;
    int64_t folds, trials, tune_folds;
    bool tune;
} compare_values;

static const cli_option options[] = {
    TARGET_OPTIONS(compare_values, target),
    {.name = "methods",
     .kind = OPTION_TEXT,
     .offset = offsetof(compare_values, methods),
     .argument = "a,b,c",
     .help = "The methods; 'none' is the learner on x itself"},
    {.name = "dim",
     .kind = OPTION_TEXT,
     .offset = offsetof(compare_values, dims),
     .argument = "Q,Q..",
     .initial = "2",
     .help = "The dimensions, each with every method"},
    {.name = "folds",
     .kind = OPTION_INTEGER,
     .offset = offsetof(compare_values, folds),
     .argument = "K",
     .initial = "5",
     .low = 2,
     .high = 1000,
     .help = "Parts of the cross-validation, the same for all"},
    {.name = "test",
     .kind = OPTION_TEXT,
     .offset = offsetof(compare_values, test),
     .argument = "FILE",
     .help = "Score on these rows instead of by cross-validation"},
    {.name = "test-target-file",
     .kind = OPTION_TEXT,
     .offset = offsetof(compare_values, test_target_file),
     .argument = "FILE",
     .help = "The response of --test in a file of its own"},
    LEARNER_OPTION(compare_values, learner),
    {.name = "set",
     .kind = OPTION_TEXTS,
     .offset = offsetof(compare_values, set),
     .argument = "[METHOD:]NAME=VALUE",
     .help = "A setting of one method, or of all methods that have it"},
    {.name = "tune",
     .kind = OPTION_FLAG,
     .offset = offsetof(compare_values, tune),
     .help = "Tune each method inside each training part"},
    {.name = "grid",
     .kind = OPTION_TEXTS,
     .offset = offsetof(compare_values, grid),
     .argument = "[METHOD:]NAME=a,b,c",
     .help = "With --tune: values to try, instead of the built-in grids"},
    {.name = "trials",
     .kind = OPTION_INTEGER,
     .offset = offsetof(compare_values, trials),
     .argument = "N",
     .initial = "0",
     .low = 0,
     .high = 1000000,
     .help = "With --tune: N points of the grid drawn at random; 0: all of them"},
    {.name = "tune-folds",
     .kind = OPTION_INTEGER,
     .offset = offsetof(compare_values, tune_folds),
     .argument = "K",
     .initial = "5",
     .low = 2,
     .high = 1000,
     .help = "With --tune: parts of the inner cross-validation"},
    CRITERION_OPTION(compare_values, criterion),
    RESULTS_OPTIONS(compare_values, results),
    RUN_OPTIONS(compare_values, run),
};

/* ---- the specs --------------------------------------------------------------------------------- */

typedef struct spec_list {
    int64_t count;
    stonet_spec **spec;
    bool *set_used; /* for each --set, whether some method took it */
} spec_list;

static void free_specs(spec_list *list)
{
    for (int64_t i = 0; i < list->count; i++) stonet_spec_free(list->spec[i]);
    free(list->spec);
    free(list->set_used);
    *list = (spec_list){0};
}

static bool list_has(const json_t *settings, const char *name)
{
    size_t i;
    json_t *setting;
    json_array_foreach(settings, i, setting) if (strcmp(json_text(setting, "name"), name) == 0) return true;
    return false;
}

static bool method_has(const json_t *all, const char *method, const char *name)
{
    if (strncmp(name, "learner.", strlen("learner.")) == 0) return true;
    if (list_has(json_object_get(all, "common"), name)) return true;
    size_t i;
    json_t *entry;
    json_array_foreach(json_object_get(all, "methods"), i,
                       entry) if (strcmp(json_text(entry, "name"), method) ==
                                  0) return list_has(json_object_get(entry, "settings"), name);
    return false;
}

/* --set entry number `index` on one spec, if it is meant for it. */
static int apply_setting(const cli_command *command, const compare_values *values, const json_t *all,
                         size_t index, const char *method, stonet_spec *spec, spec_list *list)
{
    char *name = NULL;
    const char *value = NULL;
    int result = split_setting(command, "set", values->set.text[index], &name, &value);
    if (result != EXIT_DONE) return result;
    char *colon = strchr(name, ':');
    const char *bare = colon != NULL ? colon + 1 : name;
    if (colon != NULL) *colon = '\0';
    bool meant = colon != NULL ? strcmp(name, method) == 0 : method_has(all, method, bare);
    if (meant) {
        list->set_used[index] = true;
        stonet_status status = stonet_spec_set(spec, bare, value);
        if (status != STONET_OK) result = say_failure(command, status);
    }
    free(name);
    return result;
}

static int add_spec(const cli_command *command, const compare_values *values, const json_t *all,
                    const char *method, const char *dim, spec_list *list)
{
    // NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers is meant
    stonet_spec **grown = realloc(list->spec, (size_t)(list->count + 1) * sizeof *grown);
    if (grown == NULL) {
        say_error(command, "memory ran out");
        return EXIT_FAILED;
    }
    list->spec = grown;
    stonet_spec *spec = NULL;
    spec_options plain = {.method = method, .learner = values->learner};
    int result = make_spec(command, &plain, dim, &spec);
    if (result != EXIT_DONE) return result;
    list->spec[list->count++] = spec;
    for (size_t i = 0; i < values->set.count && result == EXIT_DONE; i++)
        result = apply_setting(command, values, all, i, method, spec, list);
    return result;
}

/* One spec for each dimension; the method 'none' keeps all columns. */
static int add_method(const cli_command *command, const compare_values *values, const json_t *all,
                      const char *method, int64_t columns, spec_list *list)
{
    if (strcmp(method, "none") == 0) {
        char dim[24];
        snprintf(dim, sizeof dim, "%" PRId64, columns);
        return add_spec(command, values, all, method, dim, list);
    }
    char *dims = strdup(values->dims);
    int result = dims != NULL ? EXIT_DONE : EXIT_FAILED;
    char *rest = NULL;
    for (char *dim = dims != NULL ? strtok_r(dims, ",", &rest) : NULL; dim != NULL && result == EXIT_DONE;
         dim = strtok_r(NULL, ",", &rest))
        result = add_spec(command, values, all, method, dim, list);
    free(dims);
    return result;
}

static int make_specs(const cli_command *command, const compare_values *values, int64_t columns,
                      spec_list *list)
{
    json_t *all = take_json(command, stonet_methods_json());
    char *methods = strdup(values->methods);
    list->set_used = calloc(values->set.count + 1, sizeof *list->set_used);
    int result = all != NULL && methods != NULL && list->set_used != NULL ? EXIT_DONE : EXIT_FAILED;
    char *rest = NULL;
    for (char *method = methods != NULL ? strtok_r(methods, ",", &rest) : NULL;
         method != NULL && result == EXIT_DONE; method = strtok_r(NULL, ",", &rest))
        result = add_method(command, values, all, method, columns, list);
    for (size_t i = 0; i < values->set.count && result == EXIT_DONE; i++) {
        if (list->set_used[i]) continue;
        say_usage(command, "none of these methods takes the setting '%s'", values->set.text[i]);
        result = EXIT_USAGE;
    }
    if (result == EXIT_DONE && list->count == 0) {
        say_usage(command, "there is nothing to compare: name methods and dimensions");
        result = EXIT_USAGE;
    }
    free(methods);
    json_decref(all);
    return result;
}

/* ---- the comparison ---------------------------------------------------------------------------- */

static int check_values(const cli_command *command, const compare_values *values)
{
    int result = require_target(command, &values->target);
    if (result != EXIT_DONE) return result;
    if (values->methods == NULL) {
        say_usage(command, "the methods are missing: give --methods a,b,c");
        return EXIT_USAGE;
    }
    if (values->test_target_file != NULL && values->test == NULL) {
        say_usage(command, "--test-target-file belongs to --test");
        return EXIT_USAGE;
    }
    if (values->test != NULL && values->target.target_file != NULL && values->test_target_file == NULL) {
        say_usage(command, "the response of --test is missing: give --test-target-file FILE");
        return EXIT_USAGE;
    }
    if (!values->tune && (values->grid.count > 0 || values->trials > 0)) {
        say_usage(command, "--grid and --trials belong to --tune");
        return EXIT_USAGE;
    }
    return check_results_options(command, &values->results);
}

static int read_test(const cli_command *command, const compare_values *values, stonet_data **test)
{
    if (values->test == NULL) return EXIT_DONE;
    target_options target = {.target = values->test_target_file == NULL ? values->target.target : NULL,
                             .target_file = values->test_target_file};
    return read_data(command, values->test, &target, test);
}

static int finish(const cli_command *command, const compare_values *values, const stonet_results *results)
{
    int result = output_results(command, &values->results, results, false);
    if (result != EXIT_DONE) return result;
    if (stonet_results_outcome(results) == STONET_STOPPED) {
        say_error(command, "stopped before the end; these are the rows that were finished");
        return EXIT_FAILED;
    }
    if (stonet_results_best(results) < 0) {
        say_error(command, "no method could be fitted");
        return EXIT_FAILED;
    }
    return EXIT_DONE;
}

static int compare(const cli_command *command, const char *path, const compare_values *values)
{
    stonet_compare_options how = {.folds = (int)values->folds,
                                  .tune = values->tune,
                                  .tuning = {.folds = (int)values->tune_folds,
                                             .grid = values->grid.text,
                                             .n_grid = (int64_t)values->grid.count,
                                             .trials = values->trials}};
    spec_list specs = {0};
    stonet_data *data = NULL;
    stonet_data *test = NULL;
    stonet_results *results = NULL;
    int result = check_values(command, values);
    if (result == EXIT_DONE) result = parse_criterion(command, values->criterion, &how.criterion);
    if (result == EXIT_DONE) result = read_data(command, path, &values->target, &data);
    if (result == EXIT_DONE) result = read_test(command, values, &test);
    if (result == EXIT_DONE) result = make_specs(command, values, stonet_data_columns(data), &specs);
    if (result == EXIT_DONE) {
        how.test = test;
        stonet_run run;
        start_run(&values->run, &run);
        stonet_status status =
            stonet_compare((const stonet_spec *const *)specs.spec, specs.count, data, &how, &run, &results);
        progress_clear();
        result = status == STONET_OK ? finish(command, values, results) : say_failure(command, status);
    }
    stonet_results_free(results);
    stonet_data_free(test);
    stonet_data_free(data);
    free_specs(&specs);
    return result;
}

static int run(const cli_command *command, int argc, char **argv)
{
    compare_values values = {0};
    cli_arguments given;
    parse_result parsed = options_parse(command, argc, argv, &values, &given);
    int result = parsed == PARSE_WRONG ? EXIT_USAGE : EXIT_DONE;
    if (parsed == PARSE_OK) result = compare(command, given.operand[0], &values);
    options_free(command, &values);
    return result;
}

const cli_command compare_command = {
    .program = "stonet",
    .name = "compare",
    .summary = "Compare methods and dimensions on the same splits",
    .operands = "DATA",
    .required = "(--target COL | --target-file FILE) --methods a,b,c",
    .details =
        "Prints one row for each method and dimension: the mean of the criterion, its standard error, the\n"
        "p-value of a paired t-test against the best row (marked *), and the time.",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .examples =
        "  stonet compare train.csv --target y --methods none,sir,gsir,stonet --dim 1,2\n"
        "  stonet compare x.asc --target-file y.asc --methods sir,stonet --test xt.asc --test-target-file "
        "yt.asc\n"
        "  stonet compare train.csv --target y --methods ksir,stonet --tune --json --out compared.json",
    .run = run,
};
