#include "math/noise.h"

#include <math.h>
#include <string.h>

#include "base/clones.h"

/* Random123 wants to be told that its own headers' conversions are meant. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#include <Random123/philox.h>
#pragma GCC diagnostic pop

void sn_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4])
{
    philox4x32_ctr_t c = {{counter[0], counter[1], counter[2], counter[3]}};
    philox4x32_key_t k = {{key[0], key[1]}};
    philox4x32_ctr_t r = philox4x32(c, k);
    memcpy(out, r.v, sizeof r.v);
}

void sn_noise_words(const sn_address *at, uint32_t out[4])
{
    const uint32_t counter[4] = {at->row, at->layer << 20 | at->group, at->iteration,
                                 (uint32_t)at->stream << 16 | at->sweep};
    const uint32_t key[2] = {(uint32_t)at->seed, (uint32_t)(at->seed >> 32)};
    sn_philox(counter, key, out);
}

/* (w + 0.5) / 2^32: never 0 or 1. */
static double open_uniform(uint32_t word)
{
    return ((double)word + 0.5) * 0x1p-32;
}

static void box_muller(uint32_t for_radius, uint32_t for_angle, double out[2])
{
    double radius = sqrt(-2.0 * log(open_uniform(for_radius)));
    double angle = 2.0 * M_PI * open_uniform(for_angle);
    out[0] = radius * cos(angle);
    out[1] = radius * sin(angle);
}

void sn_noise_normal4(const sn_address *at, double out[4])
{
    uint32_t words[4];
    sn_noise_words(at, words);
    box_muller(words[0], words[1], out);
    box_muller(words[2], words[3], out + 2);
}

double sn_noise_normal(uint64_t seed, sn_stream stream, uint32_t row, uint32_t layer, uint32_t unit,
                       uint32_t iteration, uint32_t sweep)
{
    double four[4];
    sn_noise_normal4(&(sn_address){seed, stream, row, layer, unit / 4, iteration, sweep}, four);
    return four[unit % 4];
}

double sn_noise_uniform(uint64_t seed, sn_stream stream, uint32_t row, uint32_t layer, uint32_t unit,
                        uint32_t iteration, uint32_t sweep)
{
    uint32_t words[4];
    sn_noise_words(&(sn_address){seed, stream, row, layer, unit / 4, iteration, sweep}, words);
    return open_uniform(words[unit % 4]);
}

sn_random sn_random_from(uint64_t seed, sn_stream stream, uint32_t substream)
{
    return (sn_random){.seed = seed, .stream = (uint32_t)stream, .substream = substream};
}

uint32_t sn_random_word(sn_random *random)
{
    uint32_t lane = (uint32_t)(random->at % 4);
    if (lane == 0) {
        uint64_t block = random->at / 4;
        const uint32_t counter[4] = {(uint32_t)block, (uint32_t)(block >> 32), random->substream,
                                     random->stream << 16};
        const uint32_t key[2] = {(uint32_t)random->seed, (uint32_t)(random->seed >> 32)};
        sn_philox(counter, key, random->words);
    }
    random->at++;
    return random->words[lane];
}

double sn_random_uniform(sn_random *random)
{
    uint64_t high = sn_random_word(random);
    uint64_t bits = high << 20 ^ (uint64_t)(sn_random_word(random) >> 12);
    return ((double)bits + 0.5) * 0x1p-52;
}

double sn_random_normal(sn_random *random)
{
    if (random->has_spare) {
        random->has_spare = 0;
        return random->spare_normal;
    }
    double pair[2];
    uint32_t for_radius = sn_random_word(random);
    box_muller(for_radius, sn_random_word(random), pair);
    random->spare_normal = pair[1];
    random->has_spare = 1;
    return pair[0];
}

uint64_t sn_random_below(sn_random *random, uint64_t bound)
{
    /* Rejection keeps it exactly uniform; `limit` is the largest multiple of bound below 2^64. */
    uint64_t limit = UINT64_MAX - UINT64_MAX % bound;
    for (;;) {
        uint64_t high = sn_random_word(random);
        uint64_t draw = high << 32 | sn_random_word(random);
        if (draw < limit) return draw % bound;
    }
}

void sn_random_permutation(sn_random *random, int64_t n, int64_t *order)
{
    for (int64_t i = 0; i < n; i++) order[i] = i;
    for (int64_t i = n - 1; i > 0; i--) {
        int64_t j = (int64_t)sn_random_below(random, (uint64_t)i + 1);
        int64_t held = order[i];
        order[i] = order[j];
        order[j] = held;
    }
}

void sn_shuffle_init(sn_shuffle *shuffle, uint64_t n, uint64_t seed, uint32_t epoch)
{
    sn_shuffle_init_shard(shuffle, n, seed, epoch, 0);
}

void sn_shuffle_init_shard(sn_shuffle *shuffle, uint64_t n, uint64_t seed, uint32_t epoch, uint32_t shard)
{
    *shuffle = (sn_shuffle){.n = n, .half_bits = 1};
    while (shuffle->half_bits < 32 && (UINT64_C(1) << (2 * shuffle->half_bits)) < n) shuffle->half_bits++;
    uint32_t words[8];
    for (uint32_t k = 0; k < 2; k++)
        sn_noise_words(&(sn_address){seed, SN_STREAM_SHUFFLE, .row = 2 * shard + k, .iteration = epoch},
                       words + (size_t)4 * k);
    memcpy(shuffle->key, words, sizeof shuffle->key);
}

/* A 32-bit mix (two multiply-xorshift rounds) as the Feistel round function. */
static uint32_t mix(uint32_t value, uint32_t key)
{
    value ^= key;
    value *= 0x9e3779b1u;
    value ^= value >> 15;
    value *= 0x85ebca77u;
    value ^= value >> 13;
    return value + key;
}

enum { TOGETHER = 64, LANES = 16 }; /* positions walked at the same time, and at least so many */

/* The six rounds for `count` values, a multiple of LANES, each in two halves. Whole numbers: the same on
   every instruction set. */
SN_CLONES
static void feistel(const sn_shuffle *shuffle, int count, uint32_t *left, uint32_t *right)
{
    const uint32_t mask = (uint32_t)((UINT64_C(1) << shuffle->half_bits) - 1);
    for (int i = 0; i < count; i++) {
        uint32_t l = left[i], r = right[i];
        for (int round = 0; round < 6; round++) {
            const uint32_t next = l ^ (mix(r, shuffle->key[round]) & mask);
            l = r;
            r = next;
        }
        left[i] = l;
        right[i] = r;
    }
}

/* The domain is a power of four: each value walks its cycle until it is back inside 0..n-1. Those that are
   not go on together. */
static void walk(const sn_shuffle *shuffle, uint64_t first, int count, int64_t *row)
{
    const uint32_t mask = (uint32_t)((UINT64_C(1) << shuffle->half_bits) - 1);
    uint32_t left[TOGETHER] = {0}, right[TOGETHER] = {0};
    int place[TOGETHER], waiting = count;
    for (int i = 0; i < count; i++) {
        left[i] = (uint32_t)((first + (uint64_t)i) >> shuffle->half_bits);
        right[i] = (uint32_t)(first + (uint64_t)i) & mask;
        place[i] = i;
    }
    while (waiting > 0) {
        feistel(shuffle, (waiting + LANES - 1) / LANES * LANES, left, right);
        int outside = 0;
        for (int i = 0; i < waiting; i++) {
            const uint64_t value = (uint64_t)left[i] << shuffle->half_bits | right[i];
            row[place[i]] = (int64_t)value;
            left[outside] = left[i];
            right[outside] = right[i];
            place[outside] = place[i];
            outside += value >= shuffle->n;
        }
        waiting = outside;
    }
}

void sn_shuffle_rows(const sn_shuffle *shuffle, int64_t first, int64_t count, int64_t *row)
{
    for (int64_t done = 0; done < count; done += TOGETHER)
        walk(shuffle, (uint64_t)(first + done), (int)(count - done < TOGETHER ? count - done : TOGETHER),
             row + done);
}

uint64_t sn_shuffle_at(const sn_shuffle *shuffle, uint64_t position)
{
    int64_t row;
    walk(shuffle, position, 1, &row);
    return (uint64_t)row;
}
