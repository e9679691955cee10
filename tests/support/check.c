#include "tests/support/check.h"

#include <CUnit/Basic.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static bool report(bool held, const char *message, const char *file, int line)
{
    CU_assertImplementation(held, (unsigned)line, message, file, "", CU_FALSE);
    return held;
}

bool check_true(bool condition, const char *what, const char *file, int line)
{
    return report(condition, what, file, line);
}

bool check_int(int64_t got, int64_t want, const char *what, const char *file, int line)
{
    char message[512];
    snprintf(message, sizeof message, "%s: got %" PRId64 ", want %" PRId64, what, got, want);
    return report(got == want, message, file, line);
}

bool check_text(const char *got, const char *want, const char *what, const char *file, int line)
{
    char message[2048];
    snprintf(message, sizeof message, "%s: got \"%s\", want \"%s\"", what, got ? got : "(null)",
             want ? want : "(null)");
    return report((!got && !want) || (got && want && strcmp(got, want) == 0), message, file, line);
}

bool check_has(const char *text, const char *part, const char *what, const char *file, int line)
{
    char message[2048];
    snprintf(message, sizeof message, "%s: \"%s\" lacks \"%s\"", what, text ? text : "(null)",
             part);
    return report(text && strstr(text, part), message, file, line);
}

bool check_near(double got, double want, double tolerance, const char *what, const char *file,
                int line)
{
    char message[512];
    snprintf(message, sizeof message, "%s: got %.17g, want %.17g within %g", what, got, want,
             tolerance);
    return report(fabs(got - want) <= tolerance, message, file, line);
}

int check_main(const char *suite, CU_TestInfo *tests)
{
    CU_SuiteInfo suites[] = {{suite, NULL, NULL, NULL, NULL, tests}, CU_SUITE_INFO_NULL};
    if (CU_initialize_registry() != CUE_SUCCESS || CU_register_suites(suites) != CUE_SUCCESS) {
        fprintf(stderr, "%s\n", CU_get_error_msg());
        return 2;
    }
    CU_basic_set_mode(CU_BRM_VERBOSE);
    CU_basic_run_tests();
    bool good = CU_get_number_of_failure_records() == 0 && CU_get_number_of_suites_failed() == 0 &&
                CU_get_number_of_tests_run() > 0;
    CU_cleanup_registry();
    return good ? 0 : 1;
}
