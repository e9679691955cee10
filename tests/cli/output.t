A result written to a file; an output that cannot be written is an error; a closed pipe is no crash.

$ ovl run scenarios/tutorial/first.yaml -o "$T/run.txt" && ovl run scenarios/tutorial/first.yaml | cmp - "$T/run.txt"
$ ovl run scenarios/tutorial/first.yaml >/dev/full
error: cannot write to standard output: No space left on device
? 2
$ ovl run scenarios/tutorial/first.yaml -o /dev/full
error: cannot write "/dev/full": No space left on device
? 2
