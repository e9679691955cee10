/* Runs inside a page, in the browser: `expected` holds what ovl run --json printed. What it finds is
 * written into the page, which the test reads back: a line for each check, and a last one. */
"use strict";
const report = document.createElement("pre");
report.id = "verdict";
let bad = 0, good = 0;

function check(what, is, want) {
  const same = JSON.stringify(is) === JSON.stringify(want);
  good += same;
  bad += !same;
  if (!same) {
    report.textContent += "WRONG " + what + ": " + JSON.stringify(is) + ", not " + JSON.stringify(want) + "\n";
  }
}

const expected = JSON.parse(document.getElementById("expected").textContent);
const all = (selector) => [...document.querySelectorAll(selector)];
const picos = (seconds) => Math.round(seconds * 1e12);

/* The time that a cell shows, read back from its digits and the unit in the head of its column. */
function shown(cell) {
  const head = cell.closest("table").tHead.rows[0].cells[cell.cellIndex].textContent;
  const power = { s: 12, ms: 9, "µs": 6, ns: 3 }[head.match(/\[(.*)\]/)[1]];
  const [whole, part] = cell.textContent.replace(/,/g, "").replace("−", "-").split(".");
  return Number(whole + (part || "").padEnd(power, "0"));
}

/* Times are shown with six significant digits of the largest of their column; the terms of a sum may
 * be rounded the other way. */
function near(what, cell, want) {
  const most = Math.max(...all("#" + cell.closest("table").id + " [data-key=" + cell.dataset.key + "]").map((c) => Math.abs(shown(c)) || 0));
  check(what + " is near", Math.abs(shown(cell) - want) <= most / 1e5, true);
  check(what, Number(cell.dataset.value), want);
}

function column(table, name, rows, field) {
  const cells = all("#" + table + " tbody [data-key=" + name + "]");
  check(table + " has a " + name + " for each row", cells.length, Math.min(rows.length, 300));
  cells.forEach((cell, i) => {
    const value = rows[i][field || name];
    if (value === undefined) {
      check(table + " " + name + " " + i, cell.textContent, "–");
    } else if (name.endsWith("_s") || name === "time") {
      near(table + " " + name + " " + i, cell, picos(value));
    } else if (typeof value === "number") {
      check(table + " " + name + " " + i, Number(cell.dataset.value), value);
    } else {
      check(table + " " + name + " " + i, cell.textContent, value);
    }
  });
}

function figures() {
  const run = JSON.parse(document.getElementById("data").textContent).runs[0].run;
  check("the page contains what ovl run --json prints", run, expected);
  check("the step", Number(document.getElementById("step").dataset.value), expected.step.time_s);
  check("uncovered", Number(document.getElementById("uncovered").dataset.value), expected.step.comm_uncovered_s);
  check("startups", Number(document.getElementById("startups").dataset.value), expected.step.startups);
  const terms = Object.entries(expected.step.decomposition_s).map(([term, time]) => ({ term, time }));
  column("terms", "time", terms);
  const sum = all("#terms tbody [data-key=time]").reduce((total, cell) => total + shown(cell), 0);
  check("the terms that are shown sum to the step that is shown", sum, shown(document.querySelector("#terms tfoot [data-key=time]")));
  near("which is the step", document.querySelector("#terms tfoot [data-key=time]"), picos(expected.step.time_s));
  if (expected.collectives.length) {
    ["name", "group", "bytes", "ready_s", "start_s", "end_s", "exposed_s"].forEach((name) =>
      column("collective-rows", name, expected.collectives));
    ["u_path_s", "worth_s", "slack_s"].filter((name) => expected.collectives.some((c) => c[name] !== undefined))
      .forEach((name) => column("collective-rows", name, expected.collectives));
  }
  column("idle-ranks", "idle_s", expected.ranks);
  if (expected.resources.length) {
    ["name", "instances", "capacity_Bps", "busy_s", "bytes", "mean_use"].forEach((name) => column("resources", name, expected.resources));
  }
  if (expected.alike_collisions.length) {
    ["resource", "a", "b", "together_s", "lost_a_s", "lost_b_s", "all_lost_a_s", "all_lost_b_s"].forEach((name) =>
      column("collision-rows", name, expected.alike_collisions));
  }
  ["op", "start_s", "end_s"].forEach((name) => column("path-rows", name, expected.critical_path));
  if (expected.ranks.some((rank) => rank.live_peak)) {
    ["live_peak_bytes", "allocated_peak_bytes", "reserved_peak_bytes"].forEach((name) => column("peaks", name, expected.ranks));
    const most = expected.ranks.reduce((a, b) => (b.live_peak.bytes > a.live_peak.bytes ? b : a));
    ["name", "bytes"].forEach((name) => column("holders", name, most.live_peak.holders));
  }
  check("hazards", all("#hazard-rows tbody tr").length, expected.hazards.length);
  check("what is not modelled", all("#not-modelled li").map((li) => li.textContent), expected.not_modelled);
}

/* Each column of the controlled runs sums to its step, and each row to what overlap saves. */
function threeRuns() {
  const three = JSON.parse(document.getElementById("data").textContent).runs[0].controlled;
  check("both is the step", three.both.step_s, expected.step.time_s);
  ["compute_only", "communication_only", "both", "saved"].forEach((run) => {
    const cells = all("#three-runs tbody [data-key=" + run + "]"), foot = document.querySelector("#three-runs tfoot [data-key=" + run + "]");
    check("the terms of " + run + " sum to its step", cells.reduce((sum, cell) => sum + shown(cell), 0), picos(three[run].step_s));
    check("the step of " + run, shown(foot), picos(three[run].step_s));
  });
  all("#three-runs tbody tr, #three-runs tfoot tr").forEach((row) => {
    const of = (run) => shown(row.querySelector("[data-key=" + run + "]"));
    check("saved", of("saved"), of("compute_only") + of("communication_only") - of("both"));
  });
  ["what", "times", "isolated_s", "alone_s", "both_s"].forEach((name) => column("three-durations", name, three.durations));
}

/* The timeline has what the critical path and the collectives tell. */
function bars() {
  const line = overlapsim.timeline, data = line.data;
  const at = (name, rank, start, end) => {
    for (let i = 0; i < line.n; i++) {
      if (data.names[line.bars.name[i]] === name && data.lanes[line.bars.lane[i]].rank === rank &&
        line.bars.start_ps[i] - line.begin === start && line.bars.start_ps[i] - line.begin + line.bars.length_ps[i] === end) {
        return i;
      }
    }
    return -1;
  };
  expected.collectives.forEach((c) => check("a bar for " + c.name, at(c.name, c.rank, picos(c.start_s), picos(c.end_s)) >= 0, true));
  line.byLane.forEach((list, lane) => list.forEach((bar, i) => i > 0 && check("bars of lane " + lane + " do not overlap",
    line.bars.start_ps[list[i - 1]] + line.bars.length_ps[list[i - 1]] <= line.bars.start_ps[bar], true)));
  check("some bar is on the critical path", data.critical.length > 0, true);
}

function press(key) {
  overlapsim.timeline.canvas.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
}

function hand() {
  const line = overlapsim.timeline, box = line.canvas.getBoundingClientRect(), x = line.scale();
  const lane = line.lanes.find((l) => line.byLane[l].some((i) => line.bars.length_ps[i] > line.end / 200));
  const bar = line.byLane[lane].findLast((i) => line.bars.length_ps[i] > line.end / 200);
  const start = line.bars.start_ps[bar], end = start + line.bars.length_ps[bar];
  const name = line.data.names[line.bars.name[bar]], title = () => document.querySelector("#details h3").textContent;
  const row = line.lanes.indexOf(lane);
  line.canvas.dispatchEvent(new MouseEvent("click", { clientX: box.left + (x(start) + x(end)) / 2,
    clientY: box.top + AXIS + row * LANE + LANE / 2, bubbles: true }));
  check("a click shows the operation", title(), name);
  const facts = Object.fromEntries(all("#details dl div").map((d) => [d.children[0].textContent, d.children[1].textContent]));
  check("when it starts", facts.Start, time(start - line.begin));
  check("when it ends", facts.End, time(end - line.begin));
  check("and what is read out", line.told.textContent.startsWith(name + ". "), true);
  const next = line.byLane[lane][line.place[bar] + 1];
  press("ArrowRight");
  check("the right arrow goes on", line.chosen, next === undefined ? bar : next);
  press("Home");
  press("+");
  const [from, to] = line.scale().domain();
  check("+ zooms", Math.abs((to - from) * 2 - line.end * (line.width / (line.width - 2))) < line.end / 50, true);
  press("Home");
  press("Escape");
  check("Escape lets go", line.chosen, -1);
  press("c");
  check("c goes to the critical path", line.isCritical[line.chosen], 1);
  line.search.value = name;
  line.search.dispatchEvent(new Event("input"));
  check("a search finds the operation", line.matches.includes(bar), true);
  line.search.value = "";
  line.search.dispatchEvent(new Event("input"));
  line.listing.open = true;
  line.list();
  check("the table has the bars", all("#operations tbody tr").length, Math.min(line.n, 300));
}

/* What a screen reader needs: names, captions, heads of columns, one heading of the first level. */
function access() {
  check("one h1", all("h1").length, 1);
  check("each table has a caption", all("table").filter((t) => !t.caption || !t.caption.textContent).length, 0);
  check("each head says what it heads", all("th:not([scope])").filter((t) => !t.closest("tfoot")).length, 0);
  check("each section has its name", all("section").filter((s) => !document.getElementById(s.getAttribute("aria-labelledby"))).length, 0);
  check("no id twice", new Set(all("[id]").map((e) => e.id)).size, all("[id]").length);
  check("each field has a label", all("input, select").filter((e) => !e.labels.length).length, 0);
  check("each picture has a text", all("canvas, [role=img]").filter((e) => !e.getAttribute("aria-label") && !e.getAttribute("aria-hidden")).length, 0);
  check("nothing is fetched", performance.getEntriesByType("resource").filter((e) => !e.name.startsWith("data:")).length, 0);
}

try {
  figures();
  threeRuns();
  if (overlapsim.timeline) {
    bars();
    hand();
  } else {
    check("a page without a timeline says so", all("#timeline .notice").length, 1);
  }
  access();
} catch (error) {
  bad++;
  report.textContent += "WRONG " + error.stack + "\n";
}
report.textContent += "checks: " + good + " good, " + bad + " bad\n";
document.body.append(report);
