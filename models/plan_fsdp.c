#include "models/shard.h"

static const ovl_strategy *const strategies[] = {
    [OVL_FSDP_2] = &ovl_fsdp2_strategy,
    [OVL_FSDP_1] = &ovl_fsdp1_strategy,
};

void ovl_plan_fsdp(ovl_lowering *l)
{
    const ovl_fsdp *fsdp = &l->scenario->fsdp;
    ovl_shard_plan(l, fsdp, strategies[fsdp->policy], NULL);
}
