#include "paper/cells.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void cells_key(const cell *what, uint64_t seed, char key[CELL_KEY_SIZE])
{
    snprintf(key, CELL_KEY_SIZE, "%s|%" PRId64 "|%s|%" PRId64 "|%" PRIu64 "|%s", what->row, what->q,
             what->method, what->trial, seed, what->settings);
}

json_t *cells_record(const cell *what, uint64_t seed, json_t *values, double seconds)
{
    return json_pack("{s:s, s:I, s:s, s:I, s:I, s:s, s:f, s:o}", "row", what->row, "q", (json_int_t)what->q,
                     "method", what->method, "trial", (json_int_t)what->trial, "seed", (json_int_t)seed,
                     "settings", what->settings, "seconds", seconds, "values", values);
}

/* The key of a record that was read; false when it is not one. */
static bool record_key(const json_t *record, char key[CELL_KEY_SIZE])
{
    const char *row = NULL, *method = NULL, *settings = NULL;
    json_int_t q = 0, trial = 0, seed = 0;
    json_t *values = NULL;
    if (json_unpack((json_t *)record, "{s:s, s:I, s:s, s:I, s:I, s:s, s:o}", "row", &row, "q", &q, "method",
                    &method, "trial", &trial, "seed", &seed, "settings", &settings, "values", &values) != 0 ||
        !json_is_object(values))
        return false;
    cell what = {.q = q, .trial = trial};
    snprintf(what.row, sizeof what.row, "%s", row);
    snprintf(what.method, sizeof what.method, "%s", method);
    snprintf(what.settings, sizeof what.settings, "%s", settings);
    cells_key(&what, (uint64_t)seed, key);
    return true;
}

json_t *cells_read(const char *path)
{
    json_t *cells = json_object();
    FILE *file = cells != NULL ? fopen(path, "r") : NULL;
    if (file == NULL) return cells;
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, file) > 0) {
        json_t *record = json_loads(line, 0, NULL);
        char key[CELL_KEY_SIZE];
        if (record != NULL && record_key(record, key)) json_object_set(cells, key, record);
        json_decref(record);
    }
    free(line);
    fclose(file);
    return cells;
}

/* Whether the file ends within a line, as after a power cut. */
static bool ends_open(FILE *file)
{
    if (fseek(file, -1, SEEK_END) != 0) return false; /* empty */
    int last = fgetc(file);
    return last != '\n' && last != EOF;
}

bool cells_append(const char *path, const json_t *record)
{
    char *text = json_dumps(record, JSON_COMPACT | JSON_REAL_PRECISION(9));
    FILE *file = text != NULL ? fopen(path, "a+") : NULL;
    bool good = file != NULL;
    if (good && ends_open(file)) good = fputc('\n', file) != EOF;
    if (good) good = fprintf(file, "%s\n", text) > 0 && fflush(file) == 0 && fsync(fileno(file)) == 0;
    if (file != NULL && fclose(file) != 0) good = false;
    free(text);
    return good;
}
