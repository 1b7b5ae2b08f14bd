/*
 * Format 1 (0.1.0) to format 2. What is new in format 2:
 *
 *   - words instead of the numbers of enums: stonet.outcome, and activation and task of plain networks;
 *   - one form for every network (net/network.h): plain networks (mlp, nnsdr, autoencoder) had all parameters
 *     in one tensor theta and a 0 or 1 in scaled; a StoNet said nothing of its first layer, its scaling and
 * its engine.
 */
#include "model/upgrade.h"

#include <string.h>

#include "base/memory.h"
#include "base/run.h"
#include "net/network.h"

static bool says(const sn_store *store, const char *key, const char *word)
{
    const char *text = sn_store_find_text(store, key);
    return text != NULL && strcmp(text, word) == 0;
}

static stonet_status read_network(const sn_store *part, sn_network *net)
{
    const sn_tensor *theta;
    int64_t activation, task, scaled;
    SN_TRY(sn_store_get_int(part, "activation", SN_IDENTITY, SN_SIGMOID, &activation));
    SN_TRY(sn_store_get_int(part, "task", SN_REGRESSION, SN_CLASSIFICATION, &task));
    net->shape.activation = (sn_activation)activation;
    net->shape.task = (sn_task)task;
    SN_TRY(sn_network_get_widths(part, &net->shape));
    SN_TRY(sn_store_get_vector(part, "theta", SN_F32, net->shape.parameters, &theta));
    SN_TRY(SN_NEW_RAW(net->theta, net->shape.parameters));
    memcpy(net->theta, theta->data, (size_t)net->shape.parameters * sizeof *net->theta);
    SN_TRY(sn_store_get_int(part, "scaled", 0, 1, &scaled));
    return scaled ? sn_scaling_load(part, net->shape.width[0], &net->scaling) : STONET_OK;
}

static stonet_status rewrite_network(const sn_store *old, const char *prefix, bool linear_first,
                                     sn_store *fresh)
{
    SN_FREED_BY(sn_network_clear) sn_network net = {.shape = {.linear_layer = linear_first ? 1 : 0}};
    SN_AUTO(sn_store) *from = NULL, *to = NULL;
    SN_TRY(sn_store_part(old, prefix, &from));
    SN_TRY(sn_store_part(fresh, prefix, &to));
    SN_TRY(read_network(from, &net));
    return sn_network_put(&net, to);
}

/* Whether an entry is of a network that was rewritten, under one of its names in format 1. */
static bool is_network_entry(const char *name, const char *prefix)
{
    static const char *const NAMES[] = {"widths", "theta", "activation", "task", "scaled", "mean", "factor"};
    const size_t length = prefix != NULL ? strlen(prefix) : 0;
    if (prefix == NULL || strncmp(name, prefix, length) != 0) return false;
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
        if (strcmp(name + length, NAMES[i]) == 0) return true;
    return false;
}

/* Everything that is not there yet and was not rewritten under the prefixes (NULL: none). */
static stonet_status copy_rest(const sn_store *old, const char *method, const char *learner, sn_store *fresh)
{
    for (size_t i = 0; i < sn_store_tensors(old); i++) {
        const sn_tensor *tensor = sn_store_tensor(old, i);
        if (is_network_entry(tensor->name, method) || is_network_entry(tensor->name, learner)) continue;
        SN_TRY(sn_store_put(fresh, tensor->name, tensor->dtype, tensor->rank, tensor->shape, tensor->data));
    }
    for (size_t i = 0; i < sn_store_texts(old); i++) {
        const char *key, *value;
        sn_store_text(old, i, &key, &value);
        if (is_network_entry(key, method) || is_network_entry(key, learner)) continue;
        if (sn_store_find_text(fresh, key) == NULL) SN_TRY(sn_store_put_text(fresh, key, value));
    }
    return STONET_OK;
}

static stonet_status rewrite(const sn_store *old, sn_store *fresh)
{
    const bool nnsdr = says(old, "stonet.method", "nnsdr");
    const char *method = nnsdr || says(old, "stonet.method", "autoencoder") ? "method." : NULL;
    const char *learner = says(old, "stonet.learner", "mlp") ? "learner." : NULL;
    int64_t outcome;
    SN_TRY(sn_store_put_int(fresh, "format_version", SN_MODEL_FORMAT));
    SN_TRY(sn_store_get_int(old, "stonet.outcome", STONET_DONE, STONET_DIVERGED, &outcome));
    SN_TRY(sn_words_put(&sn_outcome_words, fresh, "stonet.outcome", (int)outcome));
    if (method != NULL) SN_TRY(rewrite_network(old, method, nnsdr, fresh));
    if (learner != NULL) SN_TRY(rewrite_network(old, learner, false, fresh));
    if (says(old, "stonet.method", "stonet")) {
        SN_TRY(sn_store_put_text(fresh, "method.first_layer", "activated"));
        SN_TRY(sn_store_put_text(fresh, "method.scaling", "none"));
        SN_TRY(sn_store_put_text(fresh, "method.engine", "cpu")); /* used whatever it was fitted with */
    }
    return copy_rest(old, method, learner, fresh);
}

stonet_status sn_model_upgrade_1(const sn_store *old, sn_store **out)
{
    SN_AUTO(sn_store) *fresh = NULL;
    SN_TRY(sn_store_create(&fresh));
    SN_TRY(rewrite(old, fresh));
    return SN_GIVE(fresh, out);
}

void sn_model_upgrade_settings(json_t *settings)
{
    static const char *const NAMES[] = {"front_linear", "restarts", "missing_indicators"};
    for (size_t k = 0; k < sizeof NAMES / sizeof *NAMES; k++) {
        const char *value = json_string_value(json_object_get(settings, NAMES[k]));
        if (value != NULL && strcmp(value, "auto") == 0) json_object_del(settings, NAMES[k]);
    }
}
