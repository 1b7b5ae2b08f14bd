/* Text tables: the first byte says how to read, the others are the file. */
#include "fuzz/common.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (size < 2) return 0;
    read_table(bytes[0], bytes + 1, size - 1);
    return 0;
}
