/* Names and labels are UTF-8 inside, whatever the file was written in. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

bool sn_utf8_valid(const char *text, size_t length);
/* Reads each byte as a Latin-1 character; out has room for 2 * length bytes. Returns the bytes written. */
size_t sn_utf8_from_latin1(const char *text, size_t length, char *out);
