#!/bin/sh
# Writes files as texts of a C program: embed.sh OUTPUT NAME FILE[,FILE...] ...
# Files of one name are put behind one another; without any the text is empty.
LC_ALL=C
export LC_ALL
output=$1
shift
{
    echo '/* Written by tools/page/embed.sh. */'
    echo '#include "tools/page_parts.h"'
    while [ $# -ge 2 ]; do
        echo "const unsigned char ovl_page_$1[] = {"
        printf '%s\n' "$2" | tr ',' '\n' | while read -r file; do
            [ -z "$file" ] || cat "$file"
        done | od -An -v -tu1 | sed 's/  */,/g; s/^,//; s/$/,/'
        echo '0};'
        shift 2
    done
} >"$output"
