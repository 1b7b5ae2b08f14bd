/* Memory for the commands. A program that gets none can do nothing else: it says so and ends. */
#pragma once

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* A variable whose block is freed when it goes out of scope: BLOCK double *numbers = NULL; */
#define BLOCK __attribute__((cleanup(drop_block)))
static inline void drop_block(void *variable)
{
    free(*(void **)variable);
}

/* What it is given, unless that is NULL: then the program ends. */
void *must_have(void *room);
/* Zeroed room for so many things, to be freed. */
void *room_for(int64_t count, size_t size);
/* As realloc. */
void *more_room(void *room, int64_t count, size_t size);
/* Texts to be freed: a copy, and what printf would write. */
char *copy_of(const char *text);
char *text_of(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *vtext_of(const char *format, va_list values);
/* A stream of memory. When it is closed, *text is what was written to it, to be freed. */
FILE *open_text(char **text, size_t *size);
void close_text(FILE *stream);
/* Two such texts, which are freed, with `between` between them unless the first is empty. */
char *joined(char *first, const char *between, char *second);

/* Texts one after the other: FREED_BY names_free. */
typedef struct name_list {
    int64_t count;
    char **text;
} name_list;
void names_add(name_list *names, char *text); /* which is the list's from then on */
void names_free(name_list *names);
