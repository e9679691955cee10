#include "tests/support/check.h"
#include "tools/json.h"

#include <stdlib.h>

/* A stream into memory. */
typedef struct page {
    char *text;
    size_t size;
    FILE *file;
    ovl_out out;
    ovl_json json;
} page;

static void begin(page *p)
{
    *p = (page){0};
    p->file = open_memstream(&p->text, &p->size);
    ovl_out_stream(&p->out, p->file);
    ovl_json_begin(&p->json, &p->out);
}

static void finish(page *p, const char *want)
{
    ovl_json_end(&p->json);
    CHECK(ovl_out_close(&p->out) == NULL);
    fclose(p->file);
    CHECK_TEXT(p->text, want);
    free(p->text);
}

static void blocks_and_flows(void)
{
    page p;
    begin(&p);
    ovl_json_object(&p.json, NULL, OVL_JSON_BLOCK);
    ovl_json_text(&p.json, "name", "x");
    ovl_json_array(&p.json, "rows", OVL_JSON_BLOCK);
    for (int i = 0; i < 2; i++) {
        ovl_json_object(&p.json, NULL, OVL_JSON_FLOW);
        ovl_json_int(&p.json, "i", i - 1);
        ovl_json_array(&p.json, "none", OVL_JSON_BLOCK);
        ovl_json_close(&p.json);
        ovl_json_close(&p.json);
    }
    ovl_json_close(&p.json);
    ovl_json_array(&p.json, "empty", OVL_JSON_BLOCK);
    ovl_json_close(&p.json);
    ovl_json_close(&p.json);
    finish(&p, "{\n"
               "  \"name\": \"x\",\n"
               "  \"rows\": [\n"
               "    {\"i\": -1, \"none\": []},\n"
               "    {\"i\": 0, \"none\": []}\n"
               "  ],\n"
               "  \"empty\": []\n"
               "}\n");
}

/* Times are picoseconds with 12 decimals; microseconds round down to the nanosecond. */
static void numbers(void)
{
    page p;
    begin(&p);
    ovl_json_array(&p.json, NULL, OVL_JSON_FLOW);
    ovl_json_seconds(&p.json, NULL, 213 * OVL_MS);
    ovl_json_seconds(&p.json, NULL, -1);
    ovl_json_uint(&p.json, NULL, UINT64_MAX);
    ovl_json_double(&p.json, NULL, 0.1);
    ovl_json_double(&p.json, NULL, 1.0 / 3.0);
    ovl_json_double(&p.json, NULL, 1e9);
    ovl_json_micros(&p.json, NULL, 1234567999);
    ovl_json_bool(&p.json, NULL, true);
    ovl_json_close(&p.json);
    finish(&p, "[0.213000000000, -0.000000000001, 18446744073709551615, 0.1, 0.3333333333333333, "
               "1000000000, 1234.567, true]\n");
}

static void absent_fields(void)
{
    page p;
    begin(&p);
    ovl_json_object(&p.json, NULL, OVL_JSON_FLOW);
    ovl_json_text_if(&p.json, "a", NULL);
    ovl_json_seconds_if(&p.json, "b", OVL_NEVER);
    ovl_json_double_if(&p.json, "c", -1);
    ovl_json_double_if(&p.json, "d", 0);
    ovl_json_close(&p.json);
    finish(&p, "{\"d\": 0}\n");
}

/* RFC 8259: quote, backslash and control characters are escaped; text is UTF-8, and what is not
 * becomes U+FFFD: a lone continuation byte, an overlong slash (C0 AF), a surrogate (ED A0 80: three
 * bad bytes), a sequence cut off by the end. */
static void strings(void)
{
    page p;
    begin(&p);
    ovl_json_array(&p.json, NULL, OVL_JSON_FLOW);
    ovl_json_text(&p.json, NULL, "a\"b\\c\n\t\x01\x7f/");
    ovl_json_text(&p.json, NULL, "\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80");
    ovl_json_text(&p.json, NULL, "\x80|\xC0\xAF|\xED\xA0\x80|\xE2\x82");
    ovl_json_close(&p.json);
    finish(&p, "[\"a\\\"b\\\\c\\n\\t\\u0001\\u007f/\", \"\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80\", "
               "\"\xEF\xBF\xBD|\xEF\xBF\xBD\xEF\xBF\xBD|\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD|"
               "\xEF\xBF\xBD\xEF\xBF\xBD\"]\n");
}

static void failing_output(void)
{
    page p = {0};
    p.file = fopen("/dev/full", "w");
    if (!p.file) {
        return; /* a system without it */
    }
    ovl_out_stream(&p.out, p.file);
    ovl_out_text(&p.out, "x");
    CHECK(ovl_out_close(&p.out) != NULL);
    fclose(p.file);
}

static CU_TestInfo tests[] = {
    {"a block puts members on lines, a flow stays on one", blocks_and_flows},
    {"numbers are written as they are meant", numbers},
    {"what does not apply is absent", absent_fields},
    {"any text becomes a valid string", strings},
    {"a full disk is noticed", failing_output},
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("json", tests);
}
