/* What to fit: a method, its settings, and the learner on Z with its own. */
#include <string.h>

#include "base/memory.h"
#include "base/nearest.h"
#include "model/model.h"

#define LEARNER_CHOICE(name) "|" #name

const sn_param sn_common_params[] = {
    {"dim", SN_INTEGER, "2", 1, 1e6, NULL, "number of reduced variables, the columns of Z"},
    {"task", SN_CHOICE, "auto", 0, 0, "auto|" SN_TASK_WORDS(SN_JOINED) "|survival|interval|count|ordinal",
     "what the target is; auto: text and few whole numbers are classes; survival: a time and, in a second "
     "column, 1 where it was seen and 0 where it is censored; interval: bounds of a time; count: a count and, "
     "in a second column, its exposure; ordinal: ordered classes"},
    {"scale", SN_CHOICE, "auto", 0, 0, SN_SCALE_WORDS(SN_JOINED),
     "how features are scaled: each column, all by one common factor, only centred, or not at all; auto: a "
     "factor for each column or curve, or a common one for pixels"},
    {"levels", SN_INTEGER, "default", 3, SN_MOST_LEVELS, "default|auto|none",
     "numbers that look like codes also as categories: columns of 3 up to so many distinct values; auto: up "
     "to "
     "8, in tables of fewer than 64 columns; default: auto for stonet, else none"},
    {"missing", SN_CHOICE, "auto", 0, 0, "auto|" SN_MISSING_WORDS(SN_JOINED),
     "what becomes of missing cells; error: they are refused; drop: their rows are left out of the fit; mean: "
     "that of the column; gaussian: drawn or expected given the other cells, for StoNets given the response "
     "too; joint: StoNets draw them by the network; auto: joint for StoNets of numbers, else gaussian"},
    {"missing_indicators", SN_CHOICE, "off", 0, 0, "on|off",
     "on: features that say which cells are missing, for columns that lack more than 5"},
    {"curves", SN_CHOICE, "none", 0, 0, "auto|" SN_CURVE_WORDS(SN_JOINED),
     "what is done to each row of a spectrum or another curve before all else: standard normal variate, "
     "centring, Savitzky-Golay derivatives, detrending; auto: what is best on held-out rows, if the columns "
     "are smooth along their order"},
    {"curves_window", SN_INTEGER, "auto", SN_CURVE_FEWEST, SN_CURVE_MOST, "auto",
     "channels in the window of a derivative of curves, an odd number; auto: a fifteenth of the curve"},
    {"curves_columns", SN_ANY_TEXT, "all", 0, 0, "all",
     "the first and the last column of each curve, by name or by number from 1 without the target: 850-1048 or "
     "nir1-nir100,uv1-uv60; all: all columns of numbers are one curve"},
    {"class_weight", SN_CHOICE, "none", 0, 0, "none|balanced",
     "balanced: rows count so that all classes count the same"},
    {"learner", SN_CHOICE, "auto", 0, 0, "auto|none" SN_LEARNERS(LEARNER_CHOICE),
     "what predicts from Z; auto: the method itself, else plain (linear, logistic) or kernel regression, "
     "whichever is better on held-out rows"},
};
const size_t sn_common_param_count = sizeof sn_common_params / sizeof *sn_common_params;

static const char LEARNER_PREFIX[] = "learner.";

/* All settings, the common ones and those of the method, start at their defaults. */
stonet_status stonet_spec_create(const char *method, stonet_spec **out)
{
    if (method == NULL || out == NULL)
        return sn_fail(STONET_ERROR_ARGUMENT, "a spec needs the name of a method and a place to go");
    *out = NULL;
    const sn_method *found = sn_method_find(method);
    if (found == NULL) {
        sn_nearest nearest;
        sn_nearest_start(&nearest, method);
        for (size_t i = 0; i < sn_method_count(); i++) sn_nearest_offer(&nearest, sn_method_at(i)->name);
        if (nearest.best != NULL)
            return sn_fail(STONET_ERROR_ARGUMENT, "there is no method '%s': did you mean '%s'?", method,
                           nearest.best);
        return sn_fail(STONET_ERROR_ARGUMENT, "there is no method '%s': 'stonet methods' lists them", method);
    }
    SN_AUTO(stonet_spec) *spec = NULL;
    SN_TRY(SN_NEW(spec, 1));
    spec->method = found;
    SN_TRY(sn_settings_create(sn_common_params, sn_common_param_count, &spec->common));
    SN_TRY(sn_settings_create(found->params, found->n_params, &spec->settings));
    return SN_GIVE(spec, out);
}

void stonet_spec_free(stonet_spec *spec)
{
    if (spec == NULL) return;
    sn_settings_free(spec->common);
    sn_settings_free(spec->settings);
    sn_settings_free(spec->learner_settings);
    sn_free(spec);
}

stonet_status stonet_spec_copy(const stonet_spec *spec, stonet_spec **out)
{
    if (spec == NULL || out == NULL) return sn_fail(STONET_ERROR_ARGUMENT, "there is no spec to copy");
    *out = NULL;
    SN_AUTO(stonet_spec) *copy = NULL;
    SN_TRY(SN_NEW(copy, 1));
    copy->method = spec->method;
    copy->learner = spec->learner;
    SN_TRY(sn_settings_copy(spec->common, &copy->common));
    SN_TRY(sn_settings_copy(spec->settings, &copy->settings));
    if (spec->learner_settings != NULL)
        SN_TRY(sn_settings_copy(spec->learner_settings, &copy->learner_settings));
    return SN_GIVE(copy, out);
}

static stonet_status take_settings(const sn_settings *from, sn_settings **to)
{
    sn_settings *copy = NULL;
    SN_TRY(sn_settings_copy(from, &copy));
    // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): a spec that could not be created is not filled
    sn_settings_free(*to);
    *to = copy;
    return STONET_OK;
}

static stonet_status fill_from_model(const stonet_model *model, stonet_spec *spec)
{
    SN_TRY(take_settings(model->common, &spec->common));
    SN_TRY(take_settings(model->settings, &spec->settings));
    /* The task of the target stays the same, whichever rows are fitted. */
    if (sn_schema_outputs(model->schema) > 0)
        SN_TRY(stonet_spec_set(spec, "task", sn_schema_task_word(model->schema)));
    if (model->learner == NULL)
        return stonet_spec_set(spec, "learner", model->method->predict != NULL ? "auto" : "none");
    SN_TRY(stonet_spec_set(spec, "learner", model->learner->name));
    return take_settings(model->learner_settings, &spec->learner_settings);
}

stonet_status stonet_model_spec(const stonet_model *model, stonet_spec **out)
{
    if (model == NULL || out == NULL)
        return sn_fail(STONET_ERROR_ARGUMENT, "stonet_model_spec needs a model and a place for the spec");
    SN_AUTO(stonet_spec) *spec = NULL;
    *out = NULL;
    SN_TRY(stonet_spec_create(model->method->name, &spec));
    SN_TRY(fill_from_model(model, spec));
    return SN_GIVE(spec, out);
}

/* Settings of a learner chosen before go when another one is chosen; naming the same one again keeps them. */
static stonet_status choose_learner(stonet_spec *spec, const char *name)
{
    SN_TRY(sn_settings_set(spec->common, "learner", name));
    const sn_learner *learner = sn_learner_find(name);
    if (learner == spec->learner) return STONET_OK;
    sn_settings *settings = NULL;
    if (learner != NULL) SN_TRY(sn_settings_create(learner->params, learner->n_params, &settings));
    sn_settings_free(spec->learner_settings);
    spec->learner = learner;
    spec->learner_settings = settings;
    return STONET_OK;
}

static stonet_status unknown_setting(const stonet_spec *spec, const char *name)
{
    sn_nearest nearest;
    sn_nearest_start(&nearest, name);
    for (size_t i = 0; i < sn_common_param_count; i++) sn_nearest_offer(&nearest, sn_common_params[i].name);
    for (size_t i = 0; i < spec->method->n_params; i++)
        sn_nearest_offer(&nearest, spec->method->params[i].name);
    const char *method = spec->method->name;
    if (nearest.best != NULL)
        return sn_fail(STONET_ERROR_ARGUMENT, "method '%s' has no setting '%s': did you mean '%s'?", method,
                       name, nearest.best);
    return sn_fail(STONET_ERROR_ARGUMENT, "method '%s' has no setting '%s': 'stonet methods %s' lists them",
                   method, name, method);
}

stonet_status stonet_spec_set(stonet_spec *spec, const char *name, const char *value)
{
    if (spec == NULL || name == NULL || value == NULL)
        return sn_fail(STONET_ERROR_ARGUMENT, "a setting needs a spec, a name and a value");
    if (strcmp(name, "learner") == 0) return choose_learner(spec, value);
    if (strncmp(name, LEARNER_PREFIX, strlen(LEARNER_PREFIX)) == 0) {
        if (spec->learner == NULL)
            return sn_fail(STONET_ERROR_ARGUMENT,
                           "setting '%s' needs a learner chosen before it, for example learner=logistic",
                           name);
        stonet_status status = sn_settings_set(spec->learner_settings, name + strlen(LEARNER_PREFIX), value);
        return status == STONET_OK ? STONET_OK : sn_fail_prefix(status, "learner '%s'", spec->learner->name);
    }
    if (sn_settings_has(spec->common, name)) return sn_settings_set(spec->common, name, value);
    if (sn_settings_has(spec->settings, name)) return sn_settings_set(spec->settings, name, value);
    return unknown_setting(spec, name);
}

bool sn_spec_has(const stonet_spec *spec, const char *name)
{
    if (strncmp(name, LEARNER_PREFIX, strlen(LEARNER_PREFIX)) == 0)
        return spec->learner != NULL &&
               sn_settings_has(spec->learner_settings, name + strlen(LEARNER_PREFIX));
    return sn_settings_has(spec->common, name) || sn_settings_has(spec->settings, name);
}
