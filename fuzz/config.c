/* Config files of --config: what can be read can be written, and read again as the same. */
#include "fuzz/common.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    stonet_spec *spec = NULL, *again = NULL;
    if (stonet_spec_read(file_of(bytes, size), &spec) == STONET_OK) {
        char *text = stonet_spec_json(spec);
        if (text == NULL) abort();
        if (stonet_spec_parse(text, &again) != STONET_OK) abort();
        char *second = stonet_spec_json(again);
        if (second == NULL || strcmp(text, second) != 0) abort();
        stonet_string_free(second);
        stonet_string_free(text);
    } else if (spec != NULL || stonet_last_error()[0] == '\0') {
        abort();
    }
    stonet_spec_free(spec);
    stonet_spec_free(again);
    return 0;
}
