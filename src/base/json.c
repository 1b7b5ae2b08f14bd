#include "base/json.h"

#include <math.h>
#include <stdbool.h>

#include "base/memory.h"
#include "base/pack.h"

json_t *sn_json_add(json_t *list, json_t *value)
{
    if (json_array_append_new(list, value) == 0) return list;
    json_decref(list);
    return NULL;
}

json_t *sn_json_put(json_t *object, const char *key, json_t *value)
{
    if (json_object_set_new(object, key, value) == 0) return object;
    json_decref(object);
    return NULL;
}

json_t *sn_json_join(json_t *object, json_t *more)
{
    int failed = json_object_update(object, more);
    json_decref(more);
    if (failed == 0) return object;
    json_decref(object);
    return NULL;
}

json_t *sn_json_number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

/* A text that grows; once it could not, it is of no use. */
typedef struct growing {
    sn_pack text;
    bool failed;
} growing;

static int append(const char *bytes, size_t size, void *user)
{
    growing *to = user;
    to->failed = to->failed || sn_pack_bytes(&to->text, bytes, size) != STONET_OK;
    return to->failed ? -1 : 0;
}

char *sn_json_print(const json_t *json, size_t flags)
{
    growing to = {0};
    if (json != NULL && json_dump_callback(json, append, &to, flags) == 0 && append("", 1, &to) == 0)
        return (char *)to.text.bytes;
    sn_pack_clear(&to.text);
    return NULL;
}

stonet_status sn_json_failed(void)
{
    return sn_fail(STONET_ERROR_MEMORY, "memory ran out while writing JSON");
}

stonet_status sn_json_unread(const json_error_t *error, stonet_status status)
{
    /* Jansson keeps silent in most places where memory runs out, and blames the text in some. */
    if (json_error_code(error) != json_error_out_of_memory && error->text[0] != '\0') return status;
    return sn_fail(STONET_ERROR_MEMORY, "memory ran out while reading JSON");
}
