/*
 * base.h - the words every file of the project uses.
 *
 * Time is an integer count of picoseconds (`ovl_time`), so that the parts of a decomposition add up
 * to the whole exactly and the same input gives the same output on every compiler.
 * Example: 2.1 ms is 2 100 000 000; a run may last 53 days (OVL_TIME_MAX), so that the sum of two
 * times never overflows.
 *
 * Things in graphs are named by index, never by pointer; OVL_NONE says "no such thing".
 *
 * Three kinds of failure, never mixed: bad input is an error value (err.h), out of memory aborts
 * (ovl_out_of_memory: one place), a bug of ours stops at assert().
 */
#ifndef OVL_SIM_BASE_H
#define OVL_SIM_BASE_H

#include <assert.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef int64_t ovl_time; /* picoseconds */
typedef uint32_t ovl_id;  /* index into some array; which one is said where it is declared */

#define OVL_NONE     UINT32_MAX
#define OVL_NEVER    INT64_MAX
#define OVL_TIME_MAX ((ovl_time)1 << 62)

#define OVL_NS ((ovl_time)1000)
#define OVL_US ((ovl_time)1000000)
#define OVL_MS ((ovl_time)1000000000)
#define OVL_S  ((ovl_time)1000000000000)

#define OVL_MIN(a, b)    ((a) < (b) ? (a) : (b))
#define OVL_MAX(a, b)    ((a) > (b) ? (a) : (b))
#define OVL_COUNT(array) (sizeof(array) / sizeof((array)[0]))

#if defined(__GNUC__)
#define OVL_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define OVL_NORETURN          __attribute__((noreturn))
#define OVL_COLD              __attribute__((cold)) /* hardly ever called */
/* To be written or read soon: brings its line of the cache nearer, and means nothing. A function
 * that does nothing else would count as one without effect, and not be called, were it not always
 * inlined. */
#define OVL_FETCH(at)     __builtin_prefetch(at)
#define OVL_ALWAYS_INLINE __attribute__((always_inline)) static inline
#define OVL_NOINLINE      __attribute__((noinline)) /* what is around it stays short */
#else
#define OVL_PRINTF(fmt, args)
#define OVL_NORETURN
#define OVL_COLD
#define OVL_FETCH(at)     ((void)(at))
#define OVL_ALWAYS_INLINE static inline
#define OVL_NOINLINE
#endif

/* Ends the program because memory is exhausted: no caller can do better, so no caller has to try.
 */
OVL_NORETURN void ovl_out_of_memory(size_t bytes);

#endif
