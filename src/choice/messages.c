#include "choice/messages.h"

#include <math.h>
#include <stdio.h>

#include "stonet/constants.h"

static const double SMALL_P = 0.001; /* to speak of residuals that depend on x: many columns are looked at */

/* One warning at most, the gravest first. gains NULL: no held-out rows were compared. */
static void tell_of_nothing(const stonet_run *run, const sn_stonet *net, const sn_gains *gains)
{
    const sn_estimate *chosen = &net->held_out, *linear = &net->held_out_linear;
    if (gains != NULL && sn_gain_is_clear(&gains->of_linear) && linear->loss < net->held_out_constant.loss)
        sn_message(
            run, STONET_WARNING,
            "a linear model predicts better: its held-out loss is %.3g, that of the network %.3g. Try %s.",
            linear->loss, chosen->loss,
            sn_axes_carried(&net->axes) < 1.0 - SN_LITTLE ? "a larger dim"
                                                          : "activation=identity, a linear StoNet");
    else if (gains != NULL && !sn_gain_is_clear(&gains->over_constant))
        sn_message(
            run, STONET_WARNING,
            "the fit is not clearly better than a constant guess: the held-out loss is %.3g, and %.3g for "
            "the guess. The response may not depend on these columns, or the rows are too few to tell.",
            chosen->loss, net->held_out_constant.loss);
    else if (net->stuck)
        sn_message(run, STONET_WARNING,
                   "nothing was found: the loss on the training rows is %.3g, as for a constant guess. Try "
                   "restarts=10, a smaller weight_decay, or leave more settings open.",
                   net->training_loss);
}

void sn_say_result(const stonet_run *run, const sn_stonet *net, const sn_train_report *report,
                   const sn_gains *gains)
{
    if (report->outcome == STONET_DIVERGED)
        sn_message(run, STONET_WARNING,
                   "training diverged after %lld iterations at lr=%g; the last good model is kept: try a "
                   "smaller lr",
                   (long long)report->iterations, net->lr);
    if (report->smallest_step < 1.0)
        sn_message(run, STONET_NOTE, "the latent step was shrunk to %.2g of its setting, for stability",
                   report->smallest_step);
    if (report->outcome != STONET_DONE) return;
    tell_of_nothing(run, net, gains);
    if (net->residual_p < SMALL_P)
        sn_message(run, STONET_NOTE,
                   "the size of the held-out residuals depends on x (p = %.1g): response=ensemble or "
                   "response=location-scale can see that",
                   net->residual_p);
}

void sn_say_dimension(const stonet_run *run, const sn_axes *axes)
{
    int64_t with = 0;
    while (with < axes->q && axes->share[with] > 0.0) with++;
    if (with == axes->q || with == 0) return;
    char columns[40] = "Z1 carries";
    if (with > 1) snprintf(columns, sizeof columns, "Z1 to Z%lld carry", (long long)with);
    sn_message(run, STONET_NOTE,
               "%s the whole effect on the output; the other columns show what else the units see", columns);
}
