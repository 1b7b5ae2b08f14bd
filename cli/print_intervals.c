#include "cli/print_intervals.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "cli/common.h"
#include "cli/output.h"

/* The fewest rows a calibration must have for the level. */
static double rows_needed(double level)
{
    return ceil(1.0 / (1.0 - level) * (1.0 - 1e-12)) - 1.0;
}

static void warn_of_few_rows(const stonet_model *model, double level, const char *what)
{
    const int64_t rows = stonet_model_calibration_rows(model, -1);
    /* Several responses share the level. */
    const int64_t m = stonet_model_is_classifier(model) ? 1 : stonet_model_outputs(model);
    const double needed = rows_needed(1.0 - (1.0 - level) / (double)m);
    if ((double)rows < needed)
        fprintf(stderr, "warning: the calibration has %" PRId64 " rows, and level %g needs %.0f: %s\n", rows,
                level, needed, what);
}

static int write_table(const cli_command *command, const rows_output *to, int64_t m, const double *cells)
{
    static const char *const KIND[] = {"prediction", "low", "high"};
    __attribute__((cleanup(names_free))) name_list names = {0};
    for (int64_t j = 0; j < 3 * m; j++)
        names_add(&names, m > 1 ? text_of("%s%" PRId64, KIND[j % 3], j / 3 + 1) : copy_of(KIND[j % 3]));
    return output_rows(command, to, cells, stonet_data_rows(to->data), 3 * m,
                       (const char *const *)names.text);
}

int write_intervals(const cli_command *command, const rows_output *to, const stonet_model *model,
                    const stonet_use_options *how)
{
    const stonet_data *data = to->data;
    const stonet_use_options plain = {.size = sizeof plain, .threads = how->threads};
    const int64_t m = stonet_model_outputs(model), count = stonet_data_rows(data) * m;
    BLOCK double *all = room_for(6 * count, sizeof *all);
    double *cells = all + 3 * count; /* prediction, low and high side by side */
    TRY(outcome(command, stonet_predict_interval(model, data, how, all + count, all + 2 * count)));
    TRY(outcome(command, stonet_predict(model, data, &plain, all)));
    if (!to->quiet) warn_of_few_rows(model, how->level, "the intervals are infinite");
    for (int64_t i = 0; i < count; i++)
        for (int64_t k = 0; k < 3; k++) cells[3 * i + k] = all[k * count + i];
    return write_table(command, to, m, cells);
}

/* Classes that cannot be covered on their own. */
static void warn_of_rare_classes(const stonet_model *model, double level)
{
    for (int64_t c = 0; c < stonet_model_outputs(model); c++) {
        const int64_t rows = stonet_model_calibration_rows(model, c);
        if ((double)rows < rows_needed(level))
            say_line(
                "warning: class '%s' has %" PRId64
                " rows in the calibration, and level %g needs %.0f: its sets use the rows of all classes",
                stonet_model_class_label(model, c), rows, level, rows_needed(level));
    }
}

/* The class that sets for all rows together cover least, when that is two standard errors below the level. */
static void note_least_covered(const stonet_model *model, double level)
{
    int64_t least = -1;
    double lowest = level;
    for (int64_t c = 0; c < stonet_model_outputs(model); c++) {
        const double share = stonet_model_class_coverage(model, level, c);
        const double rows = (double)stonet_model_calibration_rows(model, c);
        if (!(share < lowest) || share > level - 2.0 * sqrt(level * (1.0 - level) / rows)) continue;
        least = c;
        lowest = share;
    }
    if (least >= 0)
        say_line(
            "note: the sets cover %g of all rows, not of each class: class '%s' is covered in %.2f of its "
            "held-out rows. --by-class covers every class.",
            level, stonet_model_class_label(model, least), lowest);
}

int write_sets(const cli_command *command, const rows_output *to, const stonet_model *model,
               const stonet_use_options *how)
{
    const stonet_data *data = to->data;
    const int64_t rows = stonet_data_rows(data), classes = stonet_model_outputs(model);
    BLOCK unsigned char *inside = room_for(rows * classes, 1);
    BLOCK double *cells = room_for(rows * classes, sizeof *cells);
    BLOCK const char **names = room_for(classes, sizeof *names);
    TRY(outcome(command, stonet_predict_set(model, data, how, inside)));
    if (!to->quiet) warn_of_few_rows(model, how->level, "every class is in every set");
    if (how->by_class && !to->quiet) warn_of_rare_classes(model, how->level);
    if (!how->by_class && !to->quiet) note_least_covered(model, how->level);
    for (int64_t i = 0; i < rows * classes; i++) cells[i] = inside[i];
    for (int64_t c = 0; c < classes; c++) names[c] = stonet_model_class_label(model, c);
    return output_rows(command, to, cells, rows, classes, names);
}
