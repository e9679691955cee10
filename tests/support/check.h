/*
 * check.h - CUnit with values in its messages, and an exit code that can be trusted.
 *
 *     static void adds(void) { CHECK_INT(1 + 1, 2); }
 *     static CU_TestInfo tests[] = {{"one and one are two", adds}, CU_TEST_INFO_NULL};
 *     int main(void) { return check_main("arithmetic", tests); }
 */
#ifndef OVL_TESTS_CHECK_H
#define OVL_TESTS_CHECK_H

#include <CUnit/CUnit.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>

/* Each check evaluates its arguments once and gives whether it held. */
#define CHECK(condition)      check_true((condition), #condition, __FILE__, __LINE__)
#define CHECK_INT(got, want)  check_int((int64_t)(got), (int64_t)(want), #got, __FILE__, __LINE__)
#define CHECK_TEXT(got, want) check_text((got), (want), #got, __FILE__, __LINE__)
#define CHECK_HAS(text, part) check_has((text), (part), #text, __FILE__, __LINE__)
#define CHECK_NEAR(got, want, tolerance)                                                           \
    check_near((got), (want), (tolerance), #got, __FILE__, __LINE__)

bool check_true(bool condition, const char *what, const char *file, int line);
bool check_int(int64_t got, int64_t want, const char *what, const char *file, int line);
bool check_text(const char *got, const char *want, const char *what, const char *file, int line);
bool check_has(const char *text, const char *part, const char *what, const char *file, int line);
bool check_near(double got, double want, double tolerance, const char *what, const char *file,
                int line);

/* Runs one suite of tests; gives the exit status: 0 only if tests ran and all held. */
int check_main(const char *suite, CU_TestInfo *tests);

#endif
