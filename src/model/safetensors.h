/* The model file: safetensors (8-byte little-endian length, JSON header, raw little-endian tensors). */
#pragma once

#include "base/store.h"

stonet_status sn_safetensors_write(const sn_store *store, const char *path); /* atomic */
stonet_status sn_safetensors_read(const char *path, sn_store **out);         /* treats the file as hostile */
/* The same in memory; *bytes is from malloc. */
stonet_status sn_safetensors_encode(const sn_store *store, unsigned char **bytes, size_t *size);
stonet_status sn_safetensors_decode(const unsigned char *bytes, size_t size, sn_store **out);
