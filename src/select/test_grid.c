#include "base/test_kit.h"
#include "model/test_table.h"
#include "select/grid.h"

static void assert_refused(const char *entry, const char *words)
{
    SN_AUTO(stonet_spec) *base = sn_testing_spec("sir", "1");
    sn_points points;
    assert_says(sn_points_create(base, &entry, 1, 0, 1, &points), STONET_ERROR_ARGUMENT, words);
    assert_null(points.spec);
}

TEST(all_points_in_order)
{
    static const char *const GRID[] = {"slices=5,10", "dim=1,2,3"};
    SN_AUTO(stonet_spec) *base = sn_testing_spec("sir", "7");
    SN_FREED_BY(sn_points_free) sn_points points = {0};
    OK(sn_points_create(base, GRID, 2, 0, 1, &points));
    assert_int_equal(points.count, 6);
    for (int i = 0; i < 6; i++) {
        assert_int_equal(sn_int(points.spec[i]->settings, "slices"), i < 3 ? 5 : 10);
        assert_int_equal(sn_int(points.spec[i]->common, "dim"), 1 + i % 3);
    }
    assert_int_equal(sn_int(base->common, "dim"), 7);
    sn_points_free(&points);
    OK(sn_points_create(base, NULL, 0, 0, 1, &points));
    assert_int_equal(points.count, 1);
    assert_int_equal(sn_int(points.spec[0]->common, "dim"), 7);
}

/* Only the pairs that are given, not every slices with every dim; a learner is chosen before its settings. */
TEST(settings_can_change_together)
{
    static const char *const GRID[] = {"slices/dim=5/1,10/2", "learner.l2/learner=2/logistic", "ridge=0,1"};
    SN_AUTO(stonet_spec) *base = sn_testing_spec("sir", "7");
    SN_FREED_BY(sn_points_free) sn_points points = {0};
    OK(sn_points_create(base, GRID, 3, 0, 1, &points));
    assert_int_equal(points.count, 4);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(sn_int(points.spec[i]->settings, "slices"), i < 2 ? 5 : 10);
        assert_int_equal(sn_int(points.spec[i]->common, "dim"), i < 2 ? 1 : 2);
        assert_true(sn_real(points.spec[i]->settings, "ridge") == i % 2);
        assert_true(sn_real(points.spec[i]->learner_settings, "l2") == 2.0);
    }
    sn_points_free(&points);
    stonet_spec_free(base);
    static const char *const LISTS[] = {"hidden/activation=64,32/relu;none/tanh"};
    base = sn_testing_spec("stonet", "2");
    OK(sn_points_create(base, LISTS, 1, 0, 1, &points));
    assert_int_equal(points.count, 2);
    size_t widths;
    assert_true(sn_list(points.spec[0]->settings, "hidden", &widths)[1] == 32.0);
    assert_int_equal(widths, 2);
}

TEST(bad_grids_are_refused)
{
    assert_refused("slices/dim=3/1,4", "2 parts");
    assert_refused("slices/dim=3/1/2", "2 parts");
    assert_refused("slices/dim=3/", "2 parts");
    assert_refused("slices/=3/1", "empty name");
    assert_refused("slices/slices=3/1", "twice");
    assert_refused("slices/dmi=3/1", "'dmi'");
    assert_refused("slices", "NAME=a,b,c");
    assert_refused("=3", "NAME=a,b,c");
    assert_refused("slices=", "NAME=a,b,c");
    assert_refused("slices=3,,4", "empty value");
    assert_refused("slices=3,", "empty value");
    assert_refused("slcies=3", "slices");
    assert_refused("slices=3,x", "'x'");
    static const char *const TWICE[] = {"dim=1", "dim=2"}, *const INSIDE[] = {"dim=1", "slices/dim=3/2"};
    static const char *const HUGE[] = {"dim=1,2,3,4,5,6,7,8,9,10", "slices=2,3,4,5,6,7,8,9,10,11"};
    SN_AUTO(stonet_spec) *base = sn_testing_spec("sir", "1");
    sn_points points;
    assert_int_equal(sn_points_create(base, TWICE, 2, 0, 1, &points), STONET_ERROR_ARGUMENT);
    assert_int_equal(sn_points_create(base, INSIDE, 2, 0, 1, &points), STONET_ERROR_ARGUMENT);
    assert_int_equal(sn_points_create(base, HUGE, 2, -1, 1, &points), STONET_ERROR_ARGUMENT);
}

TEST(random_points_are_different_and_repeatable)
{
    static const char *const GRID[] = {"dim=1,2,3,4,5,6,7,8,9,10", "slices=2,3,4,5,6,7,8,9,10,11"};
    SN_AUTO(stonet_spec) *base = sn_testing_spec("sir", "1");
    sn_points points, again, other;
    OK(sn_points_create(base, GRID, 2, 99, 3, &points));
    OK(sn_points_create(base, GRID, 2, 99, 3, &again));
    OK(sn_points_create(base, GRID, 2, 5, 4, &other));
    assert_int_equal(points.count, 99);
    assert_int_equal(other.count, 5);
    bool seen[10][10] = {{false}};
    for (int i = 0; i < 99; i++) {
        int64_t a = sn_int(points.spec[i]->common, "dim") - 1,
                b = sn_int(points.spec[i]->settings, "slices") - 2;
        assert_false(seen[a][b]);
        seen[a][b] = true;
        assert_int_equal(sn_int(again.spec[i]->common, "dim") - 1, a);
        assert_int_equal(sn_int(again.spec[i]->settings, "slices") - 2, b);
    }
    sn_points_free(&points);
    sn_points_free(&again);
    sn_points_free(&other);
    OK(sn_points_create(base, GRID, 2, 1000, 3, &points));
    assert_int_equal(points.count, 100);
    sn_points_free(&points);
}

TEST(entries_find_their_method)
{
    SN_AUTO(stonet_spec) *sir = sn_testing_spec("sir", "1"), *pca = sn_testing_spec("pca", "1");
    const char *own;
    assert_true(sn_grid_entry_is_for("sir:slices=1,2", sir, &own));
    assert_string_equal(own, "slices=1,2");
    assert_false(sn_grid_entry_is_for("sir:slices=1,2", pca, &own));
    assert_true(sn_grid_entry_is_for("slices=1,2", sir, &own));
    assert_false(sn_grid_entry_is_for("slices=1,2", pca, &own));
    assert_true(sn_grid_entry_is_for("dim=1,2", pca, &own));
    assert_false(sn_grid_entry_is_for("si:dim=1,2", sir, &own));
    assert_true(sn_grid_entry_is_for("dim/slices=1/2", sir, &own));
    assert_false(sn_grid_entry_is_for("dim/slices=1/2", pca, &own));
    assert_true(sn_grid_entry_is_for("sir:dim/slices=1/2", sir, &own));
    assert_string_equal(own, "dim/slices=1/2");
}

/* Every value of every built-in grid must be one the method takes. */
TEST(built_in_grids_are_valid)
{
    for (size_t i = 0; i < sn_method_count(); i++) {
        SN_AUTO(stonet_spec) *base = sn_testing_spec(sn_method_at(i)->name, "1");
        const stonet_tune_options own = STONET_TUNE_OPTIONS_INIT;
        SN_FREED_BY(sn_points_free) sn_points points = {0};
        OK(sn_points_to_tune(base, &own, SN_TASK_BOTH, 1, &points));
        assert_true(points.count <= 60);
    }
}

RUN_TESTS(NULL, NULL)
