/* Forward selection against one that regresses on all columns so far each time anew, on rows side by side and
   as a sparse table keeps them. */
#include "base/test_kit.h"
#include "data/cells.h"
#include "data/test_source.h"
#include "engine/test_oracle.h"
#include "front/front_wide.h"

enum { N = 40, P = 300, TAKEN = 7, CONSTANT = 3, COPY = 260, OF = 11, MOST = 4 };

/* Column `column` of the rows (way 1: its squares), less its mean. */
static void take(const oracle *o, const sn_rows *rows, int64_t column, int way, double out[N])
{
    double mean = 0.0;
    for (int64_t i = 0; i < rows->n; i++) {
        const double value = (double)o->x[sn_rows_at(rows, i) * P + column];
        out[i] = way == 0 ? value : value * value;
        mean += out[i] / (double)rows->n;
    }
    for (int64_t i = 0; i < rows->n; i++) out[i] -= mean;
}

static double product(int64_t n, const double *a, const double *b)
{
    double sum = 0.0;
    for (int64_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

/* rest = the response less its projection on the columns and squares, by sweeps over an orthogonal basis. */
static void residuals(const oracle *o, const sn_rows *rows, const int64_t *columns, int taken,
                      double rest[MOST][N])
{
    static double basis[2 * TAKEN][N];
    const int64_t m = o->problem.outputs, n = rows->n;
    int size = 0;
    for (int k = 0; k < 2 * taken; k++) {
        double *vector = basis[size];
        take(o, rows, columns[k / 2], k % 2, vector);
        const double before = product(n, vector, vector);
        for (int pass = 0; pass < 3; pass++)
            for (int b = 0; b < size; b++) {
                const double share = product(n, vector, basis[b]) / product(n, basis[b], basis[b]);
                for (int64_t i = 0; i < n; i++) vector[i] -= share * basis[b][i];
            }
        if (product(n, vector, vector) > 1e-9 * before && before > 1e-9) size++;
    }
    for (int64_t c = 0; c < m; c++) {
        double mean = 0.0;
        for (int64_t i = 0; i < n; i++) {
            const int64_t row = sn_rows_at(rows, i);
            rest[c][i] = o->problem.label == NULL     ? o->y[row * m + c]
                         : o->problem.label[row] == c ? 1.0
                                                      : 0.0;
            mean += rest[c][i] / (double)n;
        }
        for (int64_t i = 0; i < n; i++) rest[c][i] -= mean;
        for (int b = 0; b < size; b++) {
            const double share = product(n, rest[c], basis[b]) / product(n, basis[b], basis[b]);
            for (int64_t i = 0; i < n; i++) rest[c][i] -= share * basis[b][i];
        }
    }
}

static int64_t best_column(const oracle *o, const sn_rows *rows, const int64_t *columns, int taken)
{
    double rest[MOST][N], column[N], most = -1.0;
    int64_t best = -1;
    residuals(o, rows, columns, taken, rest);
    for (int64_t j = 0; j < P; j++) {
        bool old = false;
        for (int k = 0; k < taken; k++) old = old || columns[k] == j;
        for (int way = 0; way < 2 && !old; way++) {
            take(o, rows, j, way, column);
            double score = 0.0;
            const double norm = product(rows->n, column, column);
            for (int64_t c = 0; c < o->problem.outputs && norm > 1e-7; c++)
                score += pow(product(rows->n, rest[c], column), 2) / norm;
            if (score > most) {
                most = score;
                best = j;
            }
        }
    }
    return best;
}

/* Rows as a sparse table keeps them: before they are centred and scaled, the columns the other way round, and
   another one first that is no feature. */
typedef struct kept_rows {
    int64_t start[2 * N + 1], feature[P + 1];
    int32_t column[2 * N * (P + 1)];
    float value[2 * N * (P + 1)];
    double centre[P], factor[P];
} kept_rows;

/* Takes the numbers of x for what is kept, and puts what becomes of them into their place. */
static void keep(oracle *o, kept_rows *to)
{
    int64_t count = 0;
    for (int64_t c = 0; c <= P; c++) to->feature[c] = c == 0 ? -1 : P - c;
    for (int64_t j = 0; j < P; j++) {
        to->centre[j] = j % 3 == 1 ? 2.0 : 0.0;
        to->factor[j] = j % 3 == 2 ? 1.0 : 2.0;
    }
    for (int64_t r = 0; r < 2 * N; r++) {
        float *x = o->x + r * P;
        to->start[r] = count;
        for (int32_t c = 0; c <= P; c++) {
            const float value = c == 0 ? 9.0F : x[P - c];
            to->column[count] = c;
            to->value[count] = value;
            count += value != 0.0F;
        }
        for (int64_t j = 0; j < P; j++) x[j] = (float)(((double)x[j] - to->centre[j]) * to->factor[j]);
    }
    to->start[2 * N] = count;
}

static void check(sn_task task, int64_t outputs, uint64_t seed, const sn_rows *rows)
{
    static kept_rows kept;
    const int64_t width[] = {P, 2, outputs};
    SN_FREED_BY(oracle_free) oracle o = oracle_make(2, width, SN_TANH, task, 2 * N, seed);
    for (int64_t r = 0; r < 2 * N; r++) { /* means, a column that is constant, one with two values, a copy */
        float *x = o.x + r * P;
        for (int64_t j = 0; j < P; j++) {
            x[j] = roundf(64.0F * (x[j] * (float)(1 + j % 3) + (float)(j % 5))) / 64.0F;
            if (fabsf(x[j]) < 0.7F) x[j] = 0.0F;
        }
        x[CONSTANT] = 2.0F;
        x[OF] = o.label[r] == 0 ? 1.0F : x[OF] > 1.0F ? 1.0F : -1.0F; /* its square is constant */
        x[COPY] = x[OF];
        for (int64_t c = 0; c < outputs; c++)
            o.y[r * outputs + c] += 0.5 * pow((double)x[20], 2) + (double)x[OF];
    }
    keep(&o, &kept);
    int64_t columns[TAKEN], of_kept[TAKEN];
    OK(sn_column_order(&o.problem, rows, TAKEN, columns));
    const sn_cells cells = {
        .n = 2 * N, .columns = P + 1, .start = kept.start, .column = kept.column, .value = kept.value};
    const sn_scaled_cells sparse = {&cells, kept.feature, kept.centre, kept.factor};
    const sn_row_source source = {.prepare = rows_are_ready, .sparse = &sparse};
    o.problem.source = &source;
    o.problem.x = NULL;
    OK(sn_column_order(&o.problem, rows, TAKEN, of_kept));
    assert_memory_equal(of_kept, columns, sizeof columns);
    for (int k = 0; k < TAKEN; k++) assert_int_equal(columns[k], best_column(&o, rows, columns, k));
}

TEST(columns_are_taken_in_the_order_of_their_scores)
{
    int64_t list[N];
    for (int64_t i = 0; i < N; i++) list[i] = 2 * N - 1 - 2 * i;
    const sn_rows some = sn_rows_list(list, N), first = sn_rows_range(0, N - 7);
    for (uint64_t seed = 1; seed < 4; seed++) {
        check(SN_REGRESSION, 1, seed, &first);
        check(SN_REGRESSION, 2, seed, &some);
        check(SN_CLASSIFICATION, MOST, seed, &some);
    }
}

/* When nothing is left to explain, columns that are there are still given. */
TEST(all_columns_can_be_taken)
{
    const int64_t width[] = {3, 2, 1};
    SN_FREED_BY(oracle_free) oracle o = oracle_make(2, width, SN_TANH, SN_REGRESSION, N, 9);
    const sn_rows all = sn_rows_range(0, N);
    int64_t columns[3], seen[3] = {0};
    for (int64_t i = 0; i < N; i++) o.y[i] = (double)o.x[i * 3 + 1];
    OK(sn_column_order(&o.problem, &all, 3, columns));
    assert_int_equal(columns[0], 1);
    for (int k = 0; k < 3; k++) seen[columns[k]]++;
    for (int k = 0; k < 3; k++) assert_int_equal(seen[k], 1);
}

RUN_TESTS(NULL, NULL)
