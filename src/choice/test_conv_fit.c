/* front=conv: which image the rows are. */
#include "base/test_kit.h"
#include "choice/conv_fit.h"
#include "stonet/test_settings.h"

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
        SN_AUTO(sn_settings) *settings = settings_with((const char *const[]){
            "front", "conv", "front_channels", "2", "front_image", cases[k].image, NULL});
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

RUN_TESTS(NULL, NULL)
