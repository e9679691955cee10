#include "tools/page.h"

#include "tools/page_parts.h"

#include <string.h>

bool ovl_page_draws(void)
{
    return ovl_page_d3[0] != 0;
}

static void inputs(ovl_json *json, const ovl_recorder *texts)
{
    ovl_json_array(json, "inputs", OVL_JSON_BLOCK);
    for (uint32_t i = 0; i < texts->files.len; i++) {
        ovl_json_object(json, NULL, OVL_JSON_FLOW);
        ovl_json_text(json, "path", texts->files.data[i].path);
        ovl_json_text(json, "text", texts->files.data[i].text);
        ovl_json_close(json);
    }
    ovl_json_close(json);
}

static void write_run(ovl_json *json, const ovl_page_run *run)
{
    char digest[OVL_SHA256_TEXT];
    ovl_recorder_digest(run->texts, digest);
    ovl_json_object(json, NULL, OVL_JSON_BLOCK);
    ovl_json_text(json, "word", run->word);
    ovl_report_json_member(json, "run", run->result);
    if (run->three) {
        ovl_three_runs_member(json, "controlled", run->three);
    }
    ovl_page_timeline(json, run->job);
    inputs(json, run->texts);
    ovl_json_text(json, "digest", digest);
    ovl_json_text_if(json, "left_out", run->left_out);
    ovl_json_close(json);
}

static void data(ovl_out *out, const ovl_page *page)
{
    ovl_json json;
    ovl_json_begin(&json, out);
    json.in_html = true;
    ovl_json_object(&json, NULL, OVL_JSON_BLOCK);
    ovl_json_text(&json, "schema", "overlapsim.page/1");
    ovl_json_text(&json, "program", "overlapsim " OVL_VERSION);
    ovl_json_array(&json, "sets", OVL_JSON_FLOW);
    for (uint32_t i = 0; i < page->n_sets; i++) {
        ovl_json_text(&json, NULL, page->sets[i].text);
    }
    ovl_json_close(&json);
    ovl_json_array(&json, "runs", OVL_JSON_BLOCK);
    for (uint32_t i = 0; i < page->n_runs; i++) {
        write_run(&json, &page->runs[i]);
    }
    ovl_json_close(&json);
    ovl_json_array(&json, "comparisons", OVL_JSON_BLOCK);
    for (uint32_t i = 0; i + 1 < page->n_runs; i++) {
        ovl_json_object(&json, NULL, OVL_JSON_BLOCK);
        ovl_compare_json_members(&json, &page->comparisons[i]);
        ovl_json_close(&json);
    }
    ovl_json_close(&json);
    ovl_json_close(&json);
    ovl_json_end(&json);
}

static void title(ovl_out *out, const ovl_page *page)
{
    const char *name = page->runs[0].result->scenario;
    for (const char *at = name ? name : page->runs[0].word; *at; at++) {
        switch (*at) {
        case '<':
            ovl_out_text(out, "&lt;");
            break;
        case '&':
            ovl_out_text(out, "&amp;");
            break;
        default:
            ovl_out_write(out, at, 1);
        }
    }
}

/* What a mark of the template stands for; false if it is none. */
static bool fill(ovl_out *out, const ovl_page *page, const char *mark, size_t length)
{
    static const struct {
        const char *mark;
        const unsigned char *text;
    } texts[] = {{"@CSS@", ovl_page_css}, {"@JS@", ovl_page_js}, {"@D3@", ovl_page_d3}};
    for (size_t i = 0; i < OVL_COUNT(texts); i++) {
        if (strlen(texts[i].mark) == length && strncmp(mark, texts[i].mark, length) == 0) {
            ovl_out_text(out, (const char *)texts[i].text);
            return true;
        }
    }
    bool is_title = length == 7 && strncmp(mark, "@TITLE@", length) == 0;
    bool is_data = length == 6 && strncmp(mark, "@DATA@", length) == 0;
    if (is_title) {
        title(out, page);
    } else if (is_data) {
        data(out, page);
    }
    return is_title || is_data;
}

void ovl_page_write(ovl_out *out, const ovl_page *page)
{
    const char *at = (const char *)ovl_page_html;
    while (*at) {
        size_t plain = strcspn(at, "@");
        ovl_out_write(out, at, plain);
        at += plain;
        const char *end = *at ? strchr(at + 1, '@') : NULL;
        if (end && fill(out, page, at, (size_t)(end - at) + 1)) {
            at = end + 1;
        } else if (*at) {
            ovl_out_write(out, at++, 1);
        }
    }
}
