#include "models/yaml.h"

#include "sim/names.h"
#include "sim/vec.h"

#include <stdlib.h>
#include <string.h>
#include <yaml.h>

/* What an alias may stand for. `height` counts levels: a scalar is 0. */
typedef struct anchor {
    ovl_node *node;
    uint64_t expanded; /* nodes and keys once aliases are followed */
    uint32_t height;
    bool open; /* its node is not complete yet: an alias to it here would be a cycle */
} anchor;

/* A list or map whose end has not come yet. */
typedef struct frame {
    ovl_node *node;
    OVL_VEC(ovl_node *) items;
    OVL_VEC(ovl_pair_node) pairs;
    OVL_VEC(ovl_node *) merges; /* the values of "<<" */
    const char *key;            /* of the pair whose value comes next, or NULL */
    ovl_mark key_mark;
    bool merging;    /* that key, or the last one, is "<<" */
    ovl_id anchor;   /* or OVL_NONE */
    uint64_t before; /* reader.built when it began */
    uint32_t height; /* of the tallest child */
} frame;

/* For finding equal keys: sorted by key, then by place. */
typedef struct place {
    const char *key;
    uint32_t at;
} place;

typedef struct reader {
    yaml_parser_t parser;
    const char *file, *text;
    size_t length;
    ovl_arena *arena;
    ovl_errs *errs;
    frame frames[OVL_YAML_DEPTH];
    uint32_t n_frames;
    ovl_names names; /* of anchors; aligned with `anchors` */
    OVL_VEC(anchor) anchors;
    OVL_VEC(place) places; /* scratch */
    uint64_t built;        /* nodes and keys so far, aliases followed */
    ovl_node *root;
    bool ended;
} reader;

static ovl_mark mark_of(const reader *r, yaml_mark_t mark)
{
    return (ovl_mark){r->file, (uint32_t)OVL_MIN(mark.line + 1, UINT32_MAX),
                      (uint32_t)OVL_MIN(mark.column + 1, UINT32_MAX)};
}

static bool refuse(reader *r, ovl_mark mark, const char *sentence)
{
    ovl_error(r->errs, OVL_E_INPUT, mark, "%s", sentence);
    return false;
}

/* --- Limits --- */

static bool count_nodes(reader *r, uint64_t more, ovl_mark mark)
{
    r->built += more;
    if (r->built <= OVL_YAML_NODES) {
        return true;
    }
    ovl_error(r->errs, OVL_E_INPUT, mark,
              "too large: more than %d values once aliases are followed", OVL_YAML_NODES);
    return false;
}

static bool check_depth(reader *r, uint32_t levels, ovl_mark mark)
{
    if (r->n_frames + levels <= OVL_YAML_DEPTH) {
        return true;
    }
    ovl_error(r->errs, OVL_E_INPUT, mark, "nested too deeply: more than %d levels", OVL_YAML_DEPTH);
    return false;
}

/* --- Putting nodes where they belong --- */

static bool place_key(reader *r, frame *top, const ovl_node *node)
{
    if (node->kind != OVL_NODE_SCALAR) {
        ovl_error(r->errs, OVL_E_INPUT, node->mark, "a key must be text, found %s",
                  ovl_node_kind_name(node));
        return false;
    }
    top->key = node->text;
    top->key_mark = node->mark;
    top->merging = !node->quoted && strcmp(node->text, "<<") == 0;
    return true;
}

/* A child of so many levels was added. What "<<" brings is lifted out of its map, or out of its
 * list of maps: a long chain of merges is not deep. */
static void raise_height(frame *top, const ovl_node *child, uint32_t height)
{
    uint32_t lifted = !top->merging ? 0 : child->kind == OVL_NODE_LIST ? 2 : 1;
    top->height = OVL_MAX(top->height, height - OVL_MIN(lifted, height));
}

/* Adds a node of `height` levels (for a list or map that begins: 0, its end tells) to the innermost
 * open list or map. */
static bool place_node(reader *r, ovl_node *node, uint32_t height)
{
    if (r->n_frames == 0) {
        r->root = node;
        return true;
    }
    frame *top = &r->frames[r->n_frames - 1];
    raise_height(top, node, height);
    if (top->node->kind == OVL_NODE_LIST) {
        ovl_vec_push(&top->items, node);
        return true;
    }
    if (!top->key) {
        return place_key(r, top, node);
    }
    if (top->merging) {
        ovl_vec_push(&top->merges, node);
    } else {
        ovl_vec_push(&top->pairs, (ovl_pair_node){top->key, top->key_mark, node});
    }
    top->key = NULL;
    return true;
}

/* --- Anchors and aliases --- */

static ovl_id add_anchor(reader *r, const yaml_char_t *name, anchor value)
{
    if (!name) {
        return OVL_NONE;
    }
    ovl_id id = ovl_names_add(&r->names, (const char *)name);
    if (id == r->anchors.len) {
        ovl_vec_push(&r->anchors, value);
    } else {
        r->anchors.data[id] = value; /* the last one before an alias counts */
    }
    return id;
}

/* How many of its levels an alias placed here leaves behind: see raise_height. */
static uint32_t lifted_here(const reader *r)
{
    assert(r->n_frames); /* nothing can be named before the root began */
    const frame *top = &r->frames[r->n_frames - 1];
    if (top->node->kind == OVL_NODE_MAP) {
        return top->key && top->merging;
    }
    return r->n_frames > 1 && top[-1].merging ? 2 : 0;
}

/* A stand-in that lets reading go on after an alias that leads nowhere. */
static bool place_nothing(reader *r, ovl_mark mark)
{
    return count_nodes(r, 1, mark) && place_node(r, ovl_node_scalar("null", mark, r->arena), 0);
}

static bool on_alias(reader *r, const char *name, ovl_mark mark)
{
    ovl_id id = ovl_names_find(&r->names, name);
    if (id == OVL_NONE) {
        const char *near = ovl_nearest(name, r->names.text, r->names.count);
        ovl_error(r->errs, OVL_E_INPUT, mark, "no anchor &%s before this alias%s%s%s",
                  ovl_shown(name, r->arena), near ? "; did you mean *" : "", near ? near : "",
                  near ? "?" : "");
        return place_nothing(r, mark);
    }
    const anchor *target = &r->anchors.data[id];
    if (target->open) {
        ovl_error(r->errs, OVL_E_INPUT, mark, "alias *%s is inside what it stands for: a cycle",
                  ovl_shown(name, r->arena));
        return place_nothing(r, mark);
    }
    uint32_t lifted = OVL_MIN(lifted_here(r), target->height);
    return check_depth(r, target->height - lifted, mark) &&
           count_nodes(r, target->expanded, mark) && place_node(r, target->node, target->height);
}

/* --- Scalars --- */

#define STANDARD "tag:yaml.org,2002:"

static void check_tag(reader *r, const yaml_char_t *tag, const char *known, ovl_mark mark)
{
    const char *text = (const char *)tag;
    if (!text || strcmp(text, "!") == 0) {
        return;
    }
    size_t prefix = sizeof STANDARD - 1;
    /* `known` lists the names, each between blanks. */
    if (strncmp(text, STANDARD, prefix) == 0 && text[prefix] && !strchr(text + prefix, ' ')) {
        const char *found = strstr(known, text + prefix);
        size_t length = strlen(text + prefix);
        if (found && found > known && found[-1] == ' ' && found[length] == ' ') {
            return;
        }
    }
    ovl_error(r->errs, OVL_E_INPUT, mark, "tag \"%s\" has no meaning here",
              ovl_shown(text, r->arena));
}

static bool says_text(const yaml_char_t *tag)
{
    return tag &&
           (strcmp((const char *)tag, "!") == 0 || strcmp((const char *)tag, STANDARD "str") == 0);
}

/* Texts end up on terminals: of control characters only line breaks and tabs are welcome. (0xc2
 * 0x80 to 0xc2 0x9f are the second set, U+0080 to U+009F.) */
static bool printable(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i], next = (unsigned char)text[i + 1];
        bool control = c < 0x20 && c != '\n' && c != '\t' && c != '\r';
        if (control || c == 0x7f || (c == 0xc2 && next >= 0x80 && next <= 0x9f)) {
            return false;
        }
    }
    return true;
}

static bool on_scalar(reader *r, const yaml_event_t *event, ovl_mark mark)
{
    const char *text = (const char *)event->data.scalar.value;
    size_t length = event->data.scalar.length;
    const yaml_char_t *tag = event->data.scalar.tag;
    check_tag(r, tag, " str int float bool null ", mark);
    if (!printable(text, length)) {
        refuse(r, mark, "text cannot hold control characters");
    }
    ovl_node *node = ovl_node_scalar(ovl_arena_strdup(r->arena, text), mark, r->arena);
    node->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE || says_text(tag);
    add_anchor(r, event->data.scalar.anchor, (anchor){node, 1, 0, false});
    return count_nodes(r, 1, mark) && place_node(r, node, 0);
}

/* --- Lists and maps --- */

static bool open_frame(reader *r, ovl_node_kind kind, const yaml_char_t *name, ovl_mark mark)
{
    ovl_node *node = OVL_NEW(r->arena, ovl_node);
    *node = (ovl_node){.kind = kind, .mark = mark};
    if (!check_depth(r, 1, mark) || !place_node(r, node, 0)) {
        return false;
    }
    frame *top = &r->frames[r->n_frames++];
    top->node = node;
    top->items.len = top->pairs.len = top->merges.len = 0;
    top->key = NULL;
    top->merging = false;
    top->height = 0;
    top->before = r->built;
    top->anchor = add_anchor(r, name, (anchor){.node = node, .open = true});
    return count_nodes(r, 1, mark);
}

static void close_frame(reader *r)
{
    frame *top = &r->frames[--r->n_frames];
    uint32_t height = top->height + 1;
    if (r->n_frames) {
        raise_height(&r->frames[r->n_frames - 1], top->node, height);
    }
    /* Not if the name was given anew inside: the later one counts. */
    if (top->anchor != OVL_NONE && r->anchors.data[top->anchor].node == top->node) {
        r->anchors.data[top->anchor] = (anchor){top->node, r->built - top->before, height, false};
    }
}

static void close_list(reader *r)
{
    frame *top = &r->frames[r->n_frames - 1];
    top->node->count = top->node->cap = top->items.len;
    top->node->items = OVL_NEW_ARRAY(r->arena, ovl_node *, top->items.len);
    if (top->items.len) {
        memcpy(top->node->items, top->items.data, top->items.len * sizeof *top->items.data);
    }
    close_frame(r);
}

static void add_merged(reader *r, frame *top, const ovl_node *node)
{
    if (ovl_node_is_null(node)) {
        return;
    }
    if (node->kind != OVL_NODE_MAP) {
        ovl_error(r->errs, OVL_E_INPUT, node->mark,
                  "\"<<\" takes a mapping or a list of mappings, found %s",
                  ovl_node_kind_name(node));
        return;
    }
    for (uint32_t i = 0; i < node->count; i++) {
        ovl_vec_push(&top->pairs, node->pairs[i]);
    }
}

static void add_merges(reader *r, frame *top)
{
    for (uint32_t m = 0; m < top->merges.len; m++) {
        const ovl_node *node = top->merges.data[m];
        if (node->kind != OVL_NODE_LIST) {
            add_merged(r, top, node);
            continue;
        }
        for (uint32_t i = 0; i < node->count; i++) {
            add_merged(r, top, node->items[i]);
        }
    }
}

static int compare_places(const void *a, const void *b)
{
    const place *x = a, *y = b;
    int order = strcmp(x->key, y->key);
    return order ? order : (x->at > y->at) - (x->at < y->at);
}

/* Of pairs with one key the first stays; the others lose their value. A second own one is a
 * mistake. */
static void drop_repeats(reader *r, frame *top, uint32_t n_own)
{
    r->places.len = 0;
    for (uint32_t i = 0; i < top->pairs.len; i++) {
        ovl_vec_push(&r->places, (place){top->pairs.data[i].key, i});
    }
    if (r->places.len > 1) {
        qsort(r->places.data, r->places.len, sizeof *r->places.data, compare_places);
    }
    const ovl_pair_node *first = NULL;
    for (uint32_t i = 0; i < r->places.len; i++) {
        ovl_pair_node *pair = &top->pairs.data[r->places.data[i].at];
        if (!first || strcmp(first->key, pair->key) != 0) {
            first = pair;
            continue;
        }
        if (r->places.data[i].at < n_own) {
            ovl_error(r->errs, OVL_E_INPUT, pair->key_mark,
                      "key \"%s\" is given twice; the first is at line %" PRIu32
                      ", column %" PRIu32,
                      ovl_shown(pair->key, r->arena), first->key_mark.line, first->key_mark.column);
        }
        pair->value = NULL;
    }
}

static void close_map(reader *r)
{
    frame *top = &r->frames[r->n_frames - 1];
    uint32_t n_own = top->pairs.len;
    add_merges(r, top);
    drop_repeats(r, top, n_own);
    ovl_node *node = top->node;
    node->pairs = OVL_NEW_ARRAY(r->arena, ovl_pair_node, top->pairs.len);
    for (uint32_t i = 0; i < top->pairs.len; i++) {
        if (top->pairs.data[i].value) {
            node->pairs[node->count++] = top->pairs.data[i];
        }
    }
    node->cap = top->pairs.len;
    close_frame(r);
}

/* --- Events --- */

static bool on_document(reader *r, ovl_mark mark)
{
    return r->root ? refuse(r, mark, "a second document begins here; a file holds one") : true;
}

static bool on_event(reader *r, const yaml_event_t *event)
{
    ovl_mark mark = mark_of(r, event->start_mark);
    switch (event->type) {
    case YAML_NO_EVENT:
    case YAML_STREAM_START_EVENT:
    case YAML_DOCUMENT_END_EVENT:
        return true;
    case YAML_STREAM_END_EVENT:
        r->ended = true;
        return true;
    case YAML_DOCUMENT_START_EVENT:
        return on_document(r, mark);
    case YAML_ALIAS_EVENT:
        return on_alias(r, (const char *)event->data.alias.anchor, mark);
    case YAML_SCALAR_EVENT:
        return on_scalar(r, event, mark);
    case YAML_SEQUENCE_START_EVENT:
        check_tag(r, event->data.sequence_start.tag, " seq ", mark);
        return open_frame(r, OVL_NODE_LIST, event->data.sequence_start.anchor, mark);
    case YAML_SEQUENCE_END_EVENT:
        close_list(r);
        return true;
    case YAML_MAPPING_START_EVENT:
        check_tag(r, event->data.mapping_start.tag, " map ", mark);
        return open_frame(r, OVL_NODE_MAP, event->data.mapping_start.anchor, mark);
    case YAML_MAPPING_END_EVENT:
        close_map(r);
        return true;
    }
    return true;
}

/* --- What libyaml refuses --- */

static ovl_mark mark_at(const reader *r, size_t offset)
{
    ovl_mark mark = {r->file, 1, 1};
    for (size_t i = 0; i < OVL_MIN(offset, r->length); i++) {
        bool newline = r->text[i] == '\n';
        mark.line += newline;
        mark.column = newline ? 1 : mark.column + 1;
    }
    return mark;
}

/* The text from the line of a mark on, or NULL past the end. */
static const char *line_of(const reader *r, ovl_mark at)
{
    const char *line = r->text, *end = r->text + r->length;
    for (uint32_t i = 1; line && i < at.line; i++) {
        line = memchr(line, '\n', (size_t)(end - line));
        line = line ? line + 1 : NULL;
    }
    return line < end ? line : NULL;
}

/* Whether the white space a line begins with holds a tab: the usual reason for the obscure "cannot
 * start any token". */
static bool tab_indents(const reader *r, ovl_mark at)
{
    const char *line = line_of(r, at), *end = r->text + r->length;
    while (line && line < end && *line == ' ') {
        line++;
    }
    return line && line < end && *line == '\t';
}

/* Whether it stopped at a bracket right behind a letter: a name such as block[3] inside { }. (By
 * bytes: a line with other than ASCII gets no hint.) */
static bool stopped_at_index(const reader *r, ovl_mark at)
{
    const char *line = line_of(r, at), *end = r->text + r->length;
    return line && at.column > 1 && (size_t)(end - line) >= at.column &&
           line[at.column - 1] == '[' && line[at.column - 2] > ' ' && line[at.column - 2] != ',';
}

static void syntax_error(reader *r)
{
    const yaml_parser_t *p = &r->parser;
    const char *problem = p->problem ? p->problem : "unreadable";
    if (p->error == YAML_MEMORY_ERROR) {
        ovl_out_of_memory(0);
    }
    if (p->error == YAML_READER_ERROR) {
        ovl_error(r->errs, OVL_E_INPUT, mark_at(r, p->problem_offset), "not readable as UTF-8: %s",
                  problem);
        return;
    }
    ovl_mark mark = mark_of(r, p->problem_mark);
    if (p->error == YAML_SCANNER_ERROR && tab_indents(r, mark)) {
        refuse(r, mark, "not valid YAML: a tab cannot indent; use blanks");
    } else if (p->context) {
        const char *hint = stopped_at_index(r, mark) ? " (quote names that hold brackets)" : "";
        ovl_error(r->errs, OVL_E_INPUT, mark, "not valid YAML: %s, %s that began at line %zu%s",
                  problem, p->context, p->context_mark.line + 1, hint);
    } else {
        ovl_error(r->errs, OVL_E_INPUT, mark, "not valid YAML: %s", problem);
    }
}

/* libyaml compares every %TAG with all before it; nobody needs them here. */
static bool has_tag_directive(const reader *r, ovl_mark *mark)
{
    static const char word[] = "%TAG";
    const char *end = r->text + r->length;
    const char *line = r->text;
    while (line && (size_t)(end - line) >= sizeof word - 1) {
        if (memcmp(line, word, sizeof word - 1) == 0) {
            *mark = mark_at(r, (size_t)(line - r->text));
            return true;
        }
        line = memchr(line, '\n', (size_t)(end - line));
        line = line ? line + 1 : NULL;
    }
    return false;
}

/* --- The whole file --- */

static bool read_events(reader *r)
{
    while (!r->ended) {
        yaml_event_t event;
        if (!yaml_parser_parse(&r->parser, &event)) {
            syntax_error(r);
            return false;
        }
        bool good = on_event(r, &event);
        yaml_event_delete(&event);
        if (!good) {
            return false;
        }
    }
    const ovl_node *root = r->root;
    if (!root || (root->kind == OVL_NODE_SCALAR && !root->quoted && !*root->text)) {
        return refuse(r, (ovl_mark){r->file, 1, 1}, "empty: a YAML document is expected");
    }
    return true;
}

static bool read_file(reader *r)
{
    ovl_mark mark = {r->file, 0, 0};
    if (r->length > OVL_YAML_BYTES) {
        ovl_error(r->errs, OVL_E_INPUT, mark, "too large: more than %zu MiB", OVL_YAML_BYTES >> 20);
        return false;
    }
    if (has_tag_directive(r, &mark)) {
        return refuse(r, mark, "%TAG directives have no meaning here");
    }
    if (!yaml_parser_initialize(&r->parser)) {
        ovl_out_of_memory(sizeof r->parser);
    }
    /* A byte order mark is skipped here: libyaml does so only where it guesses the encoding. */
    size_t bom = r->length >= 3 && memcmp(r->text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    yaml_parser_set_encoding(&r->parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&r->parser, (const unsigned char *)r->text + bom, r->length - bom);
    bool good = read_events(r);
    yaml_parser_delete(&r->parser);
    return good;
}

ovl_node *ovl_yaml_parse(const char *file, const char *text, size_t length, ovl_arena *arena,
                         ovl_errs *errs)
{
    ovl_arena scratch = {0};
    reader *r = OVL_NEW(&scratch, reader);
    r->file = ovl_arena_strdup(arena, file);
    r->text = text;
    r->length = length;
    r->arena = arena;
    r->errs = errs;
    r->names.arena = &scratch;
    bool good = read_file(r);
    ovl_node *root = good ? r->root : NULL;
    for (uint32_t i = 0; i < OVL_YAML_DEPTH; i++) {
        ovl_vec_free(&r->frames[i].items);
        ovl_vec_free(&r->frames[i].pairs);
        ovl_vec_free(&r->frames[i].merges);
    }
    ovl_vec_free(&r->anchors);
    ovl_vec_free(&r->places);
    ovl_arena_free(&scratch);
    return root;
}
