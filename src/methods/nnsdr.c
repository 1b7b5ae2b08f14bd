/*
 * Neural-network sufficient dimension reduction (Kapla, Fertl, Bura 2022), Z = B'x with B'B = I.
 *
 * Step 1: a network g(x) = w_2 drop(relu(w_1 x + b_1)) + b_2 is fitted to the response, and B starts as the d
 * leading eigenvectors of the outer product of its gradients,
 *
 *     OPG = 1/n sum_i J_i' J_i,   J_i = dg/dx at x_i (m x p)
 *
 * taken about 0, not about the mean gradient: where g is linear its gradient is constant, and centring would
 * leave nothing. For classes g is the log-odds, so w_2 is centred over the classes, which softmax does not
 * see.
 *
 * Step 2: the network x -> B'x -> relu -> output starts from B and step 1's weights seen through it (w_1 B)
 * and is trained on with B put back to B (B'B)^{-1/2} after every update. Its output is the method's own
 * prediction.
 */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "math/linalg.h"
#include "math/serial_blas.h"
#include "methods/linear_map.h"
#include "methods/method.h"
#include "net/plain_train.h"

enum { BLOCK_ROWS = 1024 };
/* The state is the network p - d - hidden - outputs with a linear first layer; its w_1 is B' and its b_1 is
 * 0. */
enum { LAYERS = 3 };

static const sn_param params[] = {
    {"hidden", SN_INTEGER, "512", 1, 1e5, NULL, "units of the hidden layer"},
    {"dropout", SN_REAL, "0.4", 0, 0.95, NULL, "share of the hidden units left out of each training row"},
    {"epochs", SN_INTEGER, "200", 1, 1e7, NULL, "passes over the training rows in the first step"},
    {"refine", SN_INTEGER, "400", 0, 1e7, NULL, "passes over the training rows in the refinement"},
    {"batch", SN_INTEGER, "32", 1, 1e7, NULL, "rows of a mini-batch"},
    {"rate", SN_REAL, "0.001", 1e-12, 1e3, NULL, "learning rate (RMSProp)"},
};

/* ---- step 1: outer product of gradients -------------------------------------------------------- */

/*
 * The d leading eigenvectors of OPG as rows of b (d x p).
 * J_i' J_i = w_1' diag(s_i) w_2' w_2 diag(s_i) w_1 with s_i the 0/1 vector of hidden units on at x_i, so OPG
 * = w_1' Q w_1 with Q (h x h) the mean of s_i s_i' times w_2'w_2 elementwise; with Q = U L U' its
 * eigenvectors are the right singular vectors of L^{1/2} U' w_1 (h x p), and no p x p matrix is formed.
 */
static stonet_status gradient_directions(const sn_network *net, const float *x, int64_t n, int64_t d,
                                         double *b)
{
    const sn_shape *shape = &net->shape;
    const int64_t p = shape->width[0], h = shape->width[1], m = shape->width[2], rank = h < p ? h : p;
    const float *w2 = net->theta + shape->weight_at[1];
    SN_ARRAY(BLOCK_ROWS * h, float, mu);
    SN_ARRAY(BLOCK_ROWS * h, double, on);
    SN_ZEROS(h * h, double, q);
    SN_ZEROS(m * h, double, v);
    SN_ZEROS(h * h, double, gram);
    SN_ZEROS(h, double, values);
    SN_ZEROS(h * h, double, u);
    SN_ZEROS(h * p, double, w1);
    SN_ZEROS(h * p, double, root);
    SN_ZEROS(rank, double, singular);
    SN_ZEROS(rank * p, double, vt);
    for (int64_t first = 0; first < n; first += BLOCK_ROWS) {
        const int64_t rows = n - first < BLOCK_ROWS ? n - first : BLOCK_ROWS;
        SN_TRY(sn_network_forward(net, x + first * p, rows, 1, false, mu));
        for (int64_t i = 0; i < rows * h; i++) on[i] = mu[i] > 0;
        sn_syrk_tn(h, rows, 1.0 / (double)n, on, first > 0, q);
    }
    for (int64_t j = 0; j < h; j++) { /* w_2, centred over the outputs for classes */
        double mean = 0;
        for (int64_t k = 0; k < m; k++) mean += (double)w2[k * h + j] / (double)m;
        for (int64_t k = 0; k < m; k++)
            v[k * h + j] = (double)w2[k * h + j] - (shape->task == SN_CLASSIFICATION ? mean : 0);
    }
    sn_syrk_tn(h, m, 1.0, v, 0.0, gram);
    for (int64_t i = 0; i < h * h; i++) q[i] *= gram[i];
    SN_TRY(sn_eigh(h, q, values, u));
    for (int64_t i = 0; i < h * p; i++) w1[i] = (double)net->theta[shape->weight_at[0] + i];
    sn_multiply(sn_turned(u, h, h), sn_as(w1, h, p), root);
    for (int64_t i = 0; i < h; i++)
        for (int64_t j = 0; j < p; j++) root[i * p + j] *= sqrt(values[i] > 0 ? values[i] : 0);
    SN_TRY(sn_svd(h, p, root, NULL, singular, vt));
    memcpy(b, vt, (size_t)(d * p) * sizeof *b);
    return STONET_OK;
}

/* ---- step 2: the network through B ------------------------------------------------------------- */

/* net (p - d - h - m) from b (d x p) and step 1's network (p - h - m). */
static stonet_status start_refinement(const sn_network *first, int64_t d, const double *b, sn_network *net)
{
    const sn_shape *from = &first->shape;
    sn_shape *to = &net->shape;
    int64_t p = from->width[0], h = from->width[1], m = from->width[2];
    *to = (sn_shape){.layers = LAYERS,
                     .width = {p, d, h, m},
                     .activation = SN_RELU,
                     .linear_layer = 1,
                     .task = from->task};
    SN_TRY(sn_shape_layout(to));
    SN_TRY(SN_NEW(net->theta, to->parameters));
    for (int64_t i = 0; i < d * p; i++) net->theta[to->weight_at[0] + i] = (float)b[i];
    const float *w1 = first->theta + from->weight_at[0];
    for (int64_t i = 0; i < h; i++)
        for (int64_t k = 0; k < d; k++) {
            double sum = 0;
            for (int64_t j = 0; j < p; j++) sum += (double)w1[i * p + j] * b[k * p + j];
            net->theta[to->weight_at[1] + i * d + k] = (float)sum;
        }
    /* b_1, w_2 and b_2 lie one after the other in both. */
    memcpy(net->theta + to->bias_at[1], first->theta + from->bias_at[0],
           (size_t)(h + m * h + m) * sizeof *net->theta);
    return STONET_OK;
}

typedef struct constraint {
    const sn_shape *shape;
    float *gram;    /* d x d */
    float *product; /* d x p */
} constraint;

/*
 * w = B' (d x p) to (w w')^{-1/2} w, and no bias. Newton-Schulz, w <- (3 w - w w' w) / 2, which gets there
 * from any w whose singular values are below sqrt(3); two or three rounds do after a training step.
 */
static void put_back(void *user, float *theta)
{
    enum { MAX_ROUNDS = 60 };
    const constraint *c = user;
    int64_t p = c->shape->width[0], d = c->shape->width[1];
    float *w = theta + c->shape->weight_at[0];
    memset(theta + c->shape->bias_at[0], 0, (size_t)d * sizeof *theta);
#pragma omp parallel num_threads(1)
    {
        sn_serial_blas();
        for (int round = 0; round < MAX_ROUNDS; round++) {
            cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)d, (int)d, (int)p, 1.0F, w, (int)p, w,
                        (int)p, 0.0F, c->gram, (int)d);
            float off = 0, bound = 0;
            for (int64_t i = 0; i < d; i++) {
                float row = 0;
                for (int64_t j = 0; j < d; j++) {
                    off = fmaxf(off, fabsf(c->gram[i * d + j] - (i == j ? 1.0F : 0.0F)));
                    row += fabsf(c->gram[i * d + j]);
                }
                bound = fmaxf(bound, row); /* on the largest eigenvalue of w w' */
            }
            if (!(off > 2e-6F)) break;
            float scale = bound > 2.5F ? 1 / sqrtf(bound) : 1;
            cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)d, (int)p, (int)d, 1.0F, c->gram,
                        (int)d, w, (int)p, 0.0F, c->product, (int)p);
            for (int64_t i = 0; i < d * p; i++)
                w[i] = scale * (1.5F * w[i] - 0.5F * scale * scale * c->product[i]);
        }
    }
}

/* ---- fit --------------------------------------------------------------------------------------- */

/* B of step 1 is the start of step 2, which trains on with the rows of the first layer kept orthonormal after
   each step. */
static stonet_status nnsdr_fit(const sn_problem *problem, int64_t dim, const sn_settings *settings,
                               const stonet_run *run, sn_fit_result *result)
{
    if (problem->n < 1) return sn_fail(STONET_ERROR_DATA, "nnsdr: there are no rows to fit on");
    const int64_t p = problem->p, hidden = sn_int(settings, "hidden"), available = hidden < p ? hidden : p;
    dim = sn_limit_dim(run, "nnsdr", dim, available, "there are no more inputs or hidden units than that");
    stonet_outcome outcome = STONET_DONE, refined = STONET_DONE;
    SN_AUTO(sn_network) *net = NULL;
    SN_FREED_BY(sn_network_clear)
    sn_network first = {.shape = {.layers = 2,
                                  .width = {p, hidden, problem->outputs},
                                  .activation = SN_RELU,
                                  .task = problem->task}};
    SN_TRY(SN_NEW(net, 1));
    SN_ZEROS(dim * p, double, b);
    SN_ZEROS(dim * dim, float, gram);
    SN_ZEROS(dim * p, float, product);
    sn_training training = sn_training_of(settings, "nnsdr", SN_RMSPROP, 0);
    SN_TRY(sn_network_start(&first, run->seed));
    SN_TRY(sn_network_train(&first, problem, &training, run, &outcome));
    SN_TRY(gradient_directions(&first, problem->x, problem->n, dim, b));
    SN_TRY(start_refinement(&first, dim, b, net));
    net->history = first.history;
    first.history = (sn_epoch_log){0};

    stonet_run fresh = *run;
    fresh.seed = run->seed + 1; /* other batches and masks than in step 1 */
    constraint c = {.shape = &net->shape, .gram = gram, .product = product};
    put_back(&c, net->theta);
    training.stage = "nnsdr refinement";
    training.epochs = sn_int(settings, "refine");
    training.after_step = put_back;
    training.user = &c;
    SN_TRY(sn_network_train(net, problem, &training, &fresh, &refined));
    result->dim = dim;
    result->outcome = outcome != STONET_DONE ? outcome : refined;
    return SN_GIVE(net, &result->state);
}

/* ---- use --------------------------------------------------------------------------------------- */

static stonet_status nnsdr_transform(const void *state, const float *x, int64_t n,
                                     const sn_transform_request *request, float *z)
{
    (void)request;
    return sn_network_forward(state, x, n, 1, false, z);
}

static stonet_status nnsdr_load(const sn_store *store, void **state)
{
    return sn_network_load_as(store, "nnsdr", LAYERS, true, state);
}

static sn_sizes nnsdr_sizes(const void *state)
{
    const int64_t *width = ((const sn_network *)state)->shape.width;
    return (sn_sizes){.inputs = width[0], .dim = width[1], .outputs = width[3]};
}

static stonet_status nnsdr_predict(const void *state, const float *x, int64_t n, float *z, double *out)
{
    if (z != NULL) SN_TRY(nnsdr_transform(state, x, n, NULL, z));
    return sn_network_predict(state, x, n, out);
}

const sn_method sn_method_nnsdr = {
    .name = "nnsdr",
    .title = "Neural-network sufficient dimension reduction (Kapla, Fertl, Bura 2022)",
    .python = "NNSDR",
    .tasks = SN_TASK_BOTH,
    .multi_output = true,
    .effort = 5.0,
    SN_PARAMS_OF(params),
    /* on a few hundred rows the passes of the default, meant for thousands, learn the rows by heart */
    .grid = {{"epochs=5,20,200", SN_TASK_BOTH}, {"refine=10,400", SN_TASK_BOTH}},
    .fit = nnsdr_fit,
    .transform = nnsdr_transform,
    .predict = nnsdr_predict,
    .save = sn_network_save,
    .load = nnsdr_load,
    .free = sn_network_free,
    .sizes = nnsdr_sizes,
    .history = sn_network_history,
};
