/* What is said at the end of a fit: of a training that diverged, of nothing found, of fewer dimensions, of a
   spread. Each sentence at its limit, and none without need. */
#include "base/test_messages.h"
#include "choice/messages.h"

/* A network that is better than a constant guess and a linear model. */
static sn_stonet fine(void)
{
    return (sn_stonet){.lr = 0.05,
                       .training_loss = 0.5,
                       .held_out = {.loss = 1.0, .loss_se = 0.1},
                       .held_out_constant = {.loss = 2.0},
                       .held_out_linear = {.loss = 1.5},
                       .residual_p = (double)NAN};
}

static const sn_train_report done = {.outcome = STONET_DONE, .smallest_step = 1.0, .iterations = 12};

/* Whether exactly these numbers of notes and warnings come, with these words in them (NULL: none at all). */
static void assert_tells(const sn_stonet *net, const sn_train_report *report, const sn_gains *gains,
                         int wanted_notes, int wanted_warnings, const char *words)
{
    const stonet_run run = {.size = sizeof run, .on_message = sn_hear};
    sn_heard[0] = '\0';
    sn_say_result(&run, net, report, gains);
    const int warnings = sn_times_heard("warning: "), notes = sn_times_heard("\n") - warnings;
    if (notes != wanted_notes || warnings != wanted_warnings ||
        (words != NULL && strstr(sn_heard, words) == NULL))
        fail_msg("%d notes, %d warnings: %s", notes, warnings, sn_heard);
}

static const sn_gains clear = {.over_constant = {1.0, 0.1, 4.0}};

TEST(nothing_is_said_without_need)
{
    sn_stonet net = fine();
    assert_tells(&net, &done, &clear, 0, 0, NULL);
    net.held_out = net.held_out_constant = net.held_out_linear = sn_no_estimate; /* given settings */
    assert_tells(&net, &done, NULL, 0, 0, NULL);
}

TEST(how_training_went)
{
    const sn_stonet net = fine();
    sn_train_report report = done;
    report.outcome = STONET_DIVERGED;
    assert_tells(&net, &report, &clear, 0, 1, "diverged after 12 iterations at lr=0.05");
    report = done;
    report.smallest_step = 0.25;
    assert_tells(&net, &report, &clear, 1, 0, "shrunk to 0.25");
}

/* The interval of the gain over a constant guess, 2.776 standard errors with four degrees of freedom, reaches
   0; or the fit is next to the guess where there is no gain. */
TEST(nothing_found)
{
    sn_stonet net = fine();
    sn_gains gains = {.over_constant = {0.277, 0.1, 4.0}};
    sn_train_report stopped = done;
    stopped.outcome = STONET_STOPPED;
    assert_tells(&net, &done, &gains, 0, 1,
                 "not clearly better than a constant guess: the held-out loss is 1, and 2");
    assert_tells(&net, &stopped, &gains, 0, 0, NULL);
    gains.over_constant.mean = 0.278;
    assert_tells(&net, &done, &gains, 0, 0, NULL);
    gains.over_constant = (sn_fold_mean){.mean = (double)NAN, .se = (double)NAN};
    assert_tells(&net, &done, &gains, 0, 1, "not clearly better than a constant guess");
    net.stuck = true;
    assert_tells(&net, &done, NULL, 0, 1, "nothing was found: the loss on the training rows is 0.5");
}

TEST(a_better_linear_model)
{
    sn_stonet net = fine();
    sn_gains gains = clear;
    net.held_out.loss = 1.25;
    net.held_out_linear.loss = 0.99;
    gains.of_linear = (sn_fold_mean){0.277, 0.1, 4.0};
    assert_tells(&net, &done, &gains, 0, 0, NULL);
    gains.of_linear.mean = 0.278;
    assert_tells(&net, &done, &gains, 0, 1,
                 "a linear model predicts better: its held-out loss is 0.99, that of the network 1.25. Try "
                 "activation=identity");
    double share = 0.9; /* the rest of the effect is in columns that Z does not have */
    net.axes = (sn_axes){.q = 1, .share = &share};
    assert_tells(&net, &done, &gains, 0, 1, "Try a larger dim.");
    gains.over_constant.mean = 0.0; /* the linear model found what the network did not */
    assert_tells(&net, &done, &gains, 0, 1, "a linear model predicts better");
    net.held_out_constant.loss = 0.98;
    assert_tells(&net, &done, &gains, 0, 1, "not clearly better than a constant guess");
}

TEST(columns_without_effect)
{
    static const struct {
        double share[3];
        const char *words; /* NULL: nothing to say */
    } cases[] = {{{0.6, 0.3, 0.1}, NULL},
                 {{1.0, 0.0, 0.0}, "Z1 carries the whole effect"},
                 {{0.8, 0.2, 0.0}, "Z1 to Z2 carry the whole effect"},
                 {{0.0, 0.0, 0.0}, NULL}};
    const stonet_run run = {.size = sizeof run, .on_message = sn_hear};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        double share[3];
        memcpy(share, cases[k].share, sizeof share);
        sn_heard[0] = '\0';
        sn_say_dimension(&run, &(sn_axes){.q = 3, .share = share});
        assert_int_equal(sn_heard[0] != '\0', cases[k].words != NULL);
        if (cases[k].words != NULL) assert_non_null(strstr(sn_heard, cases[k].words));
    }
}

TEST(a_spread_that_depends_on_x)
{
    sn_stonet net = fine();
    net.residual_p = 0.001;
    assert_tells(&net, &done, &clear, 0, 0, NULL);
    net.residual_p = 0.0009;
    assert_tells(&net, &done, &clear, 1, 0, "depends on x (p = 0.0009)");
    sn_train_report stopped = done;
    stopped.outcome = STONET_STOPPED;
    assert_tells(&net, &stopped, &clear, 0, 0, NULL);
}

RUN_TESTS(NULL, NULL)
