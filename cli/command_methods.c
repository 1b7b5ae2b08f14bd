/* stonet methods: what can be fitted, and its settings. */
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/common.h"
#include "cli/output.h"
#include "cli/say.h"
#include "cli/table.h"

typedef struct methods_values {
    bool json;
} methods_values;

static const cli_option options[] = {
    JSON_OPTION(methods_values, json),
};

static const json_t *find_named(const json_t *list, const char *name)
{
    size_t i;
    json_t *entry;
    json_array_foreach(list, i, entry) if (strcmp(json_text(entry, "name"), name) == 0) return entry;
    return NULL;
}

/* Texts of an array with `between` between them, to be freed. */
static char *join(const json_t *list, const char *between)
{
    char *text = copy_of("");
    size_t i;
    json_t *entry;
    json_array_foreach(list, i, entry) text = joined(text, between, copy_of(json_string_value(entry)));
    return text;
}

/* ---- the list ---------------------------------------------------------------------------------- */

static void add_entries(table *shown, const json_t *list)
{
    size_t i;
    json_t *entry;
    json_array_foreach(list, i, entry)
    {
        BLOCK char *tasks = join(json_object_get(entry, "tasks"), ", ");
        table_add(shown, "%s", json_text(entry, "name"));
        table_add(shown, "%s", tasks);
        table_add(shown, "%s", json_text(entry, "title"));
    }
}

static int list_one_kind(const cli_command *command, const json_t *list, const char *kind)
{
    AUTO(table) *shown = table_create("lll");
    table_add(shown, "%s", kind);
    table_add(shown, "task");
    table_add(shown, "what it is");
    add_entries(shown, list);
    return output_table(command, NULL, shown, true);
}

static int list_all(const cli_command *command, const json_t *all)
{
    TRY(list_one_kind(command, json_object_get(all, "methods"), "method"));
    putchar('\n');
    TRY(list_one_kind(command, json_object_get(all, "learners"), "learner on Z"));
    return output_text(command, NULL, "\n'stonet methods NAME' shows the settings of one.\n");
}

/* ---- one method or learner --------------------------------------------------------------------- */

/* "on, off" for a switch, the words for a choice, "0 to 1" or "1 or more" for numbers. Settings such as auto
   have words and numbers: "auto, 1 or more". To be freed. */
static char *range_of(const json_t *setting)
{
    BLOCK char *words = join(json_object_get(setting, "choices"), ", ");
    const char *kind = json_text(setting, "kind");
    if (!json_is_number(json_object_get(setting, "low")))
        return copy_of(words[0] != '\0' ? words : "on, off");
    double low = json_number_value(json_object_get(setting, "low"));
    double high = json_number_value(json_object_get(setting, "high"));
    const char *list = strstr(kind, "list") != NULL || strstr(kind, "integers") != NULL ? "list of " : "";
    const char *either = words[0] != '\0' ? ", " : "";
    return high >= 1e15 ? text_of("%s%s%s%.6g or more", words, either, list, low)
                        : text_of("%s%s%s%.6g to %.9g", words, either, list, low, high);
}

/* Settings from .. to - 1 of a list, under a title of their own. */
typedef struct part {
    const json_t *settings;
    size_t from, to;
    const char *prefix, *title;
} part;

enum { MOST_RANGE = 50 };

static void add_settings(table *shown, const part *shows)
{
    for (size_t i = shows->from; i < shows->to; i++) {
        const json_t *setting = json_array_get(shows->settings, i);
        BLOCK char *range = range_of(setting);
        table_add(shown, "  %s%s", shows->prefix, json_text(setting, "name"));
        table_add(shown, "%s", json_text(setting, "default"));
        /* Many words would make the table wider than a screen: they come before the meaning. */
        const bool wide = strlen(range) > MOST_RANGE;
        table_add(shown, "%s", wide ? "a word" : range);
        table_add(shown, "%s%s%s", wide ? range : "", wide ? ": " : "", json_text(setting, "help"));
    }
}

static int print_part(const cli_command *command, part shows)
{
    if (shows.from == shows.to) return EXIT_DONE;
    printf("\n%s\n", shows.title);
    AUTO(table) *shown = table_create("llll");
    const char *const heading[] = {"  name", "default", "values", "meaning"};
    for (int i = 0; i < 4; i++) table_add(shown, "%s", heading[i]);
    add_settings(shown, &shows);
    return output_table(command, NULL, shown, true);
}

/* The place of a setting, or how many there are. */
static size_t place_of(const json_t *settings, const char *name)
{
    size_t i;
    json_t *setting;
    json_array_foreach(settings, i, setting) if (strcmp(json_text(setting, "name"), name) == 0) break;
    return i;
}

/* Those of the StoNet are many: the sampler's, which hardly anybody changes, come last. */
static int print_settings(const cli_command *command, const json_t *own, const json_t *common)
{
    const size_t count = json_array_size(own), sampler = place_of(own, "sweeps"),
                 stage = place_of(own, "sdr_iterations");
    const bool many = sampler < count;
    const size_t training = many ? place_of(own, "epochs") : count;
    const part parts[] = {
        {own, 0, training, "", many ? "The network (--set NAME=VALUE):" : "Settings (--set NAME=VALUE):"},
        {own, training, sampler, "", "Training:"},
        {common, 0, json_array_size(common), "", "Settings of every method:"},
        {own, sampler, stage, "", "The sampler, seldom changed:"},
        {own, stage, count, "", "The last stage, the output layer and the engine:"}};
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) TRY(print_part(command, parts[k]));
    return EXIT_DONE;
}

static int show_entry(const cli_command *command, const json_t *all, const json_t *entry, bool is_learner)
{
    BLOCK char *tasks = join(json_object_get(entry, "tasks"), " and ");
    printf("%s: %s\nFor %s.\n", json_text(entry, "name"), json_text(entry, "title"), tasks);
    const json_t *own = json_object_get(entry, "settings");
    const part learners = {own, 0, json_array_size(own), "learner.", "Settings (--set NAME=VALUE):"};
    int result = is_learner ? print_part(command, learners)
                            : print_settings(command, own, json_object_get(all, "common"));
    BLOCK char *grid = join(json_object_get(entry, "grid"), "  ");
    if (result == EXIT_DONE && grid[0] != '\0') printf("\nTuned over, unless told otherwise: %s\n", grid);
    return result;
}

static int say_unknown(const cli_command *command, const json_t *all, const char *name)
{
    enum { MOST = 256 };
    const char *known[MOST];
    int64_t count = 0;
    for (int k = 0; k < 2; k++) {
        const json_t *list = json_object_get(all, k == 0 ? "methods" : "learners");
        for (size_t i = 0; i < json_array_size(list) && count < MOST; i++)
            known[count++] = json_text(json_array_get(list, i), "name");
    }
    const char *nearest = stonet_nearest(name, known, count);
    if (nearest != NULL)
        return say_usage(command, "there is no method or learner '%s'; did you mean '%s'?", name, nearest);
    return say_usage(command, "there is no method or learner '%s'; 'stonet methods' lists them", name);
}

static int show_one(const cli_command *command, const json_t *all, const char *name, bool as_json)
{
    const json_t *method = find_named(json_object_get(all, "methods"), name);
    const json_t *learner = find_named(json_object_get(all, "learners"), name);
    const json_t *entry = method != NULL ? method : learner;
    if (entry == NULL) return say_unknown(command, all, name);
    if (as_json) return output_json(command, NULL, json_deep_copy(entry));
    return show_entry(command, all, entry, method == NULL);
}

static int run(const cli_command *command, const cli_arguments *given, void *parsed)
{
    methods_values *values = parsed;
    AUTO(json_t) *all = take_json(stonet_methods_json());
    if (given->n_operands == 1) return show_one(command, all, given->operand[0], values->json);
    return values->json ? output_json(command, NULL, json_incref(all)) : list_all(command, all);
}

const cli_command methods_command = {
    .name = "methods",
    .summary = "List the methods and learners, or show the settings of one",
    .operands = "[NAME]",
    OPTIONS_OF(options, methods_values),
    .examples = "  stonet methods\n"
                "  stonet methods stonet",
    .run = run,
};
