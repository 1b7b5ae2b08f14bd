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

static CBLAS_TRANSPOSE form(const sn_operand *x)
{
    return x->turned ? CblasTrans : CblasNoTrans;
}

/* From this row or column of the view on. */
static const double *from(const sn_operand *x, int64_t row, int64_t column)
{
    return x->at + (x->turned ? row + column * x->stride : row * x->stride + column);
}

/* The tile of C that starts at (i, j); of a lower triangle those above the diagonal are left out. */
static void run_tile(const sn_product *x, bool lower, int64_t i, int64_t rows, int64_t j, int64_t columns)
{
    const sn_operand *a = &x->a, *b = &x->b;
    double *c = x->c + i * x->c_stride + j;
    if (lower && j > i) return;
    if (lower && j == i)
        cblas_dsyrk(CblasRowMajor, CblasLower, form(a), (int)rows, (int)a->columns, x->alpha, from(a, i, 0),
                    distance(a->stride), x->beta, c, distance(x->c_stride));
    else
        cblas_dgemm(CblasRowMajor, form(a), form(b), (int)rows, (int)columns, (int)a->columns, x->alpha,
                    from(a, i, 0), distance(a->stride), from(b, 0, j), distance(b->stride), x->beta, c,
                    distance(x->c_stride));
}

/* A small product is done by the calling thread: waking the others would take longer. BLAS works on one
   thread throughout; the OpenMP threads share the tiles of a large product. */
void sn_product_run(const sn_product *x, bool lower)
{
    const int64_t m = x->a.rows, n = x->b.columns;
    if (m == 0 || n == 0) return;
    const sn_cut rows = sn_cut_side(m), columns = sn_cut_side(n);
    const int64_t tiles = rows.count * columns.count;
    if (tiles == 1 || (double)m * (double)n * (double)x->a.columns <= ONE_TILE) {
        SN_SERIAL_BLAS;
        run_tile(x, lower, 0, m, 0, n);
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
