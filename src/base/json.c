#include "base/json.h"

#include <stdbool.h>
#include <string.h>

#include "base/memory.h"

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

/* A text that grows; once it could not, it is of no use. */
typedef struct growing {
    char *text;
    size_t length, room;
    bool failed;
} growing;

static int append(const char *bytes, size_t size, void *user)
{
    growing *to = user;
    if (!to->failed && size >= to->room - to->length) {
        size_t room = 2 * (to->length + size) + 256;
        to->failed = SN_GROW(to->text, room) != STONET_OK;
        if (!to->failed) to->room = room;
    }
    if (to->failed) return -1;
    memcpy(to->text + to->length, bytes, size);
    to->length += size;
    to->text[to->length] = '\0';
    return 0;
}

char *sn_json_print(const json_t *json, size_t flags)
{
    growing to = {0};
    if (json != NULL && json_dump_callback(json, append, &to, flags) == 0 && !to.failed) return to.text;
    sn_free(to.text);
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
