/* What the rows of a table are pictures of: the extents of an array of rank 3 or 4 after the first, which
   counts the rows. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct sn_image {
    int rank;          /* 2: height, width; 3: with channels, first or last; 0: no image */
    int64_t extent[3]; /* in the order of the file */
} sn_image;

/* Numbers of one image; 0: none. */
static inline int64_t sn_image_size(const sn_image *image)
{
    int64_t size = image->rank > 0 ? 1 : 0;
    for (int k = 0; k < image->rank; k++) size *= image->extent[k];
    return size;
}

static inline bool sn_image_same(const sn_image *a, const sn_image *b)
{
    bool same = a->rank == b->rank;
    for (int k = 0; same && k < a->rank; k++) same = a->extent[k] == b->extent[k];
    return same;
}
