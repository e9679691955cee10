#include "sim/result.h"

int ovl_result_status(const ovl_result *result)
{
    return result->n_hazards > 0 ? 1 : 0;
}
