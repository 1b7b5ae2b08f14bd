/* What is said at the end of a fit: of a training that diverged, of nothing found, of fewer dimensions, of a
   spread. Each sentence at its limit, and none without need. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "choice/tell.h"

static char said[4096];
static int notes, warnings;

static void listen(stonet_level level, const char *text, void *user)
{
    (void)user;
    *(level == STONET_WARNING ? &warnings : &notes) += 1;
    strncat(said, text, sizeof said - strlen(said) - 1);
}

/* A network that is better than the constant and the linear model, of two columns that both count. */
static sn_stonet fine(double *share)
{
    share[0] = 0.6;
    share[1] = 0.3;
    share[2] = 0.1;
    return (sn_stonet){.axes = {.q = 3, .share = share},
                       .lr = 0.05,
                       .training_loss = 0.5,
                       .settings_tried = 4,
                       .held_out = {.loss = 1.0, .loss_se = 0.1},
                       .held_out_constant = {.loss = 2.0},
                       .held_out_linear = {.loss = 1.5},
                       .residual_p = (double)NAN};
}

static const sn_train_report done = {.outcome = STONET_DONE, .smallest_step = 1.0, .iterations = 12};

/* Whether exactly these numbers of notes and warnings come, with these words in them (NULL: none at all). */
static void assert_tells(const sn_stonet *net, const sn_train_report *report, int wanted_notes,
                         int wanted_warnings, const char *words)
{
    stonet_run run = STONET_RUN_INIT;
    run.on_message = listen;
    said[0] = '\0';
    notes = warnings = 0;
    sn_stonet_tell(&run, net, report);
    if (notes != wanted_notes || warnings != wanted_warnings ||
        (words != NULL && strstr(said, words) == NULL))
        fail_msg("%d notes, %d warnings: %s", notes, warnings, said);
}

static void nothing_is_said_without_need(void **state)
{
    (void)state;
    double share[3];
    sn_stonet net = fine(share);
    assert_tells(&net, &done, 0, 0, NULL);
    /* given settings: nothing was held out */
    net.held_out = net.held_out_constant = net.held_out_linear =
        (sn_estimate){(double)NAN, (double)NAN, (double)NAN, (double)NAN};
    net.settings_tried = 0;
    assert_tells(&net, &done, 0, 0, NULL);
}

static void how_training_went(void **state)
{
    (void)state;
    double share[3];
    const sn_stonet net = fine(share);
    sn_train_report report = done;
    report.outcome = STONET_DIVERGED;
    assert_tells(&net, &report, 0, 1, "diverged after 12 iterations at lr=0.05");
    report = done;
    report.smallest_step = 0.25;
    assert_tells(&net, &report, 1, 0, "shrunk to 0.25");
}

/* Nothing found: within two standard errors of the constant, and above 0.99 of it. */
static void nothing_found(void **state)
{
    (void)state;
    double share[3];
    sn_stonet net = fine(share);
    net.held_out = (sn_estimate){.loss = 1.99, .loss_se = 0.1};
    assert_tells(&net, &done, 0, 1, "nothing was found: on held-out rows the loss is 1.99");
    sn_train_report stopped = done;
    stopped.outcome = STONET_STOPPED;
    assert_tells(&net, &stopped, 0, 0, NULL);
    net.held_out.loss = 1.97; /* near, but a part of more than 1 % is explained */
    net.held_out_linear.loss = 1.96;
    assert_tells(&net, &done, 0, 0, NULL);
    net.held_out = (sn_estimate){.loss = 1.99, .loss_se = 0.001}; /* clearly better, by little */
    net.held_out_linear.loss = 1.99;
    assert_tells(&net, &done, 0, 0, NULL);
    net.held_out = (sn_estimate){.loss = 1.9900001, .loss_se = 0.005001};
    assert_tells(&net, &done, 0, 1, "nothing was found");
    net.held_out.loss_se = 0.004;
    net.held_out_linear.loss = 1.989;
    assert_tells(&net, &done, 0, 0, NULL);
    /* exactly two standard errors, and exactly 0.99 of it */
    net.held_out = (sn_estimate){.loss = 1.9921875, .loss_se = 0.00390625};
    net.held_out_linear.loss = 2.0;
    assert_tells(&net, &done, 0, 0, NULL);
    net.held_out = (sn_estimate){.loss = 0.99 * 2.0, .loss_se = 0.1};
    assert_tells(&net, &done, 0, 0, NULL);
}

static void stuck(void **state)
{
    (void)state;
    double share[3];
    sn_stonet net = fine(share);
    net.stuck = true;
    net.linear_finds = SN_FINDS_NOTHING;
    assert_tells(&net, &done, 0, 1, "above that of fits to a part of them");
    net.settings_tried = 0;
    assert_tells(&net, &done, 0, 1, "nothing was found: the loss of 0.5 on the training rows");
    net.linear_finds = SN_FINDS_UNKNOWN;
    assert_tells(&net, &done, 0, 1, "training got stuck: its loss of 0.5 on the training rows is no better");
    net.stuck = false;
    assert_tells(&net, &done, 0, 0, NULL);
}

/* More than two standard errors behind the linear model. */
static void a_better_linear_model(void **state)
{
    (void)state;
    double share[3];
    sn_stonet net = fine(share);
    net.held_out = (sn_estimate){.loss = 1.25, .loss_se = 0.125};
    net.held_out_linear.loss = 1.0;
    assert_tells(&net, &done, 0, 0, NULL);
    net.held_out_linear.loss = 0.99;
    assert_tells(&net, &done, 0, 1, "the linear model is better");
    net.held_out = (sn_estimate){.loss = 1.3, .loss_se = 0.125};
    net.held_out_linear.loss = 1.04;
    assert_tells(&net, &done, 0, 1, "its loss is 1.04, that of the network 1.3 (standard error 0.12)");
}

static void the_dimension_in_effect(void **state)
{
    (void)state;
    double share[3];
    sn_stonet net = fine(share);
    share[0] = 0.995;
    share[1] = 0.003;
    share[2] = 0.002;
    assert_tells(&net, &done, 1, 0, "of dimension 1: its first column has all but 0.5% of");
    share[0] = 0.6;
    share[1] = 0.398;
    assert_tells(&net, &done, 1, 0, "of dimension 2: its first 2 columns have all but 0.2% of");
}

static void a_spread_that_depends_on_x(void **state)
{
    (void)state;
    double share[3];
    sn_stonet net = fine(share);
    net.residual_p = 0.001;
    assert_tells(&net, &done, 0, 0, NULL);
    net.residual_p = 0.0009;
    assert_tells(&net, &done, 1, 0, "depends on x (p = 0.0009)");
    sn_train_report stopped = done;
    stopped.outcome = STONET_STOPPED;
    assert_tells(&net, &stopped, 0, 0, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_said_without_need),
        cmocka_unit_test(how_training_went),
        cmocka_unit_test(nothing_found),
        cmocka_unit_test(stuck),
        cmocka_unit_test(a_better_linear_model),
        cmocka_unit_test(the_dimension_in_effect),
        cmocka_unit_test(a_spread_that_depends_on_x),
    };
    return cmocka_run_group_tests_name("stonet_tell", tests, NULL, NULL);
}
