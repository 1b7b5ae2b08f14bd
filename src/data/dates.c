#include "data/dates.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>

#include "data/schema_parts.h"

typedef struct cursor {
    const char *at, *end;
} cursor;

/* A whole number of `least` to `most` digits. */
static bool read_digits(cursor *c, int least, int most, int *value)
{
    int count = 0;
    *value = 0;
    for (; count < most && c->at < c->end && *c->at >= '0' && *c->at <= '9'; count++, c->at++)
        *value = 10 * *value + (*c->at - '0');
    return count >= least;
}

static bool take(cursor *c, char wanted)
{
    if (c->at >= c->end || *c->at != wanted) return false;
    c->at++;
    return true;
}

/* Days from 1970-01-01 in the Gregorian calendar. Years are counted from March on, so that the leap day is
   their last, and the lengths of the months before it go in fives of 153 days. month: from 1 to 14. */
static int64_t days_of(int64_t year, int64_t month, int64_t day)
{
    if (month < 3) {
        year--;
        month += 12;
    }
    return 365 * year + year / 4 - year / 100 + year / 400 + (153 * month - 457) / 5 + day - 719469;
}

static int days_in_month(int year, int month)
{
    return (int)(days_of(year, month + 1, 1) - days_of(year, month, 1));
}

/* The part of a second behind the point, at least one digit of it. */
static bool read_fraction(cursor *c, double *seconds)
{
    double unit = 0.1;
    const char *from = c->at;
    for (; c->at < c->end && *c->at >= '0' && *c->at <= '9'; c->at++, unit /= 10)
        *seconds += unit * (*c->at - '0');
    return c->at > from;
}

/* "14:30", "14:30:15", "14:30:15.25" in seconds. */
static bool read_time(cursor *c, double *seconds)
{
    int hour, minute, second = 0;
    if (!read_digits(c, 1, 2, &hour) || !take(c, ':') || !read_digits(c, 2, 2, &minute)) return false;
    if (hour > 24 || minute > 59) return false;
    *seconds = 0;
    if (take(c, ':')) {
        if (!read_digits(c, 2, 2, &second) || second > 60) return false;
        if (take(c, '.') && !read_fraction(c, seconds)) return false;
    }
    *seconds += 3600.0 * hour + 60.0 * minute + second;
    return *seconds <= 86400.0;
}

/* "Z", "+02", "+02:00", "-0530" in seconds; nothing: 0. */
static bool read_zone(cursor *c, double *seconds)
{
    *seconds = 0;
    if (c->at == c->end || take(c, 'Z')) return true;
    const int sign = take(c, '-') ? -1 : take(c, '+') ? 1 : 0;
    int hour, minute = 0;
    if (sign == 0 || !read_digits(c, 2, 2, &hour) || hour > 14) return false;
    take(c, ':');
    if (c->at < c->end && (!read_digits(c, 2, 2, &minute) || minute > 59)) return false;
    *seconds = sign * (3600.0 * hour + 60.0 * minute);
    return true;
}

bool sn_date_read(const char *text, size_t length, double *days)
{
    cursor c = {.at = text, .end = text + length};
    int year, month, day;
    double time = 0, zone = 0;
    if (!read_digits(&c, 4, 4, &year)) return false;
    const char mark = take(&c, '-') ? '-' : take(&c, '/') ? '/' : '\0';
    if (mark == '\0' || !read_digits(&c, 1, 2, &month) || !take(&c, mark) || !read_digits(&c, 1, 2, &day))
        return false;
    if (year < 1 || month < 1 || month > 12 || day < 1 || day > days_in_month(year, month)) return false;
    if (c.at < c.end) {
        if (!take(&c, 'T') && !take(&c, ' ')) return false;
        if (!read_time(&c, &time) || !read_zone(&c, &zone)) return false;
    }
    if (c.at != c.end) return false;
    *days = (double)days_of(year, month, day) + (time - zone) / 86400.0;
    return true;
}

bool sn_date_print(double days, char text[SN_DATE_SIZE])
{
    const int64_t day_ms = 86400000;
    if (!(days >= (double)days_of(1, 1, 1) && days < (double)days_of(10000, 1, 1))) return false;
    const int64_t all_ms = llround(days * (double)day_ms);
    int64_t day = all_ms / day_ms - (all_ms % day_ms < 0);
    const int ms = (int)(all_ms - day * day_ms);
    int year = 1970 + (int)floor((double)day / 365.2425), month = 1;
    while (days_of(year, 1, 1) > day) year--; /* the guess may be a year off, around the new year */
    while (days_of(year + 1, 1, 1) <= day) year++;
    if (year > 9999) return false;
    day -= days_of(year, 1, 1);
    while (day >= days_in_month(year, month)) day -= days_in_month(year, month++);
    char *at = text + snprintf(text, SN_DATE_SIZE, "%04d-%02d-%02d", year % 10000, month % 100, (int)day + 1);
    if (ms > 0)
        snprintf(at, (size_t)(text + SN_DATE_SIZE - at), "T%02d:%02d:%02d.%03d", ms / 3600000 % 24,
                 ms / 60000 % 60, ms / 1000 % 60, ms % 1000);
    return true;
}

void sn_season(double days, double part[2])
{
    const double year = 365.2425, turn = 2 * acos(-1.0);
    const double phase = turn * (days / year - floor(days / year));
    part[0] = sin(phase);
    part[1] = cos(phase);
}
