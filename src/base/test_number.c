#include "base/number.h"
#include "base/test_kit.h"
#include "math/noise.h"

static void expect(const char *text)
{
    double value = -12345;
    const char *stop = sn_number_read(text, &value);
    char *other;
    double right = strtod(text, &other);
    if (stop != other || memcmp(&value, &right, sizeof value) != 0)
        fail_msg("'%s' reads as %.17g and is %.17g", text, value, right);
}

TEST(test_known_numbers)
{
    char texts[] =
        "0 -0 1 +1 -1.5 .5 5. 1e5 1E-5 1e+05 0.1 123456789012345678 9007199254740993 9007199254740992.5 1e22 "
        "1e23 1e-27 1e27 1e28 1e-28 1e308 1e309 -1e400 1e-320 1e-400 2.2250738585072014e-308 "
        "0.00000000000000000000000000000000001 179769313486231570000000000000000000000000000000000000000000 "
        "1.00000000000000011102230246251565404 4.7009379e-01 18446744073709551615 0.3e1x 1e 1e+ 1.2.3 7,8";
    char *rest = NULL;
    for (const char *text = strtok_r(texts, " ", &rest); text != NULL; text = strtok_r(NULL, " ", &rest))
        expect(text);
}

TEST(test_no_numbers)
{
    const char *const texts[] = {"", " 1", "-", "+", ".", "-.", "e5", "inf", "nan", "NaN", "abc", "--1", ","};
    double value;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) assert_null(sn_number_read(texts[i], &value));
    /* Hex is no decimal: only its zero is read. */
    const char *hex = "0x10";
    assert_ptr_equal(sn_number_read(hex, &value), hex + 1);
}

TEST(test_random_numbers_against_strtod)
{
    sn_random random = sn_random_from(1, SN_STREAM_TEST, 0);
    for (int i = 0; i < 300000; i++) {
        char text[64];
        uint64_t bits = (uint64_t)sn_random_word(&random) << 32 | sn_random_word(&random);
        int digits = 1 + (int)sn_random_below(&random, 20);
        int exponent = (int)sn_random_below(&random, 60) - 40;
        if (i % 3 == 0) {
            double value;
            memcpy(&value, &bits, sizeof value);
            if (!isfinite(value)) continue;
            snprintf(text, sizeof text, "%.*e", digits, value);
        } else if (i % 3 == 1) {
            snprintf(text, sizeof text, "%.*f", digits, ldexp((double)(int64_t)bits, -60));
        } else {
            snprintf(text, sizeof text, "%.*llue%d", digits,
                     (unsigned long long)(bits >> sn_random_below(&random, 64)), exponent);
        }
        expect(text);
    }
}

/* Numbers half way between two doubles, and a hair off it, are where rounding goes wrong. */
TEST(test_ties)
{
    sn_random random = sn_random_from(2, SN_STREAM_TEST, 0);
    for (int i = 0; i < 20000; i++) {
        uint64_t odd = ((uint64_t)1 << 53) + (sn_random_below(&random, (uint64_t)1 << 53) | 1);
        for (int shift = 0; shift <= 5; shift++) {
            char text[64];
            snprintf(text, sizeof text, "%.*f", shift, ldexp((double)(odd >> 1), 1 - shift) + 0);
            expect(text);
            snprintf(text, sizeof text, "%llu", (unsigned long long)(odd >> shift));
            expect(text);
        }
    }
}

TEST(test_print_known)
{
    static const struct {
        double value;
        const char *text;
    } cases[] = {{0, "0"},
                 {-0.0, "0"},
                 {1, "1"},
                 {-1, "-1"},
                 {10, "10"},
                 {0.5, "0.5"},
                 {(double)0.1f, "0.1"},
                 {0.1, "0.1"},
                 {1.0 / 3, "0.3333333333333333"},
                 {(double)(1.0f / 3), "0.33333334"},
                 {100000, "100000"},
                 {123456789, "123456789"},
                 {1e9, "1e9"},
                 {1e-3, "0.001"},
                 {1e-5, "1e-5"},
                 {1e300, "1e300"},
                 {-2.5e-7, "-2.5e-7"},
                 {(double)INFINITY, "inf"},
                 {(double)-INFINITY, "-inf"},
                 {(double)NAN, "nan"},
                 {5e-324, "5e-324"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[SN_NUMBER_SIZE];
        size_t length = sn_number_print(cases[i].value, text);
        assert_int_equal(length, strlen(text));
        if (cases[i].value == 5e-324)
            assert_true(strtod(text, NULL) == 5e-324);
        else
            assert_string_equal(text, cases[i].text);
    }
}

TEST(test_print_reads_back)
{
    sn_random random = sn_random_from(3, SN_STREAM_TEST, 0);
    for (int i = 0; i < 100000; i++) {
        char text[SN_NUMBER_SIZE];
        double back = 0;
        uint32_t word = sn_random_word(&random);
        float single;
        memcpy(&single, &word, sizeof single);
        if (i % 2 == 0) single = (float)sn_random_normal(&random);
        if (isfinite(single)) {
            size_t length = sn_number_print((double)single, text);
            assert_int_equal(length, strlen(text));
            sn_number_read(text, &back);
            if ((float)back != single) fail_msg("%.9g prints as %s", (double)single, text);
            assert_true(strlen(text) <= 15);
        }
        double twice = sn_random_normal(&random) * (i % 5 == 0 ? 1e30 : 1);
        sn_number_print(twice, text);
        sn_number_read(text, &back);
        if (back != twice) fail_msg("%.17g prints as %s", twice, text);
    }
}

RUN_TESTS(NULL, NULL)
