/* Dates in text, and what they become. */
#include "base/test_kit.h"
#include "data/dates.h"
#include "data/schema_parts.h"

TEST(dates_are_days_since_1970)
{
    /* Days by date(1): date -ud DATE +%s divided by 86400. */
    static const struct {
        const char *text;
        double days;
    } known[] = {
        {"1970-01-01", 0},
        {"1969-12-31", -1},
        {"2024-05-01", 19844},
        {"2024/5/1", 19844},
        {"2000-02-29", 11016},
        {"1900-03-01", -25508},
        {"0001-01-01", -719162},
        {"9999-12-31", 2932896},
        {"2024-05-01 06:00", 19844.25},
        {"2024-05-01T6:00", 19844.25},
        {"2024-05-01T18:00:00.000", 19844.75},
        {"2024-05-01T12:00:00Z", 19844.5},
        {"2024-05-01T12:00:00+02:00", 19844.5 - 2.0 / 24},
        {"2024-05-01T12:00:00-0530", 19844.5 + 5.5 / 24},
        {"2024-05-01T12:00+02", 19844.5 - 2.0 / 24},
        {"2024-05-01 24:00", 19845},
        {"2024-05-01 00:00:01.5", 19844 + 1.5 / 86400},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        double days = (double)NAN;
        if (!sn_date_read(known[i].text, strlen(known[i].text), &days))
            fail_msg("no date: %s", known[i].text);
        if (fabs(days - known[i].days) > 1e-9) fail_msg("%s is %.9f", known[i].text, days);
    }
}

TEST(printed_dates_are_read_back)
{
    char text[SN_DATE_SIZE];
    double back;
    for (double days = -719162; days < 2932897; days += 36.5 + 1.0 / 7) {
        assert_true(sn_date_print(days, text));
        assert_true(sn_date_read(text, strlen(text), &back));
        if (fabs(back - days) > 1e-8) fail_msg("%.9f becomes %s and then %.9f", days, text, back);
    }
    assert_true(sn_date_print(19844, text));
    assert_string_equal(text, "2024-05-01");
    assert_true(sn_date_print(-0.25, text));
    assert_string_equal(text, "1969-12-31T18:00:00.000");
    assert_false(sn_date_print(-719163, text));
    assert_false(sn_date_print(2932897, text));
    assert_false(sn_date_print((double)NAN, text));
}

TEST(other_texts_are_no_dates)
{
    static const char *const texts[] = {"",           "2024",       "2024-05",    "20240501",   "01.05.2024",
                                        "5/1/2024",   "2023-02-29", "1900-02-29", "2024-13-01", "2024-00-10",
                                        "2024-01-32", "2024-1-0",   "2024-05/01", "0000-01-01", "197",
                                        "1970.01.01", "1970-x-01",  "1970-01-x",  "1970-1-1x"};
    static const char *const behind[] = {
        " 25:00",     " 12:60",      " 12",          "T12:00:",   " 12:00:00.", " 24:01",
        " 12:00 PM",  " 12:00+",     "T1",           "T1:",       "T1:2",       "Tx",
        "T1:10:61",   "T1:10:1",     "T1:10:10.x",   "T1:10:10x", "T1:10+2",    "T1:10+15",
        "T1:10+02:6", "T1:10+02:60", "T1:10+02:00x", "T1:10Zx"};
    double days;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (sn_date_read(texts[i], strlen(texts[i]), &days)) fail_msg("a date: '%s' (%f)", texts[i], days);
    for (size_t i = 0; i < sizeof behind / sizeof *behind; i++) {
        char text[32];
        snprintf(text, sizeof text, "1970-01-01%s", behind[i]);
        if (sn_date_read(text, strlen(text), &days)) fail_msg("a date: '%s' (%f)", text, days);
    }
    assert_true(sn_date_read("2024-05-01junk", 10, &days)); /* the length says where it ends */
}

TEST(the_year_comes_round)
{
    double winter[2], later[2], summer[2];
    sn_season(19723, winter); /* 2024-01-01 */
    sn_season(19723 + 4 * 365.2425, later);
    sn_season(19723 + 365.2425 / 2, summer);
    for (int k = 0; k < 2; k++) {
        assert_true(fabs(winter[k] - later[k]) < 1e-9);
        assert_true(fabs(winter[k] + summer[k]) < 1e-9);
    }
    assert_true(fabs(winter[0] * winter[0] + winter[1] * winter[1] - 1) < 1e-12);
    sn_season((double)NAN, winter);
    assert_true(isnan(winter[0]) && isnan(winter[1]));
}

RUN_TESTS(NULL, NULL)
