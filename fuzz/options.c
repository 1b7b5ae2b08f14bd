/* The command line: words, one a line, parsed by the tables of 'fit' and then given to the settings. */
#include "fuzz/common.h"

#include "cli/common.h"

typedef struct values {
    target_options target;
    spec_options spec;
    run_options run;
    const char *dim, *out;
    double share;
} values;

static const cli_option options[] = {
    TARGET_OPTIONS(values, target),
    SPEC_OPTIONS(values, spec),
    RUN_OPTIONS(values, run),
    TEXT_OPTION(values, dim, "dim", "Q", "q"),
    REAL_OPTION(values, share, "share", "S", "0.5", 0, 1, "s"),
    OUT_OPTION(values, out, "o"),
};

static const cli_command command = {.program = "stonet",
                                    .name = "fuzz",
                                    .summary = "",
                                    .operands = "DATA [MORE]",
                                    .options = options,
                                    .n_options = sizeof options / sizeof *options};

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    enum { MOST = 30 };
    static int first = 1;
    if (first && setvbuf(stderr, NULL, _IOFBF, 1 << 16) != 0)
        abort(); /* sentences by the hundred, not one by one */
    first = 0;
    char *text = malloc(size + 1), *words[MOST + 1] = {(char *)"fuzz"};
    if (text == NULL) abort();
    memcpy(text, bytes, size);
    text[size] = '\0';
    int count = 1;
    for (char *rest = text, *word; count < MOST && (word = strsep(&rest, "\n")) != NULL;)
        words[count++] = word;
    values given = {0};
    cli_arguments arguments;
    /* --help prints, which is of no interest a thousand times a second */
    if (strstr(text, "-h") == NULL && options_parse(&command, count, words, &given, &arguments) == PARSE_OK) {
        stonet_spec *spec = NULL;
        if (given.share < 0 || given.share > 1 || given.run.seed < 0) abort();
        given.spec.config = NULL; /* has a target of its own */
        (void)make_spec(&command, &given.spec, given.dim, &spec);
        stonet_spec_free(spec);
    }
    options_free(&command, &given);
    free(text);
    return 0;
}
