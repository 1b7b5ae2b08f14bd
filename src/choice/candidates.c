#include "choice/candidates.h"

#include <math.h>

#include "base/number.h"
#include "stonet/spare_units.h"

typedef struct table {
    const sn_settings *settings;
    const sn_problem *problem;
    sn_line *lines;
    int count;
} table;

int64_t sn_rung_updates(int rung)
{
    int64_t updates = SN_FIRST_UPDATES;
    for (int k = 0; k < rung; k++) updates *= SN_STEP;
    return updates;
}

int sn_rung_most_folds(int rung)
{
    return rung == 0 ? 1 : rung == 1 ? SN_FEW_FOLDS : SN_FOLDS;
}

/* Lines of every `apart`-th weight decay, the weakest first; or of the one that was given. */
static void add(table *t, sn_line line, double strongest, int apart)
{
    const bool given = sn_config_given(t->settings, "weight_decay");
    for (int k = given ? 0 : (SN_DECAYS - 1) / apart * apart; k >= 0; k -= apart) {
        line.kind.weight_decay =
            given ? sn_real(t->settings, "weight_decay") : strongest / pow(SN_STEP, (double)k);
        t->lines[t->count++] = line;
    }
}

/* Whether a word is what a setting says, or leaves open. */
static bool may(const table *t, const char *setting, const char *word)
{
    return !sn_config_given(t->settings, setting) || sn_is(t->settings, setting, word);
}

/* The activation that was given, or `usual`. */
static sn_activation activation_or(const table *t, sn_activation usual)
{
    const int given = sn_words_choice(&sn_activation_words, t->settings, "activation");
    return given >= 0 ? (sn_activation)given : usual;
}

static sn_front_recipe kernel_of(const table *t, double complexity)
{
    const double part = (double)t->problem->n / SN_ROWS_A_LANDMARK;
    const double size = fmin(fmax(part, SN_MANY_COLUMNS), SN_ENOUGH_ROWS);
    return (sn_front_recipe){.kind = SN_FRONT_KERNEL,
                             .complexity = complexity,
                             .linear = sn_real(t->settings, "front_linear"),
                             .size = (int64_t)sn_config_or(t->settings, "front_landmarks", size)};
}

static void add_networks(table *t)
{
    const sn_activation units = activation_or(t, SN_TANH);
    /* Identity units alone are the linear family. */
    if (units != SN_RELU && (units != SN_IDENTITY || sn_config_given(t->settings, "hidden")))
        add(t, (sn_line){SN_FAMILY_NETWORK, {.activation = units}}, SN_NETWORK_DECAY, 1);
    if (may(t, "activation", "relu"))
        add(t, (sn_line){SN_FAMILY_RELU, {.activation = SN_RELU}}, SN_NETWORK_DECAY, 1);
}

static void add_kernels(table *t)
{
    const bool given = sn_config_given(t->settings, "front_complexity");
    double complexity = sn_config_or(t->settings, "front_complexity", SN_LEAST_COMPLEXITY);
    for (int k = 0; k < (given ? 1 : SN_TRIES); k++, complexity *= SN_STEP)
        add(t, (sn_line){SN_FAMILY_KERNEL, {kernel_of(t, complexity), activation_or(t, SN_TANH), 0.0}},
            SN_NETWORK_DECAY, 1);
}

static const sn_front_recipe COMPONENTS = {.kind = SN_FRONT_COMPONENTS, .size = SN_COMPONENTS};

static void add_few(table *t)
{
    const sn_activation units = activation_or(t, SN_TANH);
    sn_front_recipe columns = {.kind = SN_FRONT_COLUMNS, .size = 1};
    for (int k = 0; k < SN_COLUMN_COUNTS && may(t, "front", "columns"); k++) {
        columns.size *= SN_FEW_STEP;
        add(t, (sn_line){SN_FAMILY_FEW, {columns, units, 0.0}}, SN_NETWORK_DECAY, SN_FEW_STEP);
    }
    if (!may(t, "front", "components")) return;
    if (units != SN_IDENTITY)
        add(t, (sn_line){SN_FAMILY_FEW, {COMPONENTS, units, 0.0}}, SN_NETWORK_DECAY, SN_FEW_STEP);
    if (may(t, "activation", "identity"))
        add(t, (sn_line){SN_FAMILY_LINEAR, {COMPONENTS, SN_IDENTITY, 0.0}}, SN_LINEAR_DECAY, 1);
}

/* Whether the layers, the inputs or the sampler are set layer by layer, which other shapes cannot have. */
static bool layers_are_given(const table *t)
{
    return sn_config_given(t->settings, "hidden") || sn_config_given(t->settings, "sigma2") ||
           sn_config_given(t->settings, "epsilon") || sn_config_given(t->settings, "gamma") ||
           !sn_is(t->settings, "input_activation", "off");
}

static bool is_wide(const sn_problem *problem)
{
    return problem->p > SN_MANY_COLUMNS && problem->p > SN_COLUMNS_A_ROW * problem->n;
}

bool sn_joint_suits(const sn_settings *settings, const sn_problem *problem)
{
    const table t = {settings, problem, NULL, 0};
    return problem->task == SN_REGRESSION && sn_is(settings, "response", "mean") &&
           may(&t, "front", "none") && sn_is(settings, "select", "none") && !is_wide(problem);
}

/* One line: what is not given has a fixed value. */
static void add_one(table *t)
{
    const double complexity = sn_config_or(t->settings, "front_complexity", SN_STEP * SN_LEAST_COMPLEXITY);
    const int word = sn_words_choice(&sn_front_words, t->settings, "front"); /* -1: auto */
    sn_front_recipe front = {.kind = word > 0 ? (sn_front_kind)word : SN_FRONT_NONE};
    if (front.kind == SN_FRONT_KERNEL) front = kernel_of(t, complexity);
    if (front.kind == SN_FRONT_COLUMNS) front.size = (int64_t)pow(SN_FEW_STEP, SN_COLUMN_COUNTS);
    if (front.kind == SN_FRONT_COMPONENTS) front = COMPONENTS;
    const sn_activation units = activation_or(t, sn_is(t->settings, "hidden", "none") ? SN_RELU : SN_TANH);
    const double decay = sn_config_or(t->settings, "weight_decay", 0.0);
    t->lines[t->count++] = (sn_line){SN_FAMILY_NETWORK, {front, units, decay}};
}

/* A family is in the table unless a setting excludes it. Where columns are far more than rows, and no front
   is set, layer 1 sees few columns or components only. Kernels and linear units also need layers left open.
   */
stonet_status sn_lines_for(const sn_settings *settings, const sn_problem *problem, int64_t q, sn_line *lines,
                           int *count, bool *open)
{
    table t = {settings, problem, lines, 0};
    *open = (!sn_config_given(settings, "epochs") || !sn_config_given(settings, "weight_decay")) &&
            !sn_is(settings, "front", "conv");
    const bool any_front = !sn_config_given(settings, "front") && !problem->joint;
    if (problem->joint && !may(&t, "front", "none"))
        return sn_fail(STONET_ERROR_ARGUMENT,
                       "missing=joint draws cells for networks that see x itself, and front=%s "
                       "hides x: use front=none, or missing=gaussian",
                       sn_word(settings, "front"));
    const bool wide = any_front && is_wide(problem) && sn_is(settings, "select", "none");
    if (!*open) {
        add_one(&t);
    } else {
        if (may(&t, "front", "none") && !wide) add_networks(&t);
        if (sn_is(settings, "front", "kernel") ||
            (any_front && !wide && !layers_are_given(&t) && problem->n <= SN_MOST_KERNEL_ROWS &&
             sn_is(settings, "select", "none") && !sn_is(settings, "activation", "identity")))
            add_kernels(&t);
        bool linear =
            may(&t, "front", "none") && !wide && !layers_are_given(&t) && may(&t, "activation", "identity");
        if (linear && !sn_is(settings, "activation", "identity") && q > 1) {
            /* Linear units have no more columns of Z than the features have directions. */
            int64_t directions;
            SN_TRY(sn_feature_directions(problem, &directions));
            linear = q <= directions;
        }
        if (linear) add(&t, (sn_line){SN_FAMILY_LINEAR, {.activation = SN_IDENTITY}}, SN_LINEAR_DECAY, 1);
        if (wide || sn_is(settings, "front", "columns") || sn_is(settings, "front", "components"))
            add_few(&t);
    }
    *count = t.count;
    if (t.count == 0)
        return sn_fail(STONET_ERROR_ARGUMENT, "no kind of network has all of these settings: set fewer of "
                                              "front, activation and hidden");
    return STONET_OK;
}

void sn_line_tell(const sn_line *line, char *text, size_t size)
{
    const sn_net_kind *kind = &line->kind;
    const char *units =
        kind->activation == SN_IDENTITY ? "linear" : sn_words_name(&sn_activation_words, kind->activation);
    char seen[64] = "";
    if (kind->front.kind == SN_FRONT_KERNEL)
        sn_format(seen, sizeof seen, " on kernel features (complexity %.3g)", kind->front.complexity);
    if (kind->front.kind == SN_FRONT_COLUMNS)
        sn_format(seen, sizeof seen, " on %lld columns", (long long)kind->front.size);
    if (kind->front.kind == SN_FRONT_COMPONENTS) sn_format(seen, sizeof seen, " on principal components");
    sn_format(text, size, "%s network%s, weight decay %.2g", units, seen, kind->weight_decay);
}
