#include "choice/candidates.h"

#include <math.h>

#include "base/number.h"
#include "stonet/spare_units.h"

/* ---- every number that the choice depends on --------------------------------------------------------------
 */

/* Each rung trains three times as long as the one before. */
const sn_rung sn_rungs[SN_RUNGS] = {{100, 1},         {300, SN_FEW_FOLDS}, {1000, SN_FOLDS},
                                    {3000, SN_FOLDS}, {10000, SN_FOLDS},   {30000, SN_FOLDS}};

/* Weight decays of a family: from, to, and the factor between two; half a decade where networks are close. */
typedef struct range {
    double from, to, factor;
} range;
#define HALF_A_DECADE 3.16227766
static const range NETWORK_DECAYS = {1e-3, 0.1, HALF_A_DECADE}, KERNEL_DECAYS = {1e-4, 0.1, HALF_A_DECADE},
                   LINEAR_DECAYS = {1e-3, 1.0, HALF_A_DECADE}, FEW_DECAYS = {1e-3, 0.1, 10.0};
/* Widths of the kernel: c = 1 has the mean distance of two rows for its standard deviation. */
static const range COMPLEXITIES = {0.5, 13.5, 3.0};
static const range COLUMNS = {2.0, 32.0, 2.0};
enum {
    COMPONENTS = 100,      /* principal components, at most */
    WIDE = 200,            /* columns from which a table may have too many for its rows, ... */
    COLUMNS_A_ROW = 2,     /* ... and does where it has so many for each row */
    KERNEL_ROWS = 20000,   /* above, kernel features of all rows cost more memory than they are worth */
    LANDMARKS_LEAST = 200, /* a tenth of the rows, between these */
    LANDMARKS_MOST = 1000
};

/* ---- the table --------------------------------------------------------------------------------------------
 */

typedef struct table {
    const sn_settings *settings;
    const sn_problem *problem;
    sn_line *lines;
    int count;
} table;

/* How many values a range has. */
static int steps_of(range values)
{
    int steps = 1;
    double value = values.from * values.factor;
    while (value <= 1.01 * values.to) { /* its end is one of them, whatever the rounding */
        value *= values.factor;
        steps++;
    }
    return steps;
}

static void add(table *t, sn_family family, sn_front_recipe front, sn_activation activation, range decays)
{
    if (sn_config_given(t->settings, "weight_decay")) {
        const double decay = sn_real(t->settings, "weight_decay");
        decays = (range){decay, decay, INFINITY};
    }
    double decay = decays.from;
    for (int k = 0; k < steps_of(decays) && t->count < SN_MOST_LINES; k++, decay *= decays.factor)
        t->lines[t->count++] = (sn_line){family, {front, activation, decay}};
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
    const double tenth = fmin(fmax((double)t->problem->n / 10.0, LANDMARKS_LEAST), LANDMARKS_MOST);
    return (sn_front_recipe){.kind = SN_FRONT_KERNEL,
                             .complexity = complexity,
                             .linear = sn_real(t->settings, "front_linear"),
                             .size = sn_config_given(t->settings, "front_landmarks")
                                         ? sn_int(t->settings, "front_landmarks")
                                         : (int64_t)tenth};
}

static void add_networks(table *t)
{
    const sn_front_recipe none = {.kind = SN_FRONT_NONE};
    const sn_activation units = activation_or(t, SN_TANH);
    /* Identity units alone are the linear family. */
    if (units != SN_RELU && (units != SN_IDENTITY || sn_config_given(t->settings, "hidden")))
        add(t, SN_FAMILY_NETWORK, none, units, NETWORK_DECAYS);
    if (may(t, "activation", "relu")) add(t, SN_FAMILY_RELU, none, SN_RELU, NETWORK_DECAYS);
}

static void add_kernels(table *t)
{
    const sn_activation units = activation_or(t, SN_TANH);
    if (sn_config_given(t->settings, "front_complexity")) {
        add(t, SN_FAMILY_KERNEL, kernel_of(t, sn_real(t->settings, "front_complexity")), units,
            KERNEL_DECAYS);
        return;
    }
    double complexity = COMPLEXITIES.from;
    for (int k = 0; k < steps_of(COMPLEXITIES); k++, complexity *= COMPLEXITIES.factor)
        add(t, SN_FAMILY_KERNEL, kernel_of(t, complexity), units, KERNEL_DECAYS);
}

static void add_few(table *t)
{
    const sn_activation units = activation_or(t, SN_TANH);
    const sn_front_recipe components = {.kind = SN_FRONT_COMPONENTS, .size = COMPONENTS};
    double count = COLUMNS.from;
    for (int k = 0; k < steps_of(COLUMNS) && may(t, "front", "columns"); k++, count *= COLUMNS.factor)
        add(t, SN_FAMILY_FEW, (sn_front_recipe){.kind = SN_FRONT_COLUMNS, .size = (int64_t)count}, units,
            FEW_DECAYS);
    if (!may(t, "front", "components")) return;
    if (units != SN_IDENTITY) add(t, SN_FAMILY_FEW, components, units, FEW_DECAYS);
    if (may(t, "activation", "identity")) add(t, SN_FAMILY_LINEAR, components, SN_IDENTITY, LINEAR_DECAYS);
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
    return problem->p > WIDE && problem->p > COLUMNS_A_ROW * problem->n;
}

/* One line: what is not given has a fixed value. */
static void add_one(table *t)
{
    const double complexity = sn_config_given(t->settings, "front_complexity")
                                  ? sn_real(t->settings, "front_complexity")
                                  : COMPLEXITIES.from * COMPLEXITIES.factor;
    sn_front_recipe front = {.kind = SN_FRONT_NONE};
    if (sn_is(t->settings, "front", "kernel")) front = kernel_of(t, complexity);
    if (sn_is(t->settings, "front", "columns"))
        front = (sn_front_recipe){.kind = SN_FRONT_COLUMNS, .size = (int64_t)COLUMNS.to};
    if (sn_is(t->settings, "front", "components"))
        front = (sn_front_recipe){.kind = SN_FRONT_COMPONENTS, .size = COMPONENTS};
    if (sn_is(t->settings, "front", "conv")) front.kind = SN_FRONT_CONV;
    const sn_activation units = activation_or(t, sn_is(t->settings, "hidden", "none") ? SN_RELU : SN_TANH);
    t->lines[t->count++] = (sn_line){
        SN_FAMILY_NETWORK,
        {front, units,
         sn_config_given(t->settings, "weight_decay") ? sn_real(t->settings, "weight_decay") : 0.0}};
}

stonet_status sn_lines_for(const sn_settings *settings, const sn_problem *problem, int64_t q, sn_line *lines,
                           int *count, bool *open)
{
    table t = {settings, problem, lines, 0};
    *open = (!sn_config_given(settings, "epochs") || !sn_config_given(settings, "weight_decay")) &&
            !sn_is(settings, "front", "conv");
    const bool any_front = !sn_config_given(settings, "front");
    const bool wide = any_front && is_wide(problem) && sn_is(settings, "select", "none");
    if (!*open) {
        add_one(&t);
    } else {
        if (may(&t, "front", "none") && !wide) add_networks(&t);
        if (sn_is(settings, "front", "kernel") ||
            (any_front && !wide && !layers_are_given(&t) && problem->n <= KERNEL_ROWS &&
             sn_is(settings, "select", "none") && !sn_is(settings, "activation", "identity")))
            add_kernels(&t);
        bool linear =
            may(&t, "front", "none") && !wide && !layers_are_given(&t) && may(&t, "activation", "identity");
        if (linear && !sn_is(settings, "activation", "identity") && q > 1) {
            /* Linear units have no more columns of Z than the features have directions. */
            int64_t directions;
            SN_TRY(sn_feature_directions(problem, q, &directions));
            linear = q <= directions;
        }
        if (linear)
            add(&t, SN_FAMILY_LINEAR, (sn_front_recipe){.kind = SN_FRONT_NONE}, SN_IDENTITY, LINEAR_DECAYS);
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
    const char *units = sn_words_name(&sn_activation_words, kind->activation);
    char seen[64] = "";
    if (kind->front.kind == SN_FRONT_KERNEL)
        sn_format(seen, sizeof seen, " on kernel features (complexity %.3g)", kind->front.complexity);
    if (kind->front.kind == SN_FRONT_COLUMNS)
        sn_format(seen, sizeof seen, " on %lld columns", (long long)kind->front.size);
    if (kind->front.kind == SN_FRONT_COMPONENTS) sn_format(seen, sizeof seen, " on principal components");
    if (kind->activation == SN_IDENTITY)
        sn_format(text, size, "linear network%s, weight decay %.2g", seen, kind->weight_decay);
    else
        sn_format(text, size, "%s network%s, weight decay %.2g", units, seen, kind->weight_decay);
}
