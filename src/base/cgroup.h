/* What the control groups of this process leave of the memory: containers and batch systems set such limits.
 */
#pragma once

#include <stdint.h>

/*
 * The least that any group from that of the process up to the root still allows; UINT64_MAX without a limit.
 * `membership` is /proc/self/cgroup and `root` /sys/fs/cgroup, but in tests.
 */
uint64_t sn_cgroup_available(const char *membership, const char *root);
