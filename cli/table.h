/* A table for people: columns as wide as their widest cell, numbers to the right, words to the left. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

typedef struct table table;

/* `align`: one letter a column (at most 32), 'l' or 'r'. */
table *table_create(const char *align);
/* Adds the next cell, row by row; printf style. */
void table_add(table *self, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The first row is a heading when `heading` is set. */
void table_print(const table *self, bool heading, FILE *stream);
void table_free(table *self);
