/*
 * A page to look at.
 */
#ifndef STONET_REPORT_H
#define STONET_REPORT_H

#include <stonet/stonet.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- a page to look at -------------------------------------------------------------------------- */

typedef struct stonet_report_options {
    size_t size;
    const char *model_name, *data_name; /* for the heading; NULL: none */
    const char *importance;             /* a kind of importance, or "none"; NULL: permutation */
    const char *order;                  /* what stonet_order_json gave, to be shown; NULL: nothing */
    int64_t points; /* rows that are shown one by one, at the most; 0: 20000. Tables and scores are of all */
} stonet_report_options;
#define STONET_REPORT_OPTIONS_INIT                                                                           \
    {                                                                                                        \
        .size = sizeof(stonet_report_options)                                                                \
    }

/* One HTML page with everything in it, to be opened from disk without a network: Z by response, predictions,
   scores, importance (asked of at most 2000 rows), coefficients, the training curve, the settings. The rows
   should be such as the model was not fitted on. No text of the data can become markup. *html: free with
   stonet_string_free. */
STONET_API stonet_status stonet_report(const stonet_model *model, const stonet_data *data,
                                       const stonet_report_options *options, const stonet_run *run,
                                       char **html);

#ifdef __cplusplus
}
#endif
#endif
