#include "cli/common.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/output.h"
#include "cli/progress.h"
#include "cli/ranks.h"
#include "cli/say.h"
#include "cli/show.h"
#include "cli/signals.h"

void say_message(stonet_level level, const char *text, void *user)
{
    (void)user;
    progress_clear();
    fputs(level == STONET_WARNING ? "warning: " : "note: ", stderr);
    show_text(stderr, text);
    fputc('\n', stderr);
}

static int should_stop(void *user)
{
    (void)user;
    return signals_stop_wanted();
}

bool has_target(const target_options *target)
{
    return target->read.target != NULL || target->read.target_file != NULL;
}

int require_target(const cli_command *command, const target_options *target)
{
    if (target->read.target != NULL && target->read.target_file != NULL)
        return say_usage(command, "give the response by --target or by --target-file, not both");
    if (target->read.target == NULL && target->read.target_file == NULL)
        return say_usage(command, "the response is missing: give --target COL or --target-file FILE");
    return EXIT_DONE;
}

int require_target_of_model(const cli_command *command, target_options *target)
{
    target->read.own_target = !has_target(target);
    return target->read.own_target ? EXIT_DONE : require_target(command, target);
}

int find_choice(const cli_command *command, const char *option, const word_choice *known, size_t count,
                const char *name, int *value)
{
    char list[128] = "";
    for (size_t i = 0; i < count; i++) {
        const size_t used = strlen(list);
        const char *between = i == 0 ? "" : i + 1 == count ? " or " : ", ";
        *value = known[i].value;
        if (strcmp(known[i].name, name) == 0) return EXIT_DONE;
        snprintf(list + used, sizeof list - used, "%s%s", between, known[i].name);
    }
    return say_usage(command, "--%s takes %s, not '%s'", option, list, name);
}

int read_options_of(const cli_command *command, const target_options *target, stonet_read_options *options)
{
    *options = target->read;
    options->size = sizeof *options;
    options->drop_missing_target = target->drop_missing;
    options->ordinal = target->ordinal.text;
    options->n_ordinal = (int64_t)target->ordinal.count;
    options->should_stop = should_stop;
    static const word_choice known[] = {
        {"yes", STONET_HEADER_YES}, {"no", STONET_HEADER_NO}, {"auto", STONET_HEADER_AUTO}};
    int header = STONET_HEADER_AUTO;
    if (target->header != NULL) TRY(FIND_CHOICE(command, "header", known, target->header, &header));
    options->header = (stonet_header)header;
    return EXIT_DONE;
}

int read_data(const cli_command *command, const char *path, const target_options *target, int64_t threads,
              stonet_data **data)
{
    return read_data_for(command, NULL, path, target, threads, data);
}

int read_data_for(const cli_command *command, const stonet_model *model, const char *path,
                  const target_options *target, int64_t threads, stonet_data **data)
{
    stonet_read_options options;
    TRY(read_options_of(command, target, &options));
    options.threads = (int)threads;
    options.team = program_team();
    TRY(outcome(command, model != NULL ? stonet_data_read_for(model, path, &options, data)
                                       : stonet_data_read(path, &options, data)));
    const long long dropped = (long long)stonet_data_dropped(*data);
    if (dropped > 0)
        fprintf(stderr,
                dropped == 1 ? "note: %lld row of %s is left out: its response is missing\n"
                             : "note: %lld rows of %s are left out: their response is missing\n",
                dropped, path);
    return EXIT_DONE;
}

int write_model(const cli_command *command, const char *path, const stonet_model *model)
{
    if (strcmp(path, "-") != 0) {
        return outcome(command, stonet_model_save(model, path));
    }
    BLOCK unsigned char *bytes = NULL;
    size_t size = 0;
    TRY(outcome(command, stonet_model_save_bytes(model, &bytes, &size)));
    if (fwrite(bytes, 1, size, stdout) == size && fflush(stdout) == 0) return EXIT_DONE;
    return say_error(command, "cannot write the model to standard output: %s", strerror(errno));
}

int say_unseen(const cli_command *command, const stonet_model *model, const stonet_data *data, bool quiet)
{
    stonet_run run = STONET_RUN_INIT;
    run.on_message = say_message;
    if (quiet) return EXIT_DONE;
    return outcome(command, stonet_check_rows(model, data, &run));
}

int say_met(const cli_command *command, const stonet_model *model, const stonet_data *data, bool quiet)
{
    int met = 0;
    if (quiet) return EXIT_DONE;
    TRY(outcome(command, stonet_model_met(model, data, &met)));
    if (met) say_message(STONET_NOTE, "these look like the training rows; scores on them are too good", NULL);
    return EXIT_DONE;
}

/* A model that comes through a pipe, as a file cannot. */
static stonet_status load_stdin(stonet_model **model)
{
    BLOCK unsigned char *bytes = NULL;
    size_t size = 0, room = 0;
    for (;;) {
        if (size == room) {
            room = room > 0 ? 2 * room : (size_t)1 << 16;
            bytes = more_room(bytes, (int64_t)room, 1);
        }
        const size_t got = fread(bytes + size, 1, room - size, stdin);
        if (got == 0) break;
        size += got;
    }
    return ferror(stdin) == 0 ? stonet_model_load_bytes(bytes, size, model)
                              : stonet_fail(STONET_ERROR_IO, "cannot read the model from standard input");
}

int read_model(const cli_command *command, const char *path, stonet_model **model)
{
    TRY(outcome(command,
                strcmp(path, STANDARD_INPUT) == 0 ? load_stdin(model) : stonet_model_load(path, model)));
    if (stonet_model_hash(*model) == NULL)
        fprintf(stderr, "note: %s is of an older version and has no hash: damage to it goes unnoticed\n",
                path);
    return EXIT_DONE;
}

int split_setting(const cli_command *command, const char *option, const char *text, char **name,
                  const char **value)
{
    const char *equals = strchr(text, '=');
    if (equals == NULL || equals == text)
        return say_usage(command, "--%s takes NAME=VALUE, not '%s'", option, text);
    *name = text_of("%.*s", (int)(equals - text), text);
    *value = equals + 1;
    return EXIT_DONE;
}

static int apply_settings(const cli_command *command, const text_list *set, stonet_spec *spec)
{
    for (size_t i = 0; i < set->count; i++) {
        BLOCK char *name = NULL;
        const char *value = NULL;
        TRY(split_setting(command, "set", set->text[i], &name, &value));
        TRY(outcome(command, stonet_spec_set(spec, name, value)));
    }
    return EXIT_DONE;
}

int make_spec(const cli_command *command, const spec_options *options, const char *dim, stonet_spec **spec)
{
    if (options->config != NULL && options->method != NULL)
        return say_usage(command, "give the method by --method or in the file of --config, not both");
    AUTO(stonet_spec) *made = NULL;
    const char *method = options->method != NULL ? options->method : "stonet";
    TRY(outcome(command, options->config != NULL ? stonet_spec_read(options->config, &made)
                                                 : stonet_spec_create(method, &made)));
    if (options->learner != NULL) TRY(outcome(command, stonet_spec_set(made, "learner", options->learner)));
    if (dim != NULL) TRY(outcome(command, stonet_spec_set(made, "dim", dim)));
    TRY(apply_settings(command, &options->set, made));
    *spec = made;
    made = NULL;
    return EXIT_DONE;
}

int name_response(const cli_command *command, target_options *target, stonet_spec *spec, char **made)
{
    const char *task = target->event != NULL      ? "survival"
                       : target->exposure != NULL ? "count"
                       : target->low != NULL      ? "interval"
                                                  : NULL;
    const char *first = target->low != NULL ? target->low : target->read.target;
    const char *second = target->event != NULL      ? target->event
                         : target->exposure != NULL ? target->exposure
                                                    : target->high;
    if (task == NULL && target->high == NULL) return EXIT_DONE;
    const int given = (target->event != NULL) + (target->exposure != NULL) + (target->low != NULL);
    if (given != 1 || first == NULL || second == NULL || (target->low != NULL && target->read.target != NULL))
        return say_usage(command,
                         "give --target COL --event COL, --target COL --exposure COL, or --target-low COL "
                         "--target-high COL");
    target->read.target = *made = text_of("%s,%s", first, second);
    target->read.open_target = target->low != NULL;
    return outcome(command, stonet_spec_set(spec, "task", task));
}

int parse_criterion(const cli_command *command, const char *text, stonet_criterion *criterion)
{
    static const word_choice known[] = {{"auto", STONET_CRITERION_AUTO},
                                        {"error_rate", STONET_CRITERION_ERROR_RATE},
                                        {"log_loss", STONET_CRITERION_LOG_LOSS},
                                        {"mse", STONET_CRITERION_MSE},
                                        {"discordance", STONET_CRITERION_DISCORDANCE},
                                        {"deviance", STONET_CRITERION_DEVIANCE}};
    int value = STONET_CRITERION_AUTO;
    TRY(FIND_CHOICE(command, "criterion", known, text, &value));
    *criterion = (stonet_criterion)value;
    return EXIT_DONE;
}

/* ---- runs -------------------------------------------------------------------------------------- */

static void on_progress(const stonet_progress *progress, void *user)
{
    (void)user;
    progress_draw(progress);
}

int parse_level(const cli_command *command, const char *option, const char *text, double *level)
{
    if (text == NULL) return EXIT_DONE;
    char *end = NULL;
    double value = strtod(text, &end);
    if (end == text || *end != '\0' || !(value > 0.0 && value < 1.0))
        return say_usage(command, "--%s takes a share between 0 and 1, such as 0.9, not '%s'", option, text);
    *level = value;
    return EXIT_DONE;
}

void say_calibration(const stonet_model *model)
{
    BLOCK char *text = stonet_model_json(model);
    AUTO(json_t) *about = text != NULL ? json_loads(text, 0, NULL) : NULL;
    const json_t *calibration = json_object_get(about, "calibration");
    if (json_is_object(calibration)) {
        fprintf(stderr, "calibrated by %s with %lld rows", json_text(calibration, "kind"),
                (long long)json_integer_value(json_object_get(calibration, "rows")));
        const json_t *temperature = json_object_get(calibration, "temperature");
        if (temperature != NULL)
            fprintf(stderr, ", temperature of the probabilities %.3g", json_number_value(temperature));
        fputc('\n', stderr);
    }
}

stonet_run run_of(const run_options *options)
{
    stonet_run run = STONET_RUN_INIT;
    run.seed = (uint64_t)options->seed;
    run.threads = (int)options->threads;
    run.should_stop = should_stop;
    run.team = program_team();
    if (!options->quiet) {
        run.on_progress = on_progress;
        run.on_message = say_message;
    }
    if (run.team == NULL) signals_catch(); /* several cannot stop at the same place: a signal ends them */
    return run;
}

int open_checkpoint(const cli_command *command, const checkpoint_options *options, stonet_run *run)
{
    if (options->file == NULL) return EXIT_DONE;
    TRY(output_check(command, options->file));
    return outcome(command, stonet_checkpoint_open(options->file, options->every, &run->checkpoint));
}

int close_checkpoint(const cli_command *command, stonet_run *run, int result)
{
    if (run->checkpoint != NULL && result == EXIT_DONE && program_writes()) {
        stonet_status status = stonet_checkpoint_remove(run->checkpoint);
        if (status != STONET_OK) result = say_failure(command, status);
    }
    stonet_checkpoint_free(run->checkpoint);
    run->checkpoint = NULL;
    return result;
}

/* ---- JSON -------------------------------------------------------------------------------------- */

json_t *take_json(char *text)
{
    BLOCK char *own = must_have(text);
    return must_have(json_loads(own, 0, NULL));
}

int output_made_json(const cli_command *command, const char *path, char *text)
{
    return output_json(command, path, take_json(text));
}

json_t *json_number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *json_add(json_t *list, json_t *value)
{
    return must_have(json_array_append_new(list, value) == 0 ? list : NULL);
}

json_t *json_put(json_t *object, const char *key, json_t *value)
{
    return must_have(json_object_set_new(object, key, value) == 0 ? object : NULL);
}

const char *json_text(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text != NULL ? text : "";
}

char *names_of(const json_t *list, const char *between)
{
    char *names = copy_of("");
    size_t i;
    json_t *entry;
    json_array_foreach(list, i, entry) names = joined(names, between, copy_of(json_text(entry, "name")));
    return names;
}
