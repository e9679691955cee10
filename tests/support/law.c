#include "tests/support/law.h"

#include <stdlib.h>

uint64_t law_seed(void)
{
    const char *text = getenv("OVL_LAW_SEED");
    return text ? strtoull(text, NULL, 10) : 0;
}
