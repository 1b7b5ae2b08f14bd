/* Results: to stdout, or whole or not at all to a file. Functions give an exit status. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <stonet/stonet.h>

#include "cli/options.h"
#include "cli/table.h"

/* A stream that becomes `path` when it is closed; path NULL or "-", here and below: stdout. */
typedef struct output {
    FILE *stream;
    const char *path;
    char *text;
    size_t size;
} output;

/* Whether `path` can be written, found out by beginning to: said before a long job instead of after it. */
int output_check(const cli_command *command, const char *path);
void output_open(const char *path, output *out);
/* Writes the file, or flushes stdout. */
int output_close(const cli_command *command, output *out);

int output_text(const cli_command *command, const char *path, const char *text);
/* A figure, which is freed. */
int output_plot(const cli_command *command, const char *path, char *figure);
/* The text of a value, to be freed by free(). Not json_dumps: that one leaves out what it finds no memory
   for, and says nothing (Jansson 2.14). */
char *json_print(const json_t *json, size_t flags);
/* A line of JSON for machines and people. Steals the reference. */
int output_json(const cli_command *command, const char *path, json_t *json);
/* The first row is a heading when `heading` is set. */
int output_table(const cli_command *command, const char *path, const table *shown, bool heading);
/* n x m numbers with column names: CSV, or NPY when the path ends so. */
int output_matrix(const cli_command *command, const char *path, const double *values, int64_t n, int64_t m,
                  const char *const *names);

/* Where what belongs to the rows of a table goes: after the column that names these, if one does; as JSON, an
   object a row, when that is asked for or the path ends so. */
typedef struct rows_output {
    const char *path;
    bool json, quiet; /* quiet: without notes */
    const stonet_data *data;
} rows_output;
/* n x m numbers; n may be several times the rows. */
int output_rows(const cli_command *command, const rows_output *to, const double *values, int64_t n, int64_t m,
                const char *const *names);
/* n texts, one column. */
int output_text_rows(const cli_command *command, const rows_output *to, const char *const *texts, int64_t n,
                     const char *name);

bool ends_with(const char *text, const char *ending);
/* A CSV field, quoted where it has to be; on a terminal as it can be looked at. */
void put_csv_field(FILE *stream, const char *text);
