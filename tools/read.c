#include "tools/read.h"

#include "sim/units.h"
#include "tools/lines.h"

#include <string.h>

void ovl_read_fault_at(ovl_read_fault *fault, uint64_t byte)
{
    if (fault->count++ == 0) {
        fault->first = byte;
    }
}

const char *ovl_read_format_name(ovl_read_format format)
{
    switch (format) {
    case OVL_READ_KINETO:
        return "PyTorch profiler trace";
    case OVL_READ_TIMELINE:
        return "PyTorch memory timeline";
    case OVL_READ_NSYS:
        return "Nsight Systems export";
    case OVL_READ_NCCL_TESTS:
        return "nccl-tests output";
    case OVL_READ_INTERVALS:
        return "CSV of intervals";
    case OVL_READ_SIZES:
        return "CSV of sizes and times";
    case OVL_READ_NOTHING:
        break;
    }
    return "no trace";
}

static bool starts(const char *bytes, size_t count, const char *magic, size_t length)
{
    return count >= length && memcmp(bytes, magic, length) == 0;
}

#define STARTS(magic) starts(bytes, count, magic, sizeof(magic) - 1)

static bool is_text(const char *bytes, size_t count)
{
    for (size_t i = 0; i < OVL_MIN(count, 4096); i++) {
        unsigned char c = (unsigned char)bytes[i];
        if (c < ' ' && c != '\n' && c != '\r' && c != '\t') {
            return false;
        }
    }
    return true;
}

/* Whether the first line has fields, and a word in them: the line that tells a CSV. */
static bool first_line_has(const char *bytes, size_t count, const char *word)
{
    const char *line_end = memchr(bytes, '\n', count);
    size_t n = line_end ? (size_t)(line_end - bytes) : count, length = strlen(word);
    for (size_t i = 0; i + length <= n; i++) {
        if (memcmp(bytes + i, word, length) == 0) {
            return memchr(bytes, ',', n) != NULL;
        }
    }
    return false;
}

/* "a,b": commas and no blanks. */
static bool is_heading(const char *bytes, size_t count)
{
    const char *line_end = memchr(bytes, '\n', count);
    size_t n = line_end ? (size_t)(line_end - bytes) : count;
    return memchr(bytes, ',', n) && !memchr(bytes, ' ', n);
}

const char *ovl_read_looks_like(const char *bytes, size_t count)
{
    while (count && strchr(" \t\r\n", *bytes)) {
        bytes++;
        count--;
    }
    if (count == 0) {
        return "an empty file";
    }
    if (STARTS("\xff\xfe") || STARTS("\xfe\xff")) {
        return "text in UTF-16: save it as UTF-8 (iconv -f UTF-16 -t UTF-8)";
    }
    if (STARTS("\x7f"
               "ELF")) {
        return "a program";
    }
    if (STARTS("PK\x03\x04")) {
        return "a zip archive: unpack it";
    }
    if (STARTS("\x28\xb5\x2f\xfd")) {
        return "compressed by zstd: decompress it";
    }
    if (STARTS("\xfd"
               "7zXZ") ||
        STARTS("BZh")) {
        return "compressed by xz or bzip2: decompress it";
    }
    if (STARTS("\x89PNG") || STARTS("\xff\xd8\xff")) {
        return "an image";
    }
    if (STARTS("%PDF")) {
        return "a PDF document";
    }
    if (STARTS("QDSTRM") || STARTS("NVIDIA Nsight")) {
        return "an Nsight Systems report: export it with nsys export --type sqlite";
    }
    if (STARTS("SQLite format 3")) {
        return "an SQLite database that is compressed or comes through a pipe: it must be a file "
               "of its own";
    }
    if (STARTS("<")) {
        return "HTML or XML";
    }
    if (!is_text(bytes, count)) {
        return "binary data";
    }
    if (STARTS("{") || STARTS("[")) {
        return "JSON without a list of trace events";
    }
    if (first_line_has(bytes, count, "algbw") || first_line_has(bytes, count, "bandwidth")) {
        return "a CSV of bandwidths without sizes and times: alpha and beta cannot be told apart "
               "from it";
    }
    return is_heading(bytes, count) ? "text that may be a CSV; it needs columns such as start_us "
                                      "and dur_us, or size_bytes "
                                      "and time_us"
                                    : "text";
}

static const char *times_of(uint64_t count, const char *one, const char *many)
{
    return count == 1 ? one : many;
}

static void say(ovl_errs *errs, ovl_mark mark, const ovl_read_fault *fault, bool bytes,
                const char *one, const char *many)
{
    if (fault->count) {
        ovl_warning(errs, mark, "%" PRIu64 " %s; the first at %s %" PRIu64, fault->count,
                    times_of(fault->count, one, many), bytes ? "byte" : "row", fault->first);
    }
}

void ovl_read_complain(const char *path, const ovl_read_about *about, ovl_errs *errs)
{
    const ovl_mark mark = {path, 0, 0};
    const ovl_read_faults *f = &about->faults;
    bool bytes = about->format != OVL_READ_NSYS;
    say(errs, mark, &f->broken, bytes, "event is broken and was skipped",
        "events are broken and were skipped");
    say(errs, mark, &f->too_long, bytes,
        "event does not end within 16 MiB, the most that one may take, and was skipped",
        "events do not end within 16 MiB, the most that one may take, and were skipped");
    say(errs, mark, &f->no_device, bytes,
        "device operation has a device that is no number below 2^63 and was skipped",
        "device operations have a device that is no number below 2^63 and were skipped");
    say(errs, mark, &f->repaired, bytes,
        "event has unescaped quotes or control characters and was repaired",
        "events have unescaped quotes or control characters and were repaired");
    say(errs, mark, &f->no_time, bytes, "event has no time that can be read and was skipped",
        "events have no time that can be read and were skipped");
    say(errs, mark, &f->no_end, bytes, "device operation has no duration; 0 was taken",
        "device operations have no duration; 0 was taken");
    say(errs, mark, &f->negative, bytes, "duration is negative; 0 was taken",
        "durations are negative; 0 was taken");
    say(errs, mark, &f->more, bytes,
        "further JSON document stands behind the first; it was read as more of the same trace",
        "further JSON documents stand behind the first; they were read as more of the same trace");
    say(errs, mark, &f->behind, bytes, "byte stands behind the JSON document and was left out",
        "bytes stand behind the JSON document and were left out");
    if (f->no_heading) {
        ovl_warning(errs, mark,
                    "no heading names the columns: they are taken as size, count, type, redop, "
                    "root, then time, algbw, busbw, #wrong out of place and in place");
    }
    if (f->cut) {
        ovl_warning(errs, mark, "the file is truncated: it ends at byte %" PRIu64 ", after %s",
                    f->cut_at, ovl_counted(errs->arena, f->cut_after, "whole event"));
    }
}

static void begin(ovl_read_about *about)
{
    *about = (ovl_read_about){.arena = about->arena, .rank = -1, .world = -1, .n_ranks = -1};
}

/* Tables of nccl-tests begin with remarks, or with what a launcher printed before them. */
static bool may_be_json(const ovl_source *source)
{
    const char *p = source->at;
    while (p < source->end && strchr(" \t\r\n\xEF\xBB\xBF", *p)) {
        p++;
    }
    const ovl_slice rest = {p, (size_t)(source->end - p)};
    return rest.length && (*p == '{' || (*p == '[' && !ovl_launcher_prefix(rest)));
}

static bool read_source(ovl_source *source, const ovl_sink *sink, ovl_read_about *about)
{
    if (may_be_json(source)) {
        return ovl_read_kineto(source, sink, about);
    }
    if (starts(source->at, (size_t)(source->end - source->at), "\xEF\xBB\xBF", 3)) {
        source->at += 3;
    }
    size_t count = (size_t)(source->end - source->at);
    if (first_line_has(source->at, count, "start_")) {
        return ovl_read_intervals(source, sink, about);
    }
    if (first_line_has(source->at, count, "time") && ovl_read_sizes(source, sink, about)) {
        return true;
    }
    count = (size_t)(source->end - source->at);
    return is_text(source->at, count) && ovl_read_nccl_tests(source, sink, about);
}

static void complain_gzip(const ovl_source *source, ovl_errs *errs)
{
    if (source->behind) {
        ovl_warning(errs, (ovl_mark){source->path, 0, 0},
                    "%s behind the compressed data, from byte %" PRIu64
                    " of the file on, not compressed by gzip and left out",
                    ovl_counted(errs->arena, source->behind, "byte"), source->behind_at);
    }
}

static bool read_open(ovl_source *source, const ovl_sink *sink, ovl_read_about *about,
                      ovl_errs *errs)
{
    const ovl_mark mark = {source->path, 0, 0};
    size_t count = (size_t)(source->end - source->at);
    const char *like = ovl_read_looks_like(source->at, count);
    bool good = read_source(source, sink, about) && !about->refused;
    if (about->refused) {
        ovl_error(errs, OVL_E_INPUT, mark, "%s", about->refused);
    } else if (!good && source->damage) {
        ovl_error(errs, OVL_E_INPUT, mark, "cannot be read: %s", source->damage);
    } else if (!good) {
        ovl_error(errs, OVL_E_INPUT, mark, "is no trace; it looks like %s", like);
    } else if (source->damage) {
        about->faults.damaged = true;
        ovl_warning(errs, mark, "%s, at byte %" PRIu64 " of the contents", source->damage,
                    ovl_source_where(source, source->end));
    }
    if (good) {
        ovl_read_complain(source->path, about, errs);
        complain_gzip(source, errs);
    }
    return good;
}

bool ovl_read_file(const char *path, const ovl_sink *sink, ovl_read_about *about, ovl_errs *errs)
{
    static const char magic[] = "SQLite format 3";
    ovl_source source;
    begin(about);
    if (!ovl_source_open(&source, path, errs)) {
        return false;
    }
    bool database = !source.compressed && strcmp(path, "-") != 0 &&
                    starts(source.at, (size_t)(source.end - source.at), magic, sizeof magic);
    bool good = !database && read_open(&source, sink, about, errs);
    ovl_source_close(&source);
    if (database) {
        good = ovl_read_nsys(path, sink, about, errs);
        if (good) {
            ovl_read_complain(path, about, errs);
        }
    }
    return good;
}

bool ovl_read_in_memory(const char *path, const void *bytes, size_t count, const ovl_sink *sink,
                        ovl_read_about *about, ovl_errs *errs)
{
    ovl_source source;
    begin(about);
    ovl_source_memory(&source, path, bytes, count);
    bool good = read_open(&source, sink, about, errs);
    ovl_source_close(&source);
    return good;
}
