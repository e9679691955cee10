#include "tests/support/law.h"

#include <stdlib.h>

uint64_t law_seed(void)
{
    const char *text = getenv("OVL_LAW_SEED");
    return text ? strtoull(text, NULL, 10) : 0;
}

uint64_t law_differing_phase_ends(const ovl_timeline *a, const ovl_timeline *b)
{
    uint64_t wrong = a->n_phase_ends != b->n_phase_ends;
    for (uint32_t i = 0; i < a->n_phase_ends && !wrong; i++) {
        const ovl_phase_end *x = &a->phase_ends[i], *y = &b->phase_ends[i];
        wrong += x->op != y->op || x->time != y->time;
    }
    return wrong;
}
