/* The commands of stonet-paper. */
#ifndef PAPER_EXPERIMENTS_H
#define PAPER_EXPERIMENTS_H

#include "paper/lab.h"

extern const cli_command m1_command, table1_command, table2_command, table3_command, theory_command,
    sufficiency_command, sufficiency_level_command;

/* Rows of an option table, the same for every experiment. */
#define LAB_OPTIONS(trials_help)                                                                             \
    {.name = "data",                                                                                         \
     .kind = OPTION_TEXT,                                                                                    \
     .offset = offsetof(lab_options, data),                                                                  \
     .argument = "DIR",                                                                                      \
     .help = "The data folder (else the environment's STONET_DATA)"},                                        \
        {.name = "out",                                                                                      \
         .kind = OPTION_TEXT,                                                                                \
         .offset = offsetof(lab_options, out),                                                               \
         .argument = "DIR",                                                                                  \
         .initial = "paper-results",                                                                         \
         .help = "Where finished cells, tables and figures go; cells found there are not computed again"},   \
        {.name = "trials",                                                                                   \
         .kind = OPTION_INTEGER,                                                                             \
         .offset = offsetof(lab_options, trials),                                                            \
         .argument = "N",                                                                                    \
         .initial = "0",                                                                                     \
         .low = 0,                                                                                           \
         .high = 100000,                                                                                     \
         .help = (trials_help)},                                                                             \
        {.name = "methods",                                                                                  \
         .kind = OPTION_TEXT,                                                                                \
         .offset = offsetof(lab_options, methods),                                                           \
         .argument = "a,b,c",                                                                                \
         .help = "Only these columns"},                                                                      \
        {.name = "rows",                                                                                     \
         .kind = OPTION_TEXT,                                                                                \
         .offset = offsetof(lab_options, rows),                                                              \
         .argument = "a,b,c",                                                                                \
         .help = "Only these rows: data sets, numbers of images"},                                           \
        {.name = "dims",                                                                                     \
         .kind = OPTION_TEXT,                                                                                \
         .offset = offsetof(lab_options, dims),                                                              \
         .argument = "Q,Q..",                                                                                \
         .help = "Only these dimensions"},                                                                   \
        {.name = "report",                                                                                   \
         .kind = OPTION_FLAG,                                                                                \
         .offset = offsetof(lab_options, report),                                                            \
         .help = "Compute nothing; make tables and figures of the cells that are finished"},                 \
        {.name = "quick",                                                                                    \
         .kind = OPTION_FLAG,                                                                                \
         .offset = offsetof(lab_options, quick),                                                             \
         .help = "A small version that takes minutes, with files of its own"},                               \
        {.name = "seed",                                                                                     \
         .kind = OPTION_INTEGER,                                                                             \
         .offset = offsetof(lab_options, seed),                                                              \
         .argument = "S",                                                                                    \
         .initial = "1",                                                                                     \
         .low = 0,                                                                                           \
         .high = INT64_MAX / 2000000,                                                                        \
         .help = "Start of all randomness; the splits of the data do not depend on it"},                     \
    {                                                                                                        \
        .name = "threads", .kind = OPTION_INTEGER, .offset = offsetof(lab_options, threads),                 \
        .argument = "N", .initial = "0", .low = 0, .high = 1024, .help = "Threads to use, 0 for all cores"   \
    }

#endif
