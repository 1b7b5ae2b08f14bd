/* Config files of --config: what can be read can be written, and read again as the same. */
#include "fuzz/common.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char path[64], again_path[64];
    int descriptor = file_of(bytes, size, path);
    stonet_spec *spec = NULL, *again = NULL;
    if (stonet_spec_read(path, &spec) == STONET_OK) {
        char *text = stonet_spec_json(spec);
        if (text == NULL) abort();
        int copy = file_of((const uint8_t *)text, strlen(text), again_path);
        if (stonet_spec_read(again_path, &again) != STONET_OK) abort();
        char *second = stonet_spec_json(again);
        if (second == NULL || strcmp(text, second) != 0) abort();
        stonet_string_free(second);
        stonet_string_free(text);
        close(copy);
    } else if (spec != NULL || stonet_last_error()[0] == '\0') {
        abort();
    }
    stonet_spec_free(spec);
    stonet_spec_free(again);
    close(descriptor);
    return 0;
}
