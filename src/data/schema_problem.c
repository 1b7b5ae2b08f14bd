#include "base/memory.h"
#include "data/kin.h"
#include "data/schema.h"

stonet_status sn_schema_problem(const sn_schema *schema, const stonet_data *data, sn_workspace *keep,
                                sn_problem *out)
{
    float *x = NULL;
    int32_t *label = NULL;
    double *y = NULL;
    *out = (sn_problem){.n = stonet_data_rows(data),
                        .p = schema->p,
                        .image = schema->image,
                        .task = schema->task,
                        .outputs = sn_schema_outputs(schema)};
    SN_TRY(sn_memory_require((uint64_t)out->n * (uint64_t)out->p * 2 * sizeof *x, "the scaled data",
                             "take fewer rows or columns"));
    SN_TRY(SN_TAKE(keep, x, out->n * out->p));
    SN_TRY(sn_schema_encode_x(schema, data, x));
    out->x = x;
    int64_t *group = NULL;
    out->groups = sn_schema_used(schema);
    SN_TRY(SN_TAKE(keep, group, out->groups + 1));
    sn_schema_groups(schema, group);
    out->group = group;
    if (data->weight != NULL) {
        float *weight = NULL;
        SN_TRY(SN_TAKE(keep, weight, out->n));
        for (int64_t i = 0; i < out->n; i++) weight[i] = (float)data->weight[i];
        out->weight = weight;
    }
    SN_TRY(sn_kin_find(data, NULL, keep, &out->kin));
    if (out->outputs == 0) return STONET_OK;
    if (out->task == SN_CLASSIFICATION)
        SN_TRY(SN_TAKE(keep, label, out->n));
    else
        SN_TRY(SN_TAKE(keep, y, out->n * out->outputs));
    SN_TRY(sn_schema_encode_y(schema, data, label, y));
    out->label = label;
    out->y = y;
    return STONET_OK;
}
