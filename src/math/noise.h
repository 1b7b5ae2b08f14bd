/*
 * Counter-based noise (Philox4x32-10 by Random123) and normals by Box-Muller.
 *
 * Every random number of the project is a pure function of (seed, stream, a, b, c): nothing is drawn "in
 * order", so results do not depend on threads, batch splits or row order.
 *
 *     key     = seed (low word, high word)
 *     counter = { row, layer << 20 | unit / 4, iteration, stream << 16 | sweep }
 *
 * One Philox call gives four 32-bit words w0..w3 and so four normals, for units 4g .. 4g+3:
 *
 *     u(w) = (w + 0.5) 2^-32 in (0, 1)
 *     (n0, n1) = sqrt(-2 log u(w0)) (cos, sin)(2 pi u(w1)),   (n2, n3) likewise from (w2, w3)
 *
 * The float form rounds u(w0) to float (its tail reaches 6.6 sigma) and evaluates in float.
 */
#pragma once

#include <stdint.h>

/* What the numbers are for; streams never overlap. At most 65535. */
typedef enum sn_stream {
    SN_STREAM_IMPUTE = 0,    /* SGHMC noise of training */
    SN_STREAM_WEIGHTS = 1,   /* starting weights */
    SN_STREAM_SHUFFLE = 2,   /* row order of an epoch */
    SN_STREAM_SPLIT = 3,     /* folds, validation parts */
    SN_STREAM_DRAWS = 4,     /* stochastic forward passes */
    SN_STREAM_DATA = 5,      /* built-in generators */
    SN_STREAM_FEATURES = 6,  /* random Fourier features, landmarks */
    SN_STREAM_PERMUTE = 7,   /* permutation tests, bootstrap */
    SN_STREAM_START = 8,     /* random starts of optimisers */
    SN_STREAM_SEARCH = 9,    /* random search over settings */
    SN_STREAM_DROPOUT = 10,  /* units left out in training plain networks */
    SN_STREAM_CELLS = 11,    /* missing cells */
    SN_STREAM_RESPONSE = 12, /* responses that are seen in part */
    SN_STREAM_TEST = 100
} sn_stream;

/* Philox4x32-10. */
void sn_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);
/* Where the numbers of four units stand in the layout above: group = unit / 4. */
typedef struct sn_address {
    uint64_t seed;
    sn_stream stream;
    uint32_t row, layer, group, iteration, sweep;
} sn_address;

/* The four words of a group, and its four normals. */
void sn_noise_words(const sn_address *at, uint32_t out[4]);
void sn_noise_normal4(const sn_address *at, double out[4]);
/* The normal of one unit, and the uniform number on (0, 1) from its word. */
double sn_noise_normal(uint64_t seed, sn_stream stream, uint32_t row, uint32_t layer, uint32_t unit,
                       uint32_t iteration, uint32_t sweep);
double sn_noise_uniform(uint64_t seed, sn_stream stream, uint32_t row, uint32_t layer, uint32_t unit,
                        uint32_t iteration, uint32_t sweep);

/* A plain sequential generator over one (seed, stream, substream), for code that just wants numbers. */
typedef struct sn_random {
    uint64_t seed;
    uint32_t stream, substream;
    uint64_t at;       /* words consumed so far */
    uint32_t words[4]; /* the current Philox block */
    double spare_normal;
    int has_spare;
} sn_random;

sn_random sn_random_from(uint64_t seed, sn_stream stream, uint32_t substream);
uint32_t sn_random_word(sn_random *random);
double sn_random_uniform(sn_random *random); /* in (0, 1), 53 bits */
double sn_random_normal(sn_random *random);
uint64_t sn_random_below(sn_random *random, uint64_t bound); /* uniform on 0..bound-1 */
/* A uniformly random order of 0..n-1 (Fisher-Yates). */
void sn_random_permutation(sn_random *random, int64_t n, int64_t *order);

/* A bijection of 0..n-1 computed without memory (Feistel network, cycle walking): the row order of epoch
   `epoch`. Returns the row at `position`. */
typedef struct sn_shuffle {
    uint64_t n;
    uint32_t half_bits;
    uint32_t key[6];
} sn_shuffle;

void sn_shuffle_init(sn_shuffle *shuffle, uint64_t n, uint64_t seed, uint32_t epoch);
/* The same for the n rows of one of several shards, each with an order of its own; shard 0 has that of
   sn_shuffle_init. */
void sn_shuffle_init_shard(sn_shuffle *shuffle, uint64_t n, uint64_t seed, uint32_t epoch, uint32_t shard);
uint64_t sn_shuffle_at(const sn_shuffle *shuffle, uint64_t position);
/* The rows at `count` positions from `first` on: many at a time are several times as fast. */
void sn_shuffle_rows(const sn_shuffle *shuffle, int64_t first, int64_t count, int64_t *row);
