#include "data/npy_header.h"

#include <string.h>

enum { BEFORE = 10, LARGEST = 4096 };

/* Version 1.0. */
stonet_status sn_npy_write_header(sn_writer *writer, const char *type, int64_t n, int64_t m, int align)
{
    static const unsigned char magic[8] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0};
    char header[LARGEST];
    const int used = snprintf(header + BEFORE, sizeof header - BEFORE,
                              "{'descr': '%s', 'fortran_order': False, 'shape': (%lld, %lld), }", type,
                              (long long)n, (long long)m);
    const int total = (BEFORE + used + align) / align * align;
    memcpy(header, magic, sizeof magic);
    header[8] = (char)((total - BEFORE) & 0xFF);
    header[9] = (char)((total - BEFORE) >> 8);
    memset(header + BEFORE + used, ' ', (size_t)(total - BEFORE - used - 1));
    header[total - 1] = '\n';
    return sn_write(writer, header, (size_t)total);
}
