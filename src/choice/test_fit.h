/* For tests: fits with settings given as names and values. */
#pragma once

#include "choice/fit.h"
#include "stonet/test_settings.h"

/* run NULL: one thread, the usual seed. outcome NULL: it must be done. */
static inline sn_stonet *fit_with(const sn_problem *problem, int64_t q, const char *pairs,
                                  const stonet_run *run, stonet_outcome *outcome)
{
    SN_AUTO(sn_settings) *settings = settings_with(pairs);
    stonet_run usual = STONET_RUN_INIT;
    stonet_outcome done;
    sn_stonet *net = NULL;
    usual.threads = 1;
    if (sn_stonet_fit(problem, q, settings, run != NULL ? run : &usual, &net, &done) != STONET_OK)
        fail_msg("%s", stonet_last_error());
    if (outcome != NULL)
        *outcome = done;
    else
        assert_int_equal(done, STONET_DONE);
    return net;
}
