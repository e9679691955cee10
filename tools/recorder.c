#include "tools/recorder.h"

#include <string.h>

static const ovl_kept_file *find(const ovl_recorder *r, const char *path)
{
    for (uint32_t i = 0; i < r->files.len; i++) {
        if (strcmp(r->files.data[i].path, path) == 0) {
            return &r->files.data[i];
        }
    }
    return NULL;
}

static const char *read_and_keep(void *context, const char *path, size_t *length, ovl_arena *arena,
                                 const char **why)
{
    ovl_recorder *r = context;
    const char *text = r->inner.read(r->inner.context, path, length, arena, why);
    if (text && !find(r, path)) {
        ovl_kept_file kept = {ovl_arena_strdup(r->arena, path),
                              ovl_arena_strndup(r->arena, text, *length), *length};
        ovl_vec_push(&r->files, kept);
    }
    return text;
}

static const char *read_kept(void *context, const char *path, size_t *length, ovl_arena *arena,
                             const char **why)
{
    const ovl_kept_file *kept = find(context, path);
    (void)arena;
    if (!kept) {
        *why = "is not in the store";
        return NULL;
    }
    *length = kept->length;
    return kept->text;
}

/* --- Measured traces: "sha256:" and the digest stand for the text --- */

static const char *digest_of(const char *path, ovl_arena *arena)
{
    char hex[OVL_SHA256_TEXT];
    return ovl_sha256_file(path, hex) ? ovl_arena_printf(arena, "sha256:%s", hex) : "sha256:";
}

static bool see_and_keep(void *context, const char *path, ovl_arena *arena, ovl_seen *seen,
                         ovl_errs *errs)
{
    ovl_recorder *r = context;
    if (!r->inner.see(r->inner.context, path, arena, seen, errs)) {
        return false;
    }
    if (!find(r, path)) {
        ovl_kept_file kept = {ovl_arena_strdup(r->arena, path), digest_of(path, r->arena), 0};
        kept.length = strlen(kept.text);
        ovl_vec_push(&r->files, kept);
    }
    return true;
}

static bool see_again(void *context, const char *path, ovl_arena *arena, ovl_seen *seen,
                      ovl_errs *errs)
{
    const ovl_recorder *r = context;
    const ovl_kept_file *kept = find(r, path);
    if (!kept || strcmp(kept->text, digest_of(path, arena)) != 0) {
        ovl_error(errs, OVL_E_INPUT, (ovl_mark){path, 0, 0},
                  "the trace is not there any more, or is not what it was when the run was stored");
        return false;
    }
    return r->inner.see(r->inner.context, path, arena, seen, errs);
}

ovl_files ovl_recorder_files(ovl_recorder *recorder)
{
    return (ovl_files){read_and_keep, recorder, recorder->inner.see ? see_and_keep : NULL};
}

ovl_files ovl_recorder_again(ovl_recorder *recorder)
{
    return (ovl_files){read_kept, recorder, recorder->inner.see ? see_again : NULL};
}

void ovl_digest_text(ovl_sha256 *sha, const char *text)
{
    if (text) {
        ovl_sha256_add(sha, text, strlen(text) + 1);
    } else {
        ovl_sha256_add(sha, "\x01", 2);
    }
}

void ovl_recorder_digest(const ovl_recorder *recorder, char hex[OVL_SHA256_TEXT])
{
    ovl_sha256 sha;
    ovl_sha256_begin(&sha);
    for (uint32_t i = 0; i < recorder->files.len; i++) {
        ovl_sha256_add(&sha, recorder->files.data[i].text, recorder->files.data[i].length);
        ovl_digest_text(&sha, "");
    }
    ovl_sha256_end(&sha, hex);
}

void ovl_recorder_free(ovl_recorder *recorder)
{
    ovl_vec_free(&recorder->files);
}
