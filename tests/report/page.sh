#!/bin/sh
# A page of ovl report, opened in a browser: no complaint on its console, its figures are those of
# ovl run --json, it can be used by mouse and keyboard. page.sh OVL WORD [no-d3]
here=$(dirname "$0")
. "$here/lib.sh"
ovl=$1
word=$2
"$ovl" report "$word" -o "$folder/page.html" 2>"$folder/said.txt"
status=$?
[ $status -le 1 ] || { cat "$folder/said.txt"; echo "ovl report $word: exit status $status"; exit 1; }
"$ovl" run "$word" --memory --json -o "$folder/run.json" || [ $? -eq 1 ] || exit 1

if [ "$3" = no-d3 ]; then
    # As a build without the library writes it: the element is there and empty.
    awk '/^\/\/ https:\/\/d3js.org/ { skip = 1 } skip && /^<\/script>/ { skip = 0 } !skip' \
        "$folder/page.html" >"$folder/plain.html"
    mv "$folder/plain.html" "$folder/page.html"
elif grep -q 'no timeline' "$folder/said.txt"; then
    echo "skipped: built without D3"
    exit 77
fi
if grep -nE '(src|href)="?(https?:)?//' "$folder/page.html"; then
    echo "the page names something outside of itself"
    exit 1
fi

browse "$folder/page.html" --dump-dom >"$folder/dom.html"
[ -s "$folder/console.txt" ] && { cat "$folder/console.txt"; echo "the page complains"; exit 1; }
grep -q 'id="path-rows"' "$folder/dom.html" || { tail -n 5 "$folder/browser.txt"; echo "the page was not built"; exit 1; }

with_script "$folder/page.html" "$here/check.js" "$folder/run.json" >"$folder/test.html"
verdict "$folder/test.html" >"$folder/verdict.txt"
cat "$folder/verdict.txt" "$folder/console.txt"
grep -qE '^checks: [1-9][0-9]* good, 0 bad$' "$folder/verdict.txt" && [ ! -s "$folder/console.txt" ]
