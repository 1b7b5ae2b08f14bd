/* Checkpoints: what was put in comes back, of the same job alone, and a file that is not whole is refused. */
#include <unistd.h>

#include "base/checkpoint.h"
#include "base/test_kit.h"
#include "base/work_queue.h"

static char path[] = "/tmp/stonet-checkpoint-XXXXXX";

static sn_hash hash_of(const char *text)
{
    sn_hash hash;
    sn_hash_begin(&hash);
    sn_hash_text(&hash, text);
    return hash;
}

static stonet_checkpoint *open_for(const char *job)
{
    stonet_checkpoint *checkpoint = NULL;
    const sn_hash hash = hash_of(job);
    OK(stonet_checkpoint_open(path, 0.0, &checkpoint));
    OK(sn_checkpoint_begin(checkpoint, "fit", &hash, NULL));
    return checkpoint;
}

static void put(stonet_checkpoint *checkpoint, const char *key, const char *text)
{
    SN_FREED_BY(sn_pack_clear) sn_pack pack = {0};
    OK(sn_pack_bytes(&pack, text, strlen(text)));
    OK(sn_checkpoint_put(checkpoint, key, &pack));
}

static void assert_has(stonet_checkpoint *checkpoint, const char *key, const char *text)
{
    sn_pack pack;
    OK(sn_checkpoint_get(checkpoint, key, &pack));
    assert_int_equal(pack.size, strlen(text));
    assert_memory_equal(pack.bytes, text, strlen(text));
    sn_pack_clear(&pack);
}

static int no_file(void **state)
{
    (void)state;
    unlink(path);
    return 0;
}

TEST_WITH(records_come_back, no_file, no_file)
{
    SN_AUTO(stonet_checkpoint) *c = open_for("a");
    put(c, "one", "first");
    put(c, "two", "second");
    put(c, "one", "another first");
    sn_checkpoint_drop(c, "two");
    put(c, "three", "third");
    stonet_checkpoint_free(c);
    c = open_for("a");
    assert_has(c, "one", "another first");
    assert_has(c, "three", "third");
    assert_false(sn_checkpoint_has(c, "two"));
    assert_true(sn_checkpoint_has(c, "one"));
    OK(stonet_checkpoint_remove(c));
    assert_int_equal(access(path, F_OK), -1);
    OK(stonet_checkpoint_remove(c));
}

/* The next call of the same job has records of its own; a job that begins with another call is refused. */
TEST_WITH(another_job_gets_nothing, no_file, no_file)
{
    SN_AUTO(stonet_checkpoint) *c = open_for("a");
    put(c, "one", "of a");
    const sn_hash b = hash_of("b"), third = hash_of("c");
    OK(sn_checkpoint_begin(c, "fit", &b, NULL));
    assert_false(sn_checkpoint_has(c, "one"));
    put(c, "one", "of b");
    stonet_checkpoint_free(c);
    c = open_for("a");
    assert_has(c, "one", "of a");
    OK(sn_checkpoint_begin(c, "fit", &b, NULL));
    assert_has(c, "one", "of b");
    stonet_checkpoint_free(c);
    OK(stonet_checkpoint_open(path, 0.0, &c));
    assert_says(sn_checkpoint_begin(c, "fit", &third, NULL), STONET_ERROR_ARGUMENT, "another job");
}

/* One job at a time: the second is refused, whether it came before the first file or after, until the first
   has ended. */
TEST_WITH(two_jobs_do_not_share, no_file, no_file)
{
    SN_AUTO(stonet_checkpoint) *early = NULL, *late = NULL;
    const sn_hash a = hash_of("a");
    OK(stonet_checkpoint_open(path, 0.0, &early));
    SN_AUTO(stonet_checkpoint) *c = open_for("a");
    put(c, "one", "first");
    OK(stonet_checkpoint_open(path, 0.0, &late));
    for (int k = 0; k < 2; k++) {
        assert_says(sn_checkpoint_begin(k == 0 ? early : late, "fit", &a, NULL), STONET_ERROR_IO,
                    "another job works with");
    }
    put(c, "two", "second");
    stonet_checkpoint_free(c);
    c = open_for("a");
    assert_has(c, "two", "second");
}

static void write_bytes(const unsigned char *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

TEST_WITH(damage_is_found, no_file, no_file)
{
    unsigned char bytes[4096];
    SN_AUTO(stonet_checkpoint) *c = open_for("a");
    put(c, "one", "first");
    put(c, "two", "");
    stonet_checkpoint_free(c);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    const size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    assert_true(size > 40 && size < sizeof bytes);
    for (size_t cut = 0; cut < size; cut++) {
        write_bytes(bytes, cut);
        assert_int_equal(stonet_checkpoint_open(path, 0.0, &c), STONET_ERROR_FORMAT);
    }
    for (size_t at = 0; at < size; at++) {
        bytes[at] ^= 0x10;
        write_bytes(bytes, size);
        assert_int_equal(stonet_checkpoint_open(path, 0.0, &c), STONET_ERROR_FORMAT);
        bytes[at] ^= 0x10;
    }
    write_bytes(bytes, size);
    OK(stonet_checkpoint_open(path, 0.0, &c));
}

TEST_WITH(other_files_are_left_alone, no_file, no_file)
{
    stonet_checkpoint *c;
    write_bytes((const unsigned char *)"x,y\n1,2\n", 8);
    assert_says(stonet_checkpoint_open(path, 0.0, &c), STONET_ERROR_FORMAT, "is not a checkpoint");
    OK(stonet_checkpoint_open("/nowhere/at/all.checkpoint", 0.0, &c));
    const sn_hash hash = hash_of("a");
    assert_int_equal(sn_checkpoint_begin(c, "fit", &hash, NULL), STONET_ERROR_IO);
    stonet_checkpoint_free(c);
}

/* Without a file: what a job has put in comes back to that job, also when another has begun in between. */
TEST_WITH(memory_will_do, no_file, no_file)
{
    SN_AUTO(stonet_checkpoint) *c = NULL;
    const sn_hash a = hash_of("a"), b = hash_of("b");
    OK(stonet_checkpoint_open(NULL, 0.0, &c));
    assert_false(sn_checkpoint_is_file(c));
    OK(sn_checkpoint_begin(c, "fit", &a, NULL));
    put(c, "one", "first");
    assert_false(sn_checkpoint_due(c, -1e9));
    OK(sn_checkpoint_end(c, STONET_OK));
    OK(sn_checkpoint_begin(c, "fit", &b, NULL));
    assert_false(sn_checkpoint_has(c, "one"));
    OK(sn_checkpoint_begin(c, "fit", &a, NULL));
    assert_has(c, "one", "first");
    OK(stonet_checkpoint_remove(c));
    assert_int_not_equal(access(path, F_OK), 0);
}

/* Every byte and every length counts. */
TEST(hashes_differ)
{
    unsigned char bytes[200] = {0};
    uint64_t seen[3 * sizeof bytes];
    size_t count = 0;
    for (size_t size = 0; size < sizeof bytes; size++) {
        sn_hash whole, parts;
        sn_hash_begin(&whole);
        sn_hash_begin(&parts);
        sn_hash_add(&whole, bytes, size);
        sn_hash_add(&parts, bytes, size / 3);
        sn_hash_add(&parts, bytes + size / 3, size - size / 3);
        assert_true(sn_hash_value(&whole) == sn_hash_value(&parts));
        seen[count++] = sn_hash_value(&whole);
        bytes[size] = 1;
        sn_hash_begin(&whole);
        sn_hash_add(&whole, bytes, sizeof bytes);
        seen[count++] = sn_hash_value(&whole);
        bytes[size] = 0;
    }
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++) assert_true(seen[i] != seen[j]);
}

/* ---- the dealer -------------------------------------------------------------------------------------- */

enum { PIECES = 40 };

typedef struct pieces {
    int worked[PIECES], taken[PIECES];
    int fails_at; /* -1: none */
} pieces;

static stonet_status work(void *user, int64_t piece, sn_pack *record)
{
    pieces *p = user;
    p->worked[piece]++;
    if (piece == p->fails_at) return sn_fail(STONET_ERROR_DATA, "piece %d", (int)piece);
    return record != NULL ? sn_pack_int(record, 100 + piece) : STONET_OK;
}

static stonet_status take(void *user, int64_t piece, sn_unpack *record)
{
    pieces *p = user;
    int64_t value;
    SN_TRY(sn_unpack_int(record, &value));
    assert_int_equal(value, 100 + piece);
    p->taken[piece]++;
    return STONET_OK;
}

TEST_WITH(pieces_are_done_once, no_file, no_file)
{
    for (int threads = 1; threads <= 3; threads += 2) {
        unlink(path);
        SN_AUTO(stonet_checkpoint) *c = open_for("a");
        stonet_run run = {.checkpoint = c};
        pieces first = {.fails_at = 30}, second = {.fails_at = -1};
        sn_work_set deal = {.key = "set", .count = PIECES, .work = work, .take = take, .user = &first};
        assert_int_equal(sn_work_queue_run(&deal, threads, &run), STONET_ERROR_DATA);
        assert_string_equal(stonet_last_error(), "piece 30");
        deal.user = &second;
        OK(sn_work_queue_run(&deal, threads, &run));
        for (int k = 0; k < PIECES; k++) {
            assert_int_equal(second.worked[k] + second.taken[k], 1);
            assert_int_equal(second.taken[k], k == 30 ? 0 : first.worked[k]);
        }
    }
    pieces alone = {.fails_at = -1};
    OK(sn_work_queue_run(&(sn_work_set){.count = PIECES, .work = work, .take = take, .user = &alone}, 2,
                         NULL));
    for (int k = 0; k < PIECES; k++) assert_int_equal(alone.worked[k], 1);
}

static int make_file(void **state)
{
    (void)state;
    const int file = mkstemp(path);
    return file < 0 ? -1 : close(file);
}

RUN_TESTS(make_file, NULL)
