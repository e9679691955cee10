#!/bin/sh
# The pages are true to the tree: every file they name exists, every script they tell to run is
# there, every subcommand they use is one, docs/architecture.md has a row for each source file, and
# decisions have numbers of their own.
. "$(dirname "$0")/lib.sh"

# Names in backticks that start with a directory of ours. A name without its ending ("sim/share")
# stands for the .c and .h; a star is a glob; CAPITALS and <...> are for the reader to fill in.
exists() {
    for candidate in $1 $1.c $1.h; do
        [ -e "$candidate" ] && return 0
    done
    return 1
}
for page in $(tracked '\.md$'); do
    for name in $(grep -oE '`[^` ]+`' "$page" | tr -d '`' |
        grep -E '^(sim|models|tools|tests|docs|scenarios|\.ci)/' | grep -vE '[A-Z]{3}|[<>$]' | sort -u); do
        exists "$name" || fail "$page: $name does not exist"
    done
    for name in $(grep -oE '\]\([^)#:]+\)' "$page" | sed 's/^](//; s/)$//' | sort -u); do
        [ -e "$(dirname "$page")/$name" ] || fail "$page: link to $name leads nowhere"
    done
    for name in $(grep -oE '(^|[ `])sh [a-z./]+\.sh' "$page" | awk '{print $2}' | sort -u); do
        [ -f "$name" ] || fail "$page: sh $name: no such script"
    done
    for name in $(grep -oE '(^\$ |`)ovl [a-z]+' "$page" | sed 's/.*ovl //' | sort -u); do
        grep -qE "\.name = \"$name\"|\{\"$name\"" tools/*.c || fail "$page: ovl $name is no subcommand"
    done
done

# A block of YAML whose first line is `# scenarios/...` shows lines of that file, in their order.
for page in $(tracked '\.md$'); do
    each_line_fails awk -v page="$page" '
        /^```/ {
            if (file != "") close(file)
            file = ""
            fence = /^```yaml/
            next
        }
        fence && /^# scenarios\// { file = $2; fence = 0; next }
        file != "" {
            found = 0
            while (!found && (getline line <file) > 0)
                found = line == $0
            if (!found) {
                print page ":" FNR ": not in " file ": " $0
                file = ""
            }
        }' "$page"
done

# A decision is spoken of by its number: no two have the same, and its title says the number of its file.
for number in $(tracked '^docs/decisions/' | sed 's|.*/||; s|-.*||' | uniq -d); do
    fail "docs/decisions: number $number is given to more than one"
done
for file in $(tracked '^docs/decisions/'); do
    number=$(basename "$file" | sed 's/^0*//; s/-.*//')
    head -n 1 "$file" | grep -q "^# $number\. " || fail "$file: its title does not begin with $number."
done

for file in $(tracked '^(sim|models|tools)/[^/]*\.[ch]$'); do
    stem=${file%.[ch]}
    grep -qE "\`$stem(\.[ch])?\`" docs/architecture.md || fail "docs/architecture.md has no row for $stem"
done
finish
