#!/bin/sh
# How long a page of 100,000 bars takes to write, to open and to draw. speed.sh OVL FILE MOST_MS:
# fails if a frame (median, all bars in view) takes longer than MOST_MS.
here=$(dirname "$0")
. "$here/lib.sh"
before=$(date +%s%N)
"$1" report "$2" -o "$folder/page.html" || exit 1
after=$(date +%s%N)
with_script "$folder/page.html" "$here/draw.js" >"$folder/test.html"
verdict "$folder/test.html" >"$folder/verdict.txt"
# bars N draw_ms MEDIAN WORST (all) MEDIAN WORST (a tenth) MEDIAN WORST (a hundredth) load_ms MS
read -r _ bars _ all all_worst tenth tenth_worst part part_worst _ load <"$folder/verdict.txt" ||
    { cat "$folder/console.txt"; echo "the page was not drawn"; exit 1; }
echo "bars                          $bars"
echo "page                          $(($(wc -c <"$folder/page.html") / 1024)) KiB, written in $(((after - before) / 1000000)) ms"
echo "opened, with all drawings     $load ms"
echo "a frame, all bars             median $all ms, worst $all_worst ms"
echo "a frame, a tenth in view      median $tenth ms, worst $tenth_worst ms"
echo "a frame, a hundredth in view  median $part ms, worst $part_worst ms"
[ "$bars" -ge 100000 ] || { echo "fewer than 100,000 bars"; exit 1; }
awk "BEGIN { exit !($all <= $3) }" || { echo "more than $3 ms"; exit 1; }
