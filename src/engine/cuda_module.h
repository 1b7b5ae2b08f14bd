/*
 * What libstonet and its CUDA module say to each other. The module (cuda_module.cu) is a shared object of its
 * own that is loaded at run time (cuda_load.h), so that the library never needs CUDA; it knows the device and
 * nothing of the library: plain numbers in plain structs, all arithmetic in float as in the cpu engine.
 *
 * A `data` is rows on the device. A `net` is a network with its momentum there, a stream, and the memory for
 * the batches that go through it; several of them run side by side, each from one thread at a time.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum {
    SN_CUDA_ABI = 3, /* changes with anything in this file */
    SN_CUDA_LAYERS = 32,
    SN_CUDA_SHARDS = 64,
    SN_CUDA_QUEUE = 16,    /* steps that one call may start, */
    SN_CUDA_UNDER_WAY = 2, /* and calls before the first is waited for */
    SN_CUDA_WHY = 256
};

typedef enum sn_cuda_trouble {
    SN_CUDA_FINE,
    SN_CUDA_NO_DEVICE,
    SN_CUDA_TOO_OLD,
    SN_CUDA_NO_MEMORY,
    SN_CUDA_TOO_WIDE, /* a row's state does not fit a multiprocessor */
    SN_CUDA_FAILED    /* anything else; the device may be lost */
} sn_cuda_trouble;

/* What CUDA said, when a call came back with trouble. */
typedef struct sn_cuda_words {
    char why[SN_CUDA_WHY];
} sn_cuda_words;

typedef struct sn_cuda_device {
    char name[128];
    uint64_t free_bytes, total_bytes;
    int multiprocessors;
} sn_cuda_device;

typedef struct sn_cuda_data sn_cuda_data;
typedef struct sn_cuda_net sn_cuda_net;

typedef struct sn_cuda_table {
    int64_t rows, columns, outputs;
    int classes;  /* labels; else y */
    int weighted; /* rows have weights */
    int response; /* 0: features alone */
} sn_cuda_table;

typedef struct sn_cuda_shape {
    int layers;
    int32_t width[SN_CUDA_LAYERS + 1];
    int64_t weight_at[SN_CUDA_LAYERS], bias_at[SN_CUDA_LAYERS], parameters;
    int activation, input_activation; /* sn_activation */
    int classes, spread;
    uint64_t seed;
    int32_t groups;        /* columns of the table whose features are neighbours, for the group penalty, */
    const int32_t *border; /* and where each begins and the last ends; read when the net is made */
} sn_cuda_shape;

/* Rows of a data. */
typedef struct sn_cuda_rows {
    int64_t n;
    const int64_t *list; /* their places; NULL: first, first + 1, .. */
    int64_t first;
    uint32_t offset;       /* a row's noise is keyed by its place + offset, or */
    const int64_t *number; /* not NULL: by these */
} sn_cuda_rows;

/* Rows on their way to the device, y in float; what the table has not got is not looked at. */
typedef struct sn_cuda_delivery {
    int64_t first, count;
    const float *x, *y, *weight;
    const int32_t *label;
} sn_cuda_delivery;

/* Per layer, in the order of the shape. */
typedef struct sn_cuda_dynamics {
    int sweeps, euler, mode_start;
    float epsilon[SN_CUDA_LAYERS], keep[SN_CUDA_LAYERS], kick[SN_CUDA_LAYERS];
    float over_s[SN_CUDA_LAYERS], variance[SN_CUDA_LAYERS];
    float beta, spread;
} sn_cuda_dynamics;

typedef struct sn_cuda_update {
    float rate[SN_CUDA_LAYERS], factor[SN_CUDA_LAYERS], shrink[SN_CUDA_LAYERS];
    float momentum, decay;
    double group; /* the threshold of layer 1's group penalty; 0: there is none */
} sn_cuda_update;

typedef struct sn_cuda_step {
    sn_cuda_rows rows;
    int total;  /* shards of the whole batch, */
    int shards; /* of those how many are here, and where each begins and the last ends among the rows */
    int64_t border[SN_CUDA_SHARDS + 1];
    uint32_t iteration;
    sn_cuda_dynamics dynamics;
    sn_cuda_update update;
    const double *group_factor; /* of each group, what its threshold is multiplied by; NULL: 1; the same for
                                   all steps of a queue */
} sn_cuda_step;

typedef struct sn_cuda_report {
    double loss[SN_CUDA_SHARDS]; /* sums over the rows of each shard */
    int finite;                  /* whether all parameters are */
} sn_cuda_report;

typedef struct sn_cuda_pass {
    sn_cuda_rows rows;
    int layer, activated; /* 1-based */
    int noisy;
    float sigma[SN_CUDA_LAYERS];
    uint32_t draw;
} sn_cuda_pass;

/* Every call returns an sn_cuda_trouble, and words with it when it is not SN_CUDA_FINE. */
typedef struct sn_cuda_api {
    int abi;
    /* The device there is, made ready. */
    int (*open)(sn_cuda_device *device, sn_cuda_words *words);

    /* Memory that copies to and from the device run beside the processor with. */
    int (*pin)(size_t bytes, void **memory, sn_cuda_words *words);
    void (*unpin)(void *memory);

    uint64_t (*data_bytes)(const sn_cuda_table *table);
    int (*data_new)(const sn_cuda_table *table, sn_cuda_data **data, sn_cuda_words *words);
    /* Waits until they are there. */
    int (*data_put)(sn_cuda_data *data, const sn_cuda_delivery *rows, sn_cuda_words *words);
    void (*data_free)(sn_cuda_data *data);

    uint64_t (*net_bytes)(const sn_cuda_shape *shape, int64_t batch);
    int (*net_new)(const sn_cuda_shape *shape, sn_cuda_net **net, sn_cuda_words *words);
    void (*net_free)(sn_cuda_net *net);
    /* NULL momentum: 0 in, not wanted out. */
    int (*net_put)(sn_cuda_net *net, const float *theta, const float *momentum, sn_cuda_words *words);
    int (*net_get)(sn_cuda_net *net, float *theta, float *momentum, sn_cuda_words *words);

    /* Both steps of several iterations, at most SN_CUDA_QUEUE, one after the other. One function starts them,
       the other waits for the oldest. At most SN_CUDA_UNDER_WAY calls may be under way, and then no other
       call of this net. */
    int (*net_begin)(sn_cuda_net *net, sn_cuda_data *data, const sn_cuda_step *const *steps, int count,
                     sn_cuda_words *words);
    int (*net_wait)(sn_cuda_net *net, sn_cuda_report *reports, sn_cuda_words *words);
    /* The sums of each shard: gradients [shard][parameter], losses. */
    int (*net_sums)(sn_cuda_net *net, sn_cuda_data *data, const sn_cuda_step *step, float *gradients,
                    double *losses, sn_cuda_words *words);
    /* The update alone, from the sum of a whole batch. */
    int (*net_apply)(sn_cuda_net *net, const sn_cuda_step *update, const float *gradient, int *finite,
                     sn_cuda_words *words);
    /* Imputed Y_layer, or the result of a pass: rows in order, [row][unit]. */
    int (*net_impute)(sn_cuda_net *net, sn_cuda_data *data, const sn_cuda_step *step, int layer, float *out,
                      sn_cuda_words *words);
    int (*net_forward)(sn_cuda_net *net, sn_cuda_data *data, const sn_cuda_pass *pass, float *out,
                       sn_cuda_words *words);
} sn_cuda_api;

/* The one name a module shows. */
#define SN_CUDA_ENTRY "sn_cuda_module"
typedef const sn_cuda_api *(*sn_cuda_entry)(void);
