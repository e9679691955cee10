#include "tools/docs.h"

#include "models/reference.h"
#include "models/scenario.h"
#include "tools/help.h"

#include <string.h>

static void reference(ovl_out *out)
{
    ovl_arena arena = {0};
    ovl_out_text(out, ovl_reference_page(ovl_scenario_tables, ovl_scenario_n_tables, &arena));
    ovl_arena_free(&arena);
}

int ovl_docs_print(const char *what, FILE *out_file, FILE *err)
{
    static const struct {
        const char *name;
        void (*print)(ovl_out *out);
    } pages[] = {
        {"bash", ovl_docs_bash},
        {"man", ovl_docs_man},
        {"reference", reference},
        {"zsh", ovl_docs_zsh},
    };
    for (size_t i = 0; i < OVL_COUNT(pages); i++) {
        if (strcmp(pages[i].name, what) == 0) {
            ovl_out out;
            ovl_out_stream(&out, out_file);
            pages[i].print(&out);
            return ovl_out_close(&out) ? OVL_E_USAGE : OVL_EXIT_DONE;
        }
    }
    fprintf(err, "usage: ovl_docs man|bash|zsh|reference\n");
    return OVL_E_USAGE;
}
