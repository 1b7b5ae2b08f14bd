/* Bytes that grow at their end. The first failure stays: a writer checks the status once, at the end. */
#pragma once

#include "base/pack.h"

typedef struct sn_bytes {
    sn_pack pack;
    stonet_status status;
} sn_bytes;

void sn_bytes_put(sn_bytes *bytes, const void *from, size_t size);
void sn_bytes_text(sn_bytes *bytes, const char *text);
/* printf with a decimal point in every locale; up to 500 characters. */
void sn_bytes_print(sn_bytes *bytes, const char *format, ...) SN_PRINTF(2, 3);
void sn_bytes_free(sn_bytes *bytes);
