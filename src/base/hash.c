#include "base/hash.h"

#include <string.h>

static const uint64_t ODD = 0x9E3779B97F4A7C15U, OTHER = 0xD1342543DE82EF95U;

static uint64_t mix(uint64_t value)
{
    value ^= value >> 32;
    value *= OTHER;
    value ^= value >> 29;
    value *= ODD;
    return value ^ value >> 32;
}

void sn_hash_begin(sn_hash *hash)
{
    *hash = (sn_hash){.lane = {1, 2, 3, 4}};
}

/* One to one in the lane for every word: no two words do the same to it. */
static void add_step(uint64_t lane[SN_HASH_LANES], const unsigned char *bytes)
{
    for (int k = 0; k < SN_HASH_LANES; k++) {
        uint64_t word;
        memcpy(&word, bytes + sizeof word * (size_t)k, sizeof word);
        lane[k] = (lane[k] ^ word) * ODD;
        lane[k] ^= lane[k] >> 31;
    }
}

/* The bytes may come in pieces of any size: the hash is that of the pieces joined. Whole steps are hashed
   where they lie; the rest waits in `held`. */
void sn_hash_add(sn_hash *hash, const void *bytes, size_t size)
{
    const unsigned char *from = bytes;
    size_t held = (size_t)(hash->length % SN_HASH_STEP);
    hash->length += size;
    while (size > 0) {
        if (held == 0 && size >= SN_HASH_STEP) {
            add_step(hash->lane, from);
            from += SN_HASH_STEP;
            size -= SN_HASH_STEP;
            continue;
        }
        const size_t some = SN_HASH_STEP - held < size ? SN_HASH_STEP - held : size;
        memcpy(hash->held + held, from, some);
        from += some;
        size -= some;
        held = (held + some) % SN_HASH_STEP;
        if (held == 0) add_step(hash->lane, hash->held);
    }
}

void sn_hash_text(sn_hash *hash, const char *text)
{
    sn_hash_int(hash, text != NULL ? (int64_t)strlen(text) : -1);
    if (text != NULL) sn_hash_add(hash, text, strlen(text));
}

void sn_hash_int(sn_hash *hash, int64_t value)
{
    sn_hash_add(hash, &value, sizeof value);
}

uint64_t sn_hash_value(const sn_hash *hash)
{
    uint64_t lane[SN_HASH_LANES], sum = mix(hash->length);
    unsigned char last[SN_HASH_STEP] = {0};
    memcpy(lane, hash->lane, sizeof lane);
    memcpy(last, hash->held, (size_t)(hash->length % SN_HASH_STEP));
    add_step(lane, last);
    for (int k = 0; k < SN_HASH_LANES; k++) sum = mix(sum ^ lane[k]);
    return sum;
}
