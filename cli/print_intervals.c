#include "cli/print_intervals.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/output.h"
#include "cli/say.h"

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

static int no_memory(const cli_command *command)
{
    say_error(command, "memory ran out");
    return EXIT_FAILED;
}

/* cells (rows x 3m) from predictions and both ends (rows x m each). */
static void join(int64_t rows, int64_t m, double *const part[3], double *cells)
{
    for (int64_t i = 0; i < rows * m; i++)
        for (int k = 0; k < 3; k++) cells[3 * i + k] = part[k][i];
}

static int write_table(const cli_command *command, const rows_output *to, int64_t m, const double *cells)
{
    enum { NAME_SIZE = 32 };
    static const char *const KIND[] = {"prediction", "low", "high"};
    char(*text)[NAME_SIZE] = malloc((size_t)(3 * m) * sizeof *text);
    const char **names = malloc((size_t)(3 * m) * sizeof *names);
    int result = EXIT_FAILED;
    if (text == NULL || names == NULL) {
        say_error(command, "memory ran out");
    } else {
        for (int64_t j = 0; j < 3 * m; j++) {
            snprintf(text[j], NAME_SIZE, m > 1 ? "%s%" PRId64 : "%s", KIND[j % 3], j / 3 + 1);
            names[j] = text[j];
        }
        result = output_rows(command, to, cells, stonet_data_rows(to->data), 3 * m, names);
    }
    free(names);
    free(text);
    return result;
}

int write_intervals(const cli_command *command, const rows_output *to, const stonet_model *model,
                    const stonet_use_options *how)
{
    const stonet_data *data = to->data;
    const int64_t rows = stonet_data_rows(data), m = stonet_model_outputs(model);
    double *part[3] = {NULL, NULL, NULL}, *cells = malloc((size_t)(3 * rows * m) * sizeof *cells);
    bool has_room = cells != NULL;
    for (int k = 0; k < 3; k++) {
        part[k] = calloc((size_t)(rows * m), sizeof **part);
        has_room = has_room && part[k] != NULL;
    }
    int result = EXIT_DONE;
    if (!has_room) {
        result = no_memory(command);
    } else {
        const stonet_use_options plain = {.size = sizeof plain, .threads = how->threads};
        stonet_status status = stonet_predict_interval(model, data, how, part[1], part[2]);
        if (status == STONET_OK) status = stonet_predict(model, data, &plain, part[0]);
        if (status != STONET_OK) result = say_failure(command, status);
    }
    if (result == EXIT_DONE) {
        if (!to->quiet) warn_of_few_rows(model, how->level, "the intervals are infinite");
        join(rows, m, part, cells);
        result = write_table(command, to, m, cells);
    }
    for (int k = 0; k < 3; k++) free(part[k]);
    free(cells);
    return result;
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
    unsigned char *inside = malloc((size_t)(rows * classes));
    double *cells = malloc((size_t)(rows * classes) * sizeof *cells);
    const char **names = malloc((size_t)classes * sizeof *names);
    int result = EXIT_DONE;
    if (inside == NULL || cells == NULL || names == NULL) {
        result = no_memory(command);
    } else {
        stonet_status status = stonet_predict_set(model, data, how, inside);
        if (status != STONET_OK) result = say_failure(command, status);
    }
    if (result == EXIT_DONE) {
        if (!to->quiet) warn_of_few_rows(model, how->level, "every class is in every set");
        if (how->by_class && !to->quiet) warn_of_rare_classes(model, how->level);
        if (!how->by_class && !to->quiet) note_least_covered(model, how->level);
        for (int64_t i = 0; i < rows * classes; i++) cells[i] = inside[i];
        for (int64_t c = 0; c < classes; c++) names[c] = stonet_model_class_label(model, c);
        result = output_rows(command, to, cells, rows, classes, names);
    }
    free(inside);
    free(cells);
    free(names);
    return result;
}
