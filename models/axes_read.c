/* Axes from the `sweep` section of a scenario and from the words of a command line. */
#include "models/axes_parts.h"

#include "models/fields.h"

#include <string.h>

#define SAMPLES_MAX 1000000

/* --- The section of the file --- */

static bool names(const char *const *words, uint32_t n, const char *path)
{
    size_t length = strlen(path);
    for (uint32_t i = 0; i < n; i++) {
        if (strncmp(words[i], path, length) == 0 && words[i][length] == '=') {
            return true;
        }
    }
    return false;
}

static bool has_word(const ovl_axis_words *words, const char *path)
{
    return names(words->over, words->n_over, path) || names(words->zip, words->n_zip, path) ||
           names(words->sample, words->n_sample, path);
}

/* Whether the command line names a key of this mapping. */
static bool has_word_of(const ovl_axis_words *words, const ovl_node *map)
{
    for (uint32_t i = 0; map && map->kind == OVL_NODE_MAP && i < map->count; i++) {
        if (has_word(words, map->pairs[i].key)) {
            return true;
        }
    }
    return false;
}

static bool has_word_of_rows(const ovl_axis_words *words, const ovl_node *rows)
{
    for (uint32_t i = 0; rows->kind == OVL_NODE_LIST && i < rows->count; i++) {
        if (has_word_of(words, rows->items[i])) {
            return true;
        }
    }
    return false;
}

static bool read_number(ovl_axis_reader *r, const ovl_node *node, const char *key, int64_t least,
                        int64_t most, int64_t *value)
{
    if (ovl_node_is_null(node)) {
        return true;
    }
    if (node->kind != OVL_NODE_SCALAR || ovl_read_count(node->text, value) || *value < least ||
        *value > most) {
        ovl_error(r->errs, r->code, node->mark,
                  "%s: expected a whole number from %" PRId64 " to %" PRId64, key, least, most);
        return false;
    }
    return true;
}

static void read_sample(ovl_axis_reader *r, const ovl_node *node)
{
    static const char *const known[] = {"points", "seed", "keys"};
    int64_t points = 100, seed = 1;
    const ovl_node *keys = ovl_node_get(node, "keys");
    if (node->kind != OVL_NODE_MAP) {
        ovl_wrong_shape(node, "sample", "a mapping (points, seed, keys)", r->errs);
        return;
    }
    for (uint32_t i = 0; i < node->count; i++) {
        const char *key = node->pairs[i].key;
        if (strcmp(key, known[0]) != 0 && strcmp(key, known[1]) != 0 &&
            strcmp(key, known[2]) != 0) {
            ovl_unknown_name(node->pairs[i].key_mark, "key", key, known, OVL_COUNT(known), r->code,
                             r->errs);
        }
    }
    bool good = read_number(r, ovl_node_get(node, "points"), "points", 1, SAMPLES_MAX, &points);
    good = read_number(r, ovl_node_get(node, "seed"), "seed", 0, INT64_MAX, &seed) && good;
    if (!keys || keys->kind != OVL_NODE_MAP || keys->count == 0 || keys->count > OVL_KEYS_MAX) {
        ovl_wrong_shape(keys ? keys : node, "keys", "a mapping of paths to ranges or lists",
                        r->errs);
        return;
    }
    ovl_key list[OVL_KEYS_MAX];
    const ovl_node *values[OVL_KEYS_MAX];
    for (uint32_t i = 0; i < keys->count; i++) {
        list[i] = (ovl_key){keys->pairs[i].key, keys->pairs[i].key_mark};
        values[i] = keys->pairs[i].value;
    }
    if (good) {
        ovl_axis_sample(r, list, values, keys->count, (uint32_t)points, (uint64_t)seed);
    }
}

static void read_section(ovl_axis_reader *r, const ovl_axis_words *words)
{
    const ovl_node *sweep = ovl_node_get(r->doc->root, "sweep");
    if (ovl_node_is_null(sweep)) {
        return;
    }
    if (sweep->kind != OVL_NODE_MAP) {
        ovl_wrong_shape(sweep, "sweep", "a mapping of paths to values", r->errs);
        return;
    }
    for (uint32_t i = 0; i < sweep->count; i++) {
        const ovl_pair_node *pair = &sweep->pairs[i];
        if (strcmp(pair->key, "list") == 0) {
            if (!has_word_of_rows(words, pair->value)) {
                ovl_axis_list(r, pair->value);
            }
        } else if (strcmp(pair->key, "sample") == 0) {
            if (!has_word_of(words, ovl_node_get(pair->value, "keys"))) {
                read_sample(r, pair->value);
            }
        } else if (!has_word(words, pair->key)) {
            ovl_axis_grid(r, pair->key, pair->key_mark, pair->value);
        }
    }
}

/* --- The command line --- */

/* "KEY=V1,V2" of an option: the key, and the values as the list they are. */
static bool read_word(ovl_axis_reader *r, const char *option, const char *word, ovl_key *key,
                      const ovl_node **values)
{
    const char *equals = strchr(word, '=');
    if (!equals || equals == word || !equals[1]) {
        ovl_error(r->errs, OVL_E_USAGE, (ovl_mark){0},
                  "--%s takes key=values, such as overlap.ddp.bucket_cap=1MiB,25MiB; found \"%s\"",
                  option, ovl_shown(word, r->arena));
        return false;
    }
    key->path = ovl_arena_strndup(r->arena, word, (size_t)(equals - word));
    const char *file =
        ovl_arena_printf(r->arena, "--%s %s", option, ovl_shown(key->path, r->arena));
    const char *text = ovl_arena_printf(r->arena, "[%s]", equals + 1);
    key->mark = (ovl_mark){file, 0, 0};
    ovl_errs mine = {.arena = r->errs->arena};
    ovl_node *list = ovl_yaml_parse(file, text, strlen(text), r->arena, &mine);
    for (uint32_t i = 0; i < mine.count; i++) {
        ovl_error(r->errs, OVL_E_USAGE, key->mark, "%s", mine.items[i].text);
    }
    if (!list || mine.errors) {
        return false;
    }
    *values = list->count == 1 ? list->items[0] : list;
    /* One value that is a list itself is a value, not a list of values. */
    if (list->count == 1 && list->items[0]->kind != OVL_NODE_SCALAR) {
        *values = list;
    }
    return true;
}

static void read_over(ovl_axis_reader *r, const ovl_axis_words *words)
{
    for (uint32_t i = 0; i < words->n_over; i++) {
        ovl_key key;
        const ovl_node *values;
        if (read_word(r, "over", words->over[i], &key, &values)) {
            ovl_axis_grid(r, key.path, key.mark, values);
        }
    }
}

static uint32_t read_words(ovl_axis_reader *r, const char *option, const char *const *words,
                           uint32_t n, ovl_key *keys, const ovl_node **values)
{
    uint32_t good = 0;
    for (uint32_t i = 0; i < n && good < OVL_KEYS_MAX; i++) {
        good += read_word(r, option, words[i], &keys[good], &values[good]);
    }
    return good;
}

static void read_options(ovl_axis_reader *r, const ovl_axis_words *words)
{
    ovl_key keys[OVL_KEYS_MAX];
    const ovl_node *values[OVL_KEYS_MAX];
    int64_t points = 100, seed = 1;
    const ovl_mark samples = {"--samples", 0, 0}, seeds = {"--seed", 0, 0};
    uint32_t n = read_words(r, "zip", words->zip, words->n_zip, keys, values);
    if (n) {
        ovl_axis_zip(r, keys, values, n);
    }
    bool good =
        !words->samples || read_number(r, ovl_node_scalar(words->samples, samples, r->arena),
                                       "samples", 1, SAMPLES_MAX, &points);
    good = (!words->seed || read_number(r, ovl_node_scalar(words->seed, seeds, r->arena), "seed", 0,
                                        INT64_MAX, &seed)) &&
           good;
    n = read_words(r, "sample", words->sample, words->n_sample, keys, values);
    if (n && good) {
        ovl_axis_sample(r, keys, values, n, (uint32_t)points, (uint64_t)seed);
    }
}

/* A word of the command line has no lines. */
static void hand_over(const ovl_errs *mine, ovl_errs *errs)
{
    for (uint32_t i = 0; i < mine->count; i++) {
        const ovl_err *e = &mine->items[i];
        bool word = e->mark.file && strncmp(e->mark.file, "--", 2) == 0;
        ovl_error(errs, word ? OVL_E_USAGE : e->code,
                  word ? (ovl_mark){e->mark.file, 0, 0} : e->mark, "%s", e->text);
    }
}

bool ovl_axes_read(const ovl_document *doc, const ovl_axis_words *words, ovl_axes *axes,
                   ovl_arena *arena, ovl_errs *errs)
{
    ovl_errs mine = {.arena = errs->arena};
    ovl_axis_reader r = {.arena = arena, .errs = &mine, .doc = doc, .code = OVL_E_INPUT};
    read_section(&r, words);
    r.code = OVL_E_USAGE;
    read_over(&r, words);
    read_options(&r, words);
    ovl_axes_finish(&r, axes);
    if (axes->n_axes == 0 && mine.errors == 0) {
        ovl_error(&mine, OVL_E_USAGE, (ovl_mark){0},
                  "nothing to sweep: %s has no `sweep:` section; add one, or name values: --over "
                  "overlap.ddp.bucket_cap=1MiB,25MiB",
                  doc->file);
    }
    hand_over(&mine, errs);
    return mine.errors == 0;
}
