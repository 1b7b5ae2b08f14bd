#include "math/tiles.h"

#include <cblas.h>

#include "math/serial_blas.h"

/* A tile below the least side wastes BLAS's packing; one above the most leaves threads without work. */
enum { LEAST_SIDE = 256, MOST_SIDE = 1024, PARTS = 4, UNIT = 8 };
static const double ONE_TILE = 1e6; /* products of fewer terms are done before other threads wake up */

sn_cut sn_cut_side(int64_t length)
{
    int64_t size = length / PARTS;
    if (size < LEAST_SIDE) size = LEAST_SIDE;
    if (size > MOST_SIDE) size = MOST_SIDE;
    int64_t count = (length + size - 1) / size;
    if (count <= 1) return (sn_cut){.length = length, .size = length, .count = 1};
    size = (length + count - 1) / count;    /* as even as it goes, */
    size = (size + UNIT - 1) / UNIT * UNIT; /* in whole SIMD vectors */
    return (sn_cut){.length = length, .size = size, .count = (length + size - 1) / size};
}

/* BLAS wants a distance of at least 1 even for empty matrices. */
static int distance(int64_t stride)
{
    return stride > 0 ? (int)stride : 1;
}

static CBLAS_TRANSPOSE form(bool transpose)
{
    return transpose ? CblasTrans : CblasNoTrans;
}

static const double *part_of(const double *a, int64_t stride, bool by_column, int64_t at)
{
    return a + (by_column ? at : at * stride);
}

/* The tile of C that starts at (i, j); of a lower triangle those above the diagonal are left out. */
static void run_tile(const sn_product *x, bool lower, int64_t i, int64_t rows, int64_t j, int64_t columns)
{
    const double *a = part_of(x->a, x->a_stride, x->transpose_a, i);
    double *c = x->c + i * x->c_stride + j;
    if (lower && j > i) return;
    if (lower && j == i)
        cblas_dsyrk(CblasRowMajor, CblasLower, form(x->transpose_a), (int)rows, (int)x->k, x->alpha, a,
                    distance(x->a_stride), x->beta, c, distance(x->c_stride));
    else
        cblas_dgemm(CblasRowMajor, form(x->transpose_a), form(x->transpose_b), (int)rows, (int)columns,
                    (int)x->k, x->alpha, a, distance(x->a_stride),
                    part_of(x->b, x->b_stride, !x->transpose_b, j), distance(x->b_stride), x->beta, c,
                    distance(x->c_stride));
}

/* A small product is done by the calling thread: waking the others would take longer. BLAS works on one
   thread throughout; the OpenMP threads share the tiles of a large product. */
static void run(const sn_product *x, bool lower)
{
    if (x->m == 0 || x->n == 0) return;
    const sn_cut rows = sn_cut_side(x->m), columns = sn_cut_side(x->n);
    const int64_t tiles = rows.count * columns.count;
    if (tiles == 1 || (double)x->m * (double)x->n * (double)x->k <= ONE_TILE) {
        SN_SERIAL_BLAS;
        run_tile(x, lower, 0, x->m, 0, x->n);
        return;
    }
#pragma omp parallel
    {
        sn_serial_blas();
#pragma omp for schedule(dynamic)
        for (int64_t t = 0; t < tiles; t++) {
            int64_t i = t / columns.count, j = t % columns.count;
            run_tile(x, lower, i * rows.size, sn_cut_part(&rows, i), j * columns.size,
                     sn_cut_part(&columns, j));
        }
    }
}

void sn_product_run(const sn_product *x)
{
    run(x, false);
}

void sn_product_run_lower(const sn_product *x)
{
    run(x, true);
}
