/* What a column of several features counts beside columns of one. */
#include "base/memory.h"
#include "base/test_kit.h"
#include "choice/sparse.h"
#include "choice/sparse_groups.h"
#include "engine/engines.h"
#include "front/front_wide.h"
#include "math/noise.h"

/* Columns: one number; a pair of indicators of the same thing; two numbers that are unrelated. */
TEST(effects_are_those_on_the_units)
{
    enum { N = 400, P = 5, UNITS = 2 };
    static float x[N * P];
    const int64_t border[] = {0, 1, 3, 5};
    sn_random random = sn_random_from(3, SN_STREAM_TEST, 0);
    for (int i = 0; i < N; i++) {
        float *row = x + i * P;
        row[0] = row[1] = i % 2 == 0 ? 1.0F : -1.0F;
        row[2] = -row[1];
        row[3] = (float)sn_random_normal(&random);
        row[4] = (float)sn_random_normal(&random);
    }
    const sn_problem problem = {.n = N, .p = P, .x = x, .groups = 3, .group = border};
    const sn_stage_job job = {.problem = &problem, .rows = sn_rows_range(0, N)};
    /* The number and the pair do the same to both units. */
    const float weight[UNITS * P] = {0.6F, 0.3F, -0.3F, 0.6F, 0.0F, -0.8F, -0.4F, 0.4F, 0.0F, 0.8F};
    SN_WORKSPACE(keep);
    sn_sparse_groups groups;
    OK(sn_sparse_groups_measure(&job, &keep, &groups));
    const sn_sparse_extent one = sn_sparse_groups_extent(&groups, 0, weight, UNITS),
                           pair = sn_sparse_groups_extent(&groups, 1, weight, UNITS),
                           two = sn_sparse_groups_extent(&groups, 2, weight, UNITS);
    assert_true(fabs(one.length - 1.0) < 1e-6 && fabs(one.effect - 1.0) < 1e-6);
    assert_true(fabs(pair.length - sqrt(0.5)) < 1e-6 && fabs(pair.effect - 1.0) < 1e-6);
    assert_true(fabs(two.length - 1.0) < 1e-6 && fabs(two.effect - sqrt(0.5)) < 0.05);
}

/* y depends on a code of four values, which comes as a number and four indicators, as levels do; the other
   columns are noise. Few rows: a network learns them by heart. */
TEST(a_code_is_kept)
{
    enum { N = 160, NOISE = 8, P = 5 + NOISE, COLUMNS = 1 + NOISE };
    static float x[N * P];
    static int32_t label[N];
    int64_t border[COLUMNS + 1] = {0};
    for (int c = 1; c <= COLUMNS; c++) border[c] = 4 + c;
    sn_random random = sn_random_from(4, SN_STREAM_TEST, 0);
    for (int i = 0; i < N; i++) {
        float *row = x + i * P;
        const int code = i % 4;
        row[0] = (float)((code - 1.5) / 1.118);
        for (int k = 0; k < 4; k++) row[1 + k] = 0.4F * ((code == k ? 1.0F : 0.0F) - 0.25F);
        for (int j = 5; j < P; j++) row[j] = (float)sn_random_normal(&random);
        label[i] = (code >= 2) != (sn_random_normal(&random) > 0.7);
    }
    const sn_problem problem = {.n = N,
                                .p = P,
                                .x = x,
                                .label = label,
                                .outputs = 2,
                                .task = SN_CLASSIFICATION,
                                .groups = COLUMNS,
                                .group = border};
    const sn_shape shape = {.task = SN_CLASSIFICATION, .input_activation = SN_IDENTITY};
    const sn_config config = {.engine = &sn_engine_cpu};
    const sn_stage_job job = {.shape = &shape,
                              .problem = &problem,
                              .rows = sn_rows_range(0, N),
                              .config = &config,
                              .seed = 5,
                              .threads = 1};
    sn_sparse found;
    OK(sn_sparse_choose(&job, (double)NAN, &found));
    assert_true(found.better);
    assert_true(found.kept < COLUMNS / 2);
    assert_non_null(found.front);
    const int64_t *kept = sn_front_columns_list(found.front);
    for (int64_t k = 0; k < 5; k++) assert_int_equal(kept[k], k);
    sn_front_free(found.front);
}

RUN_TESTS(NULL, NULL)
