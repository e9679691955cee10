/*
 * transcript - runs the commands of a transcript and compares what they print, to the byte.
 *
 *     transcript --ovl build/tools/ovl [--update] FILE...
 *
 * A `.t` file holds any number of blocks; text before the first is a comment:
 *
 *     $ ovl run scenarios/first_steps/interference.yaml      a shell command
 *     ...                                                    what it prints, both streams
 *     ? 1                                                    its exit status; absent: 0
 *
 * `? N` closes a block: text between it and the next `$ ` is a comment. A line `[...]` stands for
 * any number of lines. Blank lines at the end of a block do not count. A `.md` file is read the
 * same way inside its fenced blocks, so that the examples of a page are tests. Commands run in the
 * current directory (the repository's root) with `ovl` first on PATH; `$T` is an empty directory of
 * their own, shown as `$T` where its name is printed.
 */
#include "sim/vec.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

typedef OVL_VEC(const char *) line_list;

typedef struct block {
    const char *command;
    uint32_t first;    /* line of the command */
    uint32_t from, to; /* expected lines */
    uint32_t end;      /* first line that is not of this block */
    int status;
} block;

typedef OVL_VEC(block) block_list;

typedef struct run {
    ovl_arena *arena;
    const char *scratch;
    bool update;
    uint32_t ran, failed;
} run;

static bool starts(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static bool ends(const char *text, const char *with)
{
    size_t n = strlen(text), m = strlen(with);
    return n >= m && strcmp(text + n - m, with) == 0;
}

/* All of a stream as a text in the arena. */
static char *slurp(FILE *in, ovl_arena *arena)
{
    OVL_VEC(char) text = {0};
    int c;
    while ((c = getc(in)) != EOF) {
        ovl_vec_push(&text, (char)c);
    }
    ovl_vec_push(&text, '\0');
    return ovl_vec_freeze(&text, arena);
}

/* Cuts a text at its newlines, in place. */
static line_list cut(char *text)
{
    line_list lines = {0};
    while (*text) {
        ovl_vec_push(&lines, text);
        char *end = strchr(text, '\n');
        if (!end) {
            break;
        }
        *end = '\0';
        text = end + 1;
    }
    return lines;
}

static bool is_status(const char *line)
{
    return starts(line, "? ") && line[2] >= '0' && line[2] <= '9';
}

/* Reads one block that starts at line `i`; `fenced` blocks also end where the fence does. */
static block read_block(const line_list *lines, uint32_t i, bool fenced, ovl_arena *arena)
{
    block b = {.first = i, .command = lines->data[i] + 2};
    while (ends(b.command, "\\") && i + 1 < lines->len) {
        b.command = ovl_arena_printf(arena, "%s\n%s", b.command, lines->data[++i]);
    }
    b.from = ++i;
    while (i < lines->len && !starts(lines->data[i], "$ ") && !is_status(lines->data[i]) &&
           !(fenced && starts(lines->data[i], "```"))) {
        i++;
    }
    b.to = b.end = i;
    while (b.to > b.from && !lines->data[b.to - 1][0]) {
        b.to--;
    }
    if (i < lines->len && is_status(lines->data[i])) {
        b.status = (int)strtol(lines->data[i] + 2, NULL, 10);
        b.end = i + 1;
    }
    return b;
}

static block_list read_blocks(const line_list *lines, bool markdown, ovl_arena *arena)
{
    block_list blocks = {0};
    bool inside = !markdown;
    for (uint32_t i = 0; i < lines->len;) {
        const char *line = lines->data[i];
        if (markdown && starts(line, "```")) {
            inside = !inside;
        }
        if (!inside || !starts(line, "$ ")) {
            i++;
            continue;
        }
        block b = read_block(lines, i, markdown, arena);
        ovl_vec_push(&blocks, b);
        i = b.end;
    }
    return blocks;
}

/* Do the lines match, `[...]` standing for any number of them? Greedy with one point to return to,
 * as for `*` in file names. */
static bool match(const char *const *want, uint32_t n_want, const char *const *got, uint32_t n_got)
{
    uint32_t w = 0, g = 0, star = OVL_NONE, resume = 0;
    while (g < n_got) {
        if (w < n_want && strcmp(want[w], "[...]") == 0) {
            star = w++;
            resume = g;
        } else if (w < n_want && strcmp(want[w], got[g]) == 0) {
            w++;
            g++;
        } else if (star != OVL_NONE) {
            w = star + 1;
            g = ++resume;
        } else {
            return false;
        }
    }
    while (w < n_want && strcmp(want[w], "[...]") == 0) {
        w++;
    }
    return w == n_want;
}

/* The text with each mention of the scratch directory replaced by `$T`. */
static char *hide_scratch(const char *text, const char *scratch, ovl_arena *arena)
{
    OVL_VEC(char) out = {0};
    size_t n = strlen(scratch);
    while (*text) {
        if (strncmp(text, scratch, n) == 0) {
            ovl_vec_push(&out, '$');
            ovl_vec_push(&out, 'T');
            text += n;
        } else {
            ovl_vec_push(&out, *text++);
        }
    }
    ovl_vec_push(&out, '\0');
    return ovl_vec_freeze(&out, arena);
}

/* Runs a command; gives its lines without blank ones at the end, and its exit status. */
static line_list execute(const run *r, const char *command, int *status)
{
    fflush(stdout);
    FILE *in = popen(ovl_arena_printf(r->arena, "exec </dev/null 2>&1\n%s", command), "r");
    if (!in) {
        perror("popen");
        exit(2);
    }
    char *text = hide_scratch(slurp(in, r->arena), r->scratch, r->arena);
    int code = pclose(in);
    *status = WIFEXITED(code) ? WEXITSTATUS(code) : 128 + WTERMSIG(code);
    line_list lines = cut(text);
    while (lines.len && !lines.data[lines.len - 1][0]) {
        lines.len--;
    }
    return lines;
}

static void show(const char *title, const char *const *lines, uint32_t n)
{
    printf("  %s:\n", title);
    for (uint32_t i = 0; i < n; i++) {
        printf("    %s\n", lines[i]);
    }
}

static void complain(const char *file, const block *b, const line_list *lines, const line_list *got,
                     int status)
{
    printf("%s:%u: $ %s\n", file, b->first + 1, b->command);
    if (status != b->status) {
        printf("  exit status %d, expected %d\n", status, b->status);
    }
    uint32_t n = b->to - b->from, same = 0;
    const char *const *want = lines->data + b->from;
    while (same < n && same < got->len && strcmp(want[same], got->data[same]) == 0) {
        same++;
    }
    printf("  first difference at line %u of the output\n", same + 1);
    show("expected", want, n);
    show("got", got->data, got->len);
}

static void write_block(FILE *out, const line_list *lines, const block *b, const line_list *got,
                        int status)
{
    for (uint32_t i = b->first; i < b->from; i++) {
        fprintf(out, "%s\n", lines->data[i]);
    }
    for (uint32_t i = 0; i < got->len; i++) {
        fprintf(out, "%s\n", got->data[i]);
    }
    bool closed = b->end > b->from && is_status(lines->data[b->end - 1]);
    if (status != 0 || closed) {
        fprintf(out, "? %d\n", status);
    } else {
        for (uint32_t i = b->to; i < b->end; i++) {
            fprintf(out, "\n");
        }
    }
}

/* Writes the file anew with the output of the blocks that did not match. */
static void rewrite(const char *file, const line_list *lines, const block_list *blocks,
                    const line_list *got, const int *status, const bool *good)
{
    FILE *out = fopen(file, "w");
    if (!out) {
        perror(file);
        exit(2);
    }
    uint32_t at = 0;
    for (uint32_t k = 0; k < blocks->len; k++) {
        const block *b = &blocks->data[k];
        uint32_t upto = good[k] ? b->end : b->first;
        for (; at < upto; at++) {
            fprintf(out, "%s\n", lines->data[at]);
        }
        if (!good[k]) {
            write_block(out, lines, b, &got[k], status[k]);
            at = b->end;
        }
    }
    for (; at < lines->len; at++) {
        fprintf(out, "%s\n", lines->data[at]);
    }
    fclose(out);
}

static void run_file(run *r, const char *file)
{
    FILE *in = fopen(file, "r");
    if (!in) {
        perror(file);
        exit(2);
    }
    line_list lines = cut(slurp(in, r->arena));
    fclose(in);
    block_list blocks = read_blocks(&lines, ends(file, ".md"), r->arena);
    line_list *got = OVL_NEW_ARRAY(r->arena, line_list, blocks.len);
    int *status = OVL_NEW_ARRAY(r->arena, int, blocks.len);
    bool *good = OVL_NEW_ARRAY(r->arena, bool, blocks.len);
    uint32_t wrong = 0;
    for (uint32_t k = 0; k < blocks.len; k++) {
        const block *b = &blocks.data[k];
        got[k] = execute(r, b->command, &status[k]);
        good[k] = status[k] == b->status &&
                  match(lines.data + b->from, b->to - b->from, got[k].data, got[k].len);
        wrong += !good[k];
        if (!good[k] && !r->update) {
            complain(file, b, &lines, &got[k], status[k]);
        }
    }
    if (wrong && r->update) {
        rewrite(file, &lines, &blocks, got, status, good);
    }
    r->ran += blocks.len;
    r->failed += wrong;
    for (uint32_t k = 0; k < blocks.len; k++) {
        ovl_vec_free(&got[k]);
    }
    ovl_vec_free(&blocks);
    ovl_vec_free(&lines);
}

/* Puts `ovl` first on PATH and makes the scratch directory beside it. */
static bool prepare(run *r, const char *ovl)
{
    char here[4096];
    if (!getcwd(here, sizeof here)) {
        perror("getcwd");
        return false;
    }
    char *path = ovl_arena_printf(r->arena, "%s%s%s", ovl[0] == '/' ? "" : here,
                                  ovl[0] == '/' ? "" : "/", ovl);
    *strrchr(path, '/') = '\0';
    char *scratch = ovl_arena_printf(r->arena, "%s/transcript-XXXXXX", path);
    const char *old = getenv("PATH");
    setenv("PATH", ovl_arena_printf(r->arena, "%s:%s", path, old ? old : "/usr/bin:/bin"), 1);
    r->scratch = mkdtemp(scratch);
    if (!r->scratch) {
        perror(scratch);
        return false;
    }
    setenv("T", r->scratch, 1);
    setenv("LC_ALL", "C", 1);
    unsetenv("COLUMNS");
    return true;
}

int main(int argc, char **argv)
{
    ovl_arena arena = {0};
    run r = {.arena = &arena};
    const char *ovl = NULL;
    int i = 1;
    for (; i < argc && starts(argv[i], "--"); i++) {
        if (strcmp(argv[i], "--update") == 0) {
            r.update = true;
        } else if (strcmp(argv[i], "--ovl") == 0 && i + 1 < argc) {
            ovl = argv[++i];
        }
    }
    if (!ovl || i == argc) {
        fprintf(stderr, "usage: transcript --ovl PROGRAM [--update] FILE...\n");
        return 2;
    }
    if (!prepare(&r, ovl)) {
        return 2;
    }
    for (; i < argc; i++) {
        run_file(&r, argv[i]);
    }
    int removed = system("rm -rf -- \"$T\"");
    printf("%u commands, %u %s\n", r.ran, r.failed, r.update ? "rewritten" : "wrong");
    ovl_arena_free(&arena);
    return removed != 0 || r.ran == 0 || (r.failed && !r.update);
}
