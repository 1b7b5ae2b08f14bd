/* The words of the data room's enums. */
#include "data/problem.h"
#include "data/schema.h"

SN_DEFINE_WORDS(sn_task_words, "task", SN_CLASSIFICATION, SN_TASK_WORDS);
SN_DEFINE_WORDS(sn_missing_words, "missing", SN_MISSING_JOINT, SN_MISSING_WORDS);
SN_DEFINE_WORDS(sn_scale_words, "scale", SN_SCALE_NONE, SN_SCALE_WORDS);
