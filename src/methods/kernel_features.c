#include "methods/kernel_features.h"

#include "math/kernel.h"

stonet_status sn_features_create(const sn_kernel_input *input, sn_workspace *keep, sn_features *features)
{
    SN_TRY(sn_landmarks_create(input->m, input->p, input->centres, input->gamma, keep, &features->landmarks));
    const int64_t rank = features->landmarks.rank;
    SN_TRY(SN_TAKE(keep, features->phi, input->n * rank));
    SN_TRY(SN_TAKE(keep, features->mean, rank));
    SN_TRY(sn_landmarks_features(&features->landmarks, input->n, input->x, features->phi));
    sn_column_means(input->n, rank, features->phi, features->mean);
    sn_subtract_row(input->n, rank, features->mean, features->phi);
    return STONET_OK;
}
