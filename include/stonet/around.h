/*
 * What programs around the library share with it.
 */
#ifndef STONET_AROUND_H
#define STONET_AROUND_H

#include <stonet/stonet.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- for programs around the library ------------------------------------------------------------ */

/* Random numbers that depend on seed and stream alone (streams keep uses apart; at most 2^48 - 1): a random
   order of 0 .. n-1, and standard normals. */
STONET_API stonet_status stonet_permutation(uint64_t seed, uint64_t stream, int64_t n, int64_t *order);
STONET_API stonet_status stonet_normals(uint64_t seed, uint64_t stream, int64_t count, double *values);
/* The shortest text that reads back as the same number, with a decimal point in every locale; the length. */
enum { STONET_NUMBER_SIZE = 32 };
STONET_API size_t stonet_number_text(double value, char text[STONET_NUMBER_SIZE]);
/* A text as a cell of a CSV file, in quotes where it would not come back as it is: handed to `put` in pieces,
   until that answers something else than 0, which is then the result. */
STONET_API int stonet_csv_cell(const char *text, int (*put)(const char *bytes, size_t count, void *user),
                               void *user);
/* The one of the words that is most like a mistyped one; NULL when none is near. */
STONET_API const char *stonet_nearest(const char *word, const char *const *words, int64_t count);

#ifdef __cplusplus
}
#endif
#endif
