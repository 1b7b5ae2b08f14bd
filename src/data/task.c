#include "data/problem.h"

SN_DEFINE_WORDS(sn_task_words, "task", SN_CLASSIFICATION, SN_TASK_WORDS);
