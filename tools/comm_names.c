#include "tools/comm_names.h"

#include <ctype.h>
#include <string.h>

/* Letters and digits in lower case: "_reduce_scatter_base" is "reducescatterbase". */
static void plain(ovl_slice text, char out[128])
{
    size_t n = 0;
    for (size_t i = 0; i < text.length && n < 127; i++) {
        unsigned char c = (unsigned char)text.text[i];
        if (isalnum(c)) {
            out[n++] = (char)tolower(c);
        }
    }
    out[n] = '\0';
}

/* Longer words before words they contain. */
const char *ovl_comm_op_name(ovl_slice text)
{
    static const char *const words[][2] = {
        {"allreduce", "all_reduce"},
        {"reducescatter", "reduce_scatter"},
        {"allgather", "all_gather"},
        {"alltoall", "all_to_all"},
        {"sendrecv", "send_recv"},
        {"broadcast", "broadcast"},
        {"barrier", "barrier"},
        {"gather", "gather"},
        {"scatter", "scatter"},
        {"reduce", "reduce"},
        {"send", "send"},
        {"recv", "recv"},
    };
    char name[128];
    plain(text, name);
    for (size_t i = 0; i < OVL_COUNT(words); i++) {
        if (strstr(name, words[i][0])) {
            return words[i][1];
        }
    }
    return "other";
}

int64_t ovl_dtype_bytes(ovl_slice dtype)
{
    static const struct {
        const char *name;
        int64_t bytes;
    } sizes[] = {
        {"Float8", 1}, {"Float", 4},  {"Half", 2},   {"BFloat16", 2},     {"Double", 8},
        {"Long", 8},   {"Int", 4},    {"Short", 2},  {"Byte", 1},         {"Char", 1},
        {"Bool", 1},   {"UInt8", 1},  {"QInt", 1},   {"ComplexFloat", 8}, {"ComplexDouble", 16},
        {"UInt64", 8}, {"UInt32", 4}, {"UInt16", 2},
    };
    for (size_t i = 0; i < OVL_COUNT(sizes); i++) {
        if (ovl_slice_starts(dtype, sizes[i].name)) {
            return sizes[i].bytes;
        }
    }
    return 0;
}

int64_t ovl_comm_bytes(const char *op, const ovl_read_collective *args)
{
    int64_t size = ovl_dtype_bytes(args->dtype);
    int64_t in = args->in_elements, out = args->out_elements;
    int64_t elements = strcmp(op, "all_gather") == 0 || in < 0 ? out : in;
    if (size == 0 || elements < 0 || elements > INT64_MAX / size) {
        return -1;
    }
    return elements * size;
}

double ovl_bus_factor(const char *op, int64_t n)
{
    double ranks = (double)n;
    if (n < 1) {
        return 0;
    }
    if (strcmp(op, "all_reduce") == 0) {
        return 2 * (ranks - 1) / ranks;
    }
    if (strcmp(op, "all_gather") == 0 || strcmp(op, "reduce_scatter") == 0 ||
        strcmp(op, "all_to_all") == 0 || strcmp(op, "gather") == 0 || strcmp(op, "scatter") == 0) {
        return (ranks - 1) / ranks;
    }
    return strcmp(op, "other") == 0 || strcmp(op, "barrier") == 0 ? 0 : 1;
}
