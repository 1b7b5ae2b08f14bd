/*
 * The table of candidates: every kind of StoNet that a fit may become, and how long each is trained in the
 * choice among them (choice/halving.h). All numbers that the choice depends on are in stonet/constants.h.
 *
 *     family     layer 1 sees    units       open
 *     network    x               tanh, relu  weight decay
 *     kernel     kernel features tanh        width of the kernel, weight decay
 *     linear     x               identity    weight decay
 *     few        columns         tanh        how many columns, weight decay
 *     few        components      tanh, identity   weight decay
 *
 * The last lines are for tables with many more columns than rows, which leave out those that see all of x.
 * What the user set takes the lines away that have something else.
 */
#pragma once

#include "stonet/config.h"
#include "stonet/constants.h"

/* The best of a family is compared with the best of another at the end alone: some are slow at first. */
typedef enum sn_family {
    SN_FAMILY_NETWORK, /* tanh, or the units that were given */
    SN_FAMILY_RELU,
    SN_FAMILY_KERNEL,
    SN_FAMILY_LINEAR,
    SN_FAMILY_FEW
} sn_family;
enum { SN_FAMILIES = 5 };

typedef struct sn_line {
    sn_family family;
    sn_net_kind kind;
} sn_line;

/* The table for a problem and q columns of Z, in a fixed order; *open: whether there is anything to choose.
   Where epochs and weight decay are both given there is one line. */
enum { SN_MOST_LINES = 64 };
stonet_status sn_lines_for(const sn_settings *settings, const sn_problem *problem, int64_t q, sn_line *lines,
                           int *count, bool *open);

/* What missing=auto asks: whether cells drawn by the network are better than those of a Gaussian. They are
   for numbers, and make no difference to classes; networks on kernels or few columns have none
   (docs/missing.md). */
bool sn_joint_suits(const sn_settings *settings, const sn_problem *problem);

/* A rung of the choice: lines go on to so many updates, on so many folds (one, a few, all). */
int64_t sn_rung_updates(int rung);
int sn_rung_most_folds(int rung);

/* "tanh network, weight decay 0.01", at most `size` bytes. */
void sn_line_tell(const sn_line *line, char *text, size_t size);
