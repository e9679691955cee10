"""Random scenarios for play.py, and the YAML that ovl reads of each.

A program is a dict: the machine, groups of ranks, and operations in host order. Times are whole
picoseconds, ratios are fractions. Four of ten programs take times and bytes from a few round
numbers, so that bottlenecks tie and ends coincide.
"""
import random
from fractions import Fraction as F

US, MS = 10**6, 10**9
COLLECTIVES = ["all_reduce", "reduce_scatter", "all_gather", "all_to_all"]
CLASSES = ["ka", "kb", "kc"]


class Draw:
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.model = self.r.choice(["shared"] * 5 + ["measured"] * 3 + ["none"])
        self.symmetric = self.r.random() < 0.45
        self.round = self.r.random() < 0.4
        self.costs = {} if self.r.random() < 0.4 else None  # of the hardware, or of each operation
        self.names, self.count = [], 0
        self.machine()
        self.groups()

    def of(self, *values):
        return self.r.choice(values)

    def machine(self):
        of = self.of
        self.hw = {
            "hbm": of(1000, 2000, 3350) * 10**9, "sms": of(64, 100, 132),
            "own": of(50, 100, 450) * 10**9, "nic": of(25, 50, 90) * 10**9,
            "spine": of(80, 200, 400) * 10**9, "launch": of(0, 0, 0, 5 * US, 50 * US),
            "hw_queues": of(0, 0, 1), "d2h": of(0, 0, 1, 2), "h2d": of(0, 0, 1),
        }
        self.pairs = {}
        for kernel in CLASSES:
            for class_ in COLLECTIVES + ["send_recv"]:
                if self.r.random() < 0.6:
                    self.pairs[kernel, class_] = (of(F(1), F(29, 25), F(5, 4), F(2)),
                                                  of(F(1), F(3, 2), F(29, 16)))

    def groups(self):
        a = self.of(1, 2, 2, 2, 3, 4) if self.r.random() < 0.95 else self.of(5, 8)
        b = self.of(2, 2, 2, 3) if a < 4 else self.of(1, 2)
        self.a, self.b, self.n = a, b, a * b
        groups = {"a": [[i + a * j for i in range(a)] for j in range(b)],
                  "b": [[i + a * j for j in range(b)] for i in range(a)],
                  "a+b": [list(range(a * b))]}
        self.members = {g: m for g, m in groups.items() if len(m[0]) > 1}

    def some(self):
        return sorted(self.r.sample(range(self.n), self.r.randint(1, self.n)))

    def faults(self):
        found = []
        for _ in range(self.r.randint(1, 2) if self.r.random() < 0.5 else 0):
            link, at = self.of("hbm", "own", "nic", "spine"), self.r.randint(0, 6000) * US
            share = self.of(F(1, 2), F(1, 3), F(1, 10), F(9, 10))
            begin, end = self.of(0, at), self.of(None, None, at + self.r.randint(1, 5000) * US)
            all_ranks = self.symmetric or self.r.random() < 0.3
            found.append({"link": link, "ranks": None if all_ranks else self.some(),
                          "rate": max(1, int(self.hw[link] * share) // 10**9) * 10**9,
                          "from": begin, "until": end})
        if not self.symmetric and self.r.random() < 0.4:
            found.append({"slow": self.of(F(5, 4), F(3, 2)), "ranks": self.some()})
        return found

    # --- Operations ---

    def fresh(self, letter):
        self.count += 1
        return letter + str(self.count)

    def length(self, low, high):
        if self.round:
            return self.of(1, 2, 4) * MS
        return self.r.randint(low, high) * US + self.r.randint(0, US - 1)

    def after(self):
        n = min(len(self.names), self.r.randint(0, 2))
        return sorted(self.r.sample(self.names, n)) if self.r.random() < 0.6 else []

    def ranks(self):
        return None if self.symmetric or self.r.random() < 0.6 else self.some()

    def bytes_in(self, time, share):
        return int(F(time, 10**12) * self.hw["hbm"] * share)

    def kernel(self):
        time, sms = self.length(50, 3000), self.hw["sms"]
        share = self.of(0, F(1, 10), F(1, 2), F(9, 10), F(99, 100))
        return [{"is": "kernel", "name": self.fresh("k"), "time": time,
                 "hbm": self.bytes_in(time, share), "sms": self.of(0, 0, 0, 20, sms // 2, sms),
                 "blocks": self.of(0, 0, 0, self.r.randint(1, 400)),
                 "compute": self.of(0, 0, time // 2, time // 3), "class": self.of(*CLASSES),
                 "stream": self.of("compute", "compute", "k2", "k3"), "after": self.after(),
                 "ranks": self.ranks()}]

    def cost(self):
        beta = self.of(10, 20, 40, 80) if self.round else self.r.randint(5, 90)
        return {"alpha": self.of(0, 10 * US, 100 * US), "beta": beta * 10**9,
                "via": self.r.sample(["own", "nic", "spine"], self.r.randint(0, 2)),
                "sms": self.of(0, 2, 8), "hbm_factor": self.of(F(0), F(0), F(2), F(5, 2)),
                "weight": F(1)}

    def transfer(self, op):
        group, stated = self.of(*self.members), self.costs is None
        cost = self.cost()
        if not stated:
            cost = self.costs.setdefault((op, group), {
                **cost, "weight": self.of(F(1), F(1, 2), F(1, 8), F(1, 1000))})
        size = self.of(8, 16, 40) * 10**6 if self.round else self.r.randint(1, 60 * 10**6)
        work = -(-size * 10**12 // cost["beta"])
        return {"op": op, "group": group, "bytes": size, "work": work, "stated": stated,
                "stream": self.of("comm", "c2", "c3"), "after": self.after(), "eager": False,
                **cost}

    def collective(self):
        return [{"is": "collective", "name": self.fresh("c"),
                 **self.transfer(self.of(*COLLECTIVES))}]

    def ends(self):
        """A send and its receive, the receiver `by` places on."""
        way = self.transfer("send_recv")
        by = self.r.randint(1, len(self.members[way["group"]][0]) - 1)
        return ({**way, "is": "send", "name": self.fresh("s"), "by": by},
                {**way, "is": "recv", "name": self.fresh("r"), "by": -by})

    def batch(self):
        send, recv = self.ends()
        return [{"is": "batch", "name": self.fresh("b"), "stream": send["stream"],
                 "after": send["after"], "parts": self.r.sample([send, recv], 2)}]

    def pair(self):
        if self.symmetric:
            return self.batch()
        send, recv = self.ends()
        lines = self.members[send["group"]]
        at = self.r.randrange(len(lines[0]))
        to = (at + send["by"]) % len(lines[0])
        if self.model != "measured" and self.r.random() < 0.4 and (
                send["stated"] or send["sms"] == 0):
            send["eager"] = recv["eager"] = True
            send["sms"] = recv["sms"] = 0
        return [{**send, "ranks": [line[at] for line in lines]},
                {**recv, "ranks": [line[to] for line in lines],
                 "stream": self.of("comm", "c2", "c4")}]

    def copy(self):
        time = self.length(50, 1500)
        return [{"is": "copy", "name": self.fresh("y"), "time": time,
                 "hbm": self.bytes_in(time, F(1, 4)), "way": self.of("d2h", "h2d"),
                 "stream": self.of("copy", "y2", "y3"), "after": self.after(),
                 "ranks": self.ranks()}]

    def other(self):
        if self.r.random() < 0.5:
            return [{"is": "host", "name": self.fresh("h"), "time": self.of(0, 20 * US, 400 * US),
                     "after": self.after(), "ranks": self.ranks()}]
        return [{"is": "marker", "name": self.fresh("m"), "time": self.of(0, 0, 100 * US),
                 "stream": self.of("compute", "k2", "m2"), "after": self.after(),
                 "ranks": self.ranks()}]

    def operations(self, low, high):
        made = []
        for _ in range(self.r.randint(low, high)):
            kinds = [self.kernel] * 8 + [self.collective] * 6 + [self.batch] * 2 + [
                self.pair, self.pair, self.copy, self.other]
            ops = self.of(*kinds)()
            made += ops
            self.names += [op["name"] for op in ops if op.get("ranks") is None]
        return made


def numbered(op, i):
    """An operation of the i-th repeat."""
    new = {**op, "name": f"{op['name']}.{i}", "after": [f"{a}.{i}" for a in op.get("after", [])]}
    if "parts" in op:
        new["parts"] = [numbered(part, i) for part in op["parts"]]
    return new


def program(seed):
    d = Draw(seed)
    repeats = d.r.randint(3, 12) if d.r.random() < 0.35 else 0
    body = d.operations(2, 6) if repeats else []
    d.names = []
    tail = d.operations(3, 14)
    return {"n": d.n, "a": d.a, "b": d.b, "hw": d.hw, "groups": d.members, "model": d.model,
            "pairs": d.pairs, "costs": d.costs or {}, "sharing": d.of("fair", "fair", "proportional"),
            "faults": d.faults(), "repeats": repeats, "body": body, "tail": tail,
            "ops": [numbered(op, i) for i in range(repeats) for op in body] + tail}


# --- YAML ---

def listed(values):
    return "[" + ", ".join(str(v) for v in values) + "]"


def mapping(pairs):
    return "{" + ", ".join(f"{key}: {value}" for key, value in pairs if value is not None) + "}"


def cost_pairs(c):
    return [("alpha", f"{c['alpha']} ps"), ("beta", f"{c['beta']} B/s"), ("sms", c["sms"]),
            ("hbm_factor", c["hbm_factor"]), ("via", listed(c["via"]) if c["via"] else None)]


def transfer_pairs(op):
    place = f"{op.get('by', 0):+d}"
    return [("op", op["op"] if op["is"] == "collective" else None), ("group", op["group"]),
            ("bytes", f"{op['bytes']} B"), ("to", f'"{place}"' if op["is"] == "send" else None),
            ("from", f'"{place}"' if op["is"] == "recv" else None),
            ("eager", "true" if op["eager"] else None)] + (cost_pairs(op) if op["stated"] else [])


def entry(op, suffix, part=False):
    pairs = [(op["is"], f'"{op["name"]}{suffix}"')]
    if not part:
        pairs += [("ranks", listed(op["ranks"]) if op.get("ranks") is not None else None),
                  ("stream", op.get("stream")),
                  ("after", listed(f'"{a}{suffix}"' for a in op["after"]) if op["after"] else None)]
    if op["is"] in ("collective", "send", "recv"):
        pairs += transfer_pairs(op)
    elif op["is"] == "batch":
        pairs.append(("parts", listed(entry(p, suffix, True) for p in op["parts"])))
    else:
        pairs.append(("duration", f"{op['time']} ps" if op["time"] else None))
        pairs.append(("hbm", f"{op['hbm']} B" if op.get("hbm") else None))
        pairs.append(("direction", op.get("way")))
        pairs += [(key, op[key] or None) for key in ("sms", "blocks", "class") if key in op]
        pairs.append(("compute", f"{op['compute']} ps" if op.get("compute") else None))
    return mapping(pairs)


def fault(f):
    ranks = ("ranks", listed(f["ranks"]) if f["ranks"] is not None else None)
    if "slow" in f:
        return mapping([ranks, ("slowdown", f["slow"])])
    until = f"{f['until']} ps" if f["until"] is not None else None
    return mapping([ranks, ("link", f["link"]), ("bandwidth", f"{f['rate']} B/s"),
                    ("from", f"{f['from']} ps"), ("until", until)])


def yaml(p):
    hw = p["hw"]
    gpu = [("hbm", f"{hw['hbm']} B/s"), ("sms", hw["sms"]), ("hw_queues", hw["hw_queues"] or None),
           ("copy_engines", mapping([("d2h", hw["d2h"]), ("h2d", hw["h2d"])]))]
    costs = [mapping([("op", op), ("group", g), ("weight", c["weight"])] + cost_pairs(c))
             for (op, g), c in p["costs"].items()]
    factors = [mapping([("kernel", k), ("collective", c), ("kernel_factor", f[0]),
                        ("collective_factor", f[1])]) for (k, c), f in p["pairs"].items()]
    lines = ["hardware:", f"  gpu: {mapping(gpu)}", f"  host: {{launch: {hw['launch']} ps}}",
             "  links:",
             f"    own: {{bandwidth: {hw['own']} B/s, scope: gpu}}",
             f"    nic: {{bandwidth: {hw['nic']} B/s, gpus: 2}}",
             f"    spine: {{bandwidth: {hw['spine']} B/s, scope: cluster}}",
             f"  collectives: {listed(costs)}", f"  interference: {listed(factors)}",
             f"  faults: {listed(fault(f) for f in p['faults'])}",
             f"mesh: {{axes: {{a: {p['a']}, b: {p['b']}}}, order: [a, b]}}",
             f"sharing: {p['sharing']}", f"interference: {p['model']}", "workload:", "  ops:"]
    if p["repeats"]:
        lines += [f"    - repeat: {p['repeats']}", "      ops:"]
        lines += ["        - " + entry(op, ".{i}") for op in p["body"]]
    return "\n".join(lines + ["    - " + entry(op, "") for op in p["tail"]]) + "\n"
