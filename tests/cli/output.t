A result written to a file; an output that cannot be written is an error; a closed pipe is no crash.

$ ovl run scenarios/tutorial/first.yaml -o "$T/run.txt" && ovl run scenarios/tutorial/first.yaml | cmp - "$T/run.txt"
$ ovl run scenarios/tutorial/first.yaml >/dev/full
error: cannot write to standard output: No space left on device
? 2
$ ovl run scenarios/tutorial/first.yaml -o /dev/full
error: cannot write "/dev/full": No space left on device
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
