/* stonet report: what is in the page, names that would be markup, and the page in a browser (Debian's
   chromium, where it is installed). */
#include "cli/test_support.h"

/* Names and labels as an enemy would choose them. */
#define HOSTILE_LABEL "</script><script>window.hostile=1</script><!-- \xe2\x80\xa8 & \"'"
#define HOSTILE_NAME  "<img src=x onerror=window.hostile=1>"

enum { LONG_NAME = 10000, ROWS = 300 };

static char page[4 << 20];

/* "text" as a CSV field. */
static void put_field(FILE *file, const char *text)
{
    fputc('"', file);
    for (; *text != '\0'; text++) {
        if (*text == '"') fputc('"', file);
        fputc(*text, file);
    }
    fputc('"', file);
}

static void write_hostile(const char *path)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    uint32_t seed = 5;
    put_field(file, HOSTILE_NAME);
    fputc(',', file);
    for (int i = 0; i < LONG_NAME; i++) fputc("<b>"[i % 3], file);
    fputs(",c,word,label\n", file);
    for (int i = 0; i < ROWS; i++) {
        const double a = next_number(&seed), b = next_number(&seed);
        fprintf(file, "%g,%g,%g,", a, b, next_number(&seed));
        put_field(file, i % 3 == 0 ? "<i>\"x\"</i>" : "plain");
        fputc(',', file);
        put_field(file, a + 0.3 * b > 0 ? HOSTILE_LABEL : "other");
        fputc('\n', file);
    }
    fclose(file);
}

static int set_up(void **state)
{
    if (enter_test_folder(state) != 0) return -1;
    write_hostile("hostile.csv");
    write_table("full.csv", ROWS, 3);
    SH("cut -d, -f1-4 full.csv > t.csv; stonet fit t.csv --target y --dim 2 --method sir --quiet --out m");
    SH("stonet order t.csv --target y --method sir --json --quiet > order.json");
    SH("stonet fit hostile.csv --target label --dim 1 --set epochs=5 --set hidden=4 --quiet --out h");
    return 0;
}

/* The JSON of a page. */
static json_t *content_of(const char *path)
{
    static const char OPENING[] = "<script type=\"application/json\" id=\"report\">";
    read_whole(path, page, sizeof page);
    char *start = strstr(page, OPENING);
    assert_non_null(start);
    start += strlen(OPENING);
    char *end = strstr(start, "</script>");
    assert_non_null(end);
    json_error_t error;
    json_t *content = json_loadb(start, (size_t)(end - start), 0, &error);
    if (content == NULL) fail_msg("%s", error.text);
    return content;
}

TEST(numbers_are_all_there)
{
    SH("stonet report m t.csv --target y --order order.json --quiet --out r.html");
    SN_AUTO(json_t) *content = content_of("r.html");
    const json_t *points = json_object_get(content, "points");
    assert_string_equal(json_string_value(json_object_get(content, "task")), "regression");
    assert_int_equal(json_integer_value(json_object_get(content, "rows")), ROWS);
    assert_int_equal(json_array_size(json_object_get(points, "z")), 2);
    assert_int_equal(json_array_size(json_array_get(json_object_get(points, "predicted"), 0)), ROWS);
    assert_int_equal(json_array_size(json_object_get(points, "x")), 3);
    static const char *const PARTS[] = {"about", "scores",     "calibration", "histogram",
                                        "coef",  "importance", "order",       "version"};
    for (size_t k = 0; k < sizeof PARTS / sizeof *PARTS; k++)
        if (json_object_get(content, PARTS[k]) == NULL) fail_msg("%s is missing", PARTS[k]);
    int64_t rows = 0;
    size_t i;
    json_t *bin;
    json_array_foreach(json_object_get(content, "calibration"), i, bin) rows +=
        json_integer_value(json_object_get(bin, "n"));
    assert_int_equal(rows, ROWS);
    assert_null(strstr(page, " src=\""));
    assert_null(strstr(page, "<link"));
    assert_non_null(strstr(page, "Redistributions in binary form")); /* d3's licence */
}

/* A calibrated model has an interval beside every prediction. */
TEST(intervals_are_shown)
{
    SH("stonet calibrate m t.csv --target y --folds 3 --quiet --out c && stonet report c t.csv --target y "
       "--importance none --points 50 --quiet --out r.html");
    SN_AUTO(json_t) *content = content_of("r.html");
    const json_t *points = json_object_get(content, "points");
    for (size_t i = 0; i < 50; i++) {
        const json_t *low = json_array_get(json_array_get(json_object_get(points, "low"), 0), i);
        const json_t *high = json_array_get(json_array_get(json_object_get(points, "high"), 0), i);
        const json_t *middle = json_array_get(json_array_get(json_object_get(points, "predicted"), 0), i);
        assert_true(json_number_value(low) < json_number_value(middle));
        assert_true(json_number_value(high) > json_number_value(middle));
    }
}

/* Few points of many rows, and the tables of all of them; the same seed, the same page. */
TEST(many_rows_are_sampled)
{
    SH("stonet report h hostile.csv --target label --points 40 --importance none --quiet --out r.html");
    SH("stonet report h hostile.csv --target label --points 40 --importance none --quiet --threads 1 --out "
       "s.html; "
       "cmp r.html s.html");
    SN_AUTO(json_t) *content = content_of("r.html");
    assert_int_equal(json_integer_value(json_object_get(content, "shown")), 40);
    assert_int_equal(json_array_size(json_object_get(json_object_get(content, "points"), "row")), 40);
    int64_t rows = 0;
    for (size_t a = 0; a < 2; a++)
        for (size_t b = 0; b < 2; b++)
            rows += json_integer_value(
                json_array_get(json_array_get(json_object_get(content, "confusion"), a), b));
    assert_int_equal(rows, ROWS);
    assert_null(json_object_get(content, "importance"));
    assert_non_null(json_object_get(content, "history"));
    const json_t *fitted = json_object_get(json_object_get(content, "about"), "fitted");
    assert_true(json_array_size(json_object_get(fitted, "choice")) >= 3);
}

TEST(hostile_names_stay_text)
{
    SH("stonet report h hostile.csv --target label --quiet --out r.html");
    SN_AUTO(json_t) *content = content_of("r.html");
    const json_t *classes = json_object_get(content, "classes");
    bool found = false;
    for (size_t k = 0; k < json_array_size(classes); k++)
        found = found || strcmp(json_string_value(json_array_get(classes, k)), HOSTILE_LABEL) == 0;
    assert_true(found);
    assert_null(strstr(page, "window.hostile=1</script>"));
    assert_null(strstr(page, "<img"));
    assert_null(strstr(page, "<b><b>"));
    assert_null(strstr(page, "\xe2\x80\xa8"));
    assert_non_null(strstr(page, "\\u003cimg src=x"));
}

TEST(mistakes_are_said)
{
    sh_refused("stonet report m t.csv --target y", 2, "give --out");
    assert_int_equal(sh("stonet report m t.csv --target y --target-file t.csv --out r2.html"), 2);
    assert_int_equal(sh("stonet report m t.csv --target y --importance magic --out r2.html"), 2);
    SH("echo '[1]' > wrong.json");
    sh_refused("stonet report m t.csv --target y --order wrong.json --out r2.html", 1,
               "'stonet order --json'");
    assert_int_equal(sh("test -e r2.html"), 1);
}

/* ---- in a browser ------------------------------------------------------------------------------ */

/* Contrast by WCAG 2 of every mark in an SVG with the card under it; labels of an axis that overprint each
 * other. */
static const char MEASURES[] =
    "<script>const light=(c)=>{const v=c.match(/[\\d.]+/g).slice(0,3).map((x)=>x/255)"
    ".map((x)=>x<=.03928?x/12.92:((x+.055)/1.055)**2.4);return .2126*v[0]+.7152*v[1]+.0722*v[2];};"
    "const everyContrast=(least)=>{const "
    "card=light(getComputedStyle(document.querySelector('section')).backgroundColor);"
    "return Array.from(document.querySelectorAll('section svg :is(path,rect,line,circle,text):not(.brush "
    "*)')).every((n)=>{"
    "const s=getComputedStyle(n),c=/rgb/.test(s.fill)&&!/, "
    "0\\)/.test(s.fill)?s.fill:s.stroke;if(!/rgb/.test(c))return true;"
    "const a=light(c),l=Math.max(a,card),d=Math.min(a,card);return (l+.05)/(d+.05)>=least;});};"
    "const noneMeet=(node)=>Array.from(node.querySelectorAll('.axis')).every((axis)=>{"
    "const b=Array.from(axis.querySelectorAll('text'),(t)=>t.getBoundingClientRect());"
    "return "
    "b.every((p,i)=>b.every((q,j)=>i>=j||p.right<=q.left||q.right<=p.left||p.bottom<=q.top||q.bottom<=p.top))"
    ";});"
    "</script>";

/* Uses the page as somebody would, with and without a mouse, and writes down what came of it. */
static const char ACTIONS[] =
    "<script>(function(){const r={},plot=document.getElementById('z-plot');"
    "const key=(name)=>plot.dispatchEvent(new KeyboardEvent('keydown',{key:name,bubbles:true}));"
    "const tip=plot.querySelector('.tip');plot.focus();key('ArrowRight');"
    "r.keyboard=!tip.hidden&&tip.textContent.startsWith('row ');key('Escape');r.escape=tip.hidden;"
    "const box=plot.getBoundingClientRect(),at=(type,x,y,to)=>to.dispatchEvent(new MouseEvent(type,"
    "{clientX:box.left+x,clientY:box.top+y,bubbles:true,cancelable:true,view:window}));"
    "const ring=plot.querySelector('circle[r=\"6\"]');key('End');"
    "at('mousemove',+ring.getAttribute('cx'),+ring.getAttribute('cy'),plot);r.hover=!tip.hidden;"
    "const over=plot.querySelector('.overlay');at('mousedown',70,15,over);at('mousemove',400,300,window);"
    "at('mouseup',400,300,window);const chosen=document.getElementById('selected');"
    "r.brush=!!chosen&&/rows? selected/.test(chosen.textContent);"
    /* d3 swallows clicks until the handlers of a drag are done. */
    "setTimeout(()=>{"
    "const fields=document.querySelectorAll('.controls "
    "input');fields[0].value='-1000';fields[1].value='1000';"
    "const "
    "press=(text)=>Array.from(document.querySelectorAll('button')).find((b)=>b.textContent===text).click();"
    "press('select');r.fields=document.getElementById('selected').textContent.startsWith('300 rows');"
    "let saved=null;URL.createObjectURL=(blob)=>{saved=blob.size;return '#';};press('save as "
    "CSV');r.csv=saved>300*8;"
    "const ticks=()=>Array.from(plot.querySelectorAll('.axis text'),(t)=>t.textContent).join();"
    "fields[0].value='-0.1';fields[1].value='0.1';press('select');const whole=ticks();press('zoom in');"
    "r.zoom=ticks()!==whole;press('show all');r.whole=ticks()===whole;"
    /* A class is hidden and shown by its entry in the legend; numbers have a ramp instead. */
    "const entry=()=>document.querySelector('.legend "
    "button'),at_start=plot.querySelector('canvas').toDataURL();"
    "r.legend=true;if(entry()){entry().click();r.legend=entry().getAttribute('aria-pressed')==='false'&&"
    "plot.querySelector('canvas').toDataURL()!==at_start;entry().click();"
    "r.legend=r.legend&&plot.querySelector('canvas').toDataURL()===at_start;}"
    "r.title=/^[mh]: .* from 3 variables|^h: .* from 4 variables/.test(document.title);"
    "r.scopes=!document.querySelector('th:not([scope])');r.contrast=everyContrast(3);"
    "r.labels=noneMeet(plot);"
    "const axis=document.querySelector('.controls select');axis.value='1';"
    "axis.dispatchEvent(new Event('change'));r.axes=!document.getElementById('selected');"
    "r.sections=document.querySelectorAll('section').length;r.images=document.images.length;"
    "r.wide=document.documentElement.scrollWidth<=window.innerWidth;"
    "r.hostile=window.hostile!==undefined;r.ready=document.documentElement.dataset.ready==='yes';"
    "document.documentElement.dataset.result=JSON.stringify(r);},0);})()</script></body>";

/* Opens the page with the actions at its end; their results. */
static json_t *browse(const char *path, int width, bool dark)
{
    read_whole(path, page, sizeof page);
    char *end = strstr(page, "</body>");
    assert_non_null(end);
    *end = '\0';
    FILE *file = fopen("acted.html", "w");
    assert_non_null(file);
    fprintf(file, "%s%s%s</html>", page, MEASURES, ACTIONS);
    fclose(file);
    SH("chromium --headless --no-sandbox --disable-gpu --user-data-dir=\"$PWD/profile\" --window-size=%d,900 "
       "--blink-settings=preferredColorScheme=%d "
       "--enable-logging=stderr --virtual-time-budget=5000 --dump-dom \"file://$PWD/acted.html\" > dom.html; "
       "grep -o 'data-result=\"[^\"]*' dom.html | sed 's/data-result=\"//; s/&quot;/\"/g'",
       width, dark ? 0 : 1);
    if (strstr(captured_err, ":CONSOLE") != NULL) fail_msg("the page complains: %s", captured_err);
    return captured_json();
}

static void check_page(const char *path, int width, bool dark, int64_t sections)
{
    SN_AUTO(json_t) *result = browse(path, width, dark);
    static const char *const WANTED[] = {"ready", "keyboard", "escape", "hover",   "brush", "fields",
                                         "axes",  "wide",     "csv",    "zoom",    "whole", "legend",
                                         "title", "scopes",   "labels", "contrast"};
    for (size_t k = 0; k < sizeof WANTED / sizeof *WANTED; k++)
        if (!json_is_true(json_object_get(result, WANTED[k])))
            fail_msg("%s at %d: %s does not work: %s", path, width, WANTED[k], captured_out);
    assert_true(json_is_false(json_object_get(result, "hostile")));
    assert_int_equal(json_integer_value(json_object_get(result, "images")), 0);
    assert_int_equal(json_integer_value(json_object_get(result, "sections")), sections);
}

TEST(the_page_works_in_a_browser)
{
    if (sh("command -v chromium") != 0) {
        print_message("skipped: there is no chromium here\n");
        skip();
    }
    SH("stonet report m t.csv --target y --order order.json --quiet --out r.html");
    check_page("r.html", 1200, false, 8);
    check_page("r.html", 500, true, 8);
    SH("stonet report h hostile.csv --target label --quiet --out h.html");
    check_page("h.html", 1200, true, 9);
    check_page("h.html", 500, false, 9); /* no table of dimensions, but one of candidates, and the training */
}

/* Columns whose names are numbers in order are the channels of a curve; others are not. */
TEST(coefficients_of_channels_are_a_curve)
{
    if (sh("command -v chromium") != 0) {
        print_message("skipped: there is no chromium here\n");
        skip();
    }
    static const char *const NAMES[] = {"s/x\\([0-9]*\\)/\\1/g", "s/x//2"};
    for (int k = 0; k < 2; k++) {
        SH("stonet generate friedman:12 --rows 60 --out all.csv; sed '1%s' all.csv > c.csv; stonet fit c.csv --target y "
           "--dim 2 --method pls --quiet --out c; stonet report c c.csv --target y --quiet --out c.html",
           NAMES[k]);
        SH("chromium --headless --no-sandbox --disable-gpu --user-data-dir=\"$PWD/profile\" --virtual-time-budget=5000 "
           "--dump-dom \"file://$PWD/c.html\" | grep -oE '(coefficient|value) against channel' | sort -u | wc -l");
        assert_int_equal(atoi(captured_out), k == 0 ? 2 : 0);
    }
}

RUN_TESTS(set_up, leave_test_folder)
