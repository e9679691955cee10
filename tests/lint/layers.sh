#!/bin/sh
# Includes go one way: tools -> models -> sim; tests may include all, nobody includes tests. The
# kernel and the models print nothing, open no file and read no clock.
. "$(dirname "$0")/lib.sh"

[ -d sim ] && [ -d models ] && [ -d tools ] || { fail "sim, models or tools is missing"; finish; }

forbid() { # directory, extended regular expression of include lines, why
    for hit in $(grep -rnE --include='*.[ch]' "^#include $2" "$1" |
        grep -v '^sim/pages\.c:[0-9]*:#include <sys/mman.h>' | cut -d: -f1,2); do
        fail "$hit: $3"
    done
}

forbid sim '"(models|tools|tests)/' 'sim includes sim only'
forbid models '"(tools|tests)/' 'models includes models and sim only'
forbid tools '"tests/' 'nothing but tests includes tests'
for layer in sim models tools tests; do
    forbid $layer '"[^/"]*"' 'includes are written from the root ("sim/arena.h")'
done

# libyaml and GSL are for models, SQLite and zlib for tools; pages.c alone asks Linux for memory.
forbid sim '<(yaml|gsl/.*|sqlite3|zlib|pthread|time|sys/.*|unistd)' 'sim is C11 and libm'
forbid models '<(sqlite3|zlib|pthread|time|sys/.*|unistd)' 'side effects belong in tools'

# Words of stdio and of the clock. vsnprintf and snprintf only format; arena.c alone may say that
# memory is exhausted.
outside='\<(printf|fprintf|vprintf|vfprintf|puts|fputs|putchar|putc|fopen|fread|fwrite|fclose|scanf|getenv|time|clock|clock_gettime|gettimeofday|exit|rand|srand)\('
for hit in $(grep -rnE --include='*.[ch]' "$outside" sim models |
    grep -vE '^sim/arena\.c:|:[0-9]+:[[:space:]]*(\*|/\*|//)' | cut -d: -f1,2); do
    fail "$hit: library code does not print, open files, read clocks or exit"
done

# A plan (plan_ddp.h, plan_ddp_buckets.c ...) never includes another plan.
between_plans() {
    for file in $(tracked '^models/plan_.*\.[ch]$'); do
        plan=$(basename "$file" | sed 's/^\(plan_[a-z0-9]*\).*/\1/')
        grep -HnE '^#include "models/plan_' "$file" | grep -v "\"models/$plan[._]" |
            sed 's/:#.*/: plans never include one another/'
    done
}
each_line_fails between_plans
finish
