/* Text that came with the data, shown to people: a terminal obeys control characters, and XML has none. */
#pragma once

#include <stdio.h>

enum { SHOWN_SIZE = 4 * 4 + 1 }; /* a character of four bytes as \xNN each, and an end */

/* The next character of the text as it is shown; gives the length, and moves the text on. Control characters,
   also those above ASCII and those that change the direction of text, and bytes that are no UTF-8 become
   \xNN.
 */
size_t show_next(const char **text, char out[SHOWN_SIZE]);
/* Prints all of the text so. */
void show_text(FILE *stream, const char *text);
/* The same as a text, to be freed. */
char *shown_copy(const char *text);

enum { SCREEN_WIDTH = 79 };
/* How many letters so many bytes are: those that continue a UTF-8 character take no room. */
int shown_width(const char *text, size_t length);
/* Prints words, broken before the end of the screen, each new line indented; the cursor is at `column`. Words
   that are longer stay whole. A single line end in the text is a blank, two are the end of a paragraph. */
void put_wrapped(FILE *stream, const char *text, int indent, int column);
