/* Figures: well-formed text, every finite point drawn, nothing that is not finite. */

#include "base/test_kit.h"
#include "cli/show.c"
#include "cli/svg.c" /* programs are not libraries: the files themselves are under test */
#include "cli/svg_bars.c"
#include "cli/svg_parts.c"

static int count_of(const char *text, const char *part)
{
    int count = 0;
    for (const char *at = text; (at = strstr(at, part)) != NULL; at++) count++;
    return count;
}

static char *render_one(svg_kind kind, const svg_series *series, size_t n_series)
{
    svg_panel panel = {.kind = kind, .x_label = "x", .y_label = "y", .series = series, .n_series = n_series};
    svg_figure figure = {.title = "a < b & c", .panels = &panel, .n_panels = 1, .columns = 1};
    char *text = svg_render(&figure);
    assert_non_null(text);
    assert_int_equal(strncmp(text, "<svg ", 5), 0);
    assert_string_equal(text + strlen(text) - 7, "</svg>\n");
    assert_null(strstr(text, "nan"));
    assert_null(strstr(text, "inf"));
    assert_int_equal(count_of(text, "<g"), count_of(text, "</g>"));
    assert_int_equal(count_of(text, "<text"), count_of(text, "</text>"));
    return text;
}

TEST(points_are_drawn)
{
    const double x[] = {0, 1, 2, NAN};
    const double y[] = {5, INFINITY, -3, 1};
    svg_series series[] = {{"first", 4, x, y, NULL, false}, {NULL, 2, x, x, NULL, false}};
    SN_BLOCK char *text = render_one(SVG_SCATTER, series, 2);
    assert_int_equal(count_of(text, "<circle class=\"s0\""), 2);
    assert_int_equal(count_of(text, "<circle class=\"s1\""), 2);
    assert_non_null(strstr(text, ">first<"));
    assert_non_null(strstr(text, "a &lt; b &amp; c"));
}

/* XML has no control characters, and no bytes that are no UTF-8. */
TEST(names_cannot_break_the_file)
{
    const double x[] = {0, 1};
    svg_series series[] = {{"a\x01\x1b[1m\xff\xef\xbf\xbf\xed\xa0\x80 \xc3\xa9", 2, x, x, NULL, false}};
    SN_BLOCK char *text = render_one(SVG_SCATTER, series, 1);
    assert_non_null(strstr(text, ">a\\x01\\x1b[1m\\xff\\xef\\xbf\\xbf\\xed\\xa0\\x80 \xc3\xa9<"));
    for (const char *at = text; *at != '\0'; at++) assert_true(*at == '\n' || (unsigned char)*at >= 0x20);
}

TEST(lines_have_error_bars)
{
    const double x[] = {1, 2, 5};
    const double y[] = {0.1, 0.2, 0.3};
    const double error[] = {0.01, NAN, 0.02};
    svg_series series[] = {{"a", 3, x, y, error, false}};
    SN_BLOCK char *text = render_one(SVG_LINE, series, 1);
    assert_int_equal(count_of(text, "stroke-width=\"1.2\""), 1);
    assert_int_equal(count_of(text, "<circle"), 3 + 1); /* the points and the legend */
}

/* Ticks at the points, named by the numbers whose logarithms they are. */
TEST(logarithms_are_named_by_their_numbers)
{
    const double x[] = {0, log10(49), log10(392)}, y[] = {1, 2, 3};
    svg_series series[] = {{NULL, 3, x, y, NULL, false}};
    svg_panel panel = {
        .kind = SVG_LINE, .x_label = "x", .y_label = "y", .x_log10 = true, .series = series, .n_series = 1};
    svg_figure figure = {.panels = &panel, .n_panels = 1, .columns = 1};
    SN_BLOCK char *text = svg_render(&figure);
    assert_non_null(text);
    assert_non_null(strstr(text, ">49<"));
    assert_non_null(strstr(text, ">392<"));
    assert_null(strstr(text, ">0.5<"));
}

/* Open markers share the style of the series before them, and a long legend takes several lines. */
TEST(open_markers_and_long_legends)
{
    const double x[] = {1, 2};
    const double y[] = {3, 4};
    enum { MANY = 18 };
    svg_series series[MANY];
    for (size_t s = 0; s < MANY; s++)
        series[s] = (svg_series){
            .label = s % 2 == 0 ? "a rather long name" : NULL, .n = 2, .x = x, .y = y, .open = s % 2 == 1};
    SN_BLOCK char *text = render_one(SVG_LINE, series, MANY);
    assert_int_equal(count_of(text, "<g fill=\"none\""), MANY / 2);
    assert_int_equal(count_of(text, "stroke-linejoin"), MANY / 2);
    svg_panel panel = {.series = series, .n_series = MANY};
    assert_int_equal(style_of(&panel, 4), 2);
    assert_int_equal(style_of(&panel, 5), 2);
    assert_true(marker_of(0) != marker_of(PALETTE_SIZE));
    assert_non_null(strstr(text, "x=\"99.0\" y=\"98.0\"")); /* the second line of the legend */
}

TEST(odd_ranges_are_drawn)
{
    const double same[] = {7, 7};
    const double tiny[] = {1e-300, 2e-300};
    const double huge[] = {-1e300, 1e300};
    svg_series none[] = {{"nothing", 0, same, same, NULL, false}};
    svg_series flat[] = {{"flat", 2, same, same, NULL, false}};
    svg_series wide[] = {{"wide", 2, tiny, huge, NULL, false}};
    free(render_one(SVG_SCATTER, NULL, 0));
    free(render_one(SVG_SCATTER, none, 1));
    free(render_one(SVG_LINE, flat, 1));
    free(render_one(SVG_SCATTER, wide, 1));
}

TEST(ticks_are_round)
{
    assert_true(fabs(nice_step(6) - 1) < 1e-12);
    assert_true(fabs(nice_step(9) - 2) < 1e-12);
    assert_true(fabs(nice_step(0.14) - 0.025) < 1e-12);
    assert_true(fabs(nice_step(3000) - 500) < 1e-9);
}

/* A bar for each name, markup as text, long names cut between characters. */
TEST(bars_have_names)
{
    const svg_bar bars[] = {{"<b>&", 2.0, 0.5},
                            {"a name of more than twenty-four characters", -1.0, 0.0},
                            {"\xc3\xa4\xc3\xa4", NAN, 0.1}};
    SN_BLOCK char *text = svg_render_bars("t<", "importance", bars, 3);
    assert_non_null(text);
    assert_int_equal(count_of(text, "<rect "), 4);
    assert_non_null(strstr(text, "&lt;b&gt;&amp;"));
    assert_non_null(strstr(text, "a name of more than twen\xe2\x80\xa6<"));
    assert_null(strstr(text, "nan"));
    free(svg_render_bars("", "", NULL, 0));
}

RUN_TESTS(NULL, NULL)
