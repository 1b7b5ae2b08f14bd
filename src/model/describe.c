/* Methods, learners and settings as JSON, from their tables. */
#include <math.h>
#include <string.h>

#include "base/json.h"
#include "model/settings_json.h"

static json_t *choices_json(const char *choices)
{
    if (choices == NULL) return json_null();
    json_t *list = json_array();
    for (const char *at = choices;; at = strchr(at, '|') + 1) {
        size_t length = strcspn(at, "|");
        list = sn_json_add(list, json_stringn(at, length));
        if (at[length] == '\0') return list;
    }
}

/* JSON has no infinity: an open end of a range is null, and so is the range of what is no number. */
static json_t *bound_json(const sn_param *param, double bound)
{
    bool ranged = param->kind != SN_CHOICE && param->kind != SN_ANY_TEXT && isfinite(bound);
    return ranged ? json_real(bound) : json_null();
}

static json_t *param_json(const sn_param *param)
{
    return json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:s}", "name", param->name, "kind",
                     sn_kind_name(param->kind), "default", param->initial, "low",
                     bound_json(param, param->low), "high", bound_json(param, param->high), "choices",
                     choices_json(param->choices), "help", param->help);
}

static json_t *params_json(const sn_param *params, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) list = sn_json_add(list, param_json(&params[i]));
    return list;
}

static json_t *tasks_json(unsigned tasks)
{
    json_t *list = json_array();
    if (tasks & SN_TASK_REGRESSION)
        list = sn_json_add(list, json_string(sn_words_name(&sn_task_words, SN_REGRESSION)));
    if (tasks & SN_TASK_CLASSIFICATION)
        list = sn_json_add(list, json_string(sn_words_name(&sn_task_words, SN_CLASSIFICATION)));
    return list;
}

static json_t *grid_json(const sn_method *method)
{
    json_t *list = json_array();
    for (int e = 0; e < SN_MAX_GRID_ENTRIES && method->grid[e].text != NULL; e++)
        list = sn_json_add(list, json_string(method->grid[e].text));
    return list;
}

static json_t *method_json(const sn_method *method)
{
    return json_pack("{s:s, s:s, s:o, s:o, s:b, s:b, s:b, s:b, s:b, s:o, s:o}", "name", method->name, "title",
                     method->title, "python", choices_json(method->python), "tasks",
                     tasks_json(method->tasks), "multi_output", method->multi_output, "needs_response",
                     !method->unsupervised, "predicts_itself", method->predict != NULL, "draws",
                     method->has_draws, "weighted", method->weighted, "settings",
                     params_json(method->params, method->n_params), "grid", grid_json(method));
}

static json_t *learner_json(const sn_learner *learner)
{
    return json_pack("{s:s, s:s, s:o, s:o}", "name", learner->name, "title", learner->title, "tasks",
                     tasks_json(learner->tasks), "settings", params_json(learner->params, learner->n_params));
}

char *stonet_methods_json(void)
{
    json_t *methods = json_array(), *learners = json_array();
    for (size_t i = 0; i < sn_method_count(); i++)
        methods = sn_json_add(methods, method_json(sn_method_at(i)));
    for (size_t i = 0; i < sn_learner_count(); i++)
        learners = sn_json_add(learners, learner_json(sn_learner_at(i)));
    return sn_json_text(json_pack("{s:o, s:o, s:o}", "methods", methods, "learners", learners, "common",
                                  params_json(sn_common_params, sn_common_param_count)),
                        true);
}
