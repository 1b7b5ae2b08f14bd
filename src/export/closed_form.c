/* A model as a formula. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "export/formula.h"
#include "front/front_conv.h"
#include "math/kernel.h"
#include "model/calibration.h"
#include "net/network.h"
#include "stonet/axes.h"
#include "stonet/response.h"

/* Each of these functions adds a step, with copies of its numbers, and sets *out to the number of the step.
 */

static int64_t width_of(const sn_formula *formula, int step)
{
    return formula->step[step].width;
}

/* What follows from the rest is set here: the length of `in`, no second step but of JOIN, one run. */
static stonet_status add_step(sn_formula *formula, const sn_step *step, int *out)
{
    if (formula->count == SN_FORMULA_STEPS)
        return sn_fail(STONET_ERROR_UNSUPPORTED, "the model has more layers than can be exported");
    sn_step *made = &formula->step[formula->count];
    *made = *step;
    if (step->in >= 0) made->inputs = width_of(formula, step->in);
    if (step->op != SN_OP_JOIN) made->other = -1;
    if (step->runs == 0) made->runs = 1;
    *out = formula->count++;
    return STONET_OK;
}

/* A copy of n numbers, or zeros where there are none. */
static stonet_status keep_numbers(sn_formula *formula, int64_t n, const double *numbers, const double **out)
{
    double *copy = NULL;
    SN_TRY(SN_TAKE_ZERO(&formula->keep, copy, n));
    if (numbers != NULL) memcpy(copy, numbers, (size_t)n * sizeof *copy);
    *out = copy;
    return STONET_OK;
}

/* What an affine step does. */
typedef struct affine_map {
    int64_t runs;         /* of so many parts of `in` each; 0: of the whole */
    int64_t width;        /* of the result, of one part */
    const double *matrix; /* rows x columns; `turned`: columns x rows */
    bool turned;
    const double *offset; /* NULL: 0 */
} affine_map;

static stonet_status add_affine(sn_formula *formula, int in, const affine_map *map, int *out)
{
    const int64_t runs = map->runs > 0 ? map->runs : 1, width = map->width;
    const int64_t inputs = width_of(formula, in) / runs;
    sn_step step = {.op = SN_OP_AFFINE, .in = in, .width = runs * width, .runs = runs};
    double *copy = NULL;
    SN_TRY(SN_TAKE(&formula->keep, copy, width * inputs));
    for (int64_t k = 0; k < width; k++)
        for (int64_t j = 0; j < inputs; j++)
            copy[k * inputs + j] = map->turned ? map->matrix[j * width + k] : map->matrix[k * inputs + j];
    step.matrix = copy;
    SN_TRY(keep_numbers(formula, width, map->offset, &step.offset));
    return add_step(formula, &step, out);
}

static stonet_status add_scale(sn_formula *formula, int in, const double *factor, const double *offset,
                               int *out)
{
    const int64_t width = width_of(formula, in);
    sn_step step = {.op = SN_OP_SCALE, .in = in, .width = width};
    SN_TRY(keep_numbers(formula, width, factor, &step.factor));
    SN_TRY(keep_numbers(formula, width, offset, &step.offset));
    return add_step(formula, &step, out);
}

/* The identity adds nothing. */
static stonet_status add_activation(sn_formula *formula, int in, sn_activation activation, int *out)
{
    *out = in;
    if (activation == SN_IDENTITY) return STONET_OK;
    const sn_step step = {
        .op = SN_OP_ACTIVATION, .in = in, .width = width_of(formula, in), .activation = activation};
    return add_step(formula, &step, out);
}

static stonet_status add_kernel(sn_formula *formula, int in, int64_t centres, const float *centre,
                                double gamma, int *out)
{
    const int64_t inputs = width_of(formula, in);
    sn_step step = {.op = SN_OP_KERNEL, .in = in, .width = centres, .number = gamma};
    double *copy = NULL;
    SN_TRY(SN_TAKE(&formula->keep, copy, centres * inputs));
    sn_widen(centres * inputs, centre, copy);
    step.matrix = copy;
    return add_step(formula, &step, out);
}

static stonet_status add_columns(sn_formula *formula, int in, int64_t count, const int64_t *column, int *out)
{
    sn_step step = {.op = SN_OP_COLUMNS, .in = in, .width = count};
    int64_t *copy = NULL;
    SN_TRY(SN_TAKE(&formula->keep, copy, count));
    memcpy(copy, column, (size_t)count * sizeof *copy);
    step.column = copy;
    return add_step(formula, &step, out);
}

/* SOFTMAX, TEMPER and EXP, with as many numbers as `in` has. */
static stonet_status add_map(sn_formula *formula, sn_op op, int in, double number, int *out)
{
    const sn_step step = {.op = op, .in = in, .width = width_of(formula, in), .number = number};
    return add_step(formula, &step, out);
}

/* ---- networks ------------------------------------------------------------------------------------- */

/* Where each layer is in the formula: mu_i and psi_i(mu_i); [0]: psi_0 of the inputs. */
typedef struct layers {
    int mu[SN_MAX_LAYERS + 1], psi[SN_MAX_LAYERS + 1];
} layers;

static stonet_status add_layer(sn_formula *formula, const sn_network *net, int layer, int in, int *out)
{
    const sn_shape *shape = &net->shape;
    const int64_t inputs = shape->width[layer - 1], width = shape->width[layer];
    const float *w = net->theta + shape->weight_at[layer - 1], *b = net->theta + shape->bias_at[layer - 1];
    SN_ARRAY(inputs * width, double, matrix);
    SN_ARRAY(width, double, offset);
    sn_widen(inputs * width, w, matrix);
    sn_widen(width, b, offset);
    return add_affine(formula, in, &(affine_map){.width = width, .matrix = matrix, .offset = offset}, out);
}

/* (in - mean) factor */
static stonet_status add_scaling(sn_formula *formula, const sn_scaling *scaling, int in, int *out)
{
    SN_ARRAY(scaling->columns, double, offset);
    for (int64_t j = 0; j < scaling->columns; j++) offset[j] = -scaling->mean[j] * scaling->factor[j];
    return add_scale(formula, in, scaling->factor, offset, out);
}

/* Layers 1 .. last of the network, whose inputs are the step `in`. */
static stonet_status add_network(sn_formula *formula, const sn_network *net, int in, int last, layers *at)
{
    if (net->scaling.columns > 0) SN_TRY(add_scaling(formula, &net->scaling, in, &in));
    at->mu[0] = in;
    SN_TRY(add_activation(formula, in, sn_shape_activation(&net->shape, 0), &at->psi[0]));
    for (int i = 1; i <= last; i++) {
        SN_TRY(add_layer(formula, net, i, at->psi[i - 1], &at->mu[i]));
        at->psi[i] = at->mu[i];
        if (i < net->shape.layers)
            SN_TRY(add_activation(formula, at->mu[i], sn_shape_activation(&net->shape, i), &at->psi[i]));
    }
    return STONET_OK;
}

/* The outputs of its last layer, as answers. */
static stonet_status add_output(sn_formula *formula, const sn_network *net, int mu, int *out)
{
    *out = mu;
    return net->shape.task == SN_CLASSIFICATION ? add_map(formula, SN_OP_SOFTMAX, mu, 0.0, out) : STONET_OK;
}

/* ---- the StoNet ------------------------------------------------------------------------------------ */

/* u = (k'A, sqrt(rho / p) x) - mean of what step `in` has for x */
static stonet_status add_kernel_front(sn_formula *formula, const sn_store *store, int in, int *out)
{
    const int64_t p = formula->step[in].width;
    const sn_tensor *landmarks, *map, *mean;
    double gamma, rho;
    int kernel = 0, linear;
    SN_TRY(sn_store_get_real(store, "front_gamma", &gamma));
    SN_TRY(sn_store_get_real(store, "front_linear", &rho));
    SN_TRY(sn_store_get_matrix(store, "front_landmarks", SN_F32, -1, p, &landmarks));
    const int64_t m = landmarks->shape[0];
    SN_TRY(sn_store_get_matrix(store, "front_map", SN_F64, m, -1, &map));
    const int64_t rank = map->shape[1], width = rank + (rho > 0.0 ? p : 0);
    SN_TRY(sn_store_get_vector(store, "front_mean", SN_F64, width, &mean));
    SN_ARRAY(width, double, offset);
    for (int64_t k = 0; k < width; k++) offset[k] = -((const double *)mean->data)[k];
    SN_TRY(add_kernel(formula, in, m, landmarks->data, gamma, &kernel));
    SN_TRY(add_affine(formula, kernel,
                      &(affine_map){.width = rank, .matrix = map->data, .turned = true, .offset = offset},
                      out));
    if (width == rank) return STONET_OK;
    SN_ARRAY(p, double, factor);
    for (int64_t j = 0; j < p; j++) factor[j] = sqrt(rho / (double)p);
    SN_TRY(add_scale(formula, in, factor, offset + rank, &linear));
    return add_step(formula, &(sn_step){.op = SN_OP_JOIN, .in = *out, .other = linear, .width = width}, out);
}

/* map(in - mean), of a map without an offset: as affine. */
static stonet_status add_centred(sn_formula *formula, int in, const double *mean, affine_map map, int *out)
{
    const int64_t inputs = formula->step[in].width;
    SN_ZEROS(map.width, double, offset);
    for (int64_t k = 0; k < map.width; k++)
        for (int64_t j = 0; j < inputs; j++)
            offset[k] -= mean[j] * map.matrix[map.turned ? j * map.width + k : k * inputs + j];
    map.offset = offset;
    return add_affine(formula, in, &map, out);
}

/* Where number d of place (y, x) of what a stage sees is among the values before it: rows, columns, channels;
   of the image itself, as it comes. */
static int64_t place_of(const sn_conv_shape *shape, int l, int64_t y, int64_t x, int64_t d)
{
    const sn_conv_stage *s = &shape->stage[l];
    if (l == 0 && shape->channels_first) return (d * s->height + y) * s->width + x;
    return (y * s->width + x) * s->channels + d;
}

/* The patches of a stage, one after the other. */
static stonet_status add_patches(sn_formula *formula, const sn_conv_shape *shape, int l, int in, int *out)
{
    const sn_conv_stage *s = &shape->stage[l];
    int64_t at = 0;
    SN_ARRAY(s->positions * s->patch, int64_t, from);
    for (int64_t o = 0; o < s->positions; o++)
        for (int64_t c = 0; c < s->kernel * s->kernel; c++)
            for (int64_t d = 0; d < s->channels; d++)
                from[at++] =
                    place_of(shape, l, o / s->columns + c / s->kernel, o % s->columns + c % s->kernel, d);
    return add_columns(formula, in, at, from, out);
}

/* The largest of each cell of s x s positions, filter by filter. */
static stonet_status add_pool(sn_formula *formula, const sn_conv_stage *s, int in, int *out)
{
    const int64_t side = s->pool;
    int64_t at = 0;
    SN_ARRAY(s->out * side * side, int64_t, from);
    for (int64_t o = 0; o < s->out_height * s->out_width; o++)
        for (int64_t f = 0; f < s->filters; f++)
            for (int64_t c = 0; c < side * side; c++) {
                const int64_t y = o / s->out_width * side + c / side, x = o % s->out_width * side + c % side;
                from[at++] = (y * s->columns + x) * s->filters + f;
            }
    SN_TRY(add_columns(formula, in, at, from, out));
    return add_step(formula, &(sn_step){.op = SN_OP_LARGEST, .in = *out, .width = s->out}, out);
}

/* A convolution is an affine map of each patch (net/conv.h). */
static stonet_status add_conv_front(sn_formula *formula, const sn_front *front, int *out)
{
    const sn_conv_shape *shape = sn_front_conv_shape(front);
    for (int l = 0; l < shape->stages; l++) {
        const sn_conv_stage *s = &shape->stage[l];
        SN_ARRAY(s->patch * s->filters, double, kernel);
        SN_ARRAY(s->filters, double, bias);
        sn_widen(s->patch * s->filters, front->theta + s->kernel_at, kernel);
        sn_widen(s->filters, front->theta + s->bias_at, bias);
        SN_TRY(add_patches(formula, shape, l, *out, out));
        SN_TRY(add_affine(
            formula, *out,
            &(affine_map){
                .runs = s->positions, .width = s->filters, .matrix = kernel, .turned = true, .offset = bias},
            out));
        SN_TRY(add_pool(formula, s, *out, out));
        SN_TRY(add_activation(formula, *out, SN_RELU, out));
    }
    return STONET_OK;
}

/* *out is the step that layer 1 of the network sees: step 0, the features, for a model without a front.
   inputs: its width. */
static stonet_status add_front(sn_formula *formula, const sn_store *store, int64_t inputs, int *out)
{
    const char *name = sn_store_find_text(store, "front");
    *out = 0;
    if (name == NULL) return STONET_OK;
    if (strcmp(name, "kernel") == 0) return add_kernel_front(formula, store, 0, out);
    if (strcmp(name, "columns") == 0) {
        const sn_tensor *columns;
        SN_TRY(sn_store_get_vector(store, "front_columns", SN_I64, inputs, &columns));
        return add_columns(formula, 0, inputs, columns->data, out);
    }
    if (strcmp(name, "components") == 0) {
        const sn_tensor *map, *mean;
        SN_TRY(sn_store_get_matrix(store, "front_map", SN_F64, formula->step[0].width, inputs, &map));
        SN_TRY(sn_store_get_vector(store, "front_mean", SN_F64, formula->step[0].width, &mean));
        return add_centred(formula, 0, mean->data,
                           (affine_map){.width = inputs, .matrix = map->data, .turned = true}, out);
    }
    if (strcmp(name, "conv") == 0) {
        SN_AUTO(sn_front) *front = NULL;
        SN_TRY(sn_front_conv.load(store, &front));
        return add_conv_front(formula, front, out);
    }
    return sn_fail(STONET_ERROR_UNSUPPORTED, "a model with the front '%.40s' cannot be exported", name);
}

/* Z from the units of the last hidden layer. */
static stonet_status add_axes(sn_formula *formula, const sn_store *store, const layers *at, int h)
{
    SN_FREED_BY(sn_axes_free) sn_axes axes = {0};
    SN_TRY(sn_axes_get(store, formula->step[at->mu[h]].width, &axes));
    formula->z = at->mu[h];
    if (axes.q == 0) return STONET_OK;
    return add_centred(formula, axes.of == SN_UNITS_ACTIVATED ? at->psi[h] : at->mu[h], axes.mean,
                       (affine_map){.width = axes.q, .matrix = axes.map}, &formula->z);
}

/* P(class <= c) = F(t_c - mu), and the differences between neighbours. */
static stonet_status add_ordered(sn_formula *formula, const sn_response *response, int mu)
{
    const int64_t classes = response->targets, k = classes - 1;
    const bool upper = response->law->errors == SN_ERRORS_EXTREME; /* 1 - F = exp(-exp(t - mu)) */
    int at;
    if (response->law->errors == SN_ERRORS_NORMAL)
        return sn_fail(STONET_ERROR_UNSUPPORTED,
                       "ordered classes with law=normal cannot be exported: the formats have no normal "
                       "distribution function; law=logistic can");
    SN_ARRAY(k, double, minus);
    SN_ZEROS(classes, double, offset);
    SN_ZEROS(classes * k, double, difference);
    for (int64_t c = 0; c < k; c++) minus[c] = -1.0;
    SN_TRY(add_affine(formula, mu, &(affine_map){.width = k, .matrix = minus, .offset = response->parameter},
                      &at));
    if (upper) {
        SN_TRY(add_map(formula, SN_OP_EXP, at, 0.0, &at));
        SN_TRY(add_scale(formula, at, minus, NULL, &at));
        SN_TRY(add_map(formula, SN_OP_EXP, at, 0.0, &at));
    } else {
        SN_TRY(add_activation(formula, at, SN_SIGMOID, &at));
    }
    const double sign = upper ? -1.0 : 1.0;
    for (int64_t c = 0; c < k; c++) {
        difference[c * k + c] = sign;
        difference[(c + 1) * k + c] = -sign;
    }
    offset[upper ? 0 : k] = 1.0;
    return add_affine(formula, at, &(affine_map){.width = classes, .matrix = difference, .offset = offset},
                      &formula->answer);
}

/* Of a law: times and counts answer with mu and a constant. */
static stonet_status add_law(sn_formula *formula, const sn_response *response, int mu)
{
    const double one = 1.0;
    double constant;
    if (sn_law_kind_of(response->law) == SN_LAW_ORDERED) return add_ordered(formula, response, mu);
    response->law->answer(response->law, 0.0, response->parameter, 1, &constant);
    return add_scale(formula, mu, &one, &constant, &formula->answer);
}

/* What the outputs of the network say about y: themselves, the first half of them, or the head in their
 * place. */
static stonet_status add_response(sn_formula *formula, const sn_store *store, const sn_network *net,
                                  const layers *at)
{
    const int last = net->shape.layers;
    const int64_t outputs = net->shape.width[last], units = net->shape.width[last - 1];
    SN_FREED_BY(sn_response_free) sn_response response = {0};
    SN_TRY(sn_response_get(store, outputs, units, &response));
    if (response.law != NULL) {
        int mu = at->mu[last];
        const int64_t first = 0;
        const double none = 0.0;
        if (outputs > 1) { /* of times: mu = b o_1 */
            SN_TRY(add_columns(formula, mu, 1, &first, &mu));
            SN_TRY(add_scale(formula, mu, response.parameter + 2, &none, &mu));
        }
        return add_law(formula, &response, mu);
    }
    if (response.kind == SN_RESPONSE_ENSEMBLE)
        return add_affine(
            formula, at->psi[last - 1],
            &(affine_map){.width = response.targets, .matrix = response.coef, .offset = response.intercept},
            &formula->answer);
    if (response.kind != SN_RESPONSE_LOCATION_SCALE)
        return add_output(formula, net, at->mu[last], &formula->answer);
    SN_ARRAY(response.targets, int64_t, first);
    for (int64_t j = 0; j < response.targets; j++) first[j] = j;
    return add_columns(formula, at->mu[last], response.targets, first, &formula->answer);
}

/* ---- methods --------------------------------------------------------------------------------------- */

/* Where Z is: in the axes of a stonet, the first layer of nnsdr, the middle layer (activated) of an
   autoencoder, the output of any other network. nnsdr and stonet predict by themselves. */
static stonet_status add_network_method(sn_formula *formula, const char *name, const sn_store *store,
                                        const sn_network *net)
{
    layers at;
    int in = 0;
    const int last = net->shape.layers;
    const bool stonet = strcmp(name, "stonet") == 0, nnsdr = strcmp(name, "nnsdr") == 0;
    const bool autoencoder = strcmp(name, "autoencoder") == 0;
    if (stonet) SN_TRY(add_front(formula, store, net->shape.width[0], &in));
    SN_TRY(add_network(formula, net, in, last, &at));
    if (stonet) {
        SN_TRY(add_axes(formula, store, &at, last - 1));
        return add_response(formula, store, net, &at);
    }
    formula->z = nnsdr ? at.mu[1] : autoencoder ? at.psi[last / 2] : at.mu[last];
    return nnsdr ? add_output(formula, net, at.mu[last], &formula->answer) : STONET_OK;
}

static stonet_status add_linear_method(sn_formula *formula, const sn_store *store)
{
    const sn_tensor *centre, *direction;
    SN_TRY(sn_store_get_vector(store, "centre", SN_F64, formula->step[0].width, &centre));
    SN_TRY(sn_store_get_matrix(store, "direction", SN_F64, formula->step[0].width, -1, &direction));
    return add_centred(formula, 0, centre->data,
                       (affine_map){.width = direction->shape[1], .matrix = direction->data, .turned = true},
                       &formula->z);
}

static stonet_status add_kernel_method(sn_formula *formula, const sn_store *store)
{
    const sn_tensor *centres, *coefficients, *offset;
    double gamma;
    int kernel = 0;
    SN_TRY(sn_store_get_matrix(store, "kernel.centres", SN_F32, -1, formula->step[0].width, &centres));
    SN_TRY(sn_store_get_matrix(store, "kernel.coefficients", SN_F64, centres->shape[0], -1, &coefficients));
    const int64_t q = coefficients->shape[1];
    SN_TRY(sn_store_get_vector(store, "kernel.offset", SN_F64, q, &offset));
    SN_TRY(sn_store_get_real(store, "kernel.gamma", &gamma));
    SN_ARRAY(q, double, negative);
    for (int64_t k = 0; k < q; k++) negative[k] = -((const double *)offset->data)[k];
    SN_TRY(add_kernel(formula, 0, centres->shape[0], centres->data, gamma, &kernel));
    return add_affine(
        formula, kernel,
        &(affine_map){.width = q, .matrix = coefficients->data, .turned = true, .offset = negative},
        &formula->z);
}

static stonet_status no_form(const char *what, const char *name)
{
    return sn_fail(STONET_ERROR_UNSUPPORTED,
                   "%s '%s' has no closed form that could be exported: keep the model file and the library",
                   what, name);
}

static stonet_status add_method(sn_formula *formula, const char *name, const sn_store *store)
{
    if (sn_store_find(store, "widths") != NULL) {
        SN_FREED_BY(sn_network_clear) sn_network net = {0};
        SN_TRY(sn_network_get(store, &net));
        return add_network_method(formula, name, store, &net);
    }
    if (sn_store_find(store, "direction") != NULL) return add_linear_method(formula, store);
    if (sn_store_find(store, "kernel.centres") != NULL) return add_kernel_method(formula, store);
    if (strcmp(name, "none") == 0) return STONET_OK; /* Z is x */
    return no_form("method", name);
}

/* ---- learners -------------------------------------------------------------------------------------- */

/* Probabilities of the classes that were there in training, and 0 for the others. */
static stonet_status add_logistic(sn_formula *formula, const sn_store *store)
{
    const sn_tensor *coef, *intercept, *class_of;
    const int64_t q = formula->step[formula->z].width;
    int64_t classes;
    int at = formula->z;
    SN_TRY(sn_store_get_int(store, "classes", 1, INT32_MAX, &classes));
    SN_TRY(sn_store_get_vector(store, "class_of", SN_I32, -1, &class_of));
    SN_TRY(sn_store_get_matrix(store, "coef", SN_F64, -1, q, &coef));
    SN_TRY(sn_store_get_vector(store, "intercept", SN_F64, coef->shape[0], &intercept));
    const int64_t present = class_of->shape[0], first = present == 2 ? 1 : 0;
    /* One row of coef are the log-odds of the second class; softmax of (0, them) is the same. */
    SN_ZEROS(present * q, double, matrix);
    SN_ZEROS(present, double, offset);
    if (present > 1) {
        memcpy(matrix + first * q, coef->data, (size_t)((present - first) * q) * sizeof *matrix);
        memcpy(offset + first, intercept->data, (size_t)(present - first) * sizeof *offset);
    }
    SN_TRY(add_affine(formula, at, &(affine_map){.width = present, .matrix = matrix, .offset = offset}, &at));
    SN_TRY(add_map(formula, SN_OP_SOFTMAX, at, 0.0, &formula->answer));
    if (present == classes) return STONET_OK;
    SN_ZEROS(classes * present, double, spread);
    for (int64_t k = 0; k < present; k++) spread[((const int32_t *)class_of->data)[k] * present + k] = 1.0;
    return add_affine(formula, formula->answer, &(affine_map){.width = classes, .matrix = spread},
                      &formula->answer);
}

static stonet_status add_linear(sn_formula *formula, const sn_store *store)
{
    const sn_tensor *coef, *intercept;
    SN_TRY(sn_store_get_matrix(store, "coef", SN_F64, -1, formula->step[formula->z].width, &coef));
    SN_TRY(sn_store_get_vector(store, "intercept", SN_F64, coef->shape[0], &intercept));
    return add_affine(formula, formula->z,
                      &(affine_map){.width = coef->shape[0], .matrix = coef->data, .offset = intercept->data},
                      &formula->answer);
}

/* Adds the prediction of the learner from Z as formula->answer. kernel and mlp are networks, on kernel
   features of Z or on Z itself. */
static stonet_status add_learner(sn_formula *formula, const char *name, const sn_store *store)
{
    if (strcmp(name, "logistic") == 0) return add_logistic(formula, store);
    if (strcmp(name, "linear") == 0) return add_linear(formula, store);
    const bool kernel = strcmp(name, "kernel") == 0;
    if (kernel || strcmp(name, "mlp") == 0) {
        SN_FREED_BY(sn_network_clear) sn_network net = {0};
        layers at;
        int in = formula->z;
        if (kernel) { /* of z standardised */
            SN_FREED_BY(sn_scaling_clear) sn_scaling scaling = {0};
            SN_TRY(sn_scaling_load(store, formula->step[in].width, &scaling));
            SN_TRY(add_scaling(formula, &scaling, in, &in));
            SN_TRY(add_kernel_front(formula, store, in, &in));
        }
        SN_TRY(sn_network_get(store, &net));
        SN_TRY(add_network(formula, &net, in, net.shape.layers, &at));
        return add_output(formula, &net, at.mu[net.shape.layers], &formula->answer);
    }
    return no_form("learner", name);
}

/* ---- the whole ------------------------------------------------------------------------------------- */

/* Numbers back to units of y; of a calibrated model, probabilities by its temperature. */
static stonet_status add_units(sn_formula *formula, const stonet_model *model)
{
    if (model->schema->task == SN_CLASSIFICATION) {
        if (model->calibration == NULL) return STONET_OK;
        return add_map(formula, SN_OP_TEMPER, formula->answer, 1.0 / model->calibration->temperature,
                       &formula->answer);
    }
    const int64_t m = sn_schema_outputs(model->schema);
    SN_ARRAY(m, double, sd);
    SN_ARRAY(m, double, mean);
    for (int64_t j = 0; j < m; j++) {
        sd[j] = sn_schema_target_sd(model->schema, j);
        mean[j] = sn_schema_target_mean(model->schema, j);
    }
    SN_TRY(add_scale(formula, formula->answer, sd, mean, &formula->answer));
    return sn_schema_has_law(model->schema)
               ? add_map(formula, SN_OP_EXP, formula->answer, 0.0, &formula->answer)
               : STONET_OK;
}

/* Builds the formula from the entries that the model file would have, so that each method needs no second way
   to show its numbers. */
static stonet_status read_parts(const stonet_model *model, const sn_store *store, sn_formula *formula)
{
    SN_AUTO(sn_store) *method = NULL, *learner = NULL;
    int features;
    formula->answer = -1;
    SN_TRY(
        add_step(formula, &(sn_step){.op = SN_OP_FEATURES, .in = -1, .width = model->schema->p}, &features));
    SN_TRY(sn_store_part(store, "method.", &method));
    SN_TRY(add_method(formula, model->method->name, method));
    if (model->learner != NULL) {
        SN_TRY(sn_store_part(store, "learner.", &learner));
        SN_TRY(add_learner(formula, model->learner->name, learner));
    }
    return formula->answer >= 0 ? add_units(formula, model) : STONET_OK;
}

stonet_status sn_closed_form(const stonet_model *model, sn_formula *formula)
{
    SN_AUTO(sn_store) *store = NULL;
    SN_TRY(sn_store_create(&store));
    SN_TRY(sn_model_to_store(model, store));
    SN_TRY(read_parts(model, store, formula));
    sn_formula_prune(formula);
    return sn_formula_check(formula, model);
}
