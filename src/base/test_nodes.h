/* For tests of what reads JSON that nobody vouches for: every part of it wrong in turn. */
#pragma once

#include <jansson.h>
#include <stdbool.h>

typedef struct test_nodes {
    json_t *whole;
    void (*look)(const json_t *whole, void *user); /* at a whole that is wrong in one place */
    void *user;
} test_nodes;

enum { TEST_NODES_EACH = 2 }; /* so many entries of a list are changed, from its ends */

/* Puts back what was there: `was` is a reference of its own. */
static inline void test_node_set(json_t *inside, const char *key, size_t at, json_t *value)
{
    if (key != NULL)
        json_object_set_new(inside, key, value);
    else
        json_array_set_new(inside, at, value);
}

static inline void test_node_wrong(const test_nodes *how, json_t *inside, const char *key, size_t at)
{
    static const char *const WRONG[] = {
        "null", "true",  "-1", "0",  "3",   "1e300",         "4611686018427387904",
        "\"\"", "\"x\"", "[]", "{}", "[1]", "[\"x\", \"x\"]"};
    json_t *was = json_incref(key != NULL ? json_object_get(inside, key) : json_array_get(inside, at));
    for (size_t i = 0; i < sizeof WRONG / sizeof *WRONG; i++) {
        test_node_set(inside, key, at, json_loads(WRONG[i], JSON_DECODE_ANY, NULL));
        how->look(how->whole, how->user);
    }
    if (key != NULL)
        json_object_del(inside, key);
    else
        json_array_remove(inside, at);
    how->look(how->whole, how->user);
    if (key != NULL)
        json_object_set_new(inside, key, was);
    else
        json_array_insert_new(inside, at, was);
}

/* Each node below `node` replaced by values of every kind, and left out. */
static inline void test_each_node(const test_nodes *how, json_t *node)
{
    const size_t count = json_is_array(node) ? json_array_size(node) : 0;
    for (size_t at = 0; at < count; at++) {
        if (at >= TEST_NODES_EACH && at + TEST_NODES_EACH < count) continue;
        test_node_wrong(how, node, NULL, at);
        test_each_node(how, json_array_get(node, at));
    }
    if (!json_is_object(node)) return;
    json_t *keys = json_deep_copy(node); /* the node itself changes on the way */
    const char *key;
    json_t *value;
    json_object_foreach(keys, key, value)
    {
        test_node_wrong(how, node, key, 0);
        test_each_node(how, json_object_get(node, key));
    }
    json_decref(keys);
}
