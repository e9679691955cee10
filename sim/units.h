/*
 * units.h - the one place where numbers with units are read and printed.
 *
 * Reading is exact decimal arithmetic: "2.1 ms" is 2 100 000 000 ps, "25 MiB" is 26 214 400 bytes
 * and "25 MB" is 25 000 000. A number without its unit is refused, except a zero; a negative number
 * always. A value that does not come out whole is rounded to nearest (half up; a count must come
 * out whole); one beyond the range is refused. Digits may be grouped: 40_000_000. Exponents are
 * read: 40e6, 1e-3 s.
 *
 *     time       ps ns us (also written with a micro sign) ms s min h     ovl_time, picoseconds
 *     bytes      B kB KB MB GB TB PB (1000s), KiB MiB GiB TiB PiB (1024s) uint64_t
 *     rate       bytes per time: 450 GB/s, 16 MiB/ms; bits per time:      uint64_t bytes per second
 *                400 Gb/s, 400 Gbit/s
 *     flops      FLOP kFLOP MFLOP GFLOP TFLOP PFLOP EFLOP                 double, FLOPs
 *     flop rate  FLOP/s .. EFLOP/s (also written FLOPS .. EFLOPS)         double, FLOP/s
 *     ratio      1.25, 29/25, 85 %                                        double
 *     count      16, 40_000_000, 40e6                                     int64_t
 *
 * Printing: a time is shown in the unit that keeps 1 <= value < 1000 with up to 6 significant
 * digits ("211.25 ms", "4.2 us"; zero is "0 s"); times of one table or equation share a unit so
 * that they visibly add up.
 */
#ifndef OVL_SIM_UNITS_H
#define OVL_SIM_UNITS_H

#include "sim/arena.h"

/* Each reader gives NULL and sets *out, or gives a sentence saying what is wrong and leaves *out
 * alone. The sentence is static text that names the expected form, to be said of the value: `"7": a
 * duration needs a unit, such as "7 ms"`. Leading and trailing blanks are accepted. */
const char *ovl_read_time(const char *text, ovl_time *out);
const char *ovl_read_bytes(const char *text, uint64_t *out);
const char *ovl_read_rate(const char *text, uint64_t *out);
const char *ovl_read_flops(const char *text, double *out);
const char *ovl_read_flop_rate(const char *text, double *out);
const char *ovl_read_ratio(const char *text, double *out);
const char *ovl_read_count(const char *text, int64_t *out);

typedef enum ovl_time_unit {
    OVL_UNIT_PS,
    OVL_UNIT_NS,
    OVL_UNIT_US,
    OVL_UNIT_MS,
    OVL_UNIT_S,
} ovl_time_unit;

/* The unit in which a time of this size reads best; the sign does not matter. */
ovl_time_unit ovl_time_unit_for(ovl_time t);
const char *ovl_time_unit_name(ovl_time_unit unit);

/* Longest text any printer below writes, with its NUL. */
#define OVL_UNITS_TEXT 48

/* "211.25 ms": own unit, up to 6 significant digits, trailing zeros dropped. Gives buf. */
const char *ovl_print_time(char buf[OVL_UNITS_TEXT], ovl_time t);

/* "211.25": the number alone in the given unit with at most `decimals` decimals (rounded half away
 * from zero), trailing zeros dropped. Gives buf. */
const char *ovl_print_time_in(char buf[OVL_UNITS_TEXT], ovl_time t, ovl_time_unit unit,
                              int decimals);

/* "0.211250000000": seconds with exactly 12 decimals, as JSON carries them. Gives buf. */
const char *ovl_print_seconds(char buf[OVL_UNITS_TEXT], ovl_time t);

/* "96 MiB", "27.52 MiB", "2052000 B" is shown as "1.957 MiB": binary units, up to 4 significant
 * digits. Gives buf. */
const char *ovl_print_bytes(char buf[OVL_UNITS_TEXT], uint64_t bytes);

/* The same with no fewer decimals than `other` has, if both have one unit: "24.60 GiB" beside
 * "24.62 GiB". Gives buf. */
const char *ovl_print_bytes_beside(char buf[OVL_UNITS_TEXT], uint64_t bytes, uint64_t other);

/* A column of sizes: the unit of the largest, and decimals for four digits of it. 9.117 GiB and 868
 * MiB are "9.117" and "0.848" GiB. */
typedef struct ovl_bytes_scale {
    int unit, decimals;
} ovl_bytes_scale;
ovl_bytes_scale ovl_bytes_scale_for(uint64_t largest);
const char *ovl_bytes_scale_unit(ovl_bytes_scale scale); /* "GiB" */

/* The number alone, with all its decimals; "0" for nothing. Gives buf. */
const char *ovl_print_bytes_in(char buf[OVL_UNITS_TEXT], uint64_t bytes, ovl_bytes_scale scale);

/* "16.78 GB/s": decimal units, 4 significant digits. Gives buf. */
const char *ovl_print_rate(char buf[OVL_UNITS_TEXT], double bytes_per_second);

/* "1 rank", "3 ranks", "2 microbatches", "0 classes". */
const char *ovl_counted(ovl_arena *arena, uint64_t n, const char *what);

#endif
