#include "stonet/config.h"

#include <math.h>
#include <string.h>

#include "engine/engines.h"
#include "stonet/constants.h"
#include "stonet/response.h"

const sn_param sn_stonet_params[SN_STONET_PARAMS] = {
    {"response", SN_CHOICE, "mean", 0, 0, SN_RESPONSE_WORDS(SN_JOINED),
     "what Z is to explain of a numeric response: its mean, its whole law by an ensemble of functions of it, "
     "or its mean and its spread"},
    {"law", SN_CHOICE, "auto", 0, 0, SN_LAW_WORDS,
     "errors of log times and of the scores behind ordered classes, or the law of counts; auto: normal for "
     "times, logistic for ordered classes, Poisson for counts"},
    {"hidden", SN_INTEGERS, "auto", 1, 100000, "auto|none",
     "widths of the hidden layers before the last one, which then has dim units; none: one hidden layer; "
     "auto: one layer, its width by the rows, before one of max(dim, 10) units"},
    {"activation", SN_CHOICE, "auto", 0, 0, "auto|" SN_ACTIVATION_WORDS(SN_JOINED),
     "activation of the hidden layers; auto: chosen by cross-validation"},
    {"front", SN_CHOICE, "auto", 0, 0, "auto|" SN_FRONT_WORDS(SN_JOINED),
     "what layer 1 sees: x (none); kernel features of x, and x; a few columns; principal components; of "
     "images, a convolutional network that learns with this one; auto: chosen by cross-validation"},
    {"front_complexity", SN_REAL, "auto", 1e-6, 1e6, "auto",
     "front=kernel: c in the kernel exp(-c |x - x'|^2 / (2 s^2)), s the mean distance; auto: chosen by "
     "cross-validation"},
    {"front_linear", SN_REAL, "0.1", 0, 0.99, NULL, "front=kernel: share of x itself beside the kernel"},
    {"front_landmarks", SN_INTEGER, "auto", 2, 100000, "auto",
     "front=kernel: rows, drawn by the seed, that span the kernel; auto: a tenth of the rows, from 200 to "
     "1000"},
    {"front_image", SN_INTEGERS, "auto", 1, 1e7, "auto",
     "front=conv: the image that the columns are, height,width or with channels before or after them; auto: "
     "as the file says"},
    {"front_channels", SN_INTEGERS, "auto", 1, 4096, "auto",
     "front=conv: filters of each stage of convolution and pooling; auto: 16, 32, 64, 64, .. as long as "
     "sides are long"},
    {"select", SN_CHOICE, "none", 0, 0, "none|group",
     "group: the network is given the columns alone that a group lasso on layer 1 leaves; by held-out rows"},
    {"select_penalty", SN_REAL, "auto", 1e-9, 1e6, "auto",
     "select=group: the penalty at which columns are taken; auto: by held-out rows"},
    {"restarts", SN_INTEGER, "1", 1, 1000, NULL,
     "starts that are trained briefly; the one that fits the training rows best goes on"},
    {"input_activation", SN_CHOICE, "off", 0, 0, "off|tanh|relu|sigmoid",
     "activation applied to the inputs too"},
    {"epochs", SN_REAL, "auto", 0.01, 1e7, "auto",
     "passes over the training rows; auto: chosen by cross-validation"},
    {"batch", SN_INTEGER, "auto", 1, 1e9, "auto",
     "rows of a mini-batch; auto: 64, above 5000 rows 128, and more in trainings of given epochs with more "
     "than 5000 updates, by the noise of the gradient"},
    {"lr", SN_REAL, "auto", 0, 1e6, "auto", "parameter step on the mean loss (gamma n / s_out)"},
    {"momentum", SN_REAL, "0.9", 0, 0.9999, NULL, "momentum of the parameter step"},
    {"weight_decay", SN_REAL, "auto", 0, 1e6, "auto",
     "pull of the weights towards 0; auto: chosen by cross-validation"},
    {"l1", SN_REAL, "0", 0, 1e6, NULL, "lasso penalty on the weights"},
    {"schedule", SN_CHOICE, "auto", 0, 0, "auto|linear|constant|averaged|power",
     "how the parameter step falls: linearly to a tenth, not at all, as C/(c + k^a), or slowly with the "
     "iterates of the last half averaged; auto: averaged where epochs are chosen, else linear"},
    {"schedule_c", SN_REAL, "1000", 0, 1e12, NULL, "c of the power schedule"},
    {"schedule_a", SN_REAL, "0.6", 0, 2, NULL, "a of the power schedule"},
    {"sweeps", SN_INTEGER, "auto", 1, 65535, "auto",
     "SGHMC sweeps an iteration; auto: 5 from the mode, 25 from forward"},
    {"start", SN_CHOICE, "mode", 0, 0, SN_START_WORDS(SN_JOINED),
     "where imputation starts: back-propagated mode or forward pass"},
    {"integrator", SN_CHOICE, "symplectic", 0, 0, SN_INTEGRATOR_WORDS(SN_JOINED),
     "SGHMC update; euler is the form printed in the paper"},
    {"tau", SN_REAL, "0.1", 1e-9, 10, NULL, "latent step in units of the layer's own noise, eps_i / sigma_i"},
    {"alpha", SN_REAL, "0.1", 0, 1, NULL, "friction a sweep, eps_i eta"},
    {"rho", SN_REAL, "0.1", 1e-9, 1e9, NULL, "noise ratio of neighbouring layers, s_i / s_{i+1}"},
    {"s_out", SN_REAL, "auto", 1e-30, 1e9, "auto",
     "output variance (regression) or temperature (classification)"},
    {"sigma2", SN_REALS, "auto", 1e-30, 1e9, "auto", "absolute form: variances s_1,..,s_{h+1}"},
    {"epsilon", SN_REALS, "auto", 1e-30, 1e9, "auto", "absolute form: latent steps eps_1,..,eps_h"},
    {"eta", SN_REAL, "auto", 0, 1e12, "auto", "absolute form: friction, alpha_i = eps_i eta"},
    {"gamma", SN_REALS, "auto", 0, 1e12, "auto", "absolute form: parameter steps gamma_1,..,gamma_{h+1}"},
    {"layer_step", SN_CHOICE, "common", 0, 0, "common|residual",
     "common: one gamma, gradients divided by s_i; residual: hidden layers step by their plain residual"},
    {"sdr_iterations", SN_INTEGER, "auto", 0, 1e6, "auto", "full-data iterations of the final stage"},
    {"sdr_c", SN_REAL, "1000", 0, 1e12, NULL, "c of the final stage's steps C/(c + k^a)"},
    {"sdr_a", SN_REAL, "0.6", 0, 2, NULL, "a of the final stage's steps C/(c + k^a)"},
    {"output", SN_CHOICE, "trained", 0, 0, "trained|refit",
     "the output layer: as training leaves it, or refitted on psi(Z) at the end"},
    {"engine", SN_CHOICE, "cpu", 0, 0, SN_ENGINE_WORDS, SN_ENGINE_HELP},
};

bool sn_config_given(const sn_settings *settings, const char *name)
{
    return !sn_is(settings, name, "auto");
}

double sn_config_or(const sn_settings *settings, const char *name, double otherwise)
{
    return sn_config_given(settings, name) ? sn_real(settings, name) : otherwise;
}

const sn_engine_ops *sn_config_engine(const sn_settings *settings)
{
    const char *name = sn_word(settings, "engine");
    return strcmp(name, SN_ENGINE_AUTO) == 0 ? sn_engine_auto() : sn_engine_find(name);
}

int64_t sn_config_units(const sn_settings *settings, int64_t q)
{
    const bool as_named = sn_config_given(settings, "hidden") && sn_is(settings, "response", "mean");
    return as_named || q > SN_LEAST_UNITS ? q : SN_LEAST_UNITS;
}

/* Width of the first layer: grows with what the rows can support. Behind a convolution, which has bent the
   inputs already, half of the most will do. */
static int64_t auto_width(const sn_net_kind *kind, const sn_problem *problem)
{
    const double width = SN_WIDTH_A_ROOT * sqrt((double)problem->n);
    const int most = kind->front.kind == SN_FRONT_CONV ? SN_MOST_WIDTH / 2 : SN_MOST_WIDTH;
    return (int64_t)fmin(fmax(width, SN_LEAST_WIDTH), most);
}

stonet_status sn_config_shape(const sn_settings *settings, const sn_net_kind *kind, const sn_problem *problem,
                              int64_t units, sn_shape *shape)
{
    *shape = (sn_shape){.task = problem->task};
    size_t count;
    const double *hidden = sn_list(settings, "hidden", &count);
    if (count + 2 > SN_MAX_LAYERS)
        return sn_fail(STONET_ERROR_ARGUMENT, "setting 'hidden' has %zu layers; at most %d are possible",
                       count, SN_MAX_LAYERS - 2);
    int at = 0;
    shape->width[at++] = problem->p;
    /* Kernel features are wide and bent already, and a linear model needs no second layer. */
    const bool one_layer = kind->front.kind == SN_FRONT_KERNEL || kind->activation == SN_IDENTITY;
    if (!sn_config_given(settings, "hidden") && !one_layer) shape->width[at++] = auto_width(kind, problem);
    for (size_t i = 0; i < count; i++) shape->width[at++] = (int64_t)hidden[i];
    shape->width[at++] = units;
    shape->layers = at;
    shape->width[at] = problem->outputs;
    shape->spread = sn_is(settings, "response", "location-scale") && problem->task == SN_REGRESSION;
    shape->activation = kind->activation;
    const int inputs = sn_words_choice(&sn_activation_words, settings, "input_activation"); /* -1: off */
    shape->input_activation = inputs >= 0 ? (sn_activation)inputs : SN_IDENTITY;
    return sn_shape_layout(shape);
}

/* A per-layer list: one value for all layers, or exactly `layers` of them. */
static stonet_status layer_list(const sn_settings *settings, const char *name, int layers, double *out)
{
    size_t count;
    const double *list = sn_list(settings, name, &count);
    if (count != 1 && count != (size_t)layers)
        return sn_fail(STONET_ERROR_ARGUMENT, "setting '%s' has %zu values; this network takes 1 or %d", name,
                       count, layers);
    for (int i = 0; i < layers; i++) out[i] = list[count == 1 ? 0 : i];
    return STONET_OK;
}

/* The sampler has a relative form (tau, rho, alpha: without units) and an absolute one (sigma2, epsilon, eta,
   as in the papers). The absolute form needs sigma2 and epsilon for every layer; there alpha = eta epsilon_1.
   */
static stonet_status resolve_sampler(const sn_settings *settings, const sn_shape *shape, sn_config *config)
{
    const int h = shape->layers - 1;
    config->integrator = (sn_integrator)sn_words_choice(&sn_integrator_words, settings, "integrator");
    config->start = (sn_start)sn_words_choice(&sn_start_words, settings, "start");
    config->sweeps = (int)sn_config_or(settings, "sweeps", config->start == SN_START_MODE ? 5 : 25);
    config->tau = sn_real(settings, "tau");
    config->rho = sn_real(settings, "rho");
    config->alpha = sn_real(settings, "alpha");
    config->s_out = sn_config_or(settings, "s_out", shape->task == SN_CLASSIFICATION ? 1e-4 : 1e-6);
    config->absolute = sn_config_given(settings, "sigma2") || sn_config_given(settings, "epsilon");
    if (config->absolute) {
        if (!sn_config_given(settings, "sigma2") || !sn_config_given(settings, "epsilon"))
            return sn_fail(STONET_ERROR_ARGUMENT, "the absolute form needs both 'sigma2' and 'epsilon'");
        SN_TRY(layer_list(settings, "sigma2", h + 1, config->sigma2));
        if (h > 0) SN_TRY(layer_list(settings, "epsilon", h, config->epsilon));
        if (sn_config_given(settings, "eta")) {
            const double alpha = sn_real(settings, "eta") * config->epsilon[0];
            if (alpha > 1.0)
                return sn_fail(STONET_ERROR_ARGUMENT,
                               "eta times epsilon is %g: the friction a sweep cannot exceed 1", alpha);
            config->alpha = alpha;
        }
    } else if (sn_config_given(settings, "eta")) {
        return sn_fail(STONET_ERROR_ARGUMENT,
                       "'eta' belongs to the absolute form: give 'sigma2' and 'epsilon' too, or set 'alpha'");
    }
    return STONET_OK;
}

static sn_schedule_kind schedule_kind(const sn_settings *settings, const sn_net_kind *kind)
{
    if (!sn_config_given(settings, "schedule"))
        return sn_config_given(settings, "epochs") || kind->front.kind == SN_FRONT_CONV ? SN_LINEAR
                                                                                        : SN_AVERAGED;
    if (sn_is(settings, "schedule", "averaged")) return SN_AVERAGED;
    if (sn_is(settings, "schedule", "constant")) return SN_CONSTANT;
    return sn_is(settings, "schedule", "power") ? SN_POWER : SN_LINEAR;
}

/* The step of the parameters: `gamma` for each layer, or `lr` for all. Where neither is set, lr follows from
   what layer 1 sees. */
static stonet_status resolve_step(const sn_settings *settings, const sn_net_kind *kind,
                                  const sn_problem *problem, const sn_shape *shape, sn_config *config)
{
    config->has_gamma = sn_config_given(settings, "gamma");
    if (config->has_gamma) SN_TRY(layer_list(settings, "gamma", shape->layers, config->gamma));
    if (config->has_gamma && sn_config_given(settings, "lr"))
        return sn_fail(STONET_ERROR_ARGUMENT, "give 'gamma' or 'lr', not both");
    config->residual_step = sn_is(settings, "layer_step", "residual");
    config->auto_lr = !config->has_gamma && !sn_config_given(settings, "lr");
    /* The curvature of the first layer grows with the number of features; a row of kernel features has a
       norm of 1 at most, whatever their number. The smaller step gets as far only if it falls later. */
    const bool kernel = kind->front.kind == SN_FRONT_KERNEL, conv = kind->front.kind == SN_FRONT_CONV;
    const bool many = problem->p > SN_MANY_COLUMNS && !kernel && !conv;
    config->lr = sn_config_or(settings, "lr", kernel ? 0.2 : conv ? 0.01 : many ? 0.02 : 0.05);
    config->momentum = sn_real(settings, "momentum");
    config->auto_decay = !sn_config_given(settings, "weight_decay");
    config->weight_decay = kind->weight_decay;
    config->l1 = sn_real(settings, "l1");
    config->schedule = (sn_schedule){.kind = schedule_kind(settings, kind),
                                     .c = sn_real(settings, "schedule_c"),
                                     .a = sn_real(settings, "schedule_a"),
                                     .steady = many ? 6000.0 : 1000.0};
    return STONET_OK;
}

stonet_status sn_config_resolve(const sn_settings *settings, const sn_net_kind *kind,
                                const sn_problem *problem, const sn_shape *shape, sn_config *config)
{
    *config = (sn_config){.engine = sn_config_engine(settings)};
    SN_TRY(resolve_sampler(settings, shape, config));
    SN_TRY(resolve_step(settings, kind, problem, shape, config));
    const bool conv = kind->front.kind == SN_FRONT_CONV;
    config->batch = (int64_t)sn_config_or(settings, "batch", problem->n > 5000 && !conv ? 128 : 64);
    if (config->batch > problem->n) config->batch = problem->n;
    config->auto_epochs = !sn_config_given(settings, "epochs");
    config->epochs = sn_config_or(settings, "epochs", 0.0);
    config->restarts = (int)sn_int(settings, "restarts");
    config->auto_batch =
        !sn_config_given(settings, "batch") && !config->auto_epochs && !config->has_gamma && !conv;
    config->sdr_iterations = (int64_t)sn_config_or(settings, "sdr_iterations", problem->n > 5000 ? 5 : 30);
    config->refit_output = sn_is(settings, "output", "refit");
    if (config->refit_output && problem->law != NULL)
        return sn_fail(
            STONET_ERROR_ARGUMENT,
            "output=refit is a regression of numbers or classes that are seen: it does not go with "
            "task=%s",
            sn_words_name(&sn_law_kind_words, sn_law_kind_of(problem->law)));
    if (config->refit_output && shape->spread)
        return sn_fail(STONET_ERROR_ARGUMENT,
                       "output=refit is a regression of the mean alone: it does not go "
                       "with response=location-scale");
    config->sdr_schedule =
        (sn_schedule){.kind = SN_POWER, .c = sn_real(settings, "sdr_c"), .a = sn_real(settings, "sdr_a")};
    return STONET_OK;
}

stonet_status sn_config_default(const sn_engine_ops *engine, const sn_problem *problem, const sn_shape *shape,
                                sn_config *config)
{
    const sn_net_kind kind = {.activation = shape->activation};
    SN_AUTO(sn_settings) *settings = NULL;
    SN_TRY(sn_settings_create(sn_stonet_params, SN_STONET_PARAMS, &settings));
    SN_TRY(sn_config_resolve(settings, &kind, problem, shape, config));
    config->engine = engine;
    config->auto_epochs = config->auto_decay = config->auto_lr = config->auto_batch = false;
    return STONET_OK;
}

static double fall(const sn_schedule *schedule, int64_t k, int64_t total)
{
    switch (schedule->kind) {
    case SN_CONSTANT:
        return 1.0;
    case SN_AVERAGED:
        return pow(1.0 + (double)k / schedule->steady, -0.75);
    case SN_LINEAR:
        return total > 1 ? 1.0 - 0.9 * (double)(k - 1) / (double)(total - 1) : 1.0;
    case SN_POWER:
        return (schedule->c + 1.0) / (schedule->c + pow((double)k, schedule->a));
    }
    return 1.0;
}

double sn_schedule_factor(const sn_schedule *schedule, int64_t k, int64_t total)
{
    const double warmed = 20.0 * (double)k / (double)total, factor = fall(schedule, k, total);
    if (!(schedule->warm > 0.0) || warmed >= 1.0) return factor;
    return factor * (schedule->warm + (1.0 - schedule->warm) * warmed);
}
