/* stonet importance: which variables a model uses. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/commands.h"
#include "cli/common.h"
#include "cli/output.h"
#include "cli/say.h"
#include "cli/show.h"
#include "cli/svg.h"

typedef struct importance_values {
    target_options target;
    run_options run;
    const char *kind, *train, *plot;
    int64_t repeats;
    double fdr;
    bool json;
} importance_values;

static const cli_option options[] = {
    TARGET_OPTIONS(importance_values, target),
    GROUP_OPTION(importance_values, target),
    WORD_OPTION(
        importance_values, kind, "kind", "NAME", "permutation",
        "permutation: growth of the loss when the variable comes from another row; gradient: mean "
        "derivative of the prediction, for one standard deviation of it; shapley: what it takes off the "
        "loss, over random orders of the variables; refit: growth of the loss when the model is fitted "
        "without it (needs --train); stability: share of the halves of these rows in which a group lasso "
        "keeps it among the last; conditional: growth of the loss when it is drawn given the others, with "
        "p-values; vip: its part in the components of a pls model, 1 on average, with standard errors by "
        "leaving out tenths of these rows"),
    TEXT_OPTION(
        importance_values, train, "train", "FILE",
        "The rows the model was fitted on, with the response in the column that --target names. --kind "
        "refit needs them. With them the standard errors of permutation, gradient and shapley include "
        "the fit, by 20 fits on halves of these rows"),
    NUMBER_OPTION(importance_values, repeats, "repeats", "R", "0", 0, 100000,
                  "Permutations of each variable (0: 10), pairs of orders (0: until the values "
                  "hardly change), pairs of halves (0: 50), or draws (0: 1000 at the most)"),
    REAL_OPTION(importance_values, fdr, "fdr", "A", "0.1", 0, 1,
                "With --kind conditional: the share of false ones among the variables named as needed"),
    JSON_OPTION(importance_values, json),
    FILE_OPTION(importance_values, plot, "plot", "FILE.svg",
                "Draw the importances, largest first, with their standard errors"),
    RUN_OPTIONS(importance_values, run),
};

/* The rows, largest importance first. */
typedef struct ranked_row {
    stonet_importance_row_values of;
    double p_value, q_value; /* NaN: the kind has none */
} ranked_row;

typedef struct ranking {
    int64_t count;
    ranked_row *row;
} ranking;

static int compare_rows(const void *a, const void *b)
{
    const ranked_row *first = a, *second = b;
    if (first->of.importance == second->of.importance) return 0;
    return first->of.importance > second->of.importance ? -1 : 1;
}

static ranking rank(const stonet_importance_result *found)
{
    ranking out = {.count = stonet_importance_rows(found)};
    out.row = room_for(out.count, sizeof *out.row);
    for (int64_t j = 0; j < out.count; j++) {
        (void)stonet_importance_row(found, j, &out.row[j].of);
        out.row[j].p_value = stonet_importance_p_value(found, j);
        out.row[j].q_value = stonet_importance_q_value(found, j);
    }
    qsort(out.row, (size_t)out.count, sizeof *out.row, compare_rows);
    return out;
}

/* p_value and q_value only for kinds that test, z1 .. up to MOST_Z for kinds that look at Z. --json has all
   columns. */
static int print_ranking(const cli_command *command, const ranking *ranked)
{
    enum { MOST_Z = 20 };
    const int64_t dim = ranked->count > 0 ? ranked->row[0].of.n_z : 0, shown = dim < MOST_Z ? dim : MOST_Z;
    const bool tested = ranked->count > 0 && !isnan(ranked->row[0].p_value);
    char align[MOST_Z + 6] = "lrr";
    for (int64_t k = 0; k < shown + (tested ? 2 : 0); k++) align[3 + k] = 'r';
    AUTO(table) *printed = table_create(align);
    table_add(printed, "variable");
    table_add(printed, "importance");
    table_add(printed, "se");
    if (tested) table_add(printed, "p_value");
    if (tested) table_add(printed, "q_value");
    for (int64_t k = 0; k < shown; k++) table_add(printed, "z%lld", (long long)k + 1);
    for (int64_t j = 0; j < ranked->count; j++) {
        const stonet_importance_row_values *row = &ranked->row[j].of;
        table_add(printed, "%s", row->variable);
        table_add(printed, "%.4g", row->importance);
        table_add(printed, "%.2g", row->se);
        if (tested) table_add(printed, "%.3g", ranked->row[j].p_value);
        if (tested) table_add(printed, "%.3g", ranked->row[j].q_value);
        for (int64_t k = 0; k < shown; k++) table_add(printed, "%.3f", row->z[k]);
    }
    return output_table(command, NULL, printed, true);
}

/* The largest ones: a page of bars. */
static int draw(const cli_command *command, const importance_values *values, const ranking *ranked)
{
    enum { MOST_BARS = 40 };
    svg_bar bars[MOST_BARS];
    const size_t count = ranked->count < MOST_BARS ? (size_t)ranked->count : MOST_BARS;
    for (size_t j = 0; j < count; j++)
        bars[j] = (svg_bar){.name = ranked->row[j].of.variable,
                            .value = ranked->row[j].of.importance,
                            .error = ranked->row[j].of.se};
    char title[96];
    snprintf(title, sizeof title, "Importance of the variables (%s)", values->kind);
    char *text = svg_render_bars(title, "importance, with its standard error", bars, count);
    return output_plot(command, values->plot, text);
}

/* Whether stability selection, or the test given the others, selects variable j of the result. */
static bool is_selected(const stonet_importance_result *found, int64_t j, double fdr)
{
    const double enough = 0.75; /* then one variable is there by chance, on the average */
    const double q = stonet_importance_q_value(found, j);
    stonet_importance_row_values row;
    if (!isnan(q)) return q <= fdr;
    return stonet_importance_row(found, j, &row) == STONET_OK && row.importance >= enough;
}

/* Names the selected variables in the order of the table on standard error, so that standard output stays a
   ranking that other programs can read. */
static void say_selected(const stonet_importance_result *found, stonet_importance_kind kind, double fdr)
{
    const int64_t rows = stonet_importance_rows(found);
    int64_t count = 0;
    for (int64_t j = 0; j < rows; j++) count += is_selected(found, j, fdr);
    fprintf(stderr, "%lld of %lld variables are selected ", (long long)count, (long long)rows);
    if (kind == STONET_IMPORTANCE_STABILITY)
        fputs("(a share of 0.75 and more)", stderr);
    else
        fprintf(stderr, "(on average at most %g of those selected are false)", fdr);
    const char *before = ": ";
    for (int64_t j = 0; j < rows; j++) {
        stonet_importance_row_values row;
        if (!is_selected(found, j, fdr) || stonet_importance_row(found, j, &row) != STONET_OK) continue;
        fputs(before, stderr);
        show_text(stderr, row.variable);
        before = ", ";
    }
    fputc('\n', stderr);
}

static int finish(const cli_command *command, const importance_values *values, stonet_importance_kind kind,
                  const stonet_importance_result *found)
{
    const ranking ranked = rank(found);
    BLOCK ranked_row *rows = ranked.row;
    if ((kind == STONET_IMPORTANCE_STABILITY || kind == STONET_IMPORTANCE_CONDITIONAL) && !values->run.quiet)
        say_selected(found, kind, values->fdr);
    if (values->plot != NULL) TRY(draw(command, values, &ranked));
    return values->json ? output_made_json(command, NULL, stonet_importance_json(found))
                        : print_ranking(command, &ranked);
}

static int check_values(const cli_command *command, const importance_values *values,
                        stonet_importance_kind *kind)
{
    const char *wrong = NULL;
    if (stonet_importance_kind_find(values->kind, kind) != STONET_OK)
        wrong = stonet_last_error();
    else if (*kind == STONET_IMPORTANCE_REFIT && values->train == NULL)
        wrong = "--kind refit needs the rows the model was fitted on: give --train FILE";
    else if (*kind > STONET_IMPORTANCE_REFIT && values->train != NULL)
        wrong = "--train belongs to --kind refit, permutation, gradient and shapley";
    else if (values->train != NULL && values->target.read.target == NULL)
        wrong = "with --train the response is found in both files by --target COL";
    return wrong != NULL ? say_usage(command, "%s", wrong) : EXIT_DONE;
}

/* Fits on other rows need two tables: DATA to measure the loss on, and --train to fit again. Groups then
   belong to the rows of --train. */
static int ask(const cli_command *command, const cli_arguments *given, void *parsed)
{
    const importance_values *values = parsed;
    stonet_importance_options how = STONET_IMPORTANCE_OPTIONS_INIT;
    target_options target = values->target;
    how.repeats = values->repeats;
    AUTO(stonet_model) *model = NULL;
    AUTO(stonet_data) *data = NULL;
    AUTO(stonet_data) *train = NULL;
    AUTO(stonet_importance_result) *found = NULL;
    TRY(check_values(command, values, &how.kind));
    TRY(require_target_of_model(command, &target));
    TRY(output_check(command, values->plot));
    TRY(read_model(command, given->operand[0], &model));
    if (values->train != NULL) target.read.group = NULL; /* it is the training rows that are split */
    TRY(read_data_for(command, model, given->operand[1], &target, values->run.threads, &data));
    target.read.group = values->target.read.group;
    if (how.kind != STONET_IMPORTANCE_STABILITY) /* which fits anew, on the rows of the fit best of all */
        TRY(say_met(command, model, data, values->run.quiet));
    if (values->train != NULL)
        TRY(read_data_for(command, model, values->train, &target, values->run.threads, &train));
    how.train = train;
    stonet_run run = run_of(&values->run);
    TRY(outcome(command, stonet_importance(model, data, &how, &run, &found)));
    return finish(command, values, how.kind, found);
}

const cli_command importance_command = {
    .name = "importance",
    .summary = "Say which variables a model uses",
    .operands = "MODEL DATA",
    .details =
        "DATA should be rows the model was not fitted on. Loss is the log loss, or the squared error over "
        "the training variance of the response; a text column is one variable. The columns z1, z2, .. "
        "(permutation, gradient) say how much each column of Z depends on the variable. Permuting a variable "
        "that others depend on makes rows that do not occur. shapley shares out what such variables say "
        "together, and refit says what the others cannot replace. conditional tests whether the response "
        "depends on a variable given all others.",
    OPTIONS_OF(options, importance_values),
    .examples = "  stonet importance my.model test.csv --target y\n"
                "  stonet importance my.model test.csv --target y --kind shapley --plot importance.svg",
    .run = ask,
};
