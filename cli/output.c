#include "cli/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "cli/common.h"
#include "cli/ranks.h"
#include "cli/say.h"
#include "cli/show.h"

bool ends_with(const char *text, const char *ending)
{
    size_t length = strlen(text);
    size_t wanted = strlen(ending);
    return length >= wanted && strcmp(text + length - wanted, ending) == 0;
}

/* How much the result will need is not known yet, but nothing is too little. */
static bool disk_is_full(const char *path)
{
    const char *slash = strrchr(path, '/');
    BLOCK char *folder = slash == NULL ? copy_of(".") : text_of("%.*s", (int)(slash - path) + 1, path);
    struct statvfs about;
    return statvfs(folder, &about) == 0 && about.f_blocks > 0 &&
           (geteuid() == 0 ? about.f_bfree : about.f_bavail) == 0;
}

/* "-" stands for standard output, as no path does. */
static const char *file_of(const char *path)
{
    return path != NULL && strcmp(path, "-") != 0 ? path : NULL;
}

int output_check(const cli_command *command, const char *path)
{
    struct stat about;
    if (file_of(path) == NULL || !program_writes()) return EXIT_DONE;
    if (path[0] == '\0') return say_usage(command, "the name of an output file is empty");
    if (stat(path, &about) == 0 && !S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode))
        return EXIT_DONE; /* to open a pipe is to be seen by its reader */
    stonet_status status = stonet_path_check(path);
    if (status == STONET_OK && disk_is_full(path))
        return say_error(command, "cannot write %s: %s", path, strerror(ENOSPC));
    return outcome(command, status);
}

void output_open(const char *path, output *out)
{
    *out = (output){.stream = stdout, .path = file_of(path)};
    if (out->path != NULL) out->stream = open_text(&out->text, &out->size);
}

static int flush_stdout(const cli_command *command)
{
    if (fflush(stdout) == 0 && ferror(stdout) == 0) return EXIT_DONE;
    return say_error(command, "cannot write to standard output: %s", strerror(errno));
}

int output_close(const cli_command *command, output *out)
{
    if (out->path == NULL) return flush_stdout(command);
    close_text(out->stream);
    BLOCK char *text = out->text;
    return outcome(command, program_writes() ? stonet_bytes_write(out->path, text, out->size) : STONET_OK);
}

int output_text(const cli_command *command, const char *path, const char *text)
{
    output out;
    output_open(path, &out);
    fputs(text, out.stream);
    return output_close(command, &out);
}

int output_plot(const cli_command *command, const char *path, char *figure)
{
    BLOCK char *own = figure;
    return output_text(command, path, own);
}

static int append_bytes(const char *bytes, size_t size, void *user)
{
    return fwrite(bytes, 1, size, user) == size ? 0 : -1;
}

char *json_print(const json_t *json, size_t flags)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_text(&text, &size);
    if (json_dump_callback(json, append_bytes, stream, flags) != 0) must_have(NULL);
    close_text(stream);
    return text;
}

int output_json(const cli_command *command, const char *path, json_t *json)
{
    if (json == NULL)
        return say_error(command, "no JSON can be made: memory ran out, or a name in it is not UTF-8");
    const bool shown = file_of(path) == NULL && isatty(STDOUT_FILENO); /* a terminal obeys some characters */
    BLOCK char *text =
        json_print(json, JSON_INDENT(2) | JSON_REAL_PRECISION(12) | (shown ? (size_t)JSON_ENSURE_ASCII : 0));
    json_decref(json);
    output out;
    output_open(path, &out);
    fprintf(out.stream, "%s\n", text);
    return output_close(command, &out);
}

int output_table(const cli_command *command, const char *path, const table *shown, bool heading)
{
    output out;
    output_open(path, &out);
    table_print(shown, heading, out.stream);
    return output_close(command, &out);
}

/* What cannot be written is found when the stream is closed. */
static int put_bytes(const char *bytes, size_t count, void *stream)
{
    fwrite(bytes, 1, count, stream);
    return 0;
}

void put_csv_field(FILE *stream, const char *text)
{
    if (stream == stdout && isatty(STDOUT_FILENO)) {
        show_text(stream, text);
        return;
    }
    stonet_csv_cell(text, put_bytes, stream);
}

static bool is_json(const rows_output *to)
{
    return to->json || (to->path != NULL && ends_with(to->path, ".json"));
}

static char delimiter_of(const char *path)
{
    return path != NULL && (ends_with(path, ".tsv") || ends_with(path, ".tsv.gz")) ? '\t' : ',';
}

static bool is_npy(const char *path)
{
    return path != NULL && (ends_with(path, ".npy") || ends_with(path, ".npy.gz"));
}

/* n rows of m cells: numbers, or texts. */
typedef struct row_cells {
    int64_t n, m;
    const char *const *names;
    bool are_texts;
    const double *values;
    const char *const *texts;
} row_cells;

static json_t *cell_json(const row_cells *cells, int64_t at)
{
    if (cells->are_texts) return json_string(cells->texts[at]);
    return json_number(cells->values[at]);
}

/* A row as a JSON object: what names it, and the cells. */
static json_t *row_json(const rows_output *to, const row_cells *cells, int64_t row)
{
    json_t *object = json_object();
    const char *id = stonet_data_id_name(to->data);
    if (id != NULL)
        object =
            json_put(object, id, json_string(stonet_data_id(to->data, row % stonet_data_rows(to->data))));
    for (int64_t j = 0; j < cells->m; j++)
        object = json_put(object, cells->names[j], cell_json(cells, row * cells->m + j));
    return object;
}

static int rows_as_json(const cli_command *command, const rows_output *to, const row_cells *cells)
{
    json_t *rows = json_array();
    for (int64_t i = 0; i < cells->n; i++) rows = json_add(rows, row_json(to, cells, i));
    return output_json(command, to->path, rows);
}

static void put_id(const output *out, const rows_output *to, int64_t row)
{
    const char *name = stonet_data_id_name(to->data);
    if (name == NULL) return;
    put_csv_field(out->stream, row < 0 ? name : stonet_data_id(to->data, row % stonet_data_rows(to->data)));
    fputc(delimiter_of(out->path), out->stream);
}

static int rows_as_text(const cli_command *command, const rows_output *to, const row_cells *cells)
{
    output out;
    output_open(to->path, &out);
    for (int64_t i = -1; i < cells->n; i++) {
        put_id(&out, to, i);
        for (int64_t j = 0; j < cells->m; j++) {
            char number[STONET_NUMBER_SIZE] = "";
            const int64_t at = i * cells->m + j;
            if (i >= 0 && !cells->are_texts) stonet_number_text(cells->values[at], number);
            put_csv_field(out.stream, i < 0 ? cells->names[j] : cells->are_texts ? cells->texts[at] : number);
            fputc(j + 1 < cells->m ? delimiter_of(out.path) : '\n', out.stream);
        }
    }
    return output_close(command, &out);
}

int output_matrix(const cli_command *command, const char *path, const double *values, int64_t n, int64_t m,
                  const char *const *names)
{
    const row_cells cells = {.n = n, .m = m, .names = names, .values = values};
    if (file_of(path) == NULL) return rows_as_text(command, &(rows_output){0}, &cells);
    return outcome(command, program_writes() ? stonet_matrix_write(path, values, n, m, names) : STONET_OK);
}

/* The column that names the rows must not be called as a column of ours: two of one name are no table. */
static int check_id(const cli_command *command, const rows_output *to, const row_cells *cells)
{
    const char *id = stonet_data_id_name(to->data);
    for (int64_t j = 0; id != NULL && j < cells->m; j++)
        if (strcmp(id, cells->names[j]) == 0)
            return say_error(
                command,
                "column '%s' names the rows, and the output has a column '%s' already: rename the "
                "column, or use another one for --id",
                id, id);
    return EXIT_DONE;
}

int output_rows(const cli_command *command, const rows_output *to, const double *values, int64_t n, int64_t m,
                const char *const *names)
{
    const char *id = stonet_data_id_name(to->data);
    const row_cells cells = {.n = n, .m = m, .names = names, .values = values};
    const bool has_id = !is_npy(to->path) || is_json(to);
    if (has_id && check_id(command, to, &cells) != EXIT_DONE) return EXIT_FAILED;
    if (is_json(to)) return rows_as_json(command, to, &cells);
    if (id != NULL && is_npy(to->path) && !to->quiet)
        say_line("note: %s holds numbers only: column '%s', which names the rows, is not in it", to->path,
                 id);
    if (id == NULL || is_npy(to->path)) return output_matrix(command, to->path, values, n, m, names);
    return rows_as_text(command, to, &cells);
}

int output_text_rows(const cli_command *command, const rows_output *to, const char *const *texts, int64_t n,
                     const char *name)
{
    const row_cells cells = {.n = n, .m = 1, .names = &name, .are_texts = true, .texts = texts};
    if (check_id(command, to, &cells) != EXIT_DONE) return EXIT_FAILED;
    return is_json(to) ? rows_as_json(command, to, &cells) : rows_as_text(command, to, &cells);
}
