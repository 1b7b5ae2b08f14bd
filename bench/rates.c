#include "rates.h"

#include <cblas.h>
#include <math.h>
#include <sleef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "engine/engines.h"
#include "engine/simd.h"
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#include <Random123/philox.h>
#pragma GCC diagnostic pop

#if defined(__AVX512F__)
#define SLEEF_LOG(x)    (vf) Sleef_logf16_u35avx512f((__m512)(x))
#define SLEEF_TANH(x)   (vf) Sleef_tanhf16_u35avx512f((__m512)(x))
#define SLEEF_SINCOS(x) Sleef_sincospif16_u35avx512f((__m512)(x))
#elif defined(__AVX2__)
#define SLEEF_LOG(x)    (vf) Sleef_logf8_u35avx2((__m256)(x))
#define SLEEF_TANH(x)   (vf) Sleef_tanhf8_u35avx2((__m256)(x))
#define SLEEF_SINCOS(x) Sleef_sincospif8_u35avx2((__m256)(x))
#else
#define SLEEF_LOG(x)    (vf) Sleef_logf4_u35((__m128)(x))
#define SLEEF_TANH(x)   (vf) Sleef_tanhf4_u35((__m128)(x))
#define SLEEF_SINCOS(x) Sleef_sincospif4_u35((__m128)(x))
#endif

enum { COUNT = 8192, REPEATS = 12 };

double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static float buffer[COUNT], result[COUNT];
static volatile float sink;

static void words_random123(uint32_t *drawn, uint32_t at)
{
    for (uint32_t i = 0; i < COUNT / 4; i++) {
        const philox4x32_ctr_t c = {{i, at, 1, 2}};
        const philox4x32_key_t k = {{3, 4}};
        const philox4x32_ctr_t r = philox4x32(c, k);
        for (int j = 0; j < 4; j++) drawn[j * (COUNT / 4) + (int)i] = r.v[j];
    }
}

static void words_vectors(uint32_t *drawn, uint32_t at)
{
    for (uint32_t i = 0; i < COUNT / 4; i += SN_LANES) {
        vu row;
        for (uint32_t lane = 0; lane < SN_LANES; lane++) row[lane] = i + lane;
        vw c[4][2] = {{(vw)row, (vw)row >> 32},
                      {(vw)all_words(at), (vw)all_words(at)},
                      {(vw)all_words(1), (vw)all_words(1)},
                      {(vw)all_words(2), (vw)all_words(2)}};
        uint32_t key0 = 3, key1 = 4;
        for (int round = 0; round < 10; round++, key0 += 0x9E3779B9U, key1 += 0xBB67AE85U)
            for (int half = 0; half < 2; half++) {
                vw p0 = multiply_words(c[0][half], (vw)all_words(0xD2511F53U));
                vw p1 = multiply_words(c[2][half], (vw)all_words(0xCD9E8D57U));
                c[0][half] = xor3(p1 >> 32, c[1][half], (vw)all_words(key0));
                c[1][half] = p1;
                c[2][half] = xor3(p0 >> 32, c[3][half], (vw)all_words(key1));
                c[3][half] = p0;
            }
        for (int j = 0; j < 4; j++)
            store_words(drawn + j * (COUNT / 4) + (int)i, interleave(c[j][0], c[j][1]));
    }
}

static void transform(const uint32_t *drawn)
{
    const int half = COUNT / 2;
    for (int i = 0; i < half; i += SN_LANES) {
        vf u = fma_(from_unsigned(load_words(drawn + i)), all(0x1p-32F), all(0x1p-33F));
        vf angle = from_signed((vi)load_words(drawn + half + i)) * 0x1p-31F;
        vf radius = root(SLEEF_LOG(u) * -2.0F);
        __auto_type turn = SLEEF_SINCOS(angle);
        store(result + i, radius * (vf)turn.x);
        store(result + half + i, radius * (vf)turn.y);
    }
}

double rate_normal(void)
{
    static uint32_t drawn[COUNT];
    double best = INFINITY;
    for (int form = 0; form < 2; form++)
        for (int repeat = 0; repeat < REPEATS; repeat++) {
            const double start = cpu_seconds();
            for (uint32_t k = 0; k < 20; k++) {
                if (form == 0)
                    words_random123(drawn, k);
                else
                    words_vectors(drawn, k);
                transform(drawn);
            }
            const double each = (cpu_seconds() - start) / (20.0 * COUNT);
            sink = result[17];
            best = each < best ? each : best;
        }
    return best;
}

double rate_tanh(void)
{
    double best = INFINITY;
    for (int i = 0; i < COUNT; i++) buffer[i] = (float)(i - COUNT / 2) * 0.001F;
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        const double start = cpu_seconds();
        for (int k = 0; k < 40; k++)
            for (int i = 0; i < COUNT; i += SN_LANES) store(result + i, SLEEF_TANH(load(buffer + i)));
        const double each = (cpu_seconds() - start) / (40.0 * COUNT);
        sink = result[17];
        best = each < best ? each : best;
    }
    return best;
}

/* One call in one of eight forms: which operand is transposed, and C or C' as the result. */
static void call_gemm(int form, int m, int n, int k, const float *a, const float *b, float *c)
{
    if (form & 4) {
        const int held = m;
        m = n;
        n = held;
    }
    const CBLAS_TRANSPOSE ta = form & 1 ? CblasTrans : CblasNoTrans,
                          tb = form & 2 ? CblasTrans : CblasNoTrans;
    cblas_sgemm(CblasRowMajor, ta, tb, m, n, k, 1.0F, a, form & 1 ? m : k, b, form & 2 ? k : n, 0.0F, c, n);
}

static double rate_openblas(int64_t m, int64_t n, int64_t k)
{
    float *a = sn_calloc((size_t)((m + n) * k + 64), sizeof *a);
    float *b = sn_calloc((size_t)((m + n) * k + 64), sizeof *b);
    float *c = sn_calloc((size_t)(m * n), sizeof *c);
    double best = INFINITY;
    const double flops = 2.0 * (double)m * (double)n * (double)k;
    const int calls = flops > 2e6 ? 1 : (int)(2e6 / flops) + 1;
    if (a == NULL || b == NULL || c == NULL) abort();
    for (int64_t i = 0; i < (m + n) * k; i++) a[i] = b[i] = (float)(i % 7) - 3.0F;
    for (int form = 0; form < 8; form++)
        for (int repeat = 0; repeat < REPEATS; repeat++) {
            const double start = cpu_seconds();
            for (int call = 0; call < calls; call++) call_gemm(form, (int)m, (int)n, (int)k, a, b, c);
            const double each = (cpu_seconds() - start) / calls;
            best = each < best ? each : best;
        }
    sink = c[0];
    sn_free(a);
    sn_free(b);
    sn_free(c);
    return best;
}

/* The same product by the engine's own tiles: m rows through a layer of n units with k inputs. */
static double rate_engine(int64_t m, int64_t n, int64_t k)
{
    sn_shape shape = {.layers = 1, .width = {k, n}};
    sn_engine *engine;
    float *x = sn_calloc((size_t)(m * k), sizeof *x), *out = sn_calloc((size_t)(m * n), sizeof *out);
    if (x == NULL || out == NULL || sn_shape_layout(&shape) != STONET_OK) abort();
    float *theta = sn_calloc((size_t)shape.parameters, sizeof *theta);
    const sn_problem rows = {.n = m, .p = k, .x = x, .outputs = n};
    const sn_pass pass = {.rows = sn_rows_range(0, m), .layer = 1};
    if (theta == NULL || sn_engine_cpu.create(&shape, &rows, 0, 1, &engine) != STONET_OK) abort();
    sn_shape_start(&shape, 1, theta);
    sn_engine_cpu.start(engine, theta);
    double best = INFINITY;
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        const double start = cpu_seconds();
        if (sn_engine_cpu.forward(engine, &pass, out) != STONET_OK) abort();
        best = fmin(best, cpu_seconds() - start);
    }
    sn_engine_cpu.free(engine);
    sn_free(theta);
    sn_free(x);
    sn_free(out);
    return best;
}

double rate_gemm(int64_t m, int64_t n, int64_t k)
{
    return fmin(rate_openblas(m, n, k), rate_engine(m, n, k));
}
