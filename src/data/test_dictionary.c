#include "base/test_kit.h"
#include "data/dictionary.h"

enum { WORDS = 5000 };

static size_t make_word(int i, char word[64])
{
    return (size_t)snprintf(word, 64, "%s%d",
                            i % 3 == 0   ? ""
                            : i % 3 == 1 ? "a rather long beginning "
                                         : "\xc3\xa9",
                            i);
}

/* Each index has a key of its own, and codes follow the order of appearance whatever it is. */
TEST(codes_do_not_depend_on_the_key)
{
    SN_FREED_BY(sn_interner_free) sn_interner a = {0}, b = {0};
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < WORDS; i++) {
            char word[64];
            size_t length = make_word(i, word);
            int32_t code_a = -1, code_b = -1;
            OK(sn_interner_add(&a, word, length, &code_a));
            OK(sn_interner_add(&b, word, length, &code_b));
            assert_int_equal(code_a, i);
            assert_int_equal(code_b, i);
            assert_int_equal(sn_interner_find(&a, word, length), i);
        }
    }
    assert_int_equal(a.words.count, WORDS);
    assert_int_equal(sn_interner_find(&a, "nowhere", 7), -1);
    assert_memory_not_equal(a.key, b.key, sizeof a.key);
    assert_memory_not_equal(a.index, b.index, a.slots * sizeof *a.index);
    int64_t longest = 0, run = 0; /* the words fall into the slots as at random: no long way to a free one */
    for (uint64_t s = 0; s < a.slots; s++) {
        run = a.index[s] != 0 ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    assert_true(longest < 300); /* at most half full; a hash that is none makes one run of thousands */
}

RUN_TESTS(NULL, NULL)
