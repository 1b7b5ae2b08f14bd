/* Forward selection on a sparse table takes the columns that it takes on the same numbers side by side. */
#include "base/memory.h"
#include "base/test_kit.h"
#include "data/encoder.h"
#include "data/schema.h"
#include "front/front_wide.h"

enum { N = 120, P = 300, WANTED = 6 };

static double x[N * P], y[N];
static float value[N * P];
static int64_t start[N + 1];
static int32_t column[N * P];

static void make(void)
{
    int64_t cells = 0;
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < P; j++) {
            const double drawn = sin(1.0 + 12.9898 * i + 78.233 * j) * 43758.5453;
            const double part = drawn - floor(drawn);
            x[i * P + j] = part < 0.1 || j == 7 ? 0.5 + 10.0 * part : 0.0;
        }
        y[i] = 3.0 * x[i * P + 11] - 2.0 * x[i * P + 200] + x[i * P + 33] * x[i * P + 33] + 0.1 * sin(i * i);
        start[i] = cells;
        for (int j = 0; j < P; j++) {
            if (x[i * P + j] == 0.0) continue;
            column[cells] = j;
            value[cells++] = (float)x[i * P + j];
        }
    }
    start[N] = cells;
}

static void check_task(sn_task_wish task, const stonet_data *data)
{
    SN_WORKSPACE(keep);
    SN_AUTO(sn_schema) *schema = NULL;
    SN_AUTO(sn_encoder) *encoder = NULL;
    sn_problem dense;
    OK(sn_schema_fit(data, &(sn_encoding){.task = task}, NULL, &schema));
    OK(sn_schema_problem(schema, data, &keep, &dense));
    OK(sn_encoder_create(schema, data, &encoder));
    sn_problem sparse = dense;
    sparse.x = NULL;
    sparse.source = sn_encoder_source(encoder);
    assert_non_null(sparse.source->sparse);
    int64_t list[N / 2], of_dense[WANTED], of_sparse[WANTED];
    for (int64_t i = 0; i < N / 2; i++) list[i] = N - 1 - 2 * i;
    const sn_rows sets[] = {sn_rows_range(0, N), sn_rows_list(list, N / 2)};
    for (int k = 0; k < 2; k++) {
        OK(sn_column_order(&dense, &sets[k], WANTED, of_dense));
        OK(sn_column_order(&sparse, &sets[k], WANTED, of_sparse));
        assert_memory_equal(of_dense, of_sparse, sizeof of_dense);
    }
}

TEST(the_same_columns_are_taken)
{
    SN_AUTO(stonet_data) *data = NULL;
    make();
    OK(stonet_data_wrap_sparse(start, column, value, N, P, &data));
    OK(stonet_data_set_targets(data, y, 1));
    check_task(SN_TASK_WISH_REGRESSION, data);
    for (int i = 0; i < N; i++) y[i] = y[i] < 0.0 ? 0.0 : y[i] < 10.0 ? 1.0 : 2.0;
    OK(stonet_data_set_targets(data, y, 1));
    check_task(SN_TASK_WISH_CLASSIFICATION, data);
}

RUN_TESTS(NULL, NULL)
