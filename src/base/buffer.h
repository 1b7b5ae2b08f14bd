/* How large the buffers are that files go through. */
#pragma once

/* Builds for fuzzing make them small: short files then have seams between two fills too, and no time goes
   into fresh pages. */
#ifdef SN_SMALL_BUFFERS
#define SN_BUFFER(bytes) ((bytes) >> 8)
#else
#define SN_BUFFER(bytes) (bytes)
#endif
