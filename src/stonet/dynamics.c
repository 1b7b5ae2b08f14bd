#include "stonet/dynamics.h"

#include <math.h>

#include "base/memory.h"
#include "net/loss.h"

void sn_dynamics_from(const sn_config *config, const sn_shape *shape, sn_dynamics *dynamics)
{
    const int h = shape->layers - 1;
    *dynamics = (sn_dynamics){.sweeps = config->sweeps,
                              .integrator = config->integrator,
                              .start = config->start,
                              .beta = shape->spread ? 1.0 : 0.0,
                              .spread = 1.0};
    for (int i = h; i >= 0; i--) {
        if (config->absolute)
            dynamics->s[i] = config->sigma2[i];
        else
            dynamics->s[i] = i == h ? config->s_out : config->rho * dynamics->s[i + 1];
        if (i == h) continue;
        dynamics->epsilon[i] = config->absolute ? config->epsilon[i] : config->tau * sqrt(dynamics->s[i]);
        dynamics->alpha[i] = config->alpha;
    }
}

stonet_status sn_spectral_norm(const float *w, int64_t rows, int64_t cols, double *out)
{
    enum { ITERATIONS = 20 };
    SN_ARRAY(rows + cols, double, work);
    double *u = work, *v = work + rows, norm = 0.0;
    for (int64_t j = 0; j < cols; j++) v[j] = 1.0 + 0.01 * (double)(j % 7); /* no symmetry to be trapped in */
    for (int k = 0; k < ITERATIONS; k++) {
        double v_norm = 0.0, u_norm = 0.0;
        for (int64_t j = 0; j < cols; j++) v_norm += v[j] * v[j];
        if (!(v_norm > 0.0)) break;
        const double scale = 1.0 / sqrt(v_norm);
        for (int64_t i = 0; i < rows; i++) {
            double sum = 0.0;
            for (int64_t j = 0; j < cols; j++) sum += (double)w[i * cols + j] * v[j];
            u[i] = sum * scale;
            u_norm += u[i] * u[i];
        }
        norm = sqrt(u_norm);
        for (int64_t j = 0; j < cols; j++) v[j] = 0.0;
        for (int64_t i = 0; i < rows; i++)
            for (int64_t j = 0; j < cols; j++) v[j] += (double)w[i * cols + j] * u[i];
    }
    *out = norm;
    return STONET_OK;
}

/* What the curvature of the output layer is smaller by than that of a plain residual. The information of mu
   and eta, times v^beta, is v^(beta - 1) and v^beta / 2. */
static double output_temper(const sn_shape *shape, const sn_dynamics *dynamics)
{
    if (shape->task == SN_CLASSIFICATION) return 2.0;
    if (!shape->spread) return 1.0;
    return 1.0 / fmax(exp((dynamics->beta - 1.0) * SN_ETA_LOW), 0.5 * exp(dynamics->beta * SN_ETA_HIGH));
}

/* The largest stable step of layer index i, if the norm of the weights above it is this. */
static double step_limit(const sn_shape *shape, const sn_dynamics *dynamics, int i, double norm)
{
    const double temper = i + 2 == shape->layers ? output_temper(shape, dynamics) : 1.0;
    const double slope = norm * sn_activation_lipschitz(shape->activation);
    return 0.95 / sqrt(1.0 / dynamics->s[i] + slope * slope / (temper * dynamics->s[i + 1]));
}

/* No less than the spectral norm, and known at once. */
static double frobenius_norm(const float *w, int64_t size)
{
    double sum = 0.0;
    for (int64_t k = 0; k < size; k++) sum += (double)w[k] * (double)w[k];
    return sqrt(sum);
}

stonet_status sn_dynamics_safeguard(const sn_shape *shape, const float *theta, sn_dynamics *dynamics,
                                    double *factor_applied)
{
    const int h = shape->layers - 1;
    double smallest = 1.0;
    for (int i = 0; i < h; i++) {
        const int64_t rows = shape->width[i + 2], cols = shape->width[i + 1];
        const float *w = theta + shape->weight_at[i + 1];
        double norm = frobenius_norm(w, rows * cols);
        if (!(dynamics->epsilon[i] > step_limit(shape, dynamics, i, norm))) continue;
        SN_TRY(sn_spectral_norm(w, rows, cols, &norm));
        const double limit = step_limit(shape, dynamics, i, norm);
        if (!(dynamics->epsilon[i] > limit)) continue;
        const double factor = limit / dynamics->epsilon[i];
        dynamics->epsilon[i] *= factor;
        dynamics->alpha[i] *= factor;
        smallest = fmin(smallest, factor);
    }
    *factor_applied = smallest;
    return STONET_OK;
}

void sn_update_from(const sn_config *config, const sn_shape *shape, const sn_dynamics *dynamics, int64_t n,
                    double factor, sn_update *update)
{
    const int top = shape->layers - 1;
    *update = (sn_update){.momentum = config->momentum, .decay = config->weight_decay};
    /* Momentum multiplies the long-run step of the gradient by 1/(1 - momentum); the shrinkage, which has no
       momentum, must keep pace. */
    update->l1 = config->l1 / (1.0 - config->momentum);
    update->group = config->group / (1.0 - config->momentum);
    update->group_factor = config->group_factor;
    for (int i = 0; i <= top; i++) {
        /* The plain-residual step is the gradient of the mean sum of squares: 2 (Y - mu), whatever s_i is. */
        const bool squares = i < top || shape->task == SN_REGRESSION;
        update->scale[i] = config->residual_step && squares ? 2.0 * dynamics->s[i] : dynamics->s[top];
        update->rate[i] =
            factor * (config->has_gamma ? config->gamma[i] * (double)n / dynamics->s[top] : config->lr);
    }
}
