/* The spread learned from held-out scores: against what the rows were made with, without a look at the rows
   of its own list, and in a file. */
#include "base/store.h"
#include "base/test_kit.h"
#include "math/noise.h"
#include "model/held_out_spread.h"

enum { N = 600, P = 3, LISTS = 4 };

static float x[N * P];
static double score[2 * N];
static int32_t list[N];

/* The first output spreads by exp(.8 x1), the second by 2 everywhere. */
static sn_scored_rows make_rows(void)
{
    sn_random random = sn_random_from(5, SN_STREAM_TEST, 0);
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < P; j++) x[i * P + j] = (float)sn_random_normal(&random);
        score[i] = exp(0.8 * (double)x[i * P]) * fabs(sn_random_normal(&random));
        score[N + i] = 2.0 * fabs(sn_random_normal(&random));
        list[i] = i % LISTS;
    }
    return (sn_scored_rows){
        .n = N, .p = P, .outputs = 2, .lists = LISTS, .x = x, .score = score, .list = list, .seed = 1};
}

TEST(the_spread_is_found)
{
    const sn_scored_rows rows = make_rows();
    SN_AUTO(sn_held_out_spread) *found = NULL;
    OK(sn_held_out_spread_fit(&rows, &found));
    const double mean = sqrt(2.0 / 3.14159265358979323846); /* of |e| */
    for (int i = -3; i <= 3; i++) {
        const float at[P] = {0.5F * (float)i, 0.0F, 0.0F};
        double spread[LISTS * 2];
        sn_held_out_spread_at(found, at, spread);
        for (int l = 0; l < LISTS; l++) {
            assert_true(fabs(log(spread[2 * l] / mean) - 0.4 * i) < 0.45); /* a list has 450 rows */
            assert_true(fabs(log(spread[2 * l + 1] / (2.0 * mean))) < 0.2);
        }
    }
}

/* A score that nobody could miss changes the spread of the other lists, and not of its own. */
TEST(a_list_does_not_see_its_own_rows)
{
    sn_scored_rows rows = make_rows();
    SN_AUTO(sn_held_out_spread) *before = NULL, *after = NULL;
    double of[2][LISTS * 2];
    OK(sn_held_out_spread_fit(&rows, &before));
    score[4] *= 3.0; /* of list 0 */
    OK(sn_held_out_spread_fit(&rows, &after));
    sn_held_out_spread_at(before, x + 4 * P, of[0]);
    sn_held_out_spread_at(after, x + 4 * P, of[1]);
    assert_true(of[0][0] == of[1][0]);
    for (int l = 1; l < LISTS; l++) assert_true(of[1][2 * l] > of[0][2 * l]);
}

/* Few rows, rows that are all the same, and residuals that are all 0. */
TEST(nothing_to_learn_is_no_failure)
{
    sn_scored_rows rows = make_rows();
    sn_held_out_spread *found = NULL;
    rows.n = 99;
    OK(sn_held_out_spread_fit(&rows, &found));
    assert_null(found);
    rows = make_rows();
    memset(score, 0, sizeof score);
    OK(sn_held_out_spread_fit(&rows, &found));
    double spread[LISTS * 2];
    sn_held_out_spread_at(found, x, spread);
    assert_true(spread[0] == 1.0);
    sn_held_out_spread_free(found);
    memset(x, 0, sizeof x);
    OK(sn_held_out_spread_fit(&rows, &found));
    assert_null(found);
}

TEST(it_survives_a_file)
{
    const sn_scored_rows rows = make_rows();
    SN_AUTO(sn_held_out_spread) *found = NULL, *loaded = NULL;
    SN_AUTO(sn_store) *store = NULL;
    double of[2][LISTS * 2];
    OK(sn_store_create(&store));
    OK(sn_held_out_spread_get(store, LISTS, 2, P, &loaded));
    assert_null(loaded);
    OK(sn_held_out_spread_fit(&rows, &found));
    OK(sn_held_out_spread_put(found, store));
    OK(sn_held_out_spread_get(store, LISTS, 2, P, &loaded));
    sn_held_out_spread_at(found, x, of[0]);
    sn_held_out_spread_at(loaded, x, of[1]);
    assert_memory_equal(of[0], of[1], sizeof of[0]);
    sn_held_out_spread_free(loaded);
    assert_int_not_equal(sn_held_out_spread_get(store, LISTS, 2, P + 1, &loaded), STONET_OK);
}

RUN_TESTS(NULL, NULL)
