#include "tools/csv.h"

#include "sim/units.h"

#include <string.h>

void ovl_csv_cell(ovl_out *out, const char *text, bool first)
{
    ovl_out_text(out, first ? "" : ",");
    if (!text[strcspn(text, ",\"\n\r")]) {
        ovl_out_text(out, text);
        return;
    }
    ovl_out_text(out, "\"");
    for (const char *c = text; *c; c++) {
        ovl_out_write(out, "\"", *c == '"');
        ovl_out_write(out, c, 1);
    }
    ovl_out_text(out, "\"");
}

void ovl_csv_metric_keys(ovl_out *out)
{
    ovl_arena arena = {0};
    for (uint32_t m = 0; m < ovl_n_metrics; m++) {
        ovl_csv_cell(out, ovl_metric_key(m, &arena), false);
    }
    ovl_arena_free(&arena);
}

void ovl_csv_metrics(ovl_out *out, const ovl_figures *figures)
{
    char buf[OVL_UNITS_TEXT];
    for (uint32_t m = 0; m < ovl_n_metrics; m++) {
        if (!figures || !ovl_has_figure(figures, m)) {
            ovl_out_text(out, ",");
        } else if (ovl_metrics[m].kind == OVL_METRIC_TIME) {
            ovl_out_printf(out, ",%s", ovl_print_seconds(buf, figures->value[m]));
        } else {
            ovl_out_printf(out, ",%" PRId64, figures->value[m]);
        }
    }
}
