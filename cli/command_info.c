/* stonet info: what is in a model file. */
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/common.h"
#include "cli/output.h"
#include "cli/show.h"

typedef struct info_values {
    bool json, verify;
} info_values;

static const cli_option options[] = {
    FLAG_OPTION(info_values, verify, "verify", "Say what was checked of the file instead"),
    JSON_OPTION(info_values, json),
};

enum { MOST_SHOWN = 12, KEY_WIDTH = 20 };

static void print_scalar(FILE *stream, const json_t *value)
{
    if (json_is_string(value))
        show_text(stream, json_string_value(value));
    else if (json_is_integer(value))
        fprintf(stream, "%lld", (long long)json_integer_value(value));
    else if (json_is_real(value))
        fprintf(stream, "%.6g", json_real_value(value));
    else if (json_is_boolean(value))
        fputs(json_is_true(value) ? "yes" : "no", stream);
    else
        fputs("-", stream);
}

/* An object on one line: "name y, mean 0.2, sd 1.1". */
static void print_inline(FILE *stream, const json_t *value)
{
    if (!json_is_object(value)) {
        print_scalar(stream, value);
        return;
    }
    const char *between = "";
    const char *key;
    json_t *part;
    json_object_foreach((json_t *)value, key, part)
    {
        fputs(between, stream);
        show_text(stream, key);
        fputc(' ', stream);
        print_scalar(stream, part);
        between = ", ";
    }
}

/* Long lists (of columns, say) are cut short; --json has them whole. */
static void print_list(FILE *stream, const json_t *list)
{
    size_t count = json_array_size(list);
    for (size_t i = 0; i < count && i < MOST_SHOWN; i++) {
        if (i > 0) fputs(json_is_object(json_array_get(list, i)) ? "; " : ", ", stream);
        print_inline(stream, json_array_get(list, i));
    }
    if (count > MOST_SHOWN) fprintf(stream, ", .. (%zu in all)", count);
}

/* Whole lines, under each other. */
static void print_lines(FILE *stream, const json_t *lines)
{
    for (size_t i = 0; i < json_array_size(lines); i++) {
        if (i > 0) fprintf(stream, "\n%*s", KEY_WIDTH + 1, "");
        print_scalar(stream, json_array_get(lines, i));
    }
}

/* One line for each key, its value from column KEY_WIDTH on. Objects inside are indented by two blanks. */
static void print_object(FILE *stream, const json_t *object, int indent)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)object, key, value)
    {
        fprintf(stream, "%*s%-*s ", indent, "", KEY_WIDTH - indent, key);
        if (json_object_size(value) > 0) {
            fputc('\n', stream);
            print_object(stream, value, indent + 2);
        } else {
            if (strcmp(key, "choice") == 0)
                print_lines(stream, value);
            else if (json_is_array(value))
                print_list(stream, value);
            else
                print_scalar(stream, value);
            fputc('\n', stream);
        }
    }
}

/* A sentence where the numbers alone could pass unseen. */
static void print_remark(FILE *stream, const json_t *fitted)
{
    const json_t *p = json_object_get(fitted, "residual_p");
    if (json_is_number(p) && json_number_value(p) < 0.001)
        fputs("\nThe size of the held-out residuals depends on x (residual_p): the spread of the response "
              "may, which\n"
              "response=ensemble and response=location-scale see, or the mean is not found everywhere.\n",
              stream);
}

/* Whatever loads has been checked; what there was to check depends on the file. */
static int print_checks(const cli_command *command, const char *hash, bool json)
{
    if (json) {
        json_t *about = json_pack("{s:s?, s:b}", "hash", hash, "verified", hash != NULL);
        return output_json(command, NULL, about);
    }
    output out;
    output_open(NULL, &out);
    fputs("form       right: every entry is there, of its type and shape, and the parts fit together\n"
          "numbers    finite\n",
          out.stream);
    if (hash != NULL)
        fprintf(out.stream, "content    as it was written: its hash is %s\n", hash);
    else
        fputs("content    not checked: the file is of an older version and has no hash\n", out.stream);
    return output_close(command, &out);
}

static int run(const cli_command *command, const cli_arguments *given, void *parsed)
{
    info_values *values = parsed;
    AUTO(stonet_model) *model = NULL;
    TRY(read_model(command, given->operand[0], &model));
    if (values->verify) return print_checks(command, stonet_model_hash(model), values->json);
    AUTO(json_t) *about = take_json(stonet_model_json(model));
    if (values->json) return output_json(command, NULL, json_incref(about));
    output out;
    output_open(NULL, &out);
    print_object(out.stream, about, 0);
    print_remark(out.stream, json_object_get(about, "fitted"));
    return output_close(command, &out);
}

const cli_command info_command = {
    .name = "info",
    .summary = "Show what is in a model file",
    .operands = "MODEL",
    OPTIONS_OF(options, info_values),
    .examples = "  stonet info my.model\n"
                "  stonet info my.model --json\n"
                "  stonet info my.model --verify",
    .run = run,
};
