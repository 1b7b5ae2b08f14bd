#include "base/memory.h"
#include "base/test_folder.h"
#include "base/test_kit.h"

static uint64_t available(const char *membership, const char *files)
{
    char command[1024], list[128], root[128];
    snprintf(command, sizeof command,
             "cd %s && mkdir -p root/a/b root/memory/a/b && cd root && %s && printf '%s' > ../list", folder,
             files, membership);
    assert_int_equal(system(command), 0);
    snprintf(list, sizeof list, "%s/list", folder);
    snprintf(root, sizeof root, "%s/root", folder);
    const uint64_t bytes = sn_cgroup_available(list, root);
    snprintf(command, sizeof command, "rm -r %s/root %s/list", folder, folder);
    assert_int_equal(system(command), 0);
    return bytes;
}

TEST(version_two)
{
    assert_true(available("0::/a/b\\n", "true") == UINT64_MAX);
    assert_true(available("0::/a/b\\n", "echo max > a/b/memory.max") == UINT64_MAX);
    assert_true(available("0::/a/b\\n", "echo 5000 > a/b/memory.max && echo 1000 > a/b/memory.current") ==
                4000);
    /* the groups above count too */
    assert_true(available("0::/a/b\\n", "echo 5000 > a/b/memory.max; echo 900 > a/memory.max") == 900);
    assert_true(available("0::/a/b\\n", "echo max > a/b/memory.max; echo 700 > memory.max") == 700);
    assert_true(available("0::/\\n", "echo 700 > memory.max && echo 800 > memory.current") == 0);
}

TEST(version_one)
{
    const char *list = "7:cpu,cpuacct:/x\\n4:memory:/a/b\\n";
    assert_true(available(list, "echo 6000 > memory/a/b/memory.limit_in_bytes") == 6000);
    assert_true(available(list, "echo 6000 > memory/a/memory.limit_in_bytes; echo 50 > memory.max") == 6000);
}

TEST(nothing_to_read)
{
    assert_true(sn_cgroup_available("/nowhere/cgroup", folder) == UINT64_MAX);
    assert_true(available("garbage\\n::\\n0:\\n0::a\\n", "echo 5 > memory.max") == UINT64_MAX);
}

RUN_TESTS(make_folder, remove_folder)
