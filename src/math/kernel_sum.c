/*
 * Four rows lie in the lanes of a vector, and four centres are worked on at a time. Their products with the
 * rows, the exponentials and the weighted sums stay in registers and the first cache.
 */
#include "math/kernel_sum.h"

#include <omp.h>
#include <string.h>

#include "base/failure.h"
#include "base/isa.h"
#include "base/memory.h"
#include "math/exponential.h"

enum { LANES = 4, TOGETHER = 4, SHARE = 64 /* vectors of rows that a thread takes at a time */ };

typedef double lanes __attribute__((vector_size(LANES * sizeof(double))));

#define INLINE __attribute__((always_inline)) static inline

/* The squared norms of the centres, without which every row would compute them. */
static void centre_norms(const sn_kernel_sum *sum, double *norm)
{
    for (int64_t j = 0; j < sum->m; j++) {
        norm[j] = 0.0;
        for (int64_t k = 0; k < sum->p; k++)
            norm[j] += sum->centre[j * sum->p + k] * sum->centre[j * sum->p + k];
    }
}

/* x' of up to LANES rows, with zeros for those that are not there. */
INLINE void load_rows(int64_t n, int64_t p, const float *x, lanes *out)
{
    for (int64_t k = 0; k < p; k++) {
        double column[LANES] = {0.0};
        for (int64_t i = 0; i < n; i++) column[i] = (double)x[i * p + k];
        memcpy(&out[k], column, sizeof column);
    }
}

/* f <- b + a'x, and |x|^2. */
INLINE void begin(const sn_kernel_sum *sum, const lanes *x, lanes *f, lanes *norm)
{
    for (int64_t u = 0; u < sum->w; u++) f[u] = sum->constant[u] - (lanes){0};
    *norm = (lanes){0};
    for (int64_t k = 0; k < sum->p; k++) {
        *norm += x[k] * x[k];
        for (int64_t u = 0; sum->slope != NULL && u < sum->w; u++) f[u] += x[k] * sum->slope[k * sum->w + u];
    }
}

/* The terms of centres j .. j + count - 1. */
INLINE void add_centres(const sn_kernel_sum *sum, const double *centre_norm, int64_t j, int count,
                        const lanes *x, const lanes *norm, lanes *f)
{
    const double *z = sum->centre + j * sum->p, *c = sum->weight + j * sum->w;
    lanes k[TOGETHER];
    double exponent[TOGETHER * LANES];
    for (int a = 0; a < count; a++) k[a] = (lanes){0};
    for (int64_t i = 0; i < sum->p; i++)
        for (int a = 0; a < count; a++) k[a] += x[i] * z[a * sum->p + i];
    for (int a = 0; a < count; a++) k[a] = ((*norm + centre_norm[j + a]) - 2.0 * k[a]) * -sum->gamma;
    memcpy(exponent, k, (size_t)count * sizeof *k);
    for (int l = 0; l < count * LANES; l++) exponent[l] = sn_exp_one(exponent[l]);
    memcpy(k, exponent, (size_t)count * sizeof *k);
    for (int64_t u = 0; u < sum->w; u++) {
        lanes total = f[u];
        for (int a = 0; a < count; a++) total += k[a] * c[a * sum->w + u];
        f[u] = total;
    }
}

/* Some of the rows, for one thread. */
typedef struct share {
    const sn_kernel_sum *sum;
    const double *centre_norm;
    int64_t n;
    const float *x;
    lanes *room; /* p + w vectors */
    float *out;
} share;

/* At most LANES rows from row i of the share on. */
INLINE void apply_lanes(const share *of, int64_t i)
{
    const sn_kernel_sum *sum = of->sum;
    const int64_t n = of->n - i < LANES ? of->n - i : LANES;
    lanes *rows = of->room, *f = rows + sum->p, norm;
    load_rows(n, sum->p, of->x + i * sum->p, rows);
    begin(sum, rows, f, &norm);
    int64_t j = 0;
    for (; j + TOGETHER <= sum->m; j += TOGETHER)
        add_centres(sum, of->centre_norm, j, TOGETHER, rows, &norm, f);
    for (; j < sum->m; j++) add_centres(sum, of->centre_norm, j, 1, rows, &norm, f);
    for (int64_t r = 0; r < n; r++)
        for (int64_t u = 0; u < sum->w; u++) of->out[(i + r) * sum->w + u] = (float)f[u][r];
}

INLINE void apply_share(const share *of)
{
    for (int64_t i = 0; i < of->n; i += LANES) apply_lanes(of, i);
}

#if defined(__x86_64__)
__attribute__((target("avx512f,avx512dq"))) static void share_avx512(const share *of)
{
    apply_share(of);
}

__attribute__((target("avx2,fma"))) static void share_avx2(const share *of)
{
    apply_share(of);
}
#endif

static void share_any(const share *of)
{
#if defined(__x86_64__)
    if (sn_isa_used() >= SN_ISA_AVX512) {
        share_avx512(of);
        return;
    }
    if (sn_isa_used() >= SN_ISA_AVX2) {
        share_avx2(of);
        return;
    }
#endif
    apply_share(of);
}

/* The shares of the rows, by whichever thread is free. */
static stonet_status apply_shares(const sn_kernel_sum *sum, const double *centre_norm, int64_t n,
                                  const float *x, float *f)
{
    const int64_t size = (int64_t)SHARE * LANES, shares = (n + size - 1) / size;
    sn_failure failure = {0};
#pragma omp parallel if (shares > 1)
    {
        SN_BLOCK lanes *room = NULL;
        const stonet_status status = SN_NEW_RAW(room, sum->p + sum->w);
        sn_failure_note(&failure, omp_get_thread_num(), status);
#pragma omp for schedule(dynamic)
        for (int64_t s = 0; s < shares; s++) {
            const int64_t first = s * size, rows = n - first < size ? n - first : size;
            if (room != NULL)
                share_any(&(share){sum, centre_norm, rows, x + first * sum->p, room, f + first * sum->w});
        }
    }
    return sn_failure_raise(&failure);
}

stonet_status sn_kernel_sum_apply(const sn_kernel_sum *sum, int64_t n, const float *x, float *f)
{
    SN_ARRAY(sum->m, double, norm);
    centre_norms(sum, norm);
    return apply_shares(sum, norm, n, x, f);
}
