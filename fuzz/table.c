/* Data files: text, .npy, .npz, IDX, each also gzipped; the content decides. The first byte says how to read.
 */
#include "fuzz/common.h"

#include <math.h>
#include <stonet/stonet.h>

/* What was read is whole: as many rows as it says, all numbers finite. */
static void look_at(const stonet_data *data)
{
    int64_t m = 0, classes = 0, n = stonet_data_rows(data);
    const double *y = stonet_data_targets(data, &m);
    const int32_t *label = stonet_data_classes(data, &classes);
    if (n < 1) abort();
    for (int64_t i = 0; i < n * m; i++)
        if (!isfinite(y[i])) abort();
    for (int64_t i = 0; label != NULL && i < n; i++)
        if (label[i] < 0 || label[i] >= classes) abort();
    for (int64_t j = 0; j < stonet_data_columns(data); j++)
        if (stonet_data_column_name(data, j) == NULL) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (size < 2) return 0;
    char path[64];
    int descriptor = file_of(bytes + 1, size - 1, path);
    stonet_read_options how = STONET_READ_OPTIONS_INIT;
    const char *const targets[] = {NULL, "1", "y", "2,1"};
    how.target = targets[bytes[0] & 3];
    how.header = (stonet_header)(bytes[0] >> 2 & 3) <= STONET_HEADER_NO ? (stonet_header)(bytes[0] >> 2 & 3)
                                                                        : STONET_HEADER_AUTO;
    how.threads = 1;
    stonet_data *data = NULL;
    if (stonet_data_read(path, &how, &data) == STONET_OK)
        look_at(data);
    else if (data != NULL || stonet_last_error()[0] == '\0')
        abort();
    stonet_data_free(data);
    close(descriptor);
    return 0;
}
