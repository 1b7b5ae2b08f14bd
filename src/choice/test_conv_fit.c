/* front=conv: which image the rows are, and what a fold may know. */
#include "base/test_kit.h"
#include "choice/conv_fit.h"
#include "choice/test_drawn.h"
#include "choice/test_fit.h"

/* The image that rows are is told by two or three numbers, which must be those of the rows. */
TEST(images_that_settings_tell)
{
    static const struct {
        const char *image, *words; /* NULL: fine */
    } cases[] = {{"6,6", NULL},
                 {"6,6,1", NULL},
                 {"36", "takes height,width"},
                 {"6,6,1,1", "takes height,width"},
                 {"6,5", "an image of 30 numbers"}};
    const sn_problem problem = {.n = 10, .p = 36, .task = SN_REGRESSION, .outputs = 1};
    const stonet_run run = STONET_RUN_INIT;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        SN_AUTO(sn_settings) *settings =
            settings_with(text_of("front conv front_channels 2 front_image %s", cases[k].image));
        const sn_choice_job job = {.settings = settings, .problem = &problem, .seed = 1, .run = &run};
        SN_AUTO(sn_front) *front = NULL;
        if (cases[k].words != NULL) {
            assert_says(sn_conv_front(&job, &front), STONET_ERROR_ARGUMENT, cases[k].words);
        } else {
            OK(sn_conv_front(&job, &front));
            assert_int_equal(front->inputs, 36);
        }
    }
}

/* Draws of missing cells that know the response must not know that of held-out rows. */
TEST(folds_draw_their_cells_themselves)
{
    enum { N = 60, P = 36 };
    static float x[N * P];
    static double y[N];
    int draws[2] = {0};
    stonet_outcome outcome;
    sn_random random = sn_random_from(8, SN_STREAM_TEST, 0);
    for (int k = 0; k < N * P; k++) x[k] = (float)sn_random_normal(&random);
    for (int i = 0; i < N; i++) y[i] = sn_random_normal(&random);
    const drawn_rows rows = drawn_rows_of(P, x, draws);
    const sn_problem problem = {
        .n = N, .p = P, .task = SN_REGRESSION, .outputs = 1, .y = y, .source = &rows.of.base};
    const stonet_run run = {
        .size = sizeof run, .seed = 5, .threads = 1, .should_stop = stop_after_draws, .user = draws};
    SN_AUTO(sn_stonet) *net =
        fit_with(&problem, 1, "front conv front_channels 2 front_image 6,6", &run, &outcome);
    assert_int_equal(outcome, STONET_STOPPED);
    assert_true(draws[0] == 0 && draws[1] > 20);
}

RUN_TESTS(NULL, NULL)
