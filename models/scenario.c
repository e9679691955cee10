#include "models/scenario.h"

#include "models/tables.h"
#include "models/variant.h"
#include "sim/names.h"

#include <string.h>

#define VARIANTS_MAX 1000 /* each is a scenario of its own ... */
#define PATHS_MAX    1000 /* ... and each path walks the tree */

#define SET_FILE     "--set " /* what stands for the file in places on the command line */
#define COMMAND_LINE "--"     /* how all of these begin */

const char *ovl_layer_name(const ovl_layer *layer, int64_t repeat, ovl_arena *arena)
{
    if (layer->repeat <= 1 && !layer->has_first) {
        return layer->name;
    }
    return ovl_arena_printf(arena, "%s[%" PRId64 "]", layer->name, layer->first + repeat);
}

/* --- Mistakes ---
 *
 * Collected apart, so that the answer "good or not" does not depend on what the caller knows
 * already (one mistake in the base is one in every variant), then handed over. */

static bool hand_over(const ovl_errs *mine, ovl_errs *errs)
{
    for (uint32_t i = 0; i < mine->count; i++) {
        const ovl_err *e = &mine->items[i];
        bool command_line =
            e->mark.file && strncmp(e->mark.file, COMMAND_LINE, sizeof COMMAND_LINE - 1) == 0;
        ovl_mark mark = e->mark;
        if (command_line) { /* a text of this decoding alone: the mistake may outlive it */
            mark = (ovl_mark){ovl_arena_strdup(errs->arena, mark.file), 0, 0};
        }
        if (e->warning) {
            ovl_warning(errs, mark, "%s", e->text);
        } else {
            ovl_error(errs, command_line ? OVL_E_USAGE : e->code, mark, "%s", e->text);
        }
    }
    errs->dropped += mine->dropped;
    return mine->errors == 0;
}

/* --- Reading --- */

typedef struct loader {
    const char *path;
    const ovl_files *files;
    ovl_arena *arena;
    ovl_errs *errs;
    ovl_names read; /* hardware files; aligned with `trees` */
    OVL_VEC(ovl_node *) trees;
    ovl_names trace_names; /* aligned with `traces` */
    OVL_VEC(ovl_seen) traces;
} loader;

static ovl_node *read_tree(loader *l, const char *path, ovl_mark mark)
{
    size_t length = 0;
    const char *why = "no reason given";
    const char *text = l->files->read(l->files->context, path, &length, l->arena, &why);
    if (!text) {
        ovl_error(l->errs, OVL_E_INPUT, mark, "cannot read \"%s\": %s",
                  ovl_shown_path(path, l->arena), why);
        return NULL;
    }
    return ovl_yaml_parse(path, text, length, l->arena, l->errs);
}

/* `name` as seen from the directory of the scenario. */
static const char *beside(const loader *l, const char *name)
{
    const char *slash = strrchr(l->path, '/');
    if (*name == '/' || !slash) {
        return name;
    }
    return ovl_arena_printf(l->arena, "%.*s/%s", (int)(slash - l->path), l->path, name);
}

/* The tree of a hardware file; each file is read once. Null if it is not usable. */
static ovl_node *hardware_tree(loader *l, const ovl_node *name)
{
    const char *path = beside(l, name->text);
    ovl_id id = ovl_names_add(&l->read, path);
    if (id == l->trees.len) {
        ovl_node *tree = read_tree(l, path, name->mark);
        if (tree && tree->kind != OVL_NODE_MAP) {
            ovl_wrong_shape(tree, "hardware", "a mapping", l->errs);
            tree = NULL;
        }
        ovl_vec_push(&l->trees, tree ? tree : ovl_node_scalar("null", name->mark, l->arena));
    }
    return l->trees.data[id];
}

/* Puts the tree of the file that `hardware` of a map names in its place. */
static void graft_hardware(loader *l, ovl_node *map)
{
    const ovl_node *hardware = ovl_node_get(map, "hardware");
    if (ovl_node_is_null(hardware) || hardware->kind != OVL_NODE_SCALAR) {
        return;
    }
    for (uint32_t i = 0; i < map->count; i++) {
        if (map->pairs[i].value == hardware) {
            map->pairs[i].value = hardware_tree(l, hardware);
        }
    }
}

/* --- Measured traces --- */

/* Reads the trace a scalar names, once. One that cannot be read leaves its mistakes. */
static void read_trace(loader *l, const ovl_node *name)
{
    ovl_seen seen = {.file = name->text};
    if (name->kind != OVL_NODE_SCALAR || ovl_node_is_null(name) ||
        ovl_names_add(&l->trace_names, name->text) < l->traces.len) {
        return;
    }
    if (l->files->see) {
        seen.refused =
            !l->files->see(l->files->context, beside(l, name->text), l->arena, &seen, l->errs);
    } else {
        ovl_error(l->errs, OVL_E_INPUT, name->mark, "traces cannot be read here");
    }
    ovl_vec_push(&l->traces, seen);
}

static void read_traces(loader *l, const ovl_node *node)
{
    if (ovl_node_is_null(node)) {
        return;
    }
    read_trace(l, node);
    for (uint32_t i = 0; node->kind == OVL_NODE_LIST && i < node->count; i++) {
        read_trace(l, node->items[i]);
    }
}

/* Those of a mapping that changes a scenario: `workload.trace`, or the whole `workload`. */
static void read_changed_traces(loader *l, const ovl_node *map)
{
    static const char path[] = "workload.trace";
    for (uint32_t i = 0; i < map->count; i++) {
        const char *key = map->pairs[i].key;
        char next = strncmp(key, path, sizeof path - 1) == 0 ? key[sizeof path - 1] : 'x';
        if (next == '\0' || next == '[') {
            read_traces(l, map->pairs[i].value);
        } else if (strcmp(key, "workload") == 0 && map->pairs[i].value->kind == OVL_NODE_MAP) {
            read_traces(l, ovl_node_get(map->pairs[i].value, "trace"));
        }
    }
}

static void read_all_traces(loader *l, const ovl_node *root, ovl_document *doc)
{
    const ovl_node *variants = ovl_node_get(root, "variants");
    read_changed_traces(l, root);
    for (uint32_t i = 0; variants && variants->kind == OVL_NODE_MAP && i < variants->count; i++) {
        if (variants->pairs[i].value->kind == OVL_NODE_MAP) {
            read_changed_traces(l, variants->pairs[i].value);
        }
    }
    doc->n_traces = l->traces.len;
    doc->trace_names = l->trace_names.text;
    doc->traces = ovl_vec_freeze(&l->traces, l->arena);
}

/* --- Schedules of pipelines --- */

/* The rows of a schedule's file, each a text with its place there; none and an error if it cannot
 * be read. */
static ovl_node *schedule_rows(loader *l, const ovl_node *name)
{
    size_t length = 0;
    const char *path = beside(l, name->text), *why = "no reason given";
    const char *text = l->files->read(l->files->context, path, &length, l->arena, &why);
    ovl_node *rows = OVL_NEW(l->arena, ovl_node);
    *rows = (ovl_node){.kind = OVL_NODE_LIST, .mark = name->mark};
    if (!text) {
        ovl_error(l->errs, OVL_E_INPUT, name->mark, "cannot read \"%s\": %s",
                  ovl_shown_path(path, l->arena), why);
        return rows;
    }
    for (uint32_t line = 1; *text; line++) {
        size_t width = strcspn(text, "\r\n");
        ovl_mark mark = {ovl_arena_strdup(l->arena, path), line, 1};
        ovl_node *row = ovl_node_scalar(ovl_arena_strndup(l->arena, text, width), mark, l->arena);
        row->quoted = true; /* a row of nothing is a row */
        ovl_node_insert(rows, rows->count, row, l->arena);
        text += width;
        text += strspn(text, "\r");
        text += *text == '\n';
    }
    return rows;
}

/* Puts the rows in the place of the file's name, which a map has under `key`. */
static void graft_rows(loader *l, ovl_node *map, const char *key)
{
    const ovl_node *name = ovl_node_get(map, key);
    if (ovl_node_is_null(name) || name->kind != OVL_NODE_SCALAR) {
        return;
    }
    for (uint32_t i = 0; i < map->count; i++) {
        if (map->pairs[i].value == name) {
            map->pairs[i].value = schedule_rows(l, name);
        }
    }
}

/* Wherever a scenario or a variant may name one: overlap.pipeline.schedule_file. */
static void graft_schedule(loader *l, ovl_node *map)
{
    ovl_node *overlap = ovl_node_get(map, "overlap");
    graft_rows(l, map, "overlap.pipeline.schedule_file");
    graft_rows(l, ovl_node_get(map, "overlap.pipeline"), "schedule_file");
    graft_rows(l, ovl_node_get(overlap, "pipeline"), "schedule_file");
    graft_rows(l, overlap, "pipeline.schedule_file");
}

/* --- Variants --- */

static void check_variants(const ovl_node *variants, ovl_errs *errs)
{
    if (ovl_node_is_null(variants)) {
        return;
    }
    if (variants->kind != OVL_NODE_MAP) {
        ovl_wrong_shape(variants, "variants", "a mapping of names to {path: value}", errs);
        return;
    }
    if (variants->count > VARIANTS_MAX) {
        ovl_error(errs, OVL_E_INPUT, variants->mark, "more than %d variants", VARIANTS_MAX);
    }
    for (uint32_t i = 0; i < variants->count; i++) {
        const ovl_pair_node *pair = &variants->pairs[i];
        if (strcmp(pair->key, "base") == 0) {
            ovl_error(errs, OVL_E_INPUT, pair->key_mark,
                      "\"base\" is the scenario itself; give the variant another name");
        }
        if (pair->value->kind != OVL_NODE_MAP) {
            ovl_wrong_shape(pair->value, ovl_shown(pair->key, errs->arena),
                            "a mapping of paths to values", errs);
        } else if (pair->value->count > PATHS_MAX) {
            ovl_error(errs, OVL_E_INPUT, pair->value->mark, "more than %d paths in one variant",
                      PATHS_MAX);
        }
    }
}

static void list_variants(ovl_document *doc, ovl_arena *arena)
{
    const ovl_node *variants = ovl_node_get(doc->root, "variants");
    if (!variants || variants->kind != OVL_NODE_MAP) {
        return;
    }
    doc->variants = OVL_NEW_ARRAY(arena, const char *, variants->count);
    for (uint32_t i = 0; i < variants->count && i < VARIANTS_MAX; i++) {
        if (strcmp(variants->pairs[i].key, "base") != 0) {
            doc->variants[doc->n_variants++] = variants->pairs[i].key;
        }
    }
}

/* --- Loading --- */

static void graft_all(loader *l, ovl_node *root)
{
    graft_hardware(l, root);
    graft_schedule(l, root);
    ovl_node *variants = ovl_node_get(root, "variants");
    if (!variants || variants->kind != OVL_NODE_MAP) {
        return;
    }
    for (uint32_t i = 0; i < variants->count; i++) {
        if (variants->pairs[i].value->kind == OVL_NODE_MAP) {
            graft_hardware(l, variants->pairs[i].value);
            graft_schedule(l, variants->pairs[i].value);
        }
    }
}

static bool decode_variant(const ovl_document *doc, const char *variant, const ovl_set *sets,
                           uint32_t n_sets, ovl_scenario *scenario, bool wrong, ovl_arena *arena,
                           ovl_errs *errs);

/* After mistakes that leave a tree: what else is wrong is told in the same run. */
static void decode_for_mistakes(const ovl_document *doc, ovl_errs *errs)
{
    ovl_arena scratch = {0};
    ovl_scenario scenario;
    decode_variant(doc, NULL, NULL, 0, &scenario, true, &scratch, errs);
    for (uint32_t i = 0; i < doc->n_variants && errs->count < OVL_ERRS_MAX; i++) {
        decode_variant(doc, doc->variants[i], NULL, 0, &scenario, true, &scratch, errs);
    }
    ovl_arena_free(&scratch);
}

static void load(loader *l, ovl_document *doc)
{
    ovl_node *root = read_tree(l, l->path, (ovl_mark){l->path, 0, 0});
    if (!root) {
        return;
    }
    if (root->kind != OVL_NODE_MAP) {
        ovl_wrong_shape(root, "scenario", "a mapping (name, hardware, workload, ...)", l->errs);
        return;
    }
    graft_all(l, root);
    read_all_traces(l, root, doc);
    doc->root = root;
    list_variants(doc, l->arena);
    if (l->errs->errors) {
        decode_for_mistakes(doc, l->errs);
    }
}

bool ovl_document_load(const char *path, const ovl_files *files, ovl_document *doc,
                       ovl_arena *arena, ovl_errs *errs)
{
    ovl_errs mine = {.arena = errs->arena};
    ovl_arena scratch = {0};
    const char *file = ovl_arena_strdup(arena, path);
    loader l = {
        .path = file, .files = files, .arena = arena, .errs = &mine, .read = {.arena = &scratch}};
    l.trace_names.arena = arena;
    *doc = (ovl_document){.file = file};
    load(&l, doc);
    ovl_vec_free(&l.trees);
    ovl_vec_free(&l.traces);
    ovl_arena_free(&scratch);
    return hand_over(&mine, errs);
}

/* --- Changes: a variant, then --set --- */

typedef struct change {
    const char *path;
    ovl_mark mark;
    ovl_node *value;
    ovl_status code;
} change;

typedef OVL_VEC(change) changes;

static bool is_within(const char *path, const char *key)
{
    size_t length = strlen(key);
    return strncmp(path, key, length) == 0 && strchr(".[", path[length]);
}

static bool is_params(const char *path)
{
    return is_within(path, "params");
}

static bool add_variant(const ovl_document *doc, const char *variant, changes *list, ovl_errs *errs)
{
    if (!variant || strcmp(variant, "base") == 0) {
        return true;
    }
    const ovl_node *map = ovl_node_get(ovl_node_get(doc->root, "variants"), variant);
    if (!map) {
        ovl_unknown_name((ovl_mark){doc->file, 0, 0}, "variant", variant, doc->variants,
                         doc->n_variants, OVL_E_USAGE, errs);
        return false;
    }
    for (uint32_t i = 0; map->kind == OVL_NODE_MAP && i < map->count && i < PATHS_MAX; i++) {
        const ovl_pair_node *pair = &map->pairs[i];
        ovl_vec_push(list, (change){pair->key, pair->key_mark, pair->value, OVL_E_INPUT});
    }
    return true;
}

/* The value is only read; paths that go on inside it copy what they change. */
static void add_change(const ovl_set *set, changes *list)
{
    union {
        const ovl_node *borrowed;
        ovl_node *node;
    } value = {set->value};
    ovl_status code = set->mark.line ? OVL_E_INPUT : OVL_E_USAGE;
    ovl_vec_push(list, (change){set->path, set->mark, value.node, code});
}

static void add_set(const ovl_set *set, changes *list, ovl_arena *arena, ovl_errs *errs)
{
    if (set->path) {
        add_change(set, list);
        return;
    }
    const char *equals = strchr(set->text, '=');
    size_t length = equals ? (size_t)(equals - set->text) : 0;
    const char *path = ovl_arena_strndup(arena, set->text, length);
    const char *file = ovl_arena_printf(arena, SET_FILE "%s", ovl_shown(path, arena));
    if (!length || !equals[1]) {
        ovl_error(errs, OVL_E_USAGE, (ovl_mark){0},
                  "--set takes path=value, such as overlap.ddp.bucket_cap=50MiB; found \"%s\"",
                  ovl_shown(set->text, arena));
        return;
    }
    if (is_within(path, "variants")) {
        ovl_error(errs, OVL_E_USAGE, (ovl_mark){file, 0, 0},
                  "a variant cannot be changed or added here; set the value itself, which holds in "
                  "every variant, or write the variant into the file");
        return;
    }
    ovl_node *value = ovl_yaml_parse(file, equals + 1, strlen(equals + 1), arena, errs);
    if (value) {
        ovl_vec_push(list, (change){path, {file, 0, 0}, value, OVL_E_USAGE});
    }
}

/* A parameter that nothing names would change nothing: the name must be there. */
static bool check_param(const ovl_node *root, const change *c, ovl_errs *errs)
{
    const ovl_node *params = ovl_node_get(root, "params");
    const char *name = c->path[6] ? c->path + 7 : "";
    if (!params || params->kind != OVL_NODE_MAP || !*name || ovl_node_get(params, name)) {
        return true;
    }
    ovl_arena scratch = {0};
    const char **names = OVL_NEW_ARRAY(&scratch, const char *, params->count);
    for (uint32_t i = 0; i < params->count; i++) {
        names[i] = params->pairs[i].key;
    }
    ovl_unknown_name(c->mark, "parameter", name, names, params->count, c->code, errs);
    ovl_arena_free(&scratch);
    return false;
}

/* Parameters first: a path that splits a layer must know how often it repeats. */
static void apply(ovl_node **root, const changes *list, ovl_arena *arena, ovl_errs *errs)
{
    for (int params = 1; params >= 0; params--) {
        for (uint32_t i = 0; i < list->len; i++) {
            const change *c = &list->data[i];
            if (is_params(c->path) != (params == 1) || (params && !check_param(*root, c, errs))) {
                continue;
            }
            ovl_path_set(root, c->path, c->mark, c->value, arena, c->code, errs);
        }
    }
}

/* --- Decoding --- */

/* "scenarios/last_bucket.yaml" -> "last_bucket". */
static const char *name_of_file(const char *path, ovl_arena *arena)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    return ovl_arena_strndup(arena, name, dot && dot > name ? (size_t)(dot - name) : strlen(name));
}

static void decode_hardware(const ovl_raw_scenario *raw, ovl_hw *hw, ovl_arena *arena,
                            ovl_errs *errs)
{
    ovl_node none = {.kind = OVL_NODE_MAP, .mark = raw->scenario.mark};
    const ovl_node *node = raw->hardware ? raw->hardware : &none;
    if (node->kind == OVL_NODE_SCALAR) {
        ovl_error(errs, OVL_E_INPUT, node->mark,
                  "a hardware file can be named in the scenario and its variants only; paths reach "
                  "into it (hardware.gpu.hbm)");
        node = &none;
    }
    ovl_hw_decode(node, hw, arena, errs);
}

static const ovl_seen *find_trace(const ovl_document *doc, const char *name)
{
    for (uint32_t i = 0; i < doc->n_traces; i++) {
        if (strcmp(doc->trace_names[i], name) == 0) {
            return &doc->traces[i];
        }
    }
    return NULL;
}

/* Under measured interference recorded durations are taken back to what they would be alone. */
static bool isolate(const ovl_scenario *s, ovl_recorded *recorded, ovl_mark mark, ovl_arena *arena,
                    ovl_errs *errs)
{
    return s->interference != OVL_INTERFERENCE_MEASURED ||
           ovl_record_isolate(recorded, &s->hw, &s->workload.replay.classes, mark, arena, errs);
}

/* The step of the traces that the workload names, as a program; their ranks are the scenario's. */
static void record_traces(const ovl_document *doc, ovl_scenario *s, ovl_arena *arena,
                          ovl_errs *errs)
{
    const ovl_texts *names = &s->workload.trace;
    ovl_seen *files = OVL_NEW_ARRAY(arena, ovl_seen, names->count);
    for (uint32_t i = 0; i < names->count; i++) {
        const ovl_seen *seen = find_trace(doc, names->item[i]);
        if (!seen) {
            ovl_error(errs, OVL_E_INPUT, names->mark[i],
                      "a trace can be named in the scenario and its variants only");
            return;
        }
        if (seen->refused) {
            return; /* said where it was read */
        }
        files[i] = *seen;
    }
    const ovl_replay_keys *keys = &s->workload.replay;
    ovl_record_options options = {keys->step, keys->comm, keys->unexplained == OVL_PAUSES_DROP};
    ovl_recorded *recorded = OVL_NEW(arena, ovl_recorded);
    ovl_mark mark = keys->mark.file ? keys->mark : names->mark[0];
    const ovl_change_keys *what_if = &s->workload.what_if;
    if (!ovl_record(files, names->count, &options, mark, arena, recorded, errs) ||
        !isolate(s, recorded, mark, arena, errs)) {
        return;
    }
    const ovl_recorded *unchanged =
        ovl_record_changes(what_if) ? ovl_record_copy(recorded, arena) : NULL;
    if (ovl_record_change(recorded, what_if, arena, errs)) {
        s->recorded = recorded;
        s->unchanged = unchanged;
        s->n_ranks = recorded->n_ranks;
    }
}

/* Recorded durations already hold what work beside each other cost. Factors that were measured can
 * be divided out of them and put on again; the shared model would need what kernels want. */
static void replay_interference(const ovl_node *root, ovl_scenario *s, ovl_errs *errs)
{
    if (!ovl_node_gives(root, "interference")) {
        s->interference = OVL_INTERFERENCE_NONE;
    } else if (s->interference == OVL_INTERFERENCE_SHARED) {
        ovl_error(errs, OVL_E_INPUT, ovl_node_get(root, "interference")->mark,
                  "a trace is replayed with interference none or measured: its durations were "
                  "recorded beside other work and hold what that cost, which shared would add once "
                  "more. Leave the key out");
        s->interference = OVL_INTERFERENCE_NONE;
    }
}

static void decode(const ovl_document *doc, ovl_node *root, ovl_scenario *scenario,
                   ovl_arena *arena, ovl_errs *errs)
{
    ovl_raw_scenario raw = {0};
    ovl_decode(root, &ovl_scenario_table, &raw, arena, errs);
    decode_hardware(&raw, &raw.scenario.hw, arena, errs);
    ovl_finish_scenario(&raw, arena, errs);
    *scenario = raw.scenario;
    scenario->file = doc->file;
    if (!scenario->name) {
        scenario->name = name_of_file(doc->file, arena);
    }
    ovl_check_scenario(scenario, errs);
    if (scenario->workload.trace.count) {
        replay_interference(root, scenario, errs);
        if (errs->errors == 0) { /* what a mistake leaves unsaid is not guessed at */
            record_traces(doc, scenario, arena, errs);
        }
    }
}

/* Names that lead nowhere are found by lowering, which does not happen after mistakes (`wrong`:
 * some were made before). */
static bool decode_variant(const ovl_document *doc, const char *variant, const ovl_set *sets,
                           uint32_t n_sets, ovl_scenario *scenario, bool wrong, ovl_arena *arena,
                           ovl_errs *errs)
{
    ovl_errs mine = {.arena = errs->arena};
    changes list = {0};
    ovl_node *root = doc->root;
    *scenario = (ovl_scenario){.file = doc->file};
    if (add_variant(doc, variant, &list, &mine)) {
        for (uint32_t i = 0; i < n_sets; i++) {
            add_set(&sets[i], &list, arena, &mine);
        }
        check_variants(ovl_node_get(root, "variants"), &mine);
        apply(&root, &list, arena, &mine);
        ovl_params_apply(&root, arena, &mine);
        decode(doc, root, scenario, arena, &mine);
        ovl_check_model_axes(scenario, root, &mine);
        if (wrong || mine.errors) {
            ovl_check_names(scenario, root, &mine);
            ovl_machines_check(scenario, &mine);
        }
        scenario->variant = variant ? ovl_arena_strdup(arena, variant) : "base";
    }
    ovl_vec_free(&list);
    return hand_over(&mine, errs);
}

bool ovl_scenario_decode(const ovl_document *doc, const char *variant, const ovl_set *sets,
                         uint32_t n_sets, ovl_scenario *scenario, ovl_arena *arena, ovl_errs *errs)
{
    return decode_variant(doc, variant, sets, n_sets, scenario, false, arena, errs);
}
