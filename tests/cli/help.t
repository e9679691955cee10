What the program says about itself.

$ ovl --help
ovl predicts what a change of schedule does to a distributed training step.

Usage: ovl COMMAND ...

Commands
  calibrate fit costs of the hardware to measurements
  check     say what is wrong with a scenario, or what it will run
  compare   set two runs side by side: what changed, and is it better
  explain   say what held operations below their isolated speed, and for how long
  export    write a run in the format of another tool
  help      explain a command
  history   list the runs of a store
  import    make a scenario of a schedule, or of measured traces
  inspect   say where the time goes in measured traces
  optimize  find the change of a scenario with the shortest step
  report    write a run, or several beside each other, as a page for a browser
  run       simulate one step and say where its time goes
  show      print a stored run as it was reported
  sweep     simulate one step at many points and choose

Options
  -h, --help                  print this help and stop
  --version                   print the version and stop

Exit status
  0    done
  1    a threshold, a comparison or the check for hazards failed
  2    the command line is wrong, or what it asks to write cannot be written
  3    an input is wrong
  4    the schedule cannot finish
  130  interrupted by Ctrl-C; by another signal it is 128 and its number

ovl COMMAND --help says more about one command.
$ ovl run --help
ovl run: simulate one step and say where its time goes

Usage: ovl run [options] FILE

Prints the step time with the equation that explains it, where the wall time of the deciding rank
goes, every collective with its exposed time, why the ranks of a pipeline idle, the critical path,
peak memory, hazards, and what is not modelled. Exits with 1 if there are hazards.

Ctrl-C stops the run, says how far it got and exits with 130. A run that may need more memory than
the machine has, or than OVL_MEMORY in the environment allows (OVL_MEMORY=8GiB), is an error before
it begins; so is a program of more than 20,000,000 operations. All limits: LIMITS in man ovl, or
docs/scenario.md.

The schedule of a pipeline is drawn if it fits the width of the terminal; where the output is none,
COLUMNS in the environment says how wide it may be (default 100).

Options
  --variant NAME              the variant of the scenario, as in FILE:NAME; without it the base
  --set PATH=VALUE ...        set one value of the scenario, after the variant:
                              overlap.ddp.bucket_cap=50MiB, workload.layers.block[3].backward=5ms;
                              later ones win
  --interference MODEL        how operations that run at the same time slow each other down: none,
                              shared or measured; short for --set interference=MODEL
  --expand N                  run collectives of up to N members as the transfers they are made of;
                              short for --set expand=N
  --worth all|none|NAME       for which names the step is simulated once more as if all
                              communication of that name were free, on every rank; by default for
                              the most exposed names; all of them, where they are too many those
                              that differ in numbers together
  --no-fold                   simulate every rank, also those that do the same; the results are
                              equal, this is to compare
  --no-skip                   simulate every period of a run that repeats itself (layers,
                              microbatches, steps); the results are equal, this is to compare
  --gaps                      list when each rank runs no kernel, what that time is made of, and why
  --memory                    list what each rank holds over time: live bytes (of the GPU),
                              allocated and reserved ones (of the host)
  --only compute|comm|both    a controlled run: communication (compute) or kernels (comm) take no
                              time and hold nothing, but keep their order; both: these two runs and
                              the step side by side, with what overlap saves
  --what-if all|none          simulate what would help against each kind of idle time; by default
                              where ranks idle for more than communication, up to 200,000 operations
  --stats                     say what the run itself cost: events, solves of rates, memory, beside
                              the memory that was announced
  --trials N                  simulate so many steps whose durations vary as `variation:` of the
                              scenario says, and print percentiles, means with 95 % intervals, and
                              who is late
  --seed S                    of the draws of --trials; default 1. The same seed gives the same
                              output, however many threads there are
  -j, --jobs N                threads of --trials; without it one for each core
  --json                      print JSON instead of text; times are seconds with 12 decimals
  -o, --output FILE           write to FILE instead of standard output; the file is replaced only
                              once it is whole
  --store FILE                keep the run in this SQLite file, made if it is not there
  -h, --help                  print this help and stop

Exit status
  0    done
  1    a threshold, a comparison or the check for hazards failed
  2    the command line is wrong, or what it asks to write cannot be written
  3    an input is wrong
  4    the schedule cannot finish
  130  interrupted by Ctrl-C; by another signal it is 128 and its number

Examples
  ovl run last_bucket.yaml
  ovl run last_bucket.yaml --variant split_80_16 --interference none
  ovl run last_bucket.yaml --only both
  ovl run last_bucket.yaml --set overlap.ddp.bucket_cap=50MiB --json -o run.json
  ovl run pauses.yaml --trials 1060 --seed 1
$ ovl help nothing
error: unknown command "nothing"
? 2
$ ovl rum scenarios/buckets/last_bucket.yaml
error: unknown command "rum"; did you mean "run"?
try: ovl --help
? 2
$ ovl run
error: something is missing: ovl run FILE
try: ovl run --help
? 2
$ ovl run --jsn scenarios/buckets/last_bucket.yaml
error: unknown option "--jsn"; did you mean "--json"?
try: ovl run --help
? 2
