"""Random scenarios, played by ovl and by play.py: every start and end must be the same picosecond,
folded and not, with recurring periods skipped and not.

    python3 agree.py OVL [FIRST [COUNT]]
"""
import json
import os
import subprocess
import sys
import tempfile

from draw import program, yaml
from play import play

WAYS = [[], ["--no-fold"], ["--no-skip"], ["--no-fold", "--no-skip"]]


def told(ovl, scenario, way, trace):
    """The trace that ovl writes, or None and what it said."""
    run = subprocess.run([ovl, "export", "--trace", scenario, "-o", trace] + way,
                         capture_output=True, text=True, check=False)
    if run.returncode:
        return None, f"exit status {run.returncode}: {run.stderr}"
    with open(trace, encoding="utf-8") as file:
        return file.read(), ""


def times(trace):
    found = {}
    for e in json.loads(trace)["traceEvents"]:
        issue = e.get("cat") == "host" and e["name"].startswith("issue ")
        if e.get("ph") == "X" and "start_ps" in e.get("args", {}) and not issue:
            found[e["pid"], e["name"]] = (e["args"]["start_ps"], e["args"]["end_ps"])
    return found


def apart(mine, its):
    """Of an eager send only the landing is compared: its slice in a trace is its flow."""
    start = abs(mine[0] - its[0]) if mine[0] is not None else 0
    return max(start, abs(mine[1] - its[1]))


def compare(ovl, seed, folder):
    """Operations, the largest difference in ps, and a sentence if something is wrong."""
    p = program(seed)
    scenario, trace = os.path.join(folder, "s.yaml"), os.path.join(folder, "t.json")
    with open(scenario, "w", encoding="utf-8") as file:
        file.write(yaml(p))
    traces = [told(ovl, scenario, way, trace) for way in WAYS]
    wrong = [(way, said) for way, (text, said) in zip(WAYS, traces) if text is None]
    if wrong:
        return 0, 0, f"{' '.join(wrong[0][0])} {wrong[0][1]}"
    if any(text != traces[0][0] for text, _ in traces):
        return 0, 0, "folded or skipped it is another run"
    mine, its = play(p), times(traces[0][0])
    missing = [key for key in mine if key not in its]
    if missing:
        return 0, 0, f"{missing[0]} is not in the trace"
    worst = max((apart(mine[key], its[key]), key) for key in mine)
    return len(mine), worst[0], f"{worst[1]}: {mine[worst[1]]} here" if worst[0] else ""


def main():
    ovl = sys.argv[1]
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 40
    operations, worst, bad = 0, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, first + count):
            n, most, said = compare(ovl, seed, folder)
            operations, worst = operations + n, max(worst, most)
            if said:
                bad += 1
                print(f"seed {seed}: {most} ps, {said}", flush=True)
    print(f"{count} scenarios, {operations} operations, at most {worst} ps apart, {bad} wrong")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
