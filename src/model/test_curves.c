/* curves= as a setting of a model. */
#include <math.h>
#include <string.h>

#include "base/test_kit.h"
#include "base/test_messages.h"
#include "model/test_table.h"

enum { N = 80, CHANNELS = 40 };

/* Spectra a + b (base + y bump), a and b of each row by its place; or the channels in another order. */
static stonet_data *spectra(bool smooth, double factor, float *x)
{
    double y[N];
    for (int i = 0; i < N; i++) {
        const double a = 2.0 + 0.1 * (i * 7 % 11), b = 1.0 + 0.08 * (i * 5 % 13);
        y[i] = (i * 11 % 17) / 17.0;
        for (int k = 0; k < CHANNELS; k++) {
            const double t = (smooth ? k : k * 17 % CHANNELS) / (double)CHANNELS;
            const double bump = exp(-40.0 * (t - 0.6) * (t - 0.6));
            x[i * CHANNELS + k] = (float)(factor * (a + b * (sin(3.0 * t) + 0.5 * y[i] * bump)));
        }
    }
    return sn_testing_data(x, N, CHANNELS, y);
}

static stonet_model *fit(const stonet_data *data, const char *words)
{
    stonet_run run = STONET_RUN_INIT;
    sn_heard[0] = '\0';
    run.on_message = sn_hear;
    return sn_testing_fit(words, data, &run);
}

/* Offset and factor of a spectrum say nothing about y: auto finds out. */
TEST(auto_chooses_for_smooth_columns)
{
    static float x[N * CHANNELS], other[N * CHANNELS];
    SN_AUTO(stonet_data) *data = spectra(true, 1.0, x), *rough = spectra(false, 1.0, other);
    SN_AUTO(stonet_model) *model = fit(data, "pls 2 learner=linear curves=auto");
    assert_non_null(strstr(sn_heard, "was chosen"));
    assert_true(sn_curve_divides(model->schema->curves.how));
    SN_AUTO(stonet_model) *plain = fit(rough, "pls 2 learner=linear curves=auto");
    assert_non_null(strstr(sn_heard, "not smooth"));
    assert_int_equal(plain->schema->curves.how, SN_CURVE_NONE);
}

/* Fits that differ in the dimension alone choose once. */
TEST(fits_in_a_row_share_the_choice)
{
    static float x[N * CHANNELS];
    SN_AUTO(stonet_data) *data = spectra(true, 1.0, x);
    SN_AUTO(stonet_spec) *spec = sn_testing_spec_of("pls learner=linear curves=auto");
    stonet_run run = STONET_RUN_INIT;
    sn_curve chosen[2];
    run.on_message = sn_hear;
    OK(stonet_checkpoint_open(NULL, -1.0, &run.checkpoint));
    for (int k = 0; k < 2; k++) {
        SN_AUTO(stonet_model) *model = NULL;
        sn_heard[0] = '\0';
        OK(stonet_spec_set(spec, "dim", k == 0 ? "1" : "2"));
        OK(stonet_fit(spec, data, &run, &model));
        assert_true((strstr(sn_heard, "was chosen") != NULL) == (k == 0));
        chosen[k] = model->schema->curves.how;
    }
    assert_int_equal(chosen[0], chosen[1]);
    assert_int_not_equal(chosen[0], SN_CURVE_NONE);
    stonet_checkpoint_free(run.checkpoint);
}

/* A model that divides by the standard deviation does not see what the rows were multiplied by; it is the
   same after it was saved. */
TEST(a_saved_model_prepares_new_rows)
{
    static float x[N * CHANNELS], other[N * CHANNELS];
    SN_AUTO(stonet_data) *data = spectra(true, 1.0, x), *twice = spectra(true, 2.0, other);
    SN_AUTO(stonet_model) *model = fit(data, "pls 2 learner=linear curves=snv-derivative1"),
                          *back = sn_testing_again(model);
    double one[N], two[N];
    OK(stonet_predict(model, data, NULL, one));
    OK(stonet_predict(back, twice, NULL, two));
    for (int i = 0; i < N; i++)
        if (!(fabs(one[i] - two[i]) < 1e-4)) fail_msg("row %d: %g is not %g", i, one[i], two[i]);
}

RUN_TESTS(NULL, NULL)
