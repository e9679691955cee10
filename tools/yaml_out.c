#include "tools/yaml_out.h"

#include <string.h>

void ovl_yaml_text(ovl_out *out, const char *text)
{
    ovl_out_text(out, "\"");
    for (const char *p = text; *p; p++) {
        unsigned char c = (unsigned char)*p;
        if (c == '"' || c == '\\') {
            ovl_out_printf(out, "\\%c", c);
        } else if (c < ' ' || c == 0x7f) {
            ovl_out_printf(out, "\\x%02x", c);
        } else {
            ovl_out_write(out, p, 1);
        }
    }
    ovl_out_text(out, "\"");
}

const char *ovl_yaml_time(char buf[OVL_YAML_TIME], ovl_time t)
{
    snprintf(buf, OVL_YAML_TIME, "%" PRId64 ".%06" PRId64, t / OVL_US, t % OVL_US);
    size_t n = strlen(buf);
    while (buf[n - 1] == '0') {
        n--;
    }
    n -= buf[n - 1] == '.';
    strcpy(buf + n, " us");
    return buf;
}
