#include "engine/engine.h"

SN_DEFINE_WORDS(sn_integrator_words, "integrator", SN_EULER, SN_INTEGRATOR_WORDS);
SN_DEFINE_WORDS(sn_start_words, "start", SN_START_MODE, SN_START_WORDS);
