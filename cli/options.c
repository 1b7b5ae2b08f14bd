#include "cli/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <stonet/stonet.h>

#include "cli/files.h"
#include "cli/room.h"
#include "cli/say.h"
#include "cli/show.h"

enum { HELP_COLUMN = 24, MAX_WORD = 64, MAX_NAMES = 100 /* more than a command has */ };

/* ---- values ------------------------------------------------------------------------------------ */

static void *field(const cli_option *option, void *values)
{
    return (char *)values + option->offset;
}

static bool parse_integer(const char *text, int64_t *value)
{
    char *end = NULL;
    errno = 0;
    long long parsed = strtoll(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0) return false;
    *value = parsed;
    return true;
}

static void append_text(text_list *list, const char *text)
{
    list->text = more_room(list->text, (int64_t)list->count + 1, sizeof *list->text);
    list->text[list->count++] = text;
}

/* "-" where a file is to be read is standard input. */
static const char *input_path(const cli_option *option, const char *text)
{
    const bool is_input =
        option->argument != NULL && strncmp(option->argument, "FILE", 4) == 0 && !option->writes;
    return is_input && strcmp(text, "-") == 0 ? STANDARD_INPUT : text;
}

/* Stores the text of an option in its field of `values`, by its kind. Texts are not copied: they live as long
   as argv. A number outside low .. high is wrong usage. */
static bool set_value(const cli_command *command, const cli_option *option, const char *text, void *values)
{
    void *place = field(option, values);
    switch (option->kind) {
    case OPTION_FLAG:
        *(bool *)place = true;
        return true;
    case OPTION_TEXT:
        *(const char **)place = input_path(option, text);
        return true;
    case OPTION_TEXTS:
        append_text(place, input_path(option, text));
        return true;
    case OPTION_INTEGER: {
        int64_t value = 0;
        if (parse_integer(text, &value) && value >= option->low && value <= option->high) {
            *(int64_t *)place = value;
            return true;
        }
        if (option->high == INT64_MAX)
            say_usage(command, "--%s takes a whole number of at least %lld, not '%s'", option->name,
                      (long long)option->low, text);
        else
            say_usage(command, "--%s takes a whole number from %lld to %lld, not '%s'", option->name,
                      (long long)option->low, (long long)option->high, text);
        return false;
    }
    case OPTION_REAL: {
        char *end = NULL;
        double value = strtod(text, &end);
        if (end != text && *end == '\0' && value >= (double)option->low && value <= (double)option->high) {
            *(double *)place = value;
            return true;
        }
        say_usage(command, "--%s takes a number from %lld to %lld, not '%s'", option->name,
                  (long long)option->low, (long long)option->high, text);
        return false;
    }
    }
    return false;
}

/* ---- parsing ----------------------------------------------------------------------------------- */

static const cli_option *find_option(const cli_command *command, const char *name, size_t length)
{
    for (size_t i = 0; i < command->n_options; i++) {
        const cli_option *candidate = &command->options[i];
        if (strlen(candidate->name) == length && strncmp(candidate->name, name, length) == 0)
            return candidate;
    }
    return NULL;
}

static void say_unknown_option(const cli_command *command, const char *word, size_t length)
{
    char name[MAX_WORD + 1];
    snprintf(name, sizeof name, "%.*s", (int)(length < MAX_WORD ? length : MAX_WORD), word);
    const char *known[MAX_NAMES] = {"help"};
    int64_t count = 1;
    for (size_t i = 0; i < command->n_options && count < MAX_NAMES; i++)
        known[count++] = command->options[i].name;
    const char *nearest = stonet_nearest(name, known, count);
    if (nearest != NULL)
        say_usage(command, "there is no option --%s; did you mean --%s?", name, nearest);
    else
        say_usage(command, "there is no option --%s", name);
}

/* Of two values of one option the first would be lost in silence: a column that --drop was to leave out. */
static bool is_first(const cli_command *command, const cli_option *option, bool *seen)
{
    bool *before = &seen[option - command->options];
    if (*before && option->kind != OPTION_FLAG && option->kind != OPTION_TEXTS) {
        say_usage(command, "--%s is given twice: give it once, --%s %s", option->name, option->name,
                  option->argument);
        return false;
    }
    *before = true;
    return true;
}

/* One option at argv[*at]; moves *at over the value when it is a word of its own. seen: by option, whether it
   was given before. */
static bool parse_option(const cli_command *command, int argc, char **argv, int *at, void *values, bool *seen)
{
    const char *word = argv[*at] + 2;
    const char *equals = strchr(word, '=');
    size_t length = equals != NULL ? (size_t)(equals - word) : strlen(word);
    const cli_option *option = find_option(command, word, length);
    if (equals != NULL && length == 4 && strncmp(word, "help", length) == 0) {
        say_usage(command, "--help takes no value");
        return false;
    }
    if (option == NULL) {
        say_unknown_option(command, word, length);
        return false;
    }
    if (!is_first(command, option, seen)) return false;
    if (option->kind == OPTION_FLAG) {
        if (equals == NULL) return set_value(command, option, NULL, values);
        say_usage(command, "--%s takes no value", option->name);
        return false;
    }
    if (equals != NULL) return set_value(command, option, equals + 1, values);
    const char *next = *at + 1 < argc ? argv[*at + 1] : NULL;
    if (next == NULL || strncmp(next, "--", 2) == 0) {
        say_usage(command, "--%s needs a value: --%s %s", option->name, option->name, option->argument);
        return false;
    }
    ++*at;
    return set_value(command, option, next, values);
}

/* How many operands may be given: words in `operands`, one with dots any number of times, one in brackets
   none. */
static void count_operands(const char *operands, int *least, int *most)
{
    *least = *most = 0;
    for (const char *at = operands; *at != '\0';) {
        ++*most;
        if (*at != '[') ++*least;
        size_t length = strcspn(at, " ");
        if (length > 2 && strncmp(at + length - 2, "..", 2) == 0) *most = MAX_OPERANDS;
        at += length;
        at += strspn(at, " ");
    }
}

static bool check_operands(const cli_command *command, const cli_arguments *given)
{
    int least = 0;
    int most = 0;
    count_operands(command->operands, &least, &most);
    if (given->n_operands >= least) return true;
    const char *missing = command->operands;
    for (int i = 0; i < given->n_operands; i++) {
        missing += strcspn(missing, " ");
        missing += strspn(missing, " ");
    }
    say_usage(command, "%.*s is missing; it is '%s %s %s'", (int)strcspn(missing, " ."), missing,
              command->program, command->name, command->operands);
    return false;
}

/* "-" stands for standard input and can be given once, since its bytes are gone after the first read. */
static bool take_operand(const cli_command *command, const char *word, cli_arguments *given)
{
    int least = 0;
    int most = 0;
    count_operands(command->operands, &least, &most);
    if (given->n_operands >= most) {
        if (most == 0)
            say_usage(command, "takes no operand, but got '%s'", word);
        else if (most == MAX_OPERANDS)
            say_usage(command, "'%s' is one operand too many: %d are the most", word, most);
        else
            say_usage(command, "one operand too many: '%s'; it is '%s %s %s'", word, command->program,
                      command->name, command->operands);
        return false;
    }
    if (strcmp(word, "-") == 0) {
        for (int i = 0; i < given->n_operands; i++)
            if (strcmp(given->operand[i], STANDARD_INPUT) == 0) {
                say_usage(command, "'-' is standard input, which can be read once");
                return false;
            }
        word = STANDARD_INPUT;
    }
    given->operand[given->n_operands++] = word;
    return true;
}

static bool set_defaults(const cli_command *command, void *values)
{
    for (size_t i = 0; i < command->n_options; i++) {
        const cli_option *option = &command->options[i];
        if (option->initial != NULL && option->kind != OPTION_TEXTS &&
            !set_value(command, option, option->initial, values))
            return false;
    }
    return true;
}

parse_result options_parse(const cli_command *command, int argc, char **argv, void *values,
                           cli_arguments *given)
{
    *given = (cli_arguments){0};
    if (!set_defaults(command, values)) return PARSE_WRONG;
    bool only_operands = false;
    bool seen[MAX_NAMES] = {false};
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        if (!only_operands && strcmp(word, "--") == 0) {
            only_operands = true;
        } else if (!only_operands && (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)) {
            options_help(command);
            return PARSE_HELP;
        } else if (!only_operands && strncmp(word, "--", 2) == 0) {
            if (!parse_option(command, argc, argv, &i, values, seen)) return PARSE_WRONG;
        } else if (!only_operands && word[0] == '-' && word[1] != '\0') {
            say_usage(command, "there is no option %s; options start with two dashes", word);
            return PARSE_WRONG;
        } else if (!take_operand(command, word, given)) {
            return PARSE_WRONG;
        }
    }
    return check_operands(command, given) && files_are_apart(command, values, given) ? PARSE_OK : PARSE_WRONG;
}

void options_free(const cli_command *command, void *values)
{
    for (size_t i = 0; i < command->n_options; i++) {
        const cli_option *option = &command->options[i];
        if (option->kind == OPTION_TEXTS) {
            text_list *list = field(option, values);
            free(list->text);
            *list = (text_list){0};
        }
    }
}

int options_run(const cli_command *command, int argc, char **argv)
{
    cli_arguments given;
    BLOCK void *values = room_for(1, command->values);
    const parse_result parsed = options_parse(command, argc, argv, values, &given);
    int result = parsed == PARSE_WRONG ? EXIT_USAGE : EXIT_DONE;
    if (parsed == PARSE_OK) result = command->run(command, &given, values);
    options_free(command, values);
    return result;
}

/* ---- help -------------------------------------------------------------------------------------- */

void help_wrapped(FILE *stream, const char *text, int indent, int column)
{
    put_wrapped(stream, text, indent, column);
    fputc('\n', stream);
}

static void print_option(const char *name, const char *argument, const char *help, const char *initial,
                         bool repeats)
{
    int width = printf("  --%s%s%s", name, argument != NULL ? " " : "", argument != NULL ? argument : "");
    if (width >= HELP_COLUMN) {
        putchar('\n');
        width = 0;
    }
    printf("%*s", HELP_COLUMN - width, "");
    char text[512];
    snprintf(text, sizeof text, "%s%s%s%s%s", help, repeats ? " (may be repeated)" : "",
             initial != NULL ? " [default: " : "", initial != NULL ? initial : "",
             initial != NULL ? "]" : "");
    help_wrapped(stdout, text, HELP_COLUMN, HELP_COLUMN);
}

/* Lines to be typed; a long one goes on in the next, before an option. */
static void print_examples(const char *text)
{
    puts("\nExamples:");
    while (*text != '\0') {
        size_t length = strcspn(text, "\n"), cut = length;
        if (length > SCREEN_WIDTH)
            for (size_t i = 4; i + 3 < length && i < SCREEN_WIDTH - 2; i++)
                if (strncmp(text + i, " --", 3) == 0) cut = i;
        if (cut < length)
            printf("%.*s \\\n     %.*s\n", (int)cut, text, (int)(length - cut), text + cut);
        else
            printf("%.*s\n", (int)length, text);
        text += length;
        text += *text == '\n';
    }
}

#define OF_DATA "'stonet fit --help' says which files DATA may be; - is standard input."
#define OF_MODEL_AND_DATA                                                                                    \
    "'stonet fit --help' says which files DATA may be; - for DATA or MODEL is standard input."
#define ON_RANKS " 'mpirun -n R stonet ..' lets R processes share the work."

const char *options_note(const cli_command *command)
{
    const bool data = strstr(command->operands, "DATA") != NULL;
    const bool model = strstr(command->operands, "MODEL") != NULL;
    if (strcmp(command->name, "fit") == 0) return ON_RANKS + 1; /* which tells of DATA */
    if (data && model) return command->on_ranks ? OF_MODEL_AND_DATA ON_RANKS : OF_MODEL_AND_DATA;
    if (data) return command->on_ranks ? OF_DATA ON_RANKS : OF_DATA;
    return model ? "- for MODEL is standard input." : NULL;
}

/* Options that few calls need have groups of their own, after the others: most people read the first screen.
 */
typedef struct option_group {
    const char *title, *names; /* names between blanks */
} option_group;

static const option_group GROUPS[] = {
    {"Options", NULL},
    {"About the table",
     " weights group drop-missing-target header na max-bytes features drop id ordinal season "},
    {"About the run", " seed threads quiet checkpoint every log json "},
};
enum { N_GROUPS = sizeof GROUPS / sizeof *GROUPS };

static size_t group_of(const cli_option *option)
{
    char name[64];
    snprintf(name, sizeof name, " %s ", option->name);
    for (size_t k = 1; k < N_GROUPS; k++)
        if (strstr(GROUPS[k].names, name) != NULL) return k;
    return 0;
}

static void print_group(const cli_command *command, size_t group)
{
    bool begun = group == 0;
    if (begun) printf("\n%s:\n", GROUPS[group].title);
    for (size_t i = 0; i < command->n_options; i++) {
        const cli_option *option = &command->options[i];
        if (group_of(option) != group) continue;
        if (!begun) printf("\n%s:\n", GROUPS[group].title);
        begun = true;
        print_option(option->name, option->argument, option->help, option->initial,
                     option->kind == OPTION_TEXTS);
    }
    if (group == 0) print_option("help", NULL, "Print this and stop", NULL, false);
}

void options_help(const cli_command *command)
{
    char usage[400];
    help_wrapped(stdout, command->summary, 0, 0);
    snprintf(usage, sizeof usage, "%s%s%s [options]", command->operands,
             command->operands[0] != '\0' && command->required != NULL ? " " : "",
             command->required != NULL ? command->required : "");
    const int indent = printf("\nUsage: %s %s ", command->program, command->name) - 1;
    help_wrapped(stdout, usage[0] == ' ' ? usage + 1 : usage, indent, indent);
    if (command->details != NULL) {
        putchar('\n');
        help_wrapped(stdout, command->details, 0, 0);
    }
    if (options_note(command) != NULL) {
        putchar('\n');
        help_wrapped(stdout, options_note(command), 0, 0);
    }
    for (size_t group = 0; group < N_GROUPS; group++) print_group(command, group);
    if (command->examples != NULL) print_examples(command->examples);
}
