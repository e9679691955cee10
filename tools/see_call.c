/* What a call of the runtime or driver does, by its name: cuda, hip and driver calls alike. */
#include "tools/see.h"

#include <string.h>

ovl_call ovl_see_call(ovl_slice name)
{
    static const struct {
        const char *part;
        ovl_call is;
    } table[] = {
        {"EventRecord", OVL_CALL_RECORD},
        {"StreamWaitEvent", OVL_CALL_WAIT},
        {"StreamSynchronize", OVL_CALL_SYNC_STREAM},
        {"EventSynchronize", OVL_CALL_SYNC_EVENT},
        {"DeviceSynchronize", OVL_CALL_SYNC_DEVICE},
        {"CtxSynchronize", OVL_CALL_SYNC_DEVICE},
        {"Free", OVL_CALL_MAY_SYNC},
    };
    for (size_t i = 0; i < OVL_COUNT(table); i++) {
        if (ovl_slice_has(name, table[i].part)) {
            return table[i].is;
        }
    }
    return OVL_CALL_LAUNCH;
}
