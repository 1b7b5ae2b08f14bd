#include "cli/plot_z.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/output.h"
#include "cli/svg.h"

/* "Z1 (98.2% of the effect on the output)", where the model knows that share. */
static void z_axis_label(const json_t *about, size_t k, char label[96])
{
    const json_t *share = json_object_get(json_object_get(about, "fitted"), "explained_share");
    const json_t *own = json_array_get(share, k);
    int used = snprintf(label, 96, "Z%zu", k + 1);
    const double percent = 100.0 * json_number_value(own);
    if (json_is_number(own) && percent == 0.0) {
        snprintf(label + used, 96 - (size_t)used, " (no effect on the output)");
    } else if (json_is_number(own) && percent < 0.1) {
        snprintf(label + used, 96 - (size_t)used, " (below 0.1%%)");
    } else if (json_is_number(own)) {
        snprintf(label + used, 96 - (size_t)used, " (%.3g%%%s)", percent,
                 k == 0 ? " of the effect on the output" : "");
    }
}

/* ---- what the model calls the rows ------------------------------------------------------------- */

static int32_t class_of(const stonet_model *model, const char *label)
{
    for (int64_t k = 0; k < stonet_model_outputs(model); k++)
        if (strcmp(label, stonet_model_class_label(model, k)) == 0) return (int32_t)k;
    return -1;
}

/* The classes of the rows by the model's numbers, -1 where it does not know one. The table may have met the
   classes in another order, or have numbers, whose texts are the labels. To be freed. */
static int32_t *model_labels(const stonet_model *model, const stonet_data *data)
{
    int64_t n_classes = 0, m = 0;
    const int64_t n = stonet_data_rows(data);
    const int32_t *code = stonet_data_classes(data, &n_classes);
    const double *value = stonet_data_targets(data, &m);
    BLOCK int32_t *known = room_for(n_classes, sizeof *known);
    int32_t *label = room_for(n, sizeof *label);
    for (int64_t c = 0; c < n_classes; c++) known[c] = class_of(model, stonet_data_class_label(data, c));
    for (int64_t i = 0; i < n; i++) {
        char text[STONET_NUMBER_SIZE];
        if (code == NULL) stonet_number_text(value[i * m], text);
        label[i] = code != NULL ? known[code[i]] : class_of(model, text);
    }
    return label;
}

/* ---- the picture ------------------------------------------------------------------------------- */

enum { MOST_POINTS = 5000, MOST_GROUPS = 9, BANDS = 5 };

/* Rows in groups: classes, or fifths of a numeric response. */
typedef struct grouping {
    int32_t *group; /* of each row; NULL: all in one */
    size_t count;
    char label[MOST_GROUPS + 1][80];
} grouping;

static int compare_numbers(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Fifths of the first response by its size. */
static void group_by_size(const stonet_data *data, grouping *out)
{
    int64_t m = 0;
    const int64_t n = stonet_data_rows(data);
    const double *y = stonet_data_targets(data, &m);
    double border[BANDS + 1];
    BLOCK double *sorted = room_for(n, sizeof *sorted);
    out->group = room_for(n, sizeof *out->group);
    for (int64_t i = 0; i < n; i++) sorted[i] = y[i * m];
    qsort(sorted, (size_t)n, sizeof *sorted, compare_numbers);
    for (int b = 0; b <= BANDS; b++) border[b] = sorted[(n - 1) * b / BANDS];
    out->count = BANDS;
    for (int b = 0; b < BANDS; b++)
        snprintf(out->label[b], sizeof out->label[b], "%.3g to %.3g", border[b], border[b + 1]);
    for (int64_t i = 0; i < n; i++) {
        int32_t b = 0;
        while (b < BANDS - 1 && y[i * m] > border[b + 1]) b++;
        out->group[i] = b;
    }
}

/* The first classes, and all further ones as one group. */
static void group_by_class(const stonet_model *model, const stonet_data *data, const char *before,
                           grouping *out)
{
    const int64_t classes = stonet_model_outputs(model);
    out->group = model_labels(model, data);
    const bool many = classes > MOST_GROUPS;
    out->count = many ? MOST_GROUPS + 1 : (size_t)classes;
    for (size_t c = 0; c < out->count; c++)
        snprintf(out->label[c], sizeof out->label[c], "%s%.70s", before,
                 many && c == MOST_GROUPS ? "others" : stonet_model_class_label(model, (int64_t)c));
    for (int64_t i = 0; i < stonet_data_rows(data); i++)
        if (many && out->group[i] >= MOST_GROUPS) out->group[i] = MOST_GROUPS;
}

static void make_groups(const stonet_model *model, const stonet_data *data, const z_caption *caption,
                        grouping *out)
{
    const bool numbers = stonet_data_targets(data, NULL) != NULL;
    *out = (grouping){.count = 1};
    if (stonet_model_is_classifier(model) && (numbers || stonet_data_classes(data, NULL) != NULL))
        group_by_class(model, data, caption != NULL ? caption->before_class : "", out);
    else if (numbers)
        group_by_size(data, out);
}

/* Whether there is a second column of Z, with more than one value. */
static bool has_second(const stonet_model *model, const stonet_data *data, const float *z)
{
    const int64_t dim = stonet_model_dim(model);
    for (int64_t i = 1; dim > 1 && i < stonet_data_rows(data); i++)
        if (z[i * dim + 1] != z[1]) return true;
    return false;
}

/* Where a row stands upwards when Z is one column: its response, its class (spread a little, so that points
   do not hide each other), or nothing but that spread. */
static double height_of(const stonet_model *model, const stonet_data *data, const grouping *groups, int64_t i)
{
    int64_t m = 0;
    const double *y = stonet_data_targets(data, &m);
    const double spread = 0.6 * (fmod((double)i * 0.618034, 1.0) - 0.5);
    if (groups->group == NULL) return spread;
    return stonet_model_is_classifier(model) || y == NULL ? groups->group[i] + 1 + spread : y[i * m];
}

/* The points of each group, in xy, which has room for two numbers a row; every `step`-th row. */
static void fill_series(const stonet_model *model, const stonet_data *data, const grouping *groups,
                        const float *z, int64_t step, double *xy, svg_series *series)
{
    double *x = xy, *y = xy + stonet_data_rows(data);
    const int64_t dim = stonet_model_dim(model);
    const bool second = has_second(model, data, z);
    int64_t filled = 0;
    for (size_t g = 0; g < groups->count; g++) {
        series[g] = (svg_series){
            .label = groups->group != NULL ? groups->label[g] : NULL, .x = x + filled, .y = y + filled};
        for (int64_t i = 0; i < stonet_data_rows(data); i += step) {
            if (groups->group != NULL && groups->group[i] != (int32_t)g) continue;
            x[filled] = (double)z[i * dim];
            y[filled++] = second ? (double)z[i * dim + 1] : height_of(model, data, groups, i);
            series[g].n++;
        }
    }
}

/* The training loss over all stages, NaN where a cell is empty, to be freed; *count: how many. */
static double *take_loss(const stonet_model *model, int64_t *count)
{
    errno = 0;
    BLOCK char *csv = stonet_model_history_csv(model);
    char *lines = csv, *names = csv != NULL ? strsep(&lines, "\n") : NULL, *line;
    double *loss = NULL;
    int column = 0;
    if (csv == NULL && errno == ENOMEM) must_have(NULL);
    *count = 0;
    const char *name = strsep(&names, ",");
    for (; name != NULL && strcmp(name, "loss") != 0; name = strsep(&names, ",")) column++;
    while (name != NULL && (line = strsep(&lines, "\n")) != NULL && line[0] != '\0') {
        char *cell = NULL, *end = NULL;
        for (int k = 0; k <= column; k++) cell = strsep(&line, ",");
        const double value = cell != NULL ? strtod(cell, &end) : 0.0;
        loss = more_room(loss, *count + 1, sizeof *loss);
        loss[(*count)++] = cell != NULL && end != cell && *end == '\0' ? value : (double)NAN;
    }
    return loss;
}

/* A scatter plot of Z, coloured by group, and with with_curve the training loss beside it. xy: room for two
   numbers a row. The caller frees the text. */
static char *render(const json_t *about, const stonet_model *model, const stonet_data *data,
                    const grouping *groups, const z_picture *picture, double *xy)
{
    const int64_t n = stonet_data_rows(data), step = (n + MOST_POINTS - 1) / MOST_POINTS;
    const z_caption *caption = picture->caption;
    svg_series series[MOST_GROUPS + 1];
    fill_series(model, data, groups, picture->z, step > 0 ? step : 1, xy, series);
    char axis[2][96], title[96], subtitle[160];
    for (size_t k = 0; k < 2; k++) z_axis_label(about, k, axis[k]);
    const char *upwards = has_second(model, data, picture->z) ? axis[1]
                          : groups->group != NULL             ? "response"
                                                              : "";
    int64_t epochs = 0;
    BLOCK double *loss = picture->with_curve ? take_loss(model, &epochs) : NULL;
    BLOCK double *epoch = room_for(epochs, sizeof *epoch);
    for (int64_t i = 0; i < epochs; i++) epoch[i] = (double)i + 1;
    const svg_series curve = {.n = epochs, .x = epoch, .y = loss};
    const svg_panel panels[] = {
        {.kind = SVG_SCATTER,
         .x_label = axis[0],
         .y_label = upwards,
         .series = series,
         .n_series = groups->count},
        {.kind = SVG_LINE, .x_label = "epoch", .y_label = "training loss", .series = &curve, .n_series = 1}};
    snprintf(title, sizeof title, "Reduced variables of %.60s", json_text(about, "method"));
    if (step > 1)
        snprintf(subtitle, sizeof subtitle, "every %lld%s of %lld rows", (long long)step,
                 step == 2   ? "nd"
                 : step == 3 ? "rd"
                             : "th",
                 (long long)n);
    else
        snprintf(subtitle, sizeof subtitle, "%lld rows", (long long)n);
    const svg_figure figure = {.title = caption != NULL ? caption->title : title,
                               .subtitle = caption != NULL ? caption->subtitle : subtitle,
                               .panels = panels,
                               .n_panels = epochs > 0 ? 2 : 1,
                               .columns = 2};
    return svg_render(&figure);
}

int plot_reduction(const cli_command *command, const char *path, const stonet_model *model,
                   const stonet_data *data, const z_picture *picture)
{
    AUTO(json_t) *about = take_json(stonet_model_json(model));
    grouping groups;
    make_groups(model, data, picture->caption, &groups);
    BLOCK int32_t *group = groups.group;
    BLOCK double *xy = room_for(2 * stonet_data_rows(data), sizeof *xy);
    return output_plot(command, path, render(about, model, data, &groups, picture, xy));
}
