/*
 * Responses that are more than one number: censored times, counts, ordered classes. Which of them a model
 * has, and what it says of times.
 */
#ifndef STONET_RESPONSES_H
#define STONET_RESPONSES_H

#include <stonet/stonet.h>

#ifdef __cplusplus
extern "C" {
#endif

/* "regression", "classification", "survival", "interval", "count" or "ordinal"; "none" without a response. */
STONET_API const char *stonet_model_task(const stonet_model *model);

/* Of a model of survival or interval: the probability that the time of each row is beyond each of `count`
   times, ascending and above 0, survival[i * count + k]; and, unless NULL, the mean over its law of the
   smaller of its time and the last of them, restricted_mean[i]. stonet_predict gives the median time. */
STONET_API stonet_status stonet_predict_survival(const stonet_model *model, const stonet_data *data,
                                                 const stonet_use_options *options, const double *times,
                                                 int64_t count, double *survival, double *restricted_mean);

#ifdef __cplusplus
}
#endif

#endif
