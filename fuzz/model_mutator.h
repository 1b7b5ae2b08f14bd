/* Mutation of model files by structure: header and tensors apart, the length of the header put right. */
#ifndef FUZZ_MODEL_MUTATOR_H
#define FUZZ_MODEL_MUTATOR_H

#include "fuzz/common.h"

#include <ctype.h>

static uint32_t state;

static uint32_t draw(uint32_t count)
{
    state = state * 1664525u + 1013904223u;
    return (uint32_t)((uint64_t)(state >> 8) * count >> 24);
}

/* Where the header ends, by its braces; 0 when it does not. */
static size_t header_end(const uint8_t *bytes, size_t size)
{
    size_t depth = 0;
    for (size_t at = 8; at < size; at++) {
        depth += bytes[at] == '{';
        if (bytes[at] == '}' && depth > 0 && --depth == 0) return at + 1;
    }
    return 0;
}

static void set_length(uint8_t *bytes, size_t end)
{
    uint64_t length = end - 8;
    memcpy(bytes, &length, sizeof length);
}

/* Puts `text` in the place of bytes [at, at + old). */
static size_t splice(uint8_t *bytes, size_t size, size_t most, size_t at, size_t old, const char *text)
{
    size_t length = strlen(text);
    if (size - old + length > most) return size;
    memmove(bytes + at + length, bytes + at + old, size - at - old);
    memcpy(bytes + at, text, length);
    return size - old + length;
}

/* Another number for one of those in the header: a shape, an offset, a setting. */
static size_t change_number(uint8_t *bytes, size_t size, size_t most, size_t end)
{
    static const char *const numbers[] = {"0",     "1",          "2",         "3",
                                          "7",     "-1",         "64",        "256",
                                          "65536", "4294967296", "999999999", "9223372036854775807"};
    size_t count = 0;
    for (size_t at = 9; at < end; at++) count += isdigit(bytes[at]) && !isdigit(bytes[at - 1]);
    if (count == 0) return size;
    size_t chosen = draw((uint32_t)count), at = 9;
    for (;; at++)
        if (isdigit(bytes[at]) && !isdigit(bytes[at - 1]) && chosen-- == 0) break;
    size_t old = 1;
    while (at + old < end && isdigit(bytes[at + old])) old++;
    char near[24];
    long value = old < 18 ? strtol((const char *)bytes + at, NULL, 10) : 0;
    snprintf(near, sizeof near, "%ld", value + (draw(2) == 0 ? 1 : -1) * (1L << draw(5)));
    return splice(bytes, size, most, at, old,
                  draw(2) == 0 ? near : numbers[draw(sizeof numbers / sizeof *numbers)]);
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t most, unsigned seed)
{
    state = seed;
    size_t end = size < most ? header_end(bytes, size) : 0;
    uint32_t way = draw(8);
    if (end == 0 || way == 0) return LLVMFuzzerMutate(bytes, size, most);
    if (way <= 3) { /* tensors alone: a valid file with strange numbers */
        uint8_t *tensors = bytes + end;
        if (size == end) return size;
        (void)LLVMFuzzerMutate(tensors, size - end, size - end);
        return size;
    }
    if (way <= 5) {
        size = change_number(bytes, size, most, end);
    } else { /* the header as text */
        uint8_t *header = malloc(end - 8 + 64);
        if (header == NULL) abort();
        memcpy(header, bytes + 8, end - 8);
        size_t length = LLVMFuzzerMutate(header, end - 8, end - 8 + 64), rest = size - end;
        if (8 + length + rest <= most) {
            memmove(bytes + 8 + length, bytes + end, rest);
            memcpy(bytes + 8, header, length);
            size = 8 + length + rest;
        }
        free(header);
    }
    end = header_end(bytes, size);
    if (end != 0) set_length(bytes, end);
    return size;
}

#endif
