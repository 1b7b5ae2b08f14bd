/* stonet completion: what a shell needs to complete commands, options and names, from the option tables. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/common.h"
#include "cli/output.h"
#include "cli/say.h"

/* Names that the library has, for --method and the operands of methods and generate, with blanks between. */
typedef struct known_names {
    char *methods, *settings, *generators;
} known_names;

static void free_names(const known_names *known)
{
    free(known->methods);
    free(known->settings);
    free(known->generators);
}

/* The settings of all methods as NAME=, each once. */
static char *settings_of(const json_t *tables)
{
    AUTO(json_t) *seen = json_object();
    json_t *method, *entry;
    size_t i, k;
    json_array_foreach(json_object_get(tables, "common"), k, entry)
        json_object_set_new(seen, json_text(entry, "name"), json_true());
    json_array_foreach(json_object_get(tables, "methods"), i, method)
        json_array_foreach(json_object_get(method, "settings"), k, entry)
            json_object_set_new(seen, json_text(entry, "name"), json_true());
    const char *name;
    char *all = copy_of("");
    json_object_foreach(seen, name, entry) all = joined(all, " ", text_of("%s=", name));
    return all;
}

static known_names find_names(void)
{
    AUTO(json_t) *methods = take_json(stonet_methods_json());
    AUTO(json_t) *generators = take_json(stonet_generators_json());
    return (known_names){names_of(json_object_get(methods, "methods"), " "), settings_of(methods),
                         names_of(generators, " ")};
}

/* What an option's value is. */
typedef enum value_kind { VALUE_NONE, VALUE_FILE, VALUE_METHOD, VALUE_SETTING, VALUE_OTHER } value_kind;

static value_kind value_of(const cli_option *option)
{
    if (option->argument == NULL) return VALUE_NONE;
    if (strncmp(option->argument, "FILE", 4) == 0 || strcmp(option->name, "out") == 0) return VALUE_FILE;
    if (strcmp(option->name, "method") == 0) return VALUE_METHOD;
    const bool setting = strcmp(option->name, "set") == 0 || strcmp(option->name, "grid") == 0;
    return setting ? VALUE_SETTING : VALUE_OTHER;
}

/* The names its operand can be, NULL: files. */
static const char *operand_names(const cli_command *about, const known_names *known)
{
    if (strcmp(about->name, "methods") == 0) return known->methods;
    if (strcmp(about->name, "generate") == 0) return known->generators;
    return strcmp(about->name, "completion") == 0 ? "bash zsh fish" : NULL;
}

/* ---- bash -------------------------------------------------------------------------------------- */

/* The first word completes to a command. Later words complete to options after a dash, to the names a command
   knows (methods, generators), or to files. The lists are those of this build. */
static void print_bash(const known_names *known)
{
    puts("# bash completion for stonet: source it, or put it into bash-completion's folder as 'stonet'.\n"
         "_stonet() {\n"
         "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} options= names=\n"
         "    COMPREPLY=()\n"
         "    if [ \"$COMP_CWORD\" -eq 1 ]; then");
    fputs("        COMPREPLY=($(compgen -W '", stdout);
    for (size_t i = 0; i < cli_command_count(); i++) printf("%s ", cli_command_at(i)->name);
    puts("--help --version' -- \"$word\"))\n"
         "        return\n"
         "    fi\n"
         "    case \"${COMP_WORDS[1]}\" in");
    for (size_t i = 0; i < cli_command_count(); i++) {
        const cli_command *about = cli_command_at(i);
        const char *names = operand_names(about, known);
        printf("    %s)\n        options='", about->name);
        for (size_t k = 0; k < about->n_options; k++) printf("--%s ", about->options[k].name);
        puts("--help'");
        if (names != NULL) printf("        names='%s'\n", names);
        puts("        ;;");
    }
    puts("    esac\n"
         "    case \"$before\" in");
    printf("    --method) COMPREPLY=($(compgen -W '%s' -- \"$word\")) ;;\n", known->methods);
    printf("    --set | --grid)\n"
           "        compopt -o nospace 2> /dev/null\n"
           "        COMPREPLY=($(compgen -W '%s' -- \"$word\")) ;;\n",
           known->settings);
    puts("    *)\n"
         "        if [ \"${word#-}\" != \"$word\" ]; then\n"
         "            COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
         "        elif [ -n \"$names\" ]; then\n"
         "            COMPREPLY=($(compgen -W \"$names\" -- \"$word\"))\n"
         "        else\n"
         "            COMPREPLY=($(compgen -f -- \"$word\"))\n"
         "        fi ;;\n"
         "    esac\n"
         "}\n"
         "complete -o filenames -F _stonet stonet");
}

/* ---- zsh and fish ------------------------------------------------------------------------------ */

/* The text up to its first sentence end or `most` letters, without what would end a quoted word. */
static void print_short(const char *text, size_t most)
{
    for (size_t i = 0; text[i] != '\0' && i < most && !(text[i] == ';' || text[i] == ':'); i++)
        putchar(strchr("'[]\\`$\"", text[i]) != NULL ? ' ' : text[i]);
}

/* _arguments shows the start of the help beside each option; "*" before an option lets it come again. */
static void print_zsh(const known_names *known)
{
    puts("#compdef stonet\n"
         "# zsh completion for stonet: put it into a folder of $fpath as '_stonet'.\n"
         "_stonet() {\n"
         "  local -a commands\n"
         "  commands=(");
    for (size_t i = 0; i < cli_command_count(); i++) {
        printf("    '%s:", cli_command_at(i)->name);
        print_short(cli_command_at(i)->summary, 70);
        puts("'");
    }
    puts("  )\n"
         "  if (( CURRENT == 2 )); then\n"
         "    _describe command commands\n"
         "    return\n"
         "  fi\n"
         "  local command=$words[2]\n"
         "  shift words\n"
         "  (( CURRENT-- ))\n"
         "  case $command in");
    for (size_t i = 0; i < cli_command_count(); i++) {
        const cli_command *about = cli_command_at(i);
        const char *names = operand_names(about, known);
        printf("  %s)\n    _arguments \\\n", about->name);
        for (size_t k = 0; k < about->n_options; k++) {
            const cli_option *option = &about->options[k];
            printf("      '%s--%s[", option->kind == OPTION_TEXTS ? "*" : "", option->name);
            print_short(option->help, 60);
            const value_kind kind = value_of(option);
            if (kind == VALUE_NONE)
                puts("]' \\");
            else if (kind == VALUE_METHOD)
                printf("]:method:(%s)' \\\n", known->methods);
            else if (kind == VALUE_SETTING)
                printf("]:setting:{compadd -S \"\" -- %s}' \\\n", known->settings);
            else
                printf("]:%s:%s' \\\n", option->name, kind == VALUE_FILE ? "_files" : "");
        }
        if (names != NULL)
            printf("      '*:name:(%s)'\n", names);
        else
            puts("      '*:file:_files'");
        puts("    ;;");
    }
    puts("  esac\n"
         "}\n"
         "_stonet \"$@\"");
}

/* fish knows options by flags: -r -F wants a file, -x any other value. */
static void print_fish(const known_names *known)
{
    puts("# fish completion for stonet: put it into ~/.config/fish/completions as 'stonet.fish'.");
    for (size_t i = 0; i < cli_command_count(); i++) {
        const cli_command *about = cli_command_at(i);
        const char *names = operand_names(about, known);
        printf("complete -c stonet -n __fish_use_subcommand -f -a %s -d '", about->name);
        print_short(about->summary, 70);
        puts("'");
        if (names != NULL)
            printf("complete -c stonet -n '__fish_seen_subcommand_from %s' -f -a '%s'\n", about->name, names);
        for (size_t k = 0; k < about->n_options; k++) {
            const cli_option *option = &about->options[k];
            const value_kind kind = value_of(option);
            printf("complete -c stonet -n '__fish_seen_subcommand_from %s' -l %s%s -d '", about->name,
                   option->name,
                   kind == VALUE_NONE   ? ""
                   : kind == VALUE_FILE ? " -r -F"
                                        : " -x");
            print_short(option->help, 60);
            if (kind == VALUE_METHOD)
                printf("' -a '%s'\n", known->methods);
            else if (kind == VALUE_SETTING)
                printf("' -a '%s'\n", known->settings);
            else
                puts("'");
        }
    }
}

/* ---- for other shells -------------------------------------------------------------------------- */

static json_t *options_json(const cli_command *about)
{
    json_t *list = json_array();
    for (size_t k = 0; k < about->n_options; k++) {
        const cli_option *option = &about->options[k];
        list = json_add(list, json_pack("{s:s, s:s?, s:s?, s:s}", "name", option->name, "argument",
                                        option->argument, "default", option->initial, "help", option->help));
    }
    return list;
}

static int print_commands(const cli_command *command)
{
    json_t *list = json_array();
    for (size_t i = 0; i < cli_command_count(); i++) {
        const cli_command *about = cli_command_at(i);
        list =
            json_add(list, json_pack("{s:s, s:s, s:s, s:o}", "name", about->name, "summary", about->summary,
                                     "operands", about->operands, "options", options_json(about)));
    }
    return output_json(command, NULL, list);
}

typedef struct completion_values {
    bool json;
} completion_values;

static const cli_option options[] = {
    FLAG_OPTION(completion_values, json, "json",
                "Print all commands and their options as JSON instead, for other shells"),
};

static int run(const cli_command *command, const cli_arguments *given, void *parsed)
{
    const completion_values *values = parsed;
    if (values->json) return print_commands(command);
    if (given->n_operands == 0) return say_usage(command, "SHELL is missing: bash, zsh or fish");
    static const struct {
        const char *name;
        void (*print)(const known_names *known);
    } shells[] = {{"bash", print_bash}, {"zsh", print_zsh}, {"fish", print_fish}};
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++) {
        if (strcmp(shells[i].name, given->operand[0]) != 0) continue;
        __attribute__((cleanup(free_names))) const known_names known = find_names();
        shells[i].print(&known);
        return EXIT_DONE;
    }
    return say_usage(command, "there is completion for bash, zsh and fish, not for '%s'", given->operand[0]);
}

const cli_command completion_command = {
    .name = "completion",
    .summary = "Print what bash, zsh or fish need to complete commands and options",
    .operands = "[SHELL]",
    .details = "SHELL is bash, zsh or fish. Packages and 'make install' put these where the shells look.",
    OPTIONS_OF(options, completion_values),
    .examples = "  stonet completion bash > ~/.local/share/bash-completion/completions/stonet",
    .run = run,
};
