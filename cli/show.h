/* Text that came with the data, shown to people: a terminal obeys control characters. */
#ifndef CLI_SHOW_H
#define CLI_SHOW_H

#include <stdio.h>

/* Prints the text with its control characters (also those above ASCII, and bytes that are no UTF-8) as \xNN.
 */
void show_text(FILE *stream, const char *text);
/* The same as a text, to be freed; NULL when memory ran out. */
char *shown_copy(const char *text);

#endif
