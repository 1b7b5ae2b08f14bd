/* The fits that are measured: shapes of known data sets, driven through the engine step by step. */
#ifndef SN_BENCH_WORKLOAD_H
#define SN_BENCH_WORKLOAD_H

#include "engine/cpu.h"

typedef struct workload {
    const char *name;
    int64_t n, p;
    int hidden_layers;
    int64_t hidden[4];
    sn_task task;
    int64_t outputs, batch;
    int sweeps, epochs;              /* epochs: of the whole fit the times are scaled to */
    const char *x_file, *label_file; /* under $STONET_DATA; NULL: always drawn by us */
    bool gpu_alone;                  /* too large for what is measured on every machine */
} workload;

extern const workload workloads[];
extern const int workload_count;
const workload *workload_find(const char *name);

typedef struct fit {
    workload what;
    sn_shape shape;
    sn_problem problem;
    float *x, *theta;
    double *y;
    int32_t *label;
    int64_t *order;
    sn_dynamics dynamics;
    sn_update update;
    bool real;                     /* read from files */
    const sn_cpu_kernels *kernels; /* NULL: the fastest */
} fit;

/* Data of the workload's shape (values drawn by us: the time does not depend on them). n 0: the workload's.
 */
stonet_status fit_create(fit *f, const workload *what, int64_t n);
void fit_free(fit *f);
/* Seconds a step: the mean in processor time (one thread only), and the fastest step by the clock, which is
   the one no neighbour on the machine disturbed. */
typedef struct step_time {
    double mean, best;
} step_time;

/* Runs `steps` steps on `threads` threads with a fresh engine. */
stonet_status fit_run(fit *f, int threads, int64_t steps, step_time *time);
/* The floor of one step in seconds, from the rates; its three parts in order if wanted. */
double fit_floor(const fit *f, double normal, double tanh_, double parts[3]);

#endif
