/* The report: sections from the data, one run at a time, and the comparison of all. */
const data = JSON.parse(document.getElementById("data").textContent);
const page = { timeline: null, memory: null };
const PARTS = { compute: "kernel", compute_stretch: "kernel", comm_latency: "comm", comm_transfer: "comm",
  comm_stretch: "comm", copy: "copy", wait_late_rank: "marker", idle: "line" };
const MEANS = {
  compute: "a kernel runs: its progress at isolated speed", compute_stretch: "a kernel runs, held back by interference",
  comm_latency: "no kernel; communication in its latency", comm_transfer: "no kernel; communication transfers",
  comm_stretch: "no kernel; communication held back by interference", copy: "none of these; a copy runs",
  wait_late_rank: "none of these; a collective waits for another rank", idle: "nothing runs" };

/* Where capacity was lost, too, not all that is held back is so by others. */
const means = (step, term) => (step.degraded ? MEANS[term].replace("interference", "interference or a fault") : MEANS[term]);

const nameOf = (i) => data.runs[i].word;
const figure = (id, term, text, small, value) => make("div", {}, make("dt", {}, term),
  make("dd", { id, "data-value": value }, text, small ? make("small", {}, small) : undefined));

function summary(run) {
  const s = run.step, wait = s.time_s ? s.comm_uncovered_s / s.time_s : 0, list = [
    figure("step", "Step", brief(ps(s.time_s)), "decided by rank " + s.deciding_rank, s.time_s),
    figure("uncovered", "Communication uncovered", brief(ps(s.comm_uncovered_s)), percent(wait) + " of the step; " +
      brief(ps(s.hidden_comm_s)) + " hidden", s.comm_uncovered_s)];
  if (s.without_interference_s !== undefined) {
    list.push(figure("price", "Price of interference" + (s.degraded ? " and hardware.faults" : ""), brief(ps(s.time_s) - ps(s.without_interference_s)),
      (s.degraded ? "step without them " : "step without it ") + brief(ps(s.without_interference_s))));
  }
  list.push(figure("startups", "Launches of communication", count(s.startups), undefined, s.startups));
  if (run.memory) {
    list.push(figure("peak", "Peak memory reserved", bytes(run.memory.reserved_peak_bytes), (run.memory.fits ? "fits " : "does not fit ") +
      bytes(run.memory.limit_bytes) + ", rank " + run.memory.rank, run.memory.reserved_peak_bytes));
  }
  list.push(figure("hazard-count", "Hazards", run.hazards_checked ? count(run.hazards.length) : "not checked",
    run.hazards_checked ? undefined : "the program has no buffers", run.hazards.length));
  return section("summary", "In short", make("dl", { class: "figures" }, ...list), equation(run));
}

function equation(run) {
  const e = run.equation;
  if (!e) {
    return null;
  }
  const known = e.u_variant_s !== undefined;
  const [step, ...terms] = inSum((known ? [e.u_variant_s, e.interference_s] : [e.u_path_s]).concat(e.exposed_s, e.after_s).map(ps));
  const after = terms.pop(), exposed = terms.pop();
  const path = known ? terms[0] + " until all else would be ready, + " + terms[1] + " of interference" :
    terms[0] + " until all else was ready";
  return make("p", {}, make("strong", {}, step), " = " + path + " + " + exposed + " that " + e.collective + " is exposed" +
    (e.consumer ? " before " + e.consumer : "") + " + " + after + " after it.");
}

function decomposition(run) {
  const rows = Object.entries(run.step.decomposition_s).map(([term, s]) => ({ term, time: ps(s), s }));
  const sum = rows.reduce((all, row) => all + row.time, 0), step = ps(run.step.time_s) || 1;
  const meter = make("div", { class: "meter", role: "img", "aria-label": "Shares of the step: " + rows.filter((r) => r.time)
    .map((r) => words(r.term) + " " + percent(r.time / step)).join(", ") }, ...rows.filter((r) => r.time).map((r) => make("span",
    { title: words(r.term) + " " + time(r.time), style: "flex:" + r.time / step + " 0 0;background:" + face(r.term) })));
  return section("decomposition", "Where the time goes",
    make("p", {}, "The wall time of rank " + run.step.deciding_rank + ", which ends last; each instant belongs to the first row that applies."),
    meter, table("terms", "Decomposition of the step", [
      { key: "term", title: "term", kind: "text", head: true, foot: "step", get: (r) => words(r.term), node: (r) =>
        make("span", {}, make("span", { class: "key", style: "background:" + face(r.term) }), words(r.term)) },
      { key: "time", title: "time", kind: "time", get: (r) => r.time, foot: sum },
      { key: "share", title: "share", kind: "percent", get: (r) => r.time / step, foot: sum / step },
      { title: "when", kind: "wrap", get: (r) => means(run.step, r.term) }], rows, true));
}

/* Stretch is the colour of what is stretched, striped. */
function face(term) {
  const plain = "var(--" + (PARTS[term] || "line") + ")";
  return term.endsWith("stretch") ? "repeating-linear-gradient(45deg," + plain + " 0 4px,var(--page) 4px 6px)" :
    term === "comm_latency" ? "color-mix(in srgb," + plain + " 60%,var(--page))" : plain;
}

/* Compute alone, communication alone, both, and what overlap saves: each row and each column adds up. */
function controlled(three) {
  if (!three) {
    return null;
  }
  const runs = { compute_only: "compute only", communication_only: "communication only", both: "both", saved: "alone + alone - both" };
  const terms = Object.keys(three.both.decomposition_s).filter((term) => Object.keys(runs).some((run) => three[run].decomposition_s[term]));
  const most = Math.max(...Object.keys(runs).map((run) => ps(three[run].step_s)));
  const columns = [{ key: "term", title: "term", kind: "text", head: true, foot: "step", get: (term) => words(term) }];
  Object.entries(runs).forEach(([run, title]) => columns.push({ key: run, title, kind: "time", exact: true, unit: unitFor(most),
    get: (term) => ps(three[run].decomposition_s[term]), foot: ps(three[run].step_s) }));
  const [saved, compute, communication, both] = inSum([ps(three.compute_only.step_s), ps(three.communication_only.step_s), -ps(three.both.step_s)]);
  const said = "Overlap saves " + saved + ": " + compute + " of compute alone + " + communication + " of communication alone " +
    "- " + both.replace("−", "") + " of both.";
  return section("controlled", "Controlled runs", make("p", {}, "The step without communication, without kernels, and as it is, on rank " +
    three.rank + "; order and the host stay."), table("three-runs", "Three controlled runs", columns, terms, true), make("p", {}, said),
    table("three-durations", "Durations, summed over the rank: as costs say, in the run without the other kind, and in both", [
      plain("what", "what", { kind: "text", head: true }), plain("times", "times"), sec("isolated_s", "isolated"), sec("alone_s", "alone"),
      sec("both_s", "both")], three.durations));
}

const link = (name, rank, start) => (page.timeline ? make("button", { type: "button", class: "plain",
  onclick: () => page.timeline.find(name, rank, start) }, name) : name);

const sec = (keyName, title, more) => ({ key: keyName, title, kind: "time", get: (r) => ps(r[keyName]), ...more });
const plain = (keyName, title, more) => ({ key: keyName, title, get: (r) => r[keyName], ...more });
const alike = (r) => r.rank + (r.count > 1 ? " (of " + r.count + " alike)" : "");

function collectives(run) {
  if (!run.collectives.length) {
    return section("collectives", "Collectives", make("p", {}, "There is no communication in this step."));
  }
  return section("collectives", "Collectives", make("p", {}, "Ready: its input is there. u: when all else its consumer waits for is " +
    "there. Exposed: how much later than u it ends. Worth: how much shorter the step is when all communication of this name is free."),
    table("collective-rows", "Collectives and receives, by rank and start", [
      plain("name", "name", { kind: "text", head: true, node: (r) => link(r.name, r.rank, ps(r.start_s)) }),
      plain("op", "operation", { kind: "text", get: (r) => words(r.op) }), plain("group", "group", { kind: "text" }),
      { key: "rank", title: "rank", kind: "text", get: alike }, plain("bytes", "bytes", { kind: "bytes" }),
      sec("ready_s", "ready"), sec("start_s", "start"), sec("end_s", "end"), sec("u_path_s", "u", { optional: true }),
      sec("exposed_s", "exposed"), sec("interference_s", "interference", { optional: true }), sec("worth_s", "worth", { optional: true }),
      sec("slack_s", "slack", { optional: true }), plain("busbw_Bps", "bus bandwidth", { kind: "rate", optional: true }),
      plain("consumer", "consumer", { kind: "text", optional: true }),
      { key: "on_critical_path", title: "critical", kind: "text", get: (r) => (r.on_critical_path ? "yes" : "") }], run.collectives));
}

function idle(run) {
  const i = run.idle, kinds = Object.keys((run.ranks[0] || { idle: {} }).idle), parts = [];
  if (i.pieces) {
    const rows = Object.entries(i.pieces).map(([kind, s]) => ({ kind, time: ps(s) }));
    const total = ps(i.time_s);
    parts.push(table("idle-kinds", "Idle time of all ranks, by why no kernel runs", [
      { key: "kind", title: "reason", kind: "text", head: true, foot: "idle", get: (r) => words(r.kind) },
      { key: "time", title: "time", kind: "time", get: (r) => r.time, foot: rows.reduce((a, r) => a + r.time, 0) },
      { key: "share", title: "share", kind: "percent", get: (r) => (total ? r.time / total : 0), foot: total ? 1 : 0 }], rows, true));
  }
  if (i.because.length) {
    parts.push(make("ul", {}, ...i.because.map((b) => make("li", {}, words(b.kind) + ", " + time(ps(b.time_s)) + ": " + b.text))));
  }
  parts.push(table("idle-ranks", "Idle time of each rank", [
    { key: "rank", title: "rank", kind: "text", head: true, get: alike }, sec("idle_s", "idle"),
    ...kinds.map((kind) => ({ key: kind, title: words(kind), kind: "time", get: (r) => ps(r.idle[kind]) })),
    plain("bubble_rate", "idle within its span", { kind: "percent", optional: true })], run.ranks));
  if (run.what_if && run.what_if.length) {
    parts.push(table("what-if", "What would help, each simulated", [plain("against", "against", { kind: "text" }),
      plain("change", "change", { kind: "text", head: true }), sec("step_s", "step"),
      sec("per_microbatch_s", "per microbatch", { optional: true }), plain("bubble_rate", "idle", { kind: "percent", optional: true })], run.what_if));
  }
  return section("idle", "Why ranks idle", ...parts);
}

function memory(run) {
  const ranks = run.ranks.filter((rank) => rank.live_peak);
  if (!ranks.length) {
    return section("memory", "Memory", make("p", {}, "The program declares no buffers, so nothing is said about memory."));
  }
  const most = ranks.reduce((a, b) => (b.live_peak.bytes > a.live_peak.bytes ? b : a)), parts = [];
  if (run.memory && run.memory.failure) {
    const f = run.memory.failure;
    parts.push(make("p", { class: "bad" }, "Out of memory on rank " + run.memory.rank + ": " + f.buffer + " (" + bytes(f.bytes) + ") before " + f.before + "."));
  }
  if (page.memory) {
    parts.push(page.memory.element);
  }
  parts.push(table("peaks", "Peaks of each rank", [{ key: "rank", title: "rank", kind: "text", head: true, get: alike },
    plain("live_peak_bytes", "live", { kind: "bytes" }), sec("live_peak_at_s", "at"), { title: "raised by", kind: "text", get: (r) => r.live_peak.raised_by },
    plain("allocated_peak_bytes", "allocated", { kind: "bytes" }), plain("reserved_peak_bytes", "reserved", { kind: "bytes" }),
    { title: "fits", kind: "text", optional: true, get: (r) => (r.fits === undefined ? undefined : r.fits ? "yes" : "no") }], ranks));
  parts.push(table("holders", "Who holds the live peak of rank " + most.rank, [plain("name", "buffer", { kind: "text", head: true, foot: "peak" }),
    plain("category", "category", { kind: "text", optional: true }),
    plain("bytes", "bytes", { kind: "bytes", foot: most.live_peak.bytes })], most.live_peak.holders, true));
  return section("memory", "Memory", ...parts);
}

function links(run) {
  const parts = [run.resources.length ? table("resources", "What was used: the busiest instance of each, and all", [
    plain("name", "resource", { kind: "text", head: true }), plain("busiest", "busiest instance"), plain("instances", "of instances"), plain("capacity_Bps", "capacity", { kind: "rate" }), plain("capacity_sms", "SMs", { optional: true }),
    sec("busy_s", "busy"), plain("bytes", "bytes", { kind: "bytes" }), plain("mean_use", "mean use", { kind: "percent" }),
    plain("total_bytes", "bytes of all", { kind: "bytes" }),
    sec("lost_s", "lost to it on rank " + run.step.deciding_rank), sec("all_lost_s", "over all ranks"), sec("all_alone_s", "of it beside nobody")], run.resources) :
    make("p", {}, "Under the interference model " + run.interference + " no use of links, memory or SMs is followed.")];
  if (run.alike_collisions.length) {
    const rank = "rank " + run.step.deciding_rank;
    parts.push(make("p", {}, "Lost on " + rank + ": by what it has a part in. Over all ranks: by all operations, a collective once. Full: instances on which more was wanted than there is while both were there. Each loss stands once, so rows of a resource add up to what was lost to it, above; names that differ in the numbers shown as * are one row."));
    parts.push(table("collision-rows", "What was lost to a resource, beside whom (" + count(run.alike_collisions_in_all) + " in all, of " + count(run.collisions_in_all) + " pairs of names)", [
      plain("resource", "resource", { kind: "text", head: true }), plain("full_instances", "full"), plain("instances", "of instances"),
      plain("a", "A", { kind: "text" }), sec("lost_a_s", "A lost on " + rank), sec("all_lost_a_s", "A lost over all ranks"),
      plain("b", "B", { kind: "text" }), sec("lost_b_s", "B lost on " + rank), sec("all_lost_b_s", "B lost over all ranks"),
      sec("together_s", "longest together"), plain("pairs", "pairs")], run.alike_collisions));
  } else {
    parts.push(make("p", {}, "Nothing was held back by another on a link, on memory or for SMs."));
  }
  if (run.limits.length) {
    parts.push(table("limit-rows", "What held operations of rank " + run.step.deciding_rank + " below isolated speed", [plain("op", "operation", { kind: "text", head: true }),
      plain("bound", "by", { kind: "text" }), sec("time_s", "for"), sec("lost_s", "lost")], run.limits));
  }
  return section("links", "Links and collisions", ...parts);
}

function hazards(run) {
  const place = (h) => (h.file ? h.file + (h.line ? ":" + h.line + ":" + h.column : "") : undefined);
  return section("hazards", "Hazards", !run.hazards_checked ? make("p", {}, "Not checked: the program has no buffers.") :
    run.hazards.length ? table("hazard-rows", count(run.hazards.length) + " hazards", [plain("kind", "kind", { kind: "text", head: true, get: (h) => words(h.kind) }),
      plain("text", "what", { kind: "wrap" }), { title: "rank", kind: "text", get: alike }, { title: "where", kind: "text", get: place, optional: true }], run.hazards) :
      make("p", { class: "good" }, "None: every pair of accesses to one buffer is ordered." + (run.gradients ?
        " Every gradient that an optimizer receives is complete, with the scale " + run.gradients.scale + "." : "")));
}

function onPath(r) {
  return (ps(r.end_s) - ps(r.start_s)) * (r.repeats || 1);
}

function path(run) {
  return section("path", "Critical path", make("p", {}, "From the start of the step to its end without gaps; shorten one of these to shorten the step."),
    table("path-rows", "Critical path", [plain("op", "operation", { kind: "text", head: true, node: (r) => link(r.op, r.rank, ps(r.start_s)), foot: "step" }),
      plain("rank", "rank"), plain("stream", "stream", { kind: "text" }), sec("start_s", "start"), sec("end_s", "end"),
      { key: "length", title: "takes", kind: "time", get: onPath, foot: run.critical_path.reduce((a, r) => a + onPath(r), 0) },
      plain("repeats", "times", { optional: true }), { ...sec("every_s", "every"), optional: true },
      plain("why", "why then", { kind: "wrap" })], run.critical_path));
}

function inputs(entry) {
  return section("inputs", "Inputs", make("p", {}, "Interference model " + entry.run.interference + ", variant " + entry.run.variant + "; digest of the texts ",
    make("code", {}, entry.digest.slice(0, 16)), "."), data.sets.length ? make("p", {}, "Set by hand: ", make("code", {}, data.sets.join("  "))) : null,
    ...entry.inputs.map((file, i) => make("details", { open: i === 0 && file.text.length < 6000 }, make("summary", {}, file.path), make("pre", { tabindex: 0 }, file.text))));
}

function notModelled(run) {
  return section("not-modelled", "What is not modelled", make("ul", {}, ...run.not_modelled.map((text) => make("li", {}, text))));
}

function timeline(entry) {
  const notes = entry.left_out ? make("p", { class: "notice" }, entry.left_out) : null;
  return section("timeline", "Timeline", notes, page.timeline ? page.timeline.element :
    make("p", { class: "notice" }, "The timeline and the memory chart are not drawn: this ovl was built without D3 (Debian package node-d3). The tables are whole."));
}

function comparison() {
  const base = data.runs[0].run, terms = Object.keys(base.step.decomposition_s), all = data.runs.map((entry, i) => ({ i, run: entry.run }));
  const rows = terms.map((term) => ({ term, get: (run) => ps(run.step.decomposition_s[term]) }));
  const columns = [{ key: "term", title: "term", kind: "text", head: true, foot: "step", get: (r) => words(r.term) }];
  all.forEach(({ i, run }) => {
    columns.push({ key: "run" + i, title: nameOf(i), kind: "time", exact: true, unit: unitFor(ps(base.step.time_s)), get: (r) => r.get(run), foot: ps(run.step.time_s) });
    if (i > 0) {
      columns.push({ key: "delta" + i, title: "change", kind: "time", sign: true, exact: true, unit: unitFor(ps(base.step.time_s)), get: (r) => ps(data.comparisons[i - 1].delta_s[r.term]),
        foot: ps(data.comparisons[i - 1].delta_s.step) });
    }
  });
  const sentences = data.comparisons.map((c, i) => make("div", {}, make("h3", {}, nameOf(0) + " and " + nameOf(i + 1)),
    ...[c.sentence, c.efficiency, c.path_change, c.gradients, c.memory].filter(Boolean).map((text) => make("p", {}, text))));
  return section("comparison", "Comparison", table("differences", "Where the time goes in each run, and the change against " + nameOf(0), columns, rows), ...sentences);
}

function show(index) {
  const entry = data.runs[index], run = entry.run, draws = typeof d3 !== "undefined";
  page.timeline = draws ? new Timeline(entry.timeline, run.step.degraded) : null;
  page.memory = draws && run.ranks.some((rank) => rank.live_over_time && rank.live_over_time.length) ? new Memory(run, entry.timeline.begin_ps) : null;
  document.getElementById("title").textContent = (run.scenario || entry.word) + (run.variant === "base" ? "" : ": " + run.variant);
  document.getElementById("description").textContent = run.description || "";
  const parts = [summary(run), timeline(entry), decomposition(run), controlled(entry.controlled), collectives(run), idle(run), memory(run), links(run), path(run),
    hazards(run), inputs(entry), notModelled(run)].filter((part) => part);
  if (data.runs.length > 1) {
    parts.unshift(comparison());
  }
  document.getElementById("content").replaceChildren(...parts);
  document.getElementById("contents").replaceChildren(...parts.map((part) => make("li", {}, make("a", { href: "#" + part.id },
    part.querySelector("h2").textContent))));
  if (page.timeline) {
    page.timeline.start();
  }
  if (page.memory) {
    page.memory.start();
  }
}

document.getElementById("program").textContent = data.program;
if (data.runs.length > 1) {
  document.getElementById("runs").append(make("label", {}, "Run shown below ", make("select", { id: "run",
    onchange: (event) => show(Number(event.target.value)) }, ...data.runs.map((entry, i) => make("option", { value: i }, nameOf(i))))));
}
window.overlapsim = page;
show(0);
