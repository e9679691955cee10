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

ovl_files ovl_recorder_files(ovl_recorder *recorder)
{
    return (ovl_files){read_and_keep, recorder};
}

ovl_files ovl_recorder_again(ovl_recorder *recorder)
{
    return (ovl_files){read_kept, recorder};
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
