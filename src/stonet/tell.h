/* What a fit has to say of itself when it is done. */
#ifndef SN_STONET_TELL_H
#define SN_STONET_TELL_H

#include "stonet/fit.h"

/* Warnings and notes on what the numbers of a run mean for the user. */
void sn_stonet_tell(const stonet_run *run, const sn_stonet *net, const sn_train_report *report);

#endif
