/* What the columns of a table are called, and what becomes of each. */
#include "data/builder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "base/nearest.h"
#include "data/schema.h"

/* ---- names ------------------------------------------------------------------------------------- */

/* A name that a program made up for a column that has none: pandas' "Unnamed: 0", readr's "...1". */
static bool is_made_up(const char *name)
{
    size_t skipped = strncmp(name, "Unnamed: ", 9) == 0 ? 9 : strncmp(name, "...", 3) == 0 ? 3 : 0;
    const char *digits = name + skipped;
    return skipped > 0 && digits[0] != '\0' && strspn(digits, "0123456789") == strlen(digits);
}

/* Names from the header, made different from each other ("a", "a.2"), or x1, x2, .. Names that stand in the
   header are given out before any is made up: no column takes another one's. */
static stonet_status name_columns(sn_builder *builder, const char *const *names)
{
    SN_FREED_BY(sn_interner_free) sn_interner taken = {0};
    builder->has_header = names != NULL;
    for (int64_t j = 0; names != NULL && j < builder->n_columns; j++) {
        int32_t code = 0;
        const int64_t before = taken.words.count;
        if (names[j][0] == '\0') continue;
        SN_TRY(sn_interner_add(&taken, names[j], strlen(names[j]), &code));
        if (taken.words.count == before) continue; /* a second one of this name */
        SN_TRY(sn_text_copy(names[j], &builder->column[j].name));
    }
    for (int64_t j = 0; j < builder->n_columns; j++) {
        char plain[24];
        const char *given = names != NULL ? names[j] : "";
        snprintf(plain, sizeof plain, "x%lld", (long long)j + 1);
        sn_builder_column *column = &builder->column[j];
        column->again = column->name == NULL && given[0] != '\0';
        if (column->name == NULL)
            SN_TRY(sn_interner_add_apart(&taken, given[0] != '\0' ? given : plain, &column->name));
        column->unnamed = names != NULL && (given[0] == '\0' || is_made_up(given));
    }
    return STONET_OK;
}

static int64_t column_named(const sn_builder *builder, const char *text, size_t length)
{
    for (int64_t j = 0; builder->has_header && j < builder->n_columns; j++) {
        if (strncmp(builder->column[j].name, text, length) == 0 && builder->column[j].name[length] == '\0')
            return j;
    }
    return -1;
}

/* The name that was meant, or NULL: the same but for capitals, or with few letters wrong. Of one or two
   letters every other is near. */
static const char *near_name(const sn_builder *builder, const char *word)
{
    for (int64_t j = 0; j < builder->n_columns; j++)
        if (strcasecmp(builder->column[j].name, word) == 0) return builder->column[j].name;
    if (strlen(word) < 3) return NULL;
    sn_nearest nearest;
    sn_nearest_start(&nearest, word);
    for (int64_t j = 0; j < builder->n_columns; j++) sn_nearest_offer(&nearest, builder->column[j].name);
    return nearest.best;
}

/* The message names what helps most: the numbers of the columns where there is no header, else the nearest
   name, else a list of names of at most 200 bytes. */
static stonet_status no_such_column(const sn_builder *builder, const char *text, size_t length)
{
    char word[200];
    snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : sizeof word - 1), text);
    if (!builder->has_header)
        return sn_fail(STONET_ERROR_ARGUMENT,
                       "%s has no column '%s': it has no header, so its columns go by number, 1 to %lld",
                       builder->path, word, (long long)builder->n_columns);
    const char *nearest = near_name(builder, word);
    if (nearest != NULL)
        return sn_fail(STONET_ERROR_ARGUMENT, "%s has no column '%s'; did you mean '%s'?", builder->path,
                       word, nearest);
    char list[256] = "";
    size_t used = 0;
    int64_t shown = 0;
    for (; shown < builder->n_columns && used + strlen(builder->column[shown].name) + 3 < 200; shown++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", shown > 0 ? ", " : "",
                                 builder->column[shown].name);
    return sn_fail(STONET_ERROR_ARGUMENT, "%s has no column '%s': its %lld columns are %s%s", builder->path,
                   word, (long long)builder->n_columns, list, shown < builder->n_columns ? ", .." : "");
}

/* ---- columns as the caller says them ------------------------------------------------------------ */

static void trim(const char **text, size_t *length)
{
    while (*length > 0 && (*text)[0] == ' ') ++*text, --*length;
    while (*length > 0 && (*text)[*length - 1] == ' ') --*length;
}

/* "A" or "A-B" with whole numbers; false: something else. */
static bool parse_range(const char *text, size_t length, int64_t *first, int64_t *last)
{
    char copy[40], *end = NULL;
    if (length == 0 || length >= sizeof copy) return false;
    memcpy(copy, text, length);
    copy[length] = '\0';
    if (strspn(copy, "0123456789-") < length || copy[0] == '-' || length > 38) return false;
    *first = *last = strtoll(copy, &end, 10);
    if (*end == '-' && end[1] >= '0' && end[1] <= '9') *last = strtoll(end + 1, &end, 10);
    return *end == '\0';
}

/* One entry of a list of columns: a name first, else a number from 1 or, in lists, a range of them. */
static stonet_status find_columns(const sn_builder *builder, const char *text, size_t length, bool ranges,
                                  int64_t *first, int64_t *last)
{
    trim(&text, &length);
    *first = *last = column_named(builder, text, length);
    if (*first >= 0) return STONET_OK;
    if (!parse_range(text, length, first, last) || (*first != *last && !ranges))
        return no_such_column(builder, text, length);
    if (*first < 1 || *last > builder->n_columns || *last < *first)
        return sn_fail(STONET_ERROR_ARGUMENT, "%s has no column %.*s: its columns are 1 to %lld",
                       builder->path, (int)length, text, (long long)builder->n_columns);
    --*first;
    --*last;
    return STONET_OK;
}

/* ---- the parts that a column can play ----------------------------------------------------------- */

typedef enum column_part { TARGET, ROW_NAMES, WEIGHTS, GROUPS, SEASON, FEATURE, LEFT_OUT } column_part;

static bool is_target(const sn_builder *builder, int64_t column)
{
    for (int64_t k = 0; k < builder->n_targets; k++) {
        if (builder->target_position[k] == column) return true;
    }
    return false;
}

static stonet_status add_target(sn_builder *builder, int64_t column)
{
    if (is_target(builder, column))
        return sn_fail(STONET_ERROR_ARGUMENT, "column '%s' is named as the target twice",
                       builder->column[column].name);
    builder->target_position[builder->n_targets++] = column;
    return STONET_OK;
}

/* A column that is named for a part plays it from now on. */
static stonet_status play(sn_builder *builder, int64_t column, column_part part)
{
    static const char *const parts[] = {
        NULL, "the name of the rows", "the weights", "the group of the rows", NULL, "a feature", "left out"};
    sn_builder_column *about = &builder->column[column];
    if (parts[part] != NULL && is_target(builder, column))
        return sn_fail(STONET_ERROR_ARGUMENT, "column '%s' is the target and cannot be %s too", about->name,
                       parts[part]);
    switch (part) {
    case TARGET:
        return add_target(builder, column);
    case ROW_NAMES:
        if (builder->id >= 0)
            return sn_fail(STONET_ERROR_ARGUMENT, "only one column can name the rows, not both '%s' and '%s'",
                           builder->column[builder->id].name, about->name);
        builder->id = column;
        break;
    case WEIGHTS:
        if (column == builder->id || builder->weight_position >= 0)
            return sn_fail(STONET_ERROR_ARGUMENT,
                           "one column has the weights, and it has no other role: '%s' cannot be used",
                           about->name);
        builder->weight_position = column;
        break;
    case GROUPS:
        if (column == builder->weight_position || builder->group >= 0)
            return sn_fail(
                STONET_ERROR_ARGUMENT,
                "one column has the groups, and it is not that of the weights: '%s' cannot be used",
                about->name);
        builder->group = column;
        break;
    case SEASON:
        about->season = true;
        break;
    case FEATURE:
    case LEFT_OUT:
        about->unused = part == LEFT_OUT;
        break;
    }
    return STONET_OK;
}

/* Each column of a list, separated by commas, plays a part; a name with commas in it may be the whole list.
 */
static stonet_status play_all(sn_builder *builder, const char *list, bool ranges, column_part part)
{
    const int64_t whole = column_named(builder, list, strlen(list));
    if (whole >= 0) return play(builder, whole, part);
    for (const char *at = list;; at++) {
        int64_t first, last;
        const size_t length = strcspn(at, ",");
        SN_TRY(find_columns(builder, at, length, ranges, &first, &last));
        for (int64_t j = first; j <= last; j++) SN_TRY(play(builder, j, part));
        at += length;
        if (*at == '\0') return STONET_OK;
    }
}

/* The targets of the model that the rows are for, by their names or, without names, their places. */
static stonet_status add_own_targets(sn_builder *builder, const sn_schema *schema)
{
    const int64_t targets = schema->n_targets;
    if (targets == 0)
        return sn_fail(STONET_ERROR_ARGUMENT, "the model was fitted without a response, so none can be read");
    for (int64_t k = 0; k < targets; k++) {
        const char *name = schema->target_name[k];
        int64_t column = column_named(builder, name, strlen(name));
        const int64_t place = schema->target_position[k];
        if (column < 0 && place >= 0 && place < builder->n_columns &&
            !(builder->has_header && schema->has_header))
            column = place;
        if (column < 0)
            return sn_fail(STONET_ERROR_ARGUMENT,
                           "%s has no column '%s', the response of the model: name its column or its file",
                           builder->path, name);
        SN_TRY(add_target(builder, column));
    }
    return STONET_OK;
}

static stonet_status find_targets(sn_builder *builder, const sn_read_wish *wish)
{
    SN_TRY(SN_NEW(builder->target_position, builder->n_columns));
    if (wish->columns != NULL) {
        SN_TRY(play_all(builder, wish->columns, false, TARGET));
    } else if (wish->all) {
        for (int64_t j = 0; j < builder->n_columns; j++) builder->target_position[builder->n_targets++] = j;
    } else if (wish->own_target && wish->schema != NULL) {
        SN_TRY(add_own_targets(builder, wish->schema));
    }
    if (!wish->all && builder->n_targets == builder->n_columns)
        return sn_fail(STONET_ERROR_DATA, "%s has no column left for the features when %s the target",
                       builder->path, builder->n_columns == 1 ? "its only column is" : "all its columns are");
    return STONET_OK;
}

/* A second column of the target's name would be taken for a feature, "y.2": the response, told twice. */
static stonet_status check_namesakes(const sn_builder *builder, const char *const *names)
{
    for (int64_t k = 0; names != NULL && k < builder->n_targets; k++) {
        int64_t target = builder->target_position[k];
        for (int64_t j = 0; names[target][0] != '\0' && j < builder->n_columns; j++) {
            if (strcmp(names[j], names[target]) == 0 && !is_target(builder, j))
                return sn_fail(STONET_ERROR_DATA,
                               "%s: columns %lld and %lld are both called '%s', like the target: rename or "
                               "remove the one that is not the target",
                               builder->path, (long long)(j < target ? j : target) + 1,
                               (long long)(j < target ? target : j) + 1, names[target]);
        }
    }
    return STONET_OK;
}

/* What is neither a feature nor to be left out. */
static bool has_other_part(const sn_builder *builder, int64_t column)
{
    return is_target(builder, column) || sn_builder_is_label(builder, column) ||
           column == builder->weight_position;
}

/* The column that is said to name the rows, or the one that did when the model was fitted, if it is there. */
static stonet_status find_id(sn_builder *builder, const sn_read_wish *wish)
{
    if (wish->how.id != NULL) return play_all(builder, wish->how.id, false, ROW_NAMES);
    const char *known = wish->schema != NULL ? wish->schema->id_name : NULL;
    const int64_t column = known != NULL ? column_named(builder, known, strlen(known)) : -1;
    if (column >= 0 && !is_target(builder, column)) builder->id = column;
    return STONET_OK;
}

/* "COL=low,mid,high": the values of a text column, also of the target, in their order. */
static stonet_status set_order(sn_builder *builder, const char *text)
{
    int64_t column = -1, last;
    const char *equals = text;
    /* A name may have an equals sign of its own. */
    while (column < 0 && (equals = strchr(equals, '=')) != NULL) {
        column = column_named(builder, text, (size_t)(equals - text));
        equals += 1;
    }
    if (column < 0) {
        equals = strchr(text, '=');
        if (equals == NULL || equals == text)
            return sn_fail(STONET_ERROR_ARGUMENT,
                           "the order of a column is said as COL=low,mid,high, not '%s'", text);
        SN_TRY(find_columns(builder, text, (size_t)(equals - text), false, &column, &last));
        equals++;
    }
    sn_dictionary *order = &builder->column[column].order;
    sn_dictionary_free(order);
    for (const char *at = equals;; at++) {
        size_t length = strcspn(at, ",");
        const char *word = at;
        at += length;
        trim(&word, &length);
        if (length == 0)
            return sn_fail(STONET_ERROR_ARGUMENT, "the order of column '%s' has an empty value: '%s'",
                           builder->column[column].name, text);
        SN_TRY(SN_GROW(order->text, order->count + 1));
        SN_TRY(SN_NEW(order->text[order->count], length + 1));
        memcpy(order->text[order->count++], word, length);
        if (*at == '\0') return STONET_OK;
    }
}

/* A column that the model reads can be nothing else: without it, no row could be predicted. */
static stonet_status check_features(const sn_builder *builder, const sn_schema *schema)
{
    for (int64_t j = 0; builder->has_header && schema->has_header && j < builder->n_columns; j++) {
        if (!is_target(builder, j) && j != builder->id && j != builder->weight_position) continue;
        for (int64_t k = 0; k < schema->n_inputs; k++) {
            if (strcmp(builder->column[j].name, schema->input[k].name) != 0 ||
                strcmp(sn_schema_input_kind(schema, k), "none") == 0)
                continue;
            return sn_fail(STONET_ERROR_ARGUMENT,
                           "%s: column '%s' is a feature of the model, so it cannot be the %s here: name "
                           "another column",
                           builder->path, builder->column[j].name,
                           is_target(builder, j) ? "target"
                           : j == builder->id    ? "name of the rows"
                                                 : "weight");
        }
    }
    return STONET_OK;
}

/* Sets aside the columns that the model does not use, except targets and names of rows. */
static stonet_status choose_for(sn_builder *builder, const sn_schema *schema)
{
    SN_TRY(check_features(builder, schema));
    const int64_t n_columns = builder->n_columns;
    SN_ZEROS(n_columns, char *, name);
    SN_ZEROS(n_columns, int64_t, position);
    SN_ZEROS(n_columns, bool, wanted);
    SN_ZEROS(n_columns, bool, ordered);
    SN_ZEROS(n_columns, bool, again);
    sn_header header = {.source = builder->path,
                        .has_names = builder->has_header,
                        .name = name,
                        .again = again,
                        .position = position,
                        .width = n_columns};
    for (int64_t j = 0; j < n_columns; j++) {
        if (has_other_part(builder, j)) continue;
        position[header.n_columns] = j;
        again[header.n_columns] = builder->column[j].again;
        name[header.n_columns++] = builder->column[j].name;
    }
    SN_TRY(sn_schema_wanted(schema, &header, wanted, ordered));
    for (int64_t k = 0; k < header.n_columns; k++) {
        builder->column[position[k]].unused = !wanted[k];
        builder->column[position[k]].as_text = ordered[k];
    }
    return STONET_OK;
}

/* Sets aside what is not among the features, and what is to be dropped. */
static stonet_status choose_columns(sn_builder *builder, const sn_read_wish *wish)
{
    const char *features = wish->how.features;
    for (int64_t j = 0; j < builder->n_columns; j++) builder->column[j].unused = features != NULL;
    if (features != NULL) SN_TRY(play_all(builder, features, true, FEATURE));
    return wish->how.drop != NULL ? play_all(builder, wish->how.drop, true, LEFT_OUT) : STONET_OK;
}

static stonet_status count_unused(sn_builder *builder)
{
    int64_t left = 0;
    for (int64_t j = 0; j < builder->n_columns; j++) {
        const bool other = has_other_part(builder, j);
        builder->column[j].unused = builder->column[j].unused && !other;
        builder->n_unused += builder->column[j].unused;
        left += !builder->column[j].unused && !other;
    }
    if (left > 0 || builder->n_targets == builder->n_columns) return STONET_OK;
    return sn_fail(STONET_ERROR_DATA, "%s has no column left for the features", builder->path);
}

stonet_status sn_builder_find_roles(sn_builder *builder, const char *const *names, const sn_read_wish *wish)
{
    builder->id = builder->group = builder->weight_position = -1;
    SN_TRY(SN_NEW(builder->column, builder->n_columns));
    SN_TRY(name_columns(builder, names));
    SN_TRY(find_targets(builder, wish));
    SN_TRY(check_namesakes(builder, names));
    if (wish->all) return STONET_OK; /* targets alone */
    SN_TRY(find_id(builder, wish));
    if (wish->how.weights != NULL) SN_TRY(play_all(builder, wish->how.weights, false, WEIGHTS));
    if (wish->how.group != NULL) SN_TRY(play_all(builder, wish->how.group, false, GROUPS));
    for (int64_t k = 0; k < wish->how.n_ordinal; k++) SN_TRY(set_order(builder, wish->how.ordinal[k]));
    if (wish->how.season != NULL) SN_TRY(play_all(builder, wish->how.season, true, SEASON));
    SN_TRY(wish->schema != NULL ? choose_for(builder, wish->schema) : choose_columns(builder, wish));
    return count_unused(builder);
}
