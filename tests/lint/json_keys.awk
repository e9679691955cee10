# The keys of JSON, each as "SCHEMA PATH" once: `overlapsim.run/1 step.time_s`. A list is `[]`. A
# path starts anew at an object whose first key is "schema"; until one comes the schema is `none`.
#
# Reads what tools/json.c writes (any layout of it), a character at a time but for texts.

function enter(kind) {
    depth++
    is_list[depth] = kind == "["
    base[depth] = depth == 1 ? "" : here() (is_list[depth] ? "[]" : "")
    schema[depth] = depth == 1 ? "none" : schema[depth - 1]
    key[depth] = ""
}

# Where a value stands.
function here() {
    if (is_list[depth - 1])
        return base[depth - 1]
    return base[depth - 1] (base[depth - 1] == "" ? "" : ".") key[depth - 1]
}

function note() {
    path = base[depth] (base[depth] == "" ? "" : ".") key[depth]
    if (!seen[schema[depth], path]++)
        print schema[depth], path
}

function text(    value) {
    match(rest, /^"([^"\\]|\\.)*"/)
    value = substr(rest, 2, RLENGTH - 2)
    rest = substr(rest, RLENGTH + 1)
    if (rest ~ /^ *:/) {
        key[depth] = value
        if (value == "schema") {
            base[depth] = ""
            match(rest, /"[^"]*"/)
            schema[depth] = substr(rest, RSTART + 1, RLENGTH - 2)
        }
        note()
    }
}

{
    rest = $0
    while (match(rest, /["{}[\]]/)) {
        rest = substr(rest, RSTART)
        first = substr(rest, 1, 1)
        if (first == "\"") {
            text()
            continue
        }
        if (first == "{" || first == "[")
            enter(first)
        else
            depth--
        rest = substr(rest, 2)
    }
}
