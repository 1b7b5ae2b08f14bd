/* What a fit has to say at its end. */
#pragma once

#include "choice/held_out.h"

/* gains NULL: nothing was chosen. */
void sn_say_result(const stonet_run *run, const sn_stonet *net, const sn_train_report *report,
                   const sn_gains *gains);
/* Says when some of the q columns of Z have no effect. */
void sn_say_dimension(const stonet_run *run, const sn_axes *axes);
