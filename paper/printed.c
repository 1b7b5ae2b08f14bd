/* The numbers printed in the paper: means, with their spread where it has one. */
#include "paper/paper.h"

#define TABLE1 "stonet lsmie gsir gsave kdr sir save pca"
#define TABLE2 "stonet gsir gsave autoencoder pca none"
#define TABLE3 "stonet autoencoder pca"
#define PUBLIC "benn gmddnet stonet gsir"

/* The paper splits the CT slices by rows and scales their response to 0..1. The numbers of sufficiency are
   those of Tang and Li's repository, over 100 data sets. */
static const struct {
    const char *experiment, *measure, *row;
    int64_t q;
    const char *methods, *numbers;
} numbers[] = {
    {"table1", "error", "thyroid", 1, TABLE1,
     ".0687/.0068 .2860/.0109 .0640/.0063 .0913/.0102 .2847/.0110 .1373/.0117 .3000/.0110 .3013/.0110"},
    {"table1", "error", "thyroid", 2, TABLE1,
     ".0693/.0068 .1733/.0113 .0667/.0071 .0947/.0103 .2713/.0128 .1373/.0130 .3000/.0118 .1467/.0143"},
    {"table1", "error", "breast-cancer", 2, TABLE1,
     ".2578/.0074 .2812/.0110 .2772/.0091 .2740/.0069 .2714/.0102 .2818/.0125 .2870/.0075 .2857/.0129"},
    {"table1", "error", "breast-cancer", 4, TABLE1,
     ".2682/.0113 .2760/.0118 .2740/.0100 .2805/.0076 .2740/.0105 .2831/.0110 .2922/.0147 .2766/.0097"},
    {"table1", "error", "flare-solar", 2, TABLE1,
     ".3236/.0040 .3770/.0177 .3305/.0034 .3308/.0033 .4161/.0138 .3312/.0052 .4860/.0127 .3313/.0046"},
    {"table1", "error", "flare-solar", 4, TABLE1,
     ".3239/.0043 .3346/.0043 .3400/.0040 .3336/.0038 .3673/.0108 .3328/.0049 .4302/.0133 .3612/.0036"},
    {"table1", "error", "heart", 3, TABLE1,
     ".1625/.0076 .1725/.0073 .1645/.0069 .1731/.0060 .1870/.0064 .1720/.0088 .1910/.0053 .1920/.0123"},
    {"table1", "error", "heart", 6, TABLE1,
     ".1625/.0062 .1695/.0073 .1650/.0068 .1754/.0063 .1715/.0075 .1770/.0100 .1720/.0073 .1830/.0102"},
    {"table1", "error", "german", 5, TABLE1,
     ".2368/.0050 .2500/.0052 .2325/.0058 .2323/.0050 .2430/.0050 .2367/.0068 .2703/.0072 .2777/.0070"},
    {"table1", "error", "german", 10, TABLE1,
     ".2356/.0047 .2443/.0056 .2327/.0046 .2312/.0047 .2347/.0075 .2360/.0068 .2447/.0062 .2350/.0051"},
    {"table1", "error", "waveform", 5, TABLE1,
     ".1091/.0010 .1336/.0013 .1140/.0015 .1095/.0016 .1269/.0031 .1453/.0018 .1427/.0020 .1486/.0013"},
    {"table1", "error", "waveform", 10, TABLE1,
     ".1079/.0012 .1369/.0018 .1117/.0009 .1070/.0013 .1254/.0030 .1444/.0017 .1417/.0020 .1430/.0020"},
    {"table2", "error_dnn", "20000", 392, TABLE2, ".0456 .0596 .0535 .1965 .1002 .0459"},
    {"table2", "error_dnn", "20000", 196, TABLE2, ".0484 .0686 .0611 .2268 .0782 .0459"},
    {"table2", "error_dnn", "20000", 98, TABLE2, ".0503 .0756 .0696 .2733 .0843 .0459"},
    {"table2", "error_dnn", "20000", 49, TABLE2, ".0520 .0816 .0764 .3112 .0889 .0459"},
    {"table2", "error_dnn", "20000", 10, TABLE2, ".0825 .0872 .0901 .4036 .1644 .0459"},
    {"table3", "mse_unit", "ct-rows", 192, TABLE3, ".0002/0 .0079/.0015 .0027/0"},
    {"table3", "correlation", "ct-rows", 192, TABLE3, ".9986/.0001 .9267/.0147 .9755/.0001"},
    {"table3", "mse_unit", "ct-rows", 96, TABLE3, ".0002/0 .0106/.0024 .0026/0"},
    {"table3", "correlation", "ct-rows", 96, TABLE3, ".9985/.0001 .9002/.0237 .9756/.0001"},
    {"table3", "mse_unit", "ct-rows", 48, TABLE3, ".0002/0 .0143/.0035 .0034/0"},
    {"table3", "correlation", "ct-rows", 48, TABLE3, ".9982/.0001 .8562/.0399 .9682/.0001"},
    {"table3", "mse_unit", "ct-rows", 24, TABLE3, ".0002/0 .0185/.0033 .0042/0"},
    {"table3", "correlation", "ct-rows", 24, TABLE3, ".9980/.0001 .8168/.0364 .9612/.0001"},
    {"table3", "mse_unit", "ct-rows", 12, TABLE3, ".0002/0 .0233/.0027 .0053/0"},
    {"table3", "correlation", "ct-rows", 12, TABLE3, ".9980/.0001 .7579/.0338 .9499/.0001"},
    {"table3", "mse_unit", "ct-rows", 6, TABLE3, ".0002/0 .0304/.0024 .0102/.0001"},
    {"table3", "correlation", "ct-rows", 6, TABLE3, ".9980/.0001 .6668/.0300 .9023/.0002"},
    {"table3", "mse_unit", "ct-rows", 3, TABLE3, ".0004/0 .0384/.0030 .0209/.0001"},
    {"table3", "correlation", "ct-rows", 3, TABLE3, ".9965/.0002 .5529/.0538 .7858/.0004"},
    {"sufficiency", "distance_correlation", "location-scale", 1000, PUBLIC, ".370 .461 .379 .482"},
    {"sufficiency", "distance_correlation", "location-scale", 2000, PUBLIC, ".546 .564 .436 .522"},
    {"sufficiency", "distance_correlation", "location-scale", 4000, PUBLIC, ".689 .616 .496 .547"},
    {"sufficiency", "distance_correlation", "location-scale", 8000, PUBLIC, ".756 .643 .578 .559"},
    {"sufficiency", "distance_correlation", "scale", 1000, PUBLIC, ".282 .286 .075 .452"},
    {"sufficiency", "distance_correlation", "scale", 2000, PUBLIC, ".518 .547 .081 .517"},
    {"sufficiency", "distance_correlation", "scale", 4000, PUBLIC, ".708 .623 .080 .559"},
    {"sufficiency", "distance_correlation", "scale", 8000, PUBLIC, ".848 .721 .074 .587"},
};

/* Apart from its callers: clang's analyzer does not know that ROOM frees, and would tell of leaks. */
void *make_room(size_t count, size_t size)
{
    return calloc(count, size);
}

/* Token number k of a text with blanks between them. */
static const char *token(const char *text, size_t k)
{
    while (k-- > 0) text = strchr(text, ' ') + 1;
    return text;
}

printed printed_number(const char *name, const char *field, const char *on, int64_t q, const char *method)
{
    size_t length = strcmp(method, "stonet-paper") == 0 ? strlen("stonet") : strlen(method);
    for (size_t i = 0; i < COUNT(numbers); i++) {
        if (numbers[i].q != q || strcmp(numbers[i].row, on) != 0 || strcmp(numbers[i].measure, field) != 0 ||
            strcmp(numbers[i].experiment, name) != 0)
            continue;
        const char *at = numbers[i].methods;
        for (size_t k = 0; *at != '\0'; k++, at += *at == ' ') {
            size_t here = strcspn(at, " ");
            if (here == length && strncmp(at, method, length) == 0) {
                char *end = NULL;
                double mean = strtod(token(numbers[i].numbers, k), &end);
                return (printed){mean, *end == '/' ? strtod(end + 1, NULL) : (double)NAN};
            }
            at += here;
        }
    }
    return (printed){(double)NAN, (double)NAN};
}
