# Common to the tests of pages: a browser, and a page with a script of ours behind its own.
LC_ALL=C.UTF-8
export LC_ALL
folder=$(mktemp -d) || exit 2
trap 'rm -rf "$folder"' EXIT INT TERM

browser=
for name in chromium chromium-browser google-chrome; do
    command -v "$name" >/dev/null && browser=$name && break
done
[ "$browser" ] || { echo "skipped: no chromium"; exit 77; }

# browse PAGE OPTION...: what the browser prints; what it says about the page goes to console.txt.
browse() {
    page=$1
    shift
    timeout 120 "$browser" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage \
        --no-first-run --disable-background-networking --user-data-dir="$folder/profile" \
        --enable-logging=stderr --window-size=1300,1000 "$@" "file://$page" \
        2>"$folder/browser.txt"
    grep CONSOLE "$folder/browser.txt" >"$folder/console.txt"
    return 0
}

# with_script PAGE SCRIPT [JSON]: the page with a script at its end, and JSON for it to read.
with_script() {
    sed '/^<\/body>$/,$d' "$1"
    if [ "$3" ]; then
        echo '<script type="application/json" id="expected">'
        sed 's/</\\u003c/g' "$3"
        echo '</script>'
    fi
    echo '<script>'
    cat "$2"
    echo '</script></body></html>'
}

# What the script wrote into the page.
verdict() {
    browse "$1" --dump-dom | sed -n '/<pre id="verdict">/,/<\/pre>/p' |
        sed 's/.*<pre id="verdict">//; s/<\/pre>.*//; s/&lt;/</g; s/&gt;/>/g; s/&amp;/\&/g'
}
