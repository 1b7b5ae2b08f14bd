/* Names and labels are UTF-8 inside, whatever the file was written in. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* The length of the well-formed sequence that begins a text of `left` bytes; 0 when it is not well formed
   (stray or missing continuation bytes, overlong forms, surrogates, beyond U+10FFFF). */
size_t sn_utf8_sequence(const char *text, size_t left);
bool sn_utf8_valid(const char *text, size_t length);
