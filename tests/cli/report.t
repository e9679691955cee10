A run as a page. What is on it is checked in a browser by tests/report; here is what needs none.

$ ovl report scenarios/tutorial/first.yaml -o "$T/page.html"
$ grep -c '</script>' "$T/page.html"
3
$ ovl report tests/report/hostile.yaml | grep -c '</script>'
3
? 0

Data is JSON in an element of its own; a "<" is written so that it ends nothing.

$ ovl report tests/report/hostile.yaml | grep -m 1 '"scenario"'
        "scenario": "\u003c/script>\u003cscript>console.error(\"escaped\")\u003c/script> & \"quoted\" 'too'",
$ ovl report tests/report/hostile.yaml | grep '<title>'
<title>&lt;/script>&lt;script>console.error("escaped")&lt;/script> &amp; "quoted" 'too' - overlapsim</title>
? 0

The same run gives the same page. Hazards are an exit status, as they are of ovl run, and the page is
written all the same.

$ ovl report scenarios/tutorial/first.yaml | cmp - "$T/page.html"
$ ovl report scenarios/hazards/missing_wait.yaml -o "$T/hazard.html" && echo no hazard
? 1
$ grep -c '"kind": "race"' "$T/hazard.html"
1
? 0

All mistakes at once, and no page.

$ ovl report scenarios/tutorial/first.yaml:overlaped scenarios/tutorial/nothing.yaml -o "$T/none.html"
scenarios/tutorial/first.yaml: error: unknown variant "overlaped"; did you mean "overlapped"?
scenarios/tutorial/nothing.yaml: error: cannot read "scenarios/tutorial/nothing.yaml": no such file
? 2
$ test -e "$T/none.html" || echo no page
no page
$ ovl report scenarios/tutorial/first.yaml --ranks 0-5 -o "$T/none.html"
error: "0-5" names no ranks; write 0-7 or 0,8,16-23, from 0 to 1
? 2
$ ovl report
error: something is missing: ovl report FILE[:VARIANT] ...
try: ovl report --help
? 2
