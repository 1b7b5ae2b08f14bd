/*
 * Float functions of a vector, good to a few units in the last place where the engine uses them, and the
 * normals of noise.h. Polynomials are minimax fits of our own on the stated ranges.
 */
#pragma once

#include "engine/simd.h"
#include "net/activation.h"

/* exp(x) for x <= 0; relative error 2e-7, and 0 instead of numbers below 1e-37. */
SN_INLINE vf exp_negative(vf x)
{
    vf scaled = larger(x, all(-87.0F)) * 1.44269504F;
    vf whole = nearest(scaled);
    vf f = scaled - whole;
    vf p = all(0.0013264727F);
    p = fma_(p, f, all(0.009671513F));
    p = fma_(p, f, all(0.055507336F));
    p = fma_(p, f, all(0.24022242F));
    p = fma_(p, f, all(0.693147F));
    p = fma_(p, f, all(1.0F));
    vi exponent = to_signed(whole) << 23;
    return (vf)((vi)p + exponent);
}

/* -2 log(x) for normal x > 0. With x = 2^e (1 + f), |f| <= 1/3, it is -2 e log 2 - 2 f + f^2 q(f); relative
   error 3e-7. */
SN_INLINE vf minus_two_log(vf x)
{
    vi bits = (vi)x - 0x3F2AAAAB;
    vf e = from_signed(bits >> 23);
    vf f = (vf)((bits & 0x007FFFFF) + 0x3F2AAAAB) - 1.0F;
    vf q = all(0.30533603F);
    q = fma_(q, f, all(-0.33981106F));
    q = fma_(q, f, all(0.32881626F));
    q = fma_(q, f, all(-0.3963634F));
    q = fma_(q, f, all(0.50012648F));
    q = fma_(q, f, all(-0.6667347F));
    q = fma_(q, f, all(0.99999923F));
    vf tail = fma_(f, all(-2.0F), f * f * q);
    return fma_(e, all(-1.38629436F), tail);
}

SN_INLINE vf tanh_(vf x)
{
    x = smaller(larger(x, all(-SN_TANH_LIMIT)), all(SN_TANH_LIMIT));
    vf z = x * x, p = all(sn_tanh_p[0]), q = all(sn_tanh_q[0]);
    for (int k = 1; k < 4; k++) p = fma_(p, z, all(sn_tanh_p[k]));
    for (int k = 1; k < 5; k++) q = fma_(q, z, all(sn_tanh_q[k]));
    return x * p / q;
}

SN_INLINE vf activate(sn_activation activation, vf y)
{
    switch (activation) {
    case SN_TANH:
        return tanh_(y);
    case SN_RELU:
        return larger(y, all(0.0F));
    case SN_SIGMOID:
        return fma_(tanh_(y * 0.5F), all(0.5F), all(0.5F));
    case SN_IDENTITY:
        break;
    }
    return y;
}

/* psi'(y) from psi(y) itself. */
SN_INLINE vf slope(sn_activation activation, vf psi)
{
    switch (activation) {
    case SN_TANH:
        return fma_(-psi, psi, all(1.0F));
    case SN_RELU:
        return positive(psi);
    case SN_SIGMOID:
        return fma_(-psi, psi, psi);
    case SN_IDENTITY:
        break;
    }
    return all(1.0F);
}

/* Two normals a lane from two words a lane, as noise.h writes it. The angle is split as integers: quarter =
   the nearest multiple of a quarter turn, f = the rest, |f| <= 1/2 quarter turn. */
SN_INLINE void box_muller(vu radius_word, vu angle_word, vf *cosine, vf *sine)
{
    vf u = fma_(from_unsigned(radius_word), all(0x1p-32F), all(0x1p-33F));
    vf radius = root(minus_two_log(u));
    vu turned = angle_word + 0x20000000U;
    vf f = fma_(from_signed((vi)(angle_word << 2)), all(0x1p-32F), all(0x1p-31F));
    vf z = f * f;
    vf s = all(-0.0045922892F);
    s = fma_(s, z, all(0.079675905F));
    s = fma_(s, z, all(-0.64596295F));
    s = fma_(s, z, all(1.5707963F));
    s = s * f;
    vf c = all(-0.020408371F);
    c = fma_(c, z, all(0.25359866F));
    c = fma_(c, z, all(-1.2336971F));
    c = fma_(c, z, all(1.0F));
    vf along = choose_bit(turned, 0x40000000U, s, c);
    vf across = choose_bit(turned, 0x40000000U, c, s);
    *cosine = radius * flip_sign(along, turned + 0x40000000U);
    *sine = radius * flip_sign(across, turned);
}

/*
 * Philox4x32-10 with the counter { row, layer << 20 | group, iteration, stream << 16 | sweep }. Only the row
 * differs between lanes, and only the second word between the calls of a sweep, so two and a half of the ten
 * rounds are done once: noise_rows leaves, per row,
 *
 *     key[0..3]: the state after round 2 less what the group puts into it, and round 3's first product.
 *
 * The words live in 64-bit cells (even rows, odd rows): a product's low word is used without masking, since
 * the multiplier reads low words only.
 */
enum { PHILOX_M0 = 0xD2511F53, PHILOX_M1 = 0xCD9E8D57 };
#define PHILOX_W0 0x9E3779B9U
#define PHILOX_W1 0xBB67AE85U

typedef struct philox_keys {
    uint32_t even[10], odd[10]; /* key words of each round */
} philox_keys;

SN_INLINE philox_keys philox_schedule(uint64_t seed)
{
    philox_keys keys;
    for (uint32_t round = 0; round < 10; round++) {
        keys.even[round] = (uint32_t)seed + round * PHILOX_W0;
        keys.odd[round] = (uint32_t)(seed >> 32) + round * PHILOX_W1;
    }
    return keys;
}

/* In every cell; the high half of a cell is never read. */
SN_INLINE vw all_cells(uint32_t value)
{
    return (vw)all_words(value);
}

/* What is common to all calls of one sweep for SN_LANES rows: [0] even rows, [1] odd rows. */
typedef struct noise_state {
    vw low0[2];   /* round 1's low word of M0 row, with round 2's key: the third word is this ^ high(M0 c) */
    vw first[2];  /* round 3: high(M1 c2) ^ this is the first word */
    vw third[2];  /* round 3: this ^ c3 is the third word */
    vw fourth[2]; /* round 3: the fourth word */
} noise_state;

/* One call's part that all lanes share: round 2's product of the first word. */
typedef struct noise_call {
    uint32_t high, low;
} noise_call;

/* The part of Philox that all calls of a sweep share: rounds 1 to 3 as far as they do not depend on the group
   of units. last_word: stream << 16 | sweep. */
SN_INLINE noise_state noise_rows(const philox_keys *keys, vu rows, uint32_t iteration, uint32_t last_word)
{
    noise_state state;
    vw halves[2] = {(vw)rows, (vw)rows >> 32};
    uint64_t scalar = (uint64_t)(uint32_t)PHILOX_M1 * iteration;
    for (int half = 0; half < 2; half++) {
        vw product0 = multiply_words(halves[half], all_cells((uint32_t)PHILOX_M0));
        vw c2 = (product0 >> 32) ^ all_cells(last_word ^ keys->odd[0]);
        vw product1 = multiply_words(c2, all_cells((uint32_t)PHILOX_M1));
        vw c0 = (product1 >> 32) ^ all_cells((uint32_t)scalar ^ keys->even[1]);
        vw next = multiply_words(c0, all_cells((uint32_t)PHILOX_M0));
        state.low0[half] = product0 ^ all_cells(keys->odd[1]);
        state.first[half] = product1 ^ all_cells(keys->even[2]);
        state.third[half] = (next >> 32) ^ all_cells(keys->odd[2]);
        state.fourth[half] = next;
    }
    return state;
}

SN_INLINE noise_call noise_group(const philox_keys *keys, uint32_t iteration, uint32_t second_word)
{
    uint32_t c0 = (uint32_t)(((uint64_t)(uint32_t)PHILOX_M1 * iteration) >> 32) ^ second_word ^ keys->even[0];
    uint64_t product = (uint64_t)(uint32_t)PHILOX_M0 * c0;
    return (noise_call){.high = (uint32_t)(product >> 32), .low = (uint32_t)product};
}

/* The four normals of a unit group, a row a lane. */
SN_INLINE void noise_normals(const philox_keys *keys, const noise_state *state, noise_call call, int pairs,
                             vf normal[4])
{
    vw c0[2], c1[2], c2[2], c3[2];
    for (int half = 0; half < 2; half++) {
        vw product = multiply_words(state->low0[half] ^ all_cells(call.high), all_cells((uint32_t)PHILOX_M1));
        c0[half] = (product >> 32) ^ state->first[half];
        c1[half] = product;
        c2[half] = state->third[half] ^ all_cells(call.low);
        c3[half] = state->fourth[half];
    }
#pragma GCC unroll 7
    for (int round = 3; round < 10; round++)
        for (int half = 0; half < 2; half++) {
            vw product0 = multiply_words(c0[half], all_cells((uint32_t)PHILOX_M0));
            vw product1 = multiply_words(c2[half], all_cells((uint32_t)PHILOX_M1));
            c0[half] = xor3(product1 >> 32, c1[half], all_cells(keys->even[round]));
            c1[half] = product1;
            c2[half] = xor3(product0 >> 32, c3[half], all_cells(keys->odd[round]));
            c3[half] = product0;
        }
    box_muller(interleave(c0[0], c0[1]), interleave(c1[0], c1[1]), &normal[0], &normal[1]);
    if (pairs > 1) box_muller(interleave(c2[0], c2[1]), interleave(c3[0], c3[1]), &normal[2], &normal[3]);
}
