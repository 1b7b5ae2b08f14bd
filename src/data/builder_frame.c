/* What a builder has read, moved into a frame. */
#include "data/builder.h"

#include <stdio.h>

#include "base/memory.h"
#include "data/frame.h"

/* Labels sorted bytewise, so that class codes do not depend on the order of the rows; an order that was told
   stays. */
static stonet_status sort_labels(sn_builder *builder)
{
    sn_dictionary *words = &builder->labels.words;
    if (words->ordered) return STONET_OK;
    SN_ZEROS(words->count, int32_t, new_code);
    SN_TRY(sn_dictionary_sort(words, new_code));
    for (int64_t i = 0; i < builder->rows; i++)
        if (builder->label[i] >= 0) builder->label[i] = new_code[builder->label[i]];
    return STONET_OK;
}

/* The columns that name rows and groups: their texts stay where they are, and they are no columns of the
   frame. One column may do both. */
static stonet_status take_labels(const sn_builder *builder, stonet_data *data)
{
    if (builder->id >= 0) {
        data->id_slot = builder->column[builder->id].slot;
        SN_TRY(sn_text_copy(builder->column[builder->id].name, &data->id_name));
    }
    if (builder->group < 0) return STONET_OK;
    data->group_slot = builder->column[builder->group].slot;
    return sn_text_copy(builder->column[builder->group].name, &data->group_name);
}

/* Moves names and texts out of the builder into the frame; the builder keeps NULL, so nothing is freed twice.
   The frame's columns are the features in the order of the file. A target without a header is called y, or
   y1, y2, .. */
static stonet_status move_columns(sn_builder *builder, stonet_data *data)
{
    SN_TRY(SN_NEW(data->column, builder->n_columns - builder->n_targets - builder->n_unused));
    SN_TRY(take_labels(builder, data));
    SN_TRY(SN_NEW(data->target_name, builder->n_targets));
    SN_TRY(SN_NEW(data->text_values, builder->n_text));
    data->n_targets = builder->n_targets;
    for (int64_t j = 0; j < builder->n_columns; j++) {
        sn_builder_column *from = &builder->column[j];
        const bool is_text = from->role == SN_FEATURE_TEXT;
        if ((from->role != SN_FEATURE_NUMBER && !is_text) || sn_builder_is_label(builder, j)) continue;
        data->column[data->n_columns++] = (sn_column){.name = from->name,
                                                      .kind = is_text ? SN_COLUMN_TEXT : SN_COLUMN_NUMBER,
                                                      .slot = from->slot,
                                                      .is_date = !is_text && from->is_date,
                                                      .season = from->season,
                                                      .unnamed = from->unnamed,
                                                      .again = from->again,
                                                      .position = j};
        from->name = NULL;
    }
    for (int64_t k = 0; k < builder->n_targets; k++) {
        char **name = &builder->column[builder->target_position[k]].name;
        if (builder->has_header) {
            (void)SN_GIVE(*name, &data->target_name[k]);
        } else {
            char plain[24] = "y";
            if (builder->n_targets > 1) snprintf(plain, sizeof plain, "y%lld", (long long)k + 1);
            SN_TRY(sn_text_copy(plain, &data->target_name[k]));
        }
    }
    for (int64_t k = 0; k < builder->n_text; k++) {
        data->text_values[k] = builder->values[k].words;
        builder->values[k].words = (sn_dictionary){0};
    }
    data->n_text = builder->n_text;
    return STONET_OK;
}

static stonet_status move_digits(sn_builder *builder, stonet_data *data)
{
    bool any = false;
    for (int64_t k = 0; k < builder->n_numeric; k++) any = any || builder->digits[k].value != NULL;
    if (!any) return STONET_OK;
    SN_TRY(SN_NEW(data->exact, builder->n_numeric));
    data->n_numeric = builder->n_numeric;
    for (int64_t k = 0; k < builder->n_numeric; k++) {
        double *value = builder->digits[k].value;
        data->exact[k] = (sn_exact){.at = value, .step = 1, .owned = value};
        builder->digits[k].value = NULL;
    }
    return STONET_OK;
}

/* The rows and what was counted; the builder keeps none of it. */
static void move_rows(sn_builder *builder, stonet_data *data)
{
    data->has_header = data->target_has_name = builder->has_header;
    const bool gaps =
        builder->n_unused > 0 || builder->id >= 0 || builder->group >= 0 || builder->weight_position >= 0;
    data->width = gaps ? builder->n_columns : 0;
    data->n_numeric = builder->n_numeric;
    data->missing = builder->missing;
    data->dropped = builder->dropped;
    data->x = builder->x;
    (void)SN_GIVE(builder->x, &data->owned_x);
    (void)SN_GIVE(builder->code, &data->text_code);
    (void)SN_GIVE(builder->target_position, &data->target_position);
    (void)SN_GIVE(builder->y, &data->y);
    (void)SN_GIVE(builder->weight, &data->weight);
    (void)SN_GIVE(builder->label, &data->label);
    data->labels = builder->labels.words;
    data->spelled = builder->spelled.words;
    builder->labels.words = builder->spelled.words = (sn_dictionary){0};
    sn_frame_settle_weights(data);
}

stonet_status sn_builder_to_frame(sn_builder *builder, stonet_data **out)
{
    if (sn_builder_has_labels(builder)) SN_TRY(sort_labels(builder));
    SN_AUTO(stonet_data) *data = NULL;
    SN_TRY(sn_frame_create(builder->rows, &data));
    SN_TRY(sn_text_copy(builder->path, &data->source));
    SN_TRY(move_columns(builder, data));
    SN_TRY(move_digits(builder, data));
    move_rows(builder, data);
    return SN_GIVE(data, out);
}
