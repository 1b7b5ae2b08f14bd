/* Tables of words: to values and back, and what is not in them. */
#include "base/test_kit.h"
#include "base/words.h"

typedef enum colour { RED, GREEN, BLUE } colour;
#define COLOUR_WORDS(between) "red" between "green" between "blue"
SN_DEFINE_WORDS(colour_words, "colour", BLUE, COLOUR_WORDS);

TEST(values_and_words_are_each_others)
{
    assert_int_equal(colour_words.count, 3);
    for (int value = 0; value < colour_words.count; value++)
        assert_int_equal(sn_words_find(&colour_words, sn_words_name(&colour_words, value)), value);
    assert_string_equal(sn_words_name(&colour_words, GREEN), "green");
    const char *const strange[] = {"", "re", "redder", "Red", " red", "auto"};
    for (size_t i = 0; i < sizeof strange / sizeof *strange; i++)
        assert_int_equal(sn_words_find(&colour_words, strange[i]), -1);
}

TEST(a_setting_takes_its_choices_from_the_table)
{
    const sn_param table[] = {
        {"paint", SN_CHOICE, "auto", 0, 0, "auto|" COLOUR_WORDS(SN_JOINED), "colour of the wall"}};
    SN_AUTO(sn_settings) *settings = NULL;
    OK(sn_settings_create(table, 1, &settings));
    assert_int_equal(sn_words_choice(&colour_words, settings, "paint"), -1);
    for (int value = 0; value < colour_words.count; value++) {
        OK(sn_settings_set(settings, "paint", sn_words_name(&colour_words, value)));
        assert_int_equal(sn_words_choice(&colour_words, settings, "paint"), value);
    }
    assert_int_equal(sn_settings_set(settings, "paint", "grey"), STONET_ERROR_ARGUMENT);
}

TEST(a_stored_word_comes_back_and_an_unknown_one_is_an_error)
{
    SN_AUTO(sn_store) *store = NULL;
    int value = 77;
    OK(sn_store_create(&store));
    OK(sn_words_put(&colour_words, store, "wall", BLUE));
    assert_string_equal(sn_store_find_text(store, "wall"), "blue");
    OK(sn_words_get(&colour_words, store, "wall", &value));
    assert_int_equal(value, BLUE);
    assert_says(sn_words_get(&colour_words, store, "door", &value), STONET_ERROR_FORMAT, "no entry 'door'");
    OK(sn_store_put_text(store, "roof", "violet"));
    assert_says(sn_words_get(&colour_words, store, "roof", &value), STONET_ERROR_FORMAT,
                "'roof' is 'violet', no colour");
    assert_non_null(strstr(stonet_last_error(), "red, green or blue"));
    /* A number of the enum is no word. */
    OK(sn_store_put_int(store, "floor", GREEN));
    assert_int_equal(sn_words_get(&colour_words, store, "floor", &value), STONET_ERROR_FORMAT);
}

RUN_TESTS(NULL, NULL)
