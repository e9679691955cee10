A result written to a file; an output that cannot be written is an error; a closed pipe is no crash.

$ ovl run scenarios/tutorial/first.yaml -o "$T/run.txt" && ovl run scenarios/tutorial/first.yaml | cmp - "$T/run.txt"
$ ovl run scenarios/tutorial/first.yaml >/dev/full
error: cannot write to standard output: No space left on device
? 2
$ ovl run scenarios/tutorial/first.yaml -o /dev/full
error: cannot write "/dev/full": No space left on device
? 2

What is written must not be what is read, whatever it is called: measurements cannot be made again.

$ cp scenarios/replay/rank0.json "$T/r0.json" && ln -s r0.json "$T/other.json" && cp "$T/r0.json" "$T/kept.json"
$ ovl import "$T/r0.json" -o "$T/other.json" 2>&1 | sed "s|$T|T|g"
error: --output "T/other.json" would replace what is read from "T/r0.json": name another file
try: ovl import --help
$ ovl inspect "$T/r0.json" -o "$T/./r0.json" 2>/dev/null
? 2
$ ovl calibrate --compute "$T/r0.json" --comm "$T/kept.json" --overlap "$T/kept.json" -o "$T/r0.json" 2>/dev/null
? 2
$ printf 'workload: {trace: r0.json}\n' > "$T/names.yaml"
$ ovl run "$T/names.yaml" -o "$T/r0.json" 2>&1 | sed "s|$T|T|g"
error: --output "T/r0.json" would replace what is read from "T/r0.json": name another file
$ ovl export --trace "$T/names.yaml" -o "$T/r0.json" 2>/dev/null
? 2
$ cmp "$T/r0.json" "$T/kept.json" && echo unharmed
unharmed
$ ovl compare "$T/names.yaml" "$T/names.yaml" -o "$T/names.yaml" 2>/dev/null
? 2

Standard output that was closed is one that cannot be written, and so it is in every command; nothing
is written into a file that took its number.

$ ovl run scenarios/tutorial/first.yaml >&-
error: cannot write to standard output: Bad file descriptor
? 2
$ ovl check --json scenarios/tutorial/first.yaml >/dev/full
error: cannot write to standard output: No space left on device
? 2
$ ovl export --trace scenarios/tutorial/first.yaml >/dev/full
error: cannot write to standard output: No space left on device
? 2
$ ovl --help >&-
error: cannot write to standard output: Bad file descriptor
? 2
$ ovl run scenarios/tutorial/first.yaml -o "$T/closed.txt" >&- 2>&- && cmp "$T/closed.txt" "$T/run.txt"
