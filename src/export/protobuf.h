/* Messages of Protocol Buffers, as far as ONNX files need them: fields of whole numbers, bytes and messages.
 */
#pragma once

#include <stdint.h>

#include "export/bytes.h"

void sn_proto_int(sn_bytes *message, int field, int64_t value);
void sn_proto_bytes(sn_bytes *message, int field, const void *bytes, size_t size);
void sn_proto_text(sn_bytes *message, int field, const char *text);
/* Puts `part` into the message and empties it. */
void sn_proto_message(sn_bytes *message, int field, sn_bytes *part);
