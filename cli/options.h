/*
 * Command-line options as tables. A command describes its options and operands once; that drives the parsing,
 * the checks and the help. Values land in the fields of a struct of the command's own.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef enum option_kind {
    OPTION_FLAG,    /* bool */
    OPTION_TEXT,    /* const char * */
    OPTION_INTEGER, /* int64_t, within low..high */
    OPTION_REAL,    /* double, within low..high */
    OPTION_TEXTS    /* text_list; may be given several times */
} option_kind;

typedef struct text_list {
    size_t count;
    const char **text; /* owned by the parser until options_free */
} text_list;

typedef struct cli_option {
    const char *name; /* without the dashes */
    option_kind kind;
    bool writes;          /* the file is written, not read */
    size_t offset;        /* of the field in the command's struct */
    const char *argument; /* what the help calls the value, FILE.. for a file; NULL for a flag */
    const char *initial;  /* the default, parsed like a value from the user; NULL: none */
    int64_t low, high;    /* OPTION_INTEGER, OPTION_REAL */
    const char *help;
} cli_option;

// NOLINTBEGIN(bugprone-macro-parentheses): types and members cannot stand in parentheses
/* Rows of a table of options; `field` is a member of the command's struct `type`. */
#define OPTION_ROW(of_kind, type, field, word, what, text, ...)                                              \
    {                                                                                                        \
        .kind = of_kind, .offset = offsetof(type, field), .name = word, .argument = what, .help = text,      \
        __VA_ARGS__                                                                                          \
    }
#define FLAG_OPTION(type, field, word, text)                                                                 \
    OPTION_ROW(OPTION_FLAG, type, field, word, NULL, text, .initial = NULL)
#define TEXT_OPTION(type, field, word, what, text) WORD_OPTION(type, field, word, what, NULL, text)
#define WORD_OPTION(type, field, word, what, first, text)                                                    \
    OPTION_ROW(OPTION_TEXT, type, field, word, what, text, .initial = first)
/* A file that the command writes. */
#define FILE_OPTION(type, field, word, what, text)                                                           \
    OPTION_ROW(OPTION_TEXT, type, field, word, what, text, .writes = true)
#define TEXTS_OPTION(type, field, word, what, text)                                                          \
    OPTION_ROW(OPTION_TEXTS, type, field, word, what, text, .initial = NULL)
#define NUMBER_OPTION(type, field, word, what, first, least, most, text)                                     \
    OPTION_ROW(OPTION_INTEGER, type, field, word, what, text, .initial = first, .low = least, .high = most)
#define REAL_OPTION(type, field, word, what, first, least, most, text)                                       \
    OPTION_ROW(OPTION_REAL, type, field, word, what, text, .initial = first, .low = least, .high = most)
// NOLINTEND(bugprone-macro-parentheses)

typedef struct cli_arguments cli_arguments;

typedef struct cli_command {
    const char *program; /* "stonet" */
    const char *name;
    const char *summary;  /* one line for the list of commands */
    bool on_ranks;        /* under mpirun, by all processes together */
    const char *operands; /* names of the operands, e.g. "MODEL DATA"; "[NAME]" may be left out, a last
                             "NAME.." given several times */
    const char *required; /* shown in the usage line: options that must be given; NULL: none */
    const char *details;  /* paragraphs after the usage; NULL: none */
    const cli_option *options;
    size_t n_options;
    size_t values;        /* bytes of the struct that the options fill in */
    const char *examples; /* lines, each a command; NULL: none */
    /* Gives the exit status; `values` is the command's struct. */
    int (*run)(const struct cli_command *command, const cli_arguments *given, void *values);
} cli_command;

/* The entries of a command of stonet for its table of options, which fill in a struct of this type. */
#define OPTIONS_OF(table, type)                                                                              \
    .program = "stonet", .options = (table), .n_options = sizeof(table) / sizeof *(table),                   \
    .values = sizeof(type)

/* What "-" becomes where a file is to be read. */
#define STANDARD_INPUT "/dev/stdin"

enum { MAX_OPERANDS = 100 };

struct cli_arguments {
    int n_operands;
    const char *operand[MAX_OPERANDS]; /* NULL where not given */
};

typedef enum parse_result { PARSE_OK, PARSE_HELP, PARSE_WRONG } parse_result;

/*
 * Fills `values` (zeroed by the caller) from the defaults and argv[1..]. PARSE_HELP: the help was asked for
 * and has been printed. PARSE_WRONG: a sentence is on stderr and the caller exits with EXIT_USAGE.
 */
parse_result options_parse(const cli_command *command, int argc, char **argv, void *values,
                           cli_arguments *given);
/* Parses argv[1..] and lets the command run; gives the exit status. */
int options_run(const cli_command *command, int argc, char **argv);
/* Frees the lists that options_parse made. */
void options_free(const cli_command *command, void *values);
/* Prints words as put_wrapped does, and ends the line. */
void help_wrapped(FILE *stream, const char *text, int indent, int column);
/* What holds for every command with such operands, and its details need not say: which files are taken, and
   that several processes can share the work; NULL: nothing. */
const char *options_note(const cli_command *command);
/* Prints the whole help of a command to stdout. */
void options_help(const cli_command *command);
