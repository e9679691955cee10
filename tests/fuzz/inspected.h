/*
 * inspected.h - what must hold of an inspection, whatever was read.
 */
#ifndef OVL_TESTS_INSPECTED_H
#define OVL_TESTS_INSPECTED_H

#include "tests/fuzz/target.h"
#include "tools/inspect.h"

/* span = compute + exposed + copies alone + idle, none of them negative. */
static inline void check_parts(const ovl_measures *m)
{
    if (m->compute < 0 || m->exposed < 0 || m->mem_alone < 0 || m->idle < 0 ||
        m->overlap > m->compute || m->compute + m->exposed + m->mem_alone + m->idle != m->span) {
        abort();
    }
}

/* Parts sum up, and it can be printed; then it is let go. */
static inline void check_inspection(ovl_inspection *in, const ovl_errs *errs)
{
    static FILE *nowhere;
    ovl_out out;
    for (uint32_t i = 0; i < in->devices.len; i++) {
        check_parts(&in->devices.data[i].all);
        check_parts(&in->devices.data[i].launched);
    }
    nowhere = nowhere ? nowhere : fopen("/dev/null", "w");
    if (nowhere) {
        ovl_out_stream(&out, nowhere);
        ovl_inspect_text(&out, in);
        ovl_inspect_json(&out, in, errs);
        ovl_out_close(&out);
    }
    ovl_inspect_free(in);
}

#endif
