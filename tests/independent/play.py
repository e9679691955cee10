"""The rules of docs/model.md, sections 1 and 2, played in exact fractions and without any haste.

Nothing here is taken from the program under test: after each event every operation of every rank is
looked at again, and all rates are found anew by progressive filling. An end is the next whole
picosecond, as there.

    play(program) -> {(rank, name): (start, end)}
"""
from fractions import Fraction as F
from math import ceil, floor

SHARE = {"all_reduce": 2, "reduce_scatter": 1, "all_gather": 1, "all_to_all": 1}


class Op:
    """An operation on one rank."""

    def __init__(self, rank, of):
        self.rank, self.of, self.kind, self.name = rank, of, of["is"], of["name"]
        self.issued = self.arrived = self.start = self.end = None
        self.before = []  # operations that must have ended
        self.queued_behind = None  # must have arrived: a hardware queue
        self.batch, self.parts = None, []
        self.landed = self.flow = None  # an eager send: its bytes are there, and set out

    def over(self):
        return self.end is not None

    def class_(self):
        return self.of["op"] if self.kind == "collective" else "send_recv"


class Activity:
    """What takes time. `demands`: {resource: bytes/s at full speed}."""

    def __init__(self, kind, ops, latency_until, work, demands, weight):
        self.kind, self.ops, self.until = kind, ops, latency_until
        # Where rates are rounded, 2^-44 of the work need not be done (sim/state.h); so an end that
        # close behind a whole picosecond is there.
        self.work = F(work) - F(min(work, 2**42), 2**44)
        self.full = self.demands = demands
        self.weight, self.cap, self.rate = weight, F(1), F(0)
        self.want = None  # kernels: (SMs, blocks, length, of it bound by SMs)

    def moves(self, now):
        return self.until <= now


def bytes_rate(size, time):
    return int(F(size) * 10**12 / time)


class Play:
    def __init__(self, program):
        self.p, self.hw, self.n = program, program["hw"], program["n"]
        self.now, self.running = 0, []
        self.held = [0] * self.n
        self.ops = [self.list_of(rank) for rank in range(self.n)]
        self.next_issue, self.host = [0] * self.n, [0] * self.n
        self.wires, self.engines = {}, {}
        self.meet()

    # --- The program of each rank ---

    def members(self, op, rank):
        return next(m for m in self.p["groups"][op["group"]] if rank in m)

    def list_of(self, rank):
        ops, last, names = [], {}, {}
        for of in self.p["ops"]:
            if of.get("ranks") is not None and rank not in of["ranks"]:
                continue
            op = Op(rank, of)
            ops.append(op)
            names[op.name] = op
            op.before = [names[a] for a in of["after"] if a in names]
            if op.kind == "host":
                continue
            lanes = ["stream " + of["stream"]]
            one = of["parts"][0] if op.kind == "batch" else of
            if "group" in one:
                lanes.append(("comm", one["group"]))
            for lane in lanes:
                op.before += [last[lane]] if lane in last else []
                last[lane] = op
            if self.hw["hw_queues"] and op.kind != "marker":
                op.queued_behind = last.get("queue")
                last["queue"] = op
            for part in of.get("parts", []):
                made = Op(rank, part)
                made.batch = op
                op.parts.append(made)
                ops.append(made)
        return ops

    def meet(self):
        """The k-th collective of a communicator on all its members; sends with their receives."""
        self.all, sends, recvs = {}, {}, {}
        for rank, ops in enumerate(self.ops):
            count = {}
            for op in ops:
                if op.kind not in ("collective", "send", "recv"):
                    continue
                members = self.members(op.of, rank)
                comm = (op.of["group"], members[0])
                if op.kind == "collective":
                    op.key = (comm, count.get(comm, 0))
                    count[comm] = op.key[1] + 1
                    self.all.setdefault(op.key, []).append(op)
                    continue
                other = members[(members.index(rank) + op.of["by"]) % len(members)]
                ends = (rank, other) if op.kind == "send" else (other, rank)
                side = sends if op.kind == "send" else recvs
                op.wire = (comm, ends)
                side.setdefault(op.wire, []).append(op)
        for wire, list_ in sends.items():
            for send, recv in zip(list_, recvs[wire]):
                send.partner, recv.partner = recv, send

    # --- What is demanded ---

    def slowed(self, time, rank):
        for f in self.p["faults"]:
            if "slow" in f and (f["ranks"] is None or rank in f["ranks"]):
                time = ceil(time * f["slow"])
        return time

    def crossing(self, of, members, link):
        """{instance: bytes in each direction}"""
        n, size, share = len(members), of["bytes"], SHARE[of["op"]]
        if link == "own":
            return {rank: F(share * (n - 1), n) * size for rank in members}
        blocks = {}
        for rank in members:
            blocks.setdefault(0 if link == "spine" else rank // 2, []).append(rank)
        if len(blocks) == 1:  # it lies between the members
            return {block: share * (n - 1) * size for block in blocks}
        if of["op"] == "all_to_all":
            return {b: F(len(m) * (n - len(m)), n) * size for b, m in blocks.items()}
        return {block: F(share * (n - 1), n) * size for block in blocks}

    def loads(self, of, kind, members):
        """Demands and weight of a transfer."""
        demands, first, n = {}, 0, len(members)
        for link in of["via"]:
            if kind == "collective":
                sides = [(side, self.crossing(of, members, link)) for side in ("out", "in")]
            else:
                at = {"own": lambda r: r, "nic": lambda r: r // 2, "spine": lambda r: 0}[link]
                sides = [("out", {at(members[0]): of["bytes"]}), ("in", {at(members[1]): of["bytes"]})]
            rates = []
            for side, crossing in sides:
                for instance, size in crossing.items():
                    rates.append(min(bytes_rate(size, of["work"]), self.hw[link]))
                    demands[f"{link}.{side}", instance] = rates[-1]
            first = first or max(rates)
        wire = of["bytes"] if kind != "collective" else F(SHARE[of["op"]] * (n - 1), n) * of["bytes"]
        hbm = min(int(bytes_rate(wire, of["work"]) * of["hbm_factor"]), self.hw["hbm"])
        for rank in members if hbm else []:
            demands["hbm", rank] = hbm
        fair = self.p["sharing"] == "fair" and (first or hbm)
        return demands, (F(1, first or hbm) if fair else F(1)) * of["weight"]

    def begin_transfer(self, kind, ops, members):
        of = ops[0].of
        demands, weight = self.loads(of, kind, members)
        self.running.append(
            Activity(kind, ops, self.now + of["alpha"], of["work"], demands, weight))

    def begin(self, op):
        of, rank = op.of, op.rank
        op.start = self.now
        if op.kind == "marker":
            self.running.append(Activity("marker", [op], self.now + of["time"], 0, {}, F(1)))
            return
        time = self.slowed(of["time"], rank) if op.kind == "kernel" else of["time"]
        rate = bytes_rate(of["hbm"], time)
        weight = F(1, rate) if rate and self.p["sharing"] == "fair" else F(1)
        a = Activity(op.kind, [op], self.now, time, {("hbm", rank): rate} if rate else {}, weight)
        if op.kind == "kernel":
            all_ = self.hw["sms"]
            wanted = of["sms"] or (min(of["blocks"], all_) if of["blocks"] else all_)
            a.want = (wanted, of["blocks"], time, self.slowed(of["compute"], rank) or time)
        self.running.append(a)

    # --- What can happen at this instant ---

    def issue(self, rank):
        ops, moved = self.ops[rank], False
        while self.next_issue[rank] < len(ops):
            op = ops[self.next_issue[rank]]
            if op.kind == "host":
                if not all(b.over() for b in op.before):
                    return moved
                if op.start is None:
                    op.start = max([self.host[rank]] + [b.end for b in op.before])
                if op.start + op.of["time"] > self.now:
                    return moved
                op.end = self.host[rank] = op.start + op.of["time"]
            elif not op.batch:  # the parts of a batch are one launch
                at = self.host[rank] + (0 if op.kind == "marker" else self.hw["launch"])
                if at > self.now:
                    return moved
                op.issued = self.host[rank] = at
            self.next_issue[rank] += 1
            moved = True
        return moved

    def can_arrive(self, op):
        if op.batch:
            return op.batch.start is not None
        behind = op.queued_behind
        return (op.issued is not None and all(b.over() for b in op.before)
                and (behind is None or behind.arrived is not None))

    def arrive(self, op):
        op.arrived = self.now
        self.held[op.rank] += op.of.get("sms", 0) if op.kind not in ("kernel", "batch") else 0
        if op.kind == "batch":
            op.start = self.now
        elif op.kind == "copy" and self.hw[op.of["way"]]:
            self.engines.setdefault((op.rank, op.of["way"]), []).append(op)
        elif op.kind in ("kernel", "copy", "marker"):
            self.begin(op)
        elif op.kind == "send" and op.of["eager"]:
            op.start = op.end = self.now
            self.wires.setdefault(op.wire, []).append(op)

    def meets(self, op):
        """Starts what all of its members have arrived for; ends what has come."""
        if op.kind == "collective" and op.start is None:
            ops = self.all[op.key]
            if all(o.arrived is not None for o in ops):
                for o in ops:
                    o.start = self.now
                self.begin_transfer("collective", ops, sorted(self.members(op.of, op.rank)))
                return True
        elif op.kind == "send" and op.start is None and op.partner.arrived is not None:
            op.start = op.partner.start = self.now
            self.begin_transfer("send", [op, op.partner], op.wire[1])
            return True
        elif op.kind == "recv" and op.of["eager"] and op.partner.landed is not None:
            op.start = max(op.arrived, op.partner.flow)
            op.end = self.now
            return True
        elif op.kind == "batch" and all(part.over() for part in op.parts):
            op.end = self.now
            return True
        return False

    def take_turns(self):
        """Copies take engines in the order in which they arrived, eager sends their wire."""
        moved = False
        for (rank, way), list_ in self.engines.items():
            list_.sort(key=lambda op: (op.arrived, self.ops[rank].index(op)))
            busy = sum(a.kind == "copy" and a.ops[0].rank == rank and a.ops[0].of["way"] == way
                       for a in self.running)
            while list_ and busy < self.hw[way]:
                self.begin(list_.pop(0))
                busy, moved = busy + 1, True
        for wire, list_ in self.wires.items():
            if list_ and not any(a.kind == "eager" and a.ops[0].wire == wire
                                 for a in self.running):
                send = list_.pop(0)
                send.flow = self.now
                self.begin_transfer("eager", [send], wire[1])
                moved = True
        return moved

    def end(self):
        moved = False
        for a in [a for a in self.running if a.moves(self.now) and a.work <= 0]:
            self.running.remove(a)
            moved = True
            if a.kind == "eager":
                a.ops[0].landed = self.now
                continue
            for op in a.ops:
                op.end = self.now
                if op.kind not in ("kernel", "copy", "marker"):
                    self.held[op.rank] -= op.of["sms"]
        return moved

    def settle(self):
        moved = True
        while moved:
            moved = self.end()
            for rank in range(self.n):
                moved |= self.issue(rank)
                for op in self.ops[rank]:
                    if op.over() or op.kind == "host":
                        continue
                    if op.arrived is None and self.can_arrive(op):
                        self.arrive(op)
                        moved = True
                    if op.arrived is not None and not op.over():
                        moved |= self.meets(op)
            moved |= self.take_turns()

    # --- Speeds ---

    def capacity(self, resource):
        link, instance = resource[0].split(".")[0], resource[1]
        rate = self.hw[link]
        for f in self.p["faults"]:
            if f.get("link") != link or self.now < f["from"]:
                continue
            ranks = range(self.n) if f["ranks"] is None else f["ranks"]
            serves = {{"nic": r // 2, "spine": 0}.get(link, r) for r in ranks}
            if instance in serves and (f["until"] is None or self.now < f["until"]):
                rate = min(rate, f["rate"])
        return rate

    @staticmethod
    def sm_cap(want, left, wanted):
        wants, blocks, time, compute = want
        got = F(wants) if wanted <= left else F(left * wants, wanted)
        if blocks:
            speed = F(-(-blocks // wants), -(-blocks // max(1, floor(got))))
        else:
            speed = got / wants
        return min(F(1), speed * F(time, compute))

    def cap_kernels(self, moving, kernels):
        for rank in range(self.n):
            wanted = sum(k.want[0] for k in kernels[rank])
            here = [op for op in self.ops[rank] if op.kind in ("collective", "send", "recv")
                    and op.arrived is not None and not op.over()]
            for k in kernels[rank]:
                held, factor = self.held[rank], F(1)
                for op in here if self.p["model"] == "measured" else []:
                    pair = self.p["pairs"].get((k.ops[0].of["class"], op.class_()))
                    if pair:
                        held -= op.of["sms"]
                        factor *= pair[0] if id(op) in moving else 1
                k.cap = self.sm_cap(k.want, max(0, self.hw["sms"] - held), wanted) / factor

    def cap_transfers(self, running, kernels):
        """By measured factors of the worst member; HBM is in them where they are known."""
        for a in running:
            if a.kind not in ("collective", "send"):
                continue
            a.cap, inside = F(1), set()
            for op in a.ops:
                pairs = [self.p["pairs"].get((k.ops[0].of["class"], op.class_()))
                         for k in kernels[op.rank]]
                factor = F(1)
                for pair in pairs:
                    factor *= pair[1] if pair else 1
                a.cap = min(a.cap, 1 / factor)
                if all(pairs):
                    inside.add(("hbm", op.rank))
            a.demands = {r: d for r, d in a.full.items() if r not in inside}

    def solve(self):
        running = [a for a in self.running if a.moves(self.now)]
        if self.p["model"] == "none":
            for a in running:
                a.rate = F(1)
            return
        kernels = [[a for a in running if a.want and a.ops[0].rank == r] for r in range(self.n)]
        moving = {id(op) for a in running if a.kind in ("collective", "send") for op in a.ops}
        self.cap_kernels(moving, kernels)
        if self.p["model"] == "measured":
            self.cap_transfers(running, kernels)
        self.fill(running)

    def fill(self, running):
        """All are raised together, by weight, until a cap or a full resource holds some."""
        users = {}
        for a in running:
            a.rate = None if a.demands else a.cap
            for resource in a.demands:
                users.setdefault(resource, []).append(a)
        left = {resource: F(self.capacity(resource)) for resource in users}
        open_ = [a for a in running if a.rate is None]
        while open_:
            slope = {r: sum(a.weight * a.demands[r] for a in list_ if a.rate is None)
                     for r, list_ in users.items()}
            level = min(a.cap / a.weight for a in open_)
            level = min([level] + [left[r] / slope[r] for r in users if slope[r]])
            full = {r for r in users if slope[r] and left[r] == slope[r] * level}
            stay = [a for a in open_ if a.cap == level * a.weight or full & a.demands.keys()]
            for a in stay:
                a.rate = level * a.weight
                for r, demand in a.demands.items():
                    left[r] -= a.rate * demand
            open_ = [a for a in open_ if a.rate is None]

    # --- Time ---

    def next(self):
        times = [f[k] for f in self.p["faults"] if "link" in f for k in ("from", "until") if f[k]]
        for a in self.running:
            if not a.moves(self.now):
                times.append(a.until)
            elif a.rate > 0:
                times.append(self.now + ceil(a.work / a.rate))
        for rank in range(self.n):
            if self.next_issue[rank] < len(self.ops[rank]):
                op = self.ops[rank][self.next_issue[rank]]
                if op.kind != "host":
                    times.append(self.host[rank] + (0 if op.kind == "marker" else self.hw["launch"]))
                elif op.start is not None:
                    times.append(op.start + op.of["time"])
        return min((t for t in times if t > self.now), default=None)

    def run(self):
        while True:
            self.settle()
            if all(op.over() for ops in self.ops for op in ops) and not self.running:
                break
            self.solve()
            until = self.next()
            if until is None:
                raise RuntimeError("nothing can happen any more")
            for a in self.running:
                if a.moves(self.now):
                    a.work -= a.rate * (until - self.now)
            self.now = until
        return {(op.rank, op.name): (op.start, op.end) if op.landed is None else (None, op.landed)
                for ops in self.ops for op in ops}


def play(program):
    return Play(program).run()
