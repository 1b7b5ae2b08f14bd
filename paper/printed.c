/* The numbers printed in the paper: means, with their spread where it has one. */
#include "paper/paper.h"

/* "EXPERIMENT MEASURE: METHODS", then "ROW Q NUMBERS", mean or mean/spread in ten-thousandths. The paper
   splits the CT slices by rows and scales their response to 0..1. The numbers of sufficiency are those of
   Tang and Li's repository, over 100 data sets. */
static const char *const numbers[] = {
    "table1 error: stonet lsmie gsir gsave kdr sir save pca",
    "thyroid 1 687/68 2860/109 640/63 913/102 2847/110 1373/117 3000/110 3013/110",
    "thyroid 2 693/68 1733/113 667/71 947/103 2713/128 1373/130 3000/118 1467/143",
    "breast-cancer 2 2578/74 2812/110 2772/91 2740/69 2714/102 2818/125 2870/75 2857/129",
    "breast-cancer 4 2682/113 2760/118 2740/100 2805/76 2740/105 2831/110 2922/147 2766/97",
    "flare-solar 2 3236/40 3770/177 3305/34 3308/33 4161/138 3312/52 4860/127 3313/46",
    "flare-solar 4 3239/43 3346/43 3400/40 3336/38 3673/108 3328/49 4302/133 3612/36",
    "heart 3 1625/76 1725/73 1645/69 1731/60 1870/64 1720/88 1910/53 1920/123",
    "heart 6 1625/62 1695/73 1650/68 1754/63 1715/75 1770/100 1720/73 1830/102",
    "german 5 2368/50 2500/52 2325/58 2323/50 2430/50 2367/68 2703/72 2777/70",
    "german 10 2356/47 2443/56 2327/46 2312/47 2347/75 2360/68 2447/62 2350/51",
    "waveform 5 1091/10 1336/13 1140/15 1095/16 1269/31 1453/18 1427/20 1486/13",
    "waveform 10 1079/12 1369/18 1117/9 1070/13 1254/30 1444/17 1417/20 1430/20",
    "table2 error_dnn: stonet gsir gsave autoencoder pca none",
    "20000 392 456 596 535 1965 1002 459",
    "20000 196 484 686 611 2268 782 459",
    "20000 98 503 756 696 2733 843 459",
    "20000 49 520 816 764 3112 889 459",
    "20000 10 825 872 901 4036 1644 459",
    "table3 mse_unit: stonet autoencoder pca",
    "ct-rows 192 2/0 79/15 27/0",
    "ct-rows 96 2/0 106/24 26/0",
    "ct-rows 48 2/0 143/35 34/0",
    "ct-rows 24 2/0 185/33 42/0",
    "ct-rows 12 2/0 233/27 53/0",
    "ct-rows 6 2/0 304/24 102/1",
    "ct-rows 3 4/0 384/30 209/1",
    "table3 correlation: stonet autoencoder pca",
    "ct-rows 192 9986/1 9267/147 9755/1",
    "ct-rows 96 9985/1 9002/237 9756/1",
    "ct-rows 48 9982/1 8562/399 9682/1",
    "ct-rows 24 9980/1 8168/364 9612/1",
    "ct-rows 12 9980/1 7579/338 9499/1",
    "ct-rows 6 9980/1 6668/300 9023/2",
    "ct-rows 3 9965/2 5529/538 7858/4",
    "sufficiency distance_correlation: benn gmddnet stonet gsir",
    "location-scale 1000 3700 4610 3790 4820",
    "location-scale 2000 5460 5640 4360 5220",
    "location-scale 4000 6890 6160 4960 5470",
    "location-scale 8000 7560 6430 5780 5590",
    "scale 1000 2820 2860 750 4520",
    "scale 2000 5180 5470 810 5170",
    "scale 4000 7080 6230 800 5590",
    "scale 8000 8480 7210 740 5870",
};

/* The number of a method, at the place that its name has among the methods: words with blanks between them.
 */
static estimate find_number(const char *methods, const char *at, const char *method)
{
    const size_t length = strcmp(method, "stonet-paper") == 0 ? strlen("stonet") : strlen(method);
    while (*methods != '\0' && *at != '\0') {
        const size_t here = strcspn(methods, " "), width = strcspn(at, " ");
        if (here == length && strncmp(methods, method, length) == 0) {
            char *end = NULL;
            double mean = strtod(at, &end) / 10000;
            return (estimate){mean, *end == '/' ? strtod(end + 1, NULL) / 10000 : (double)NAN};
        }
        methods += here + (methods[here] == ' ');
        at += width + (at[width] == ' ');
    }
    return (estimate){(double)NAN, (double)NAN};
}

estimate printed_number(const char *name, const char *field, const char *on, int64_t q, const char *method)
{
    char head[96], start[96];
    const char *methods = NULL;
    snprintf(head, sizeof head, "%s %s: ", name, field);
    snprintf(start, sizeof start, "%s %" PRId64 " ", on, q);
    for (size_t i = 0; i < COUNT(numbers); i++) {
        const char *at = numbers[i];
        if (strchr(at, ':') != NULL)
            methods = strncmp(at, head, strlen(head)) == 0 ? at + strlen(head) : NULL;
        else if (methods != NULL && strncmp(at, start, strlen(start)) == 0)
            return find_number(methods, at + strlen(start), method);
    }
    return (estimate){(double)NAN, (double)NAN};
}
