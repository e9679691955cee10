/* The timeline: one canvas for the names of lanes, one for their bars. D3 zooms and makes the scale;
 * bars are drawn by hand, those that would share a pixel as one, so that a frame costs what is seen
 * and not what there is. */
const LANE = 22, AXIS = 26, NAMES = 168, KINDS = ["kernel", "comm", "copy", "host", "marker", "forward",
  "backward", "input", "weight", "pair"];
const KIND_WORDS = ["kernel", "communication", "copy", "host", "marker", "forward", "backward", "backward of the inputs",
  "backward of the weights", "forward and backward together"];

class Timeline {
  constructor(data, degraded) {
    this.data = data;
    this.slower = "interference" + (degraded ? " or a fault" : "");
    this.bars = data.bars;
    this.n = data.bars.name.length;
    this.end = Math.max(data.end_ps, 1);
    this.begin = data.begin_ps; /* of the last step: what is shown counts from there, as tables do */
    this.isCritical = new Uint8Array(this.n);
    data.critical.forEach((i) => { this.isCritical[i] = 1; });
    this.rank = -1;
    this.top = 0;
    this.chosen = -1;
    this.found = null;
    this.show = { critical: true, shade: true };
    this.sortLanes();
    this.build();
  }

  /* Bars of each lane by start, and the latest end so far, to find the first that is seen. */
  sortLanes() {
    const { lane, start_ps, length_ps } = this.bars;
    this.byLane = this.data.lanes.map(() => []);
    for (let i = 0; i < this.n; i++) {
      this.byLane[lane[i]].push(i);
    }
    this.ends = this.byLane.map((list) => {
      list.sort((a, b) => start_ps[a] - start_ps[b] || a - b);
      const ends = new Float64Array(list.length);
      let latest = 0;
      list.forEach((bar, at) => {
        latest = Math.max(latest, start_ps[bar] + length_ps[bar]);
        ends[at] = latest;
      });
      return ends;
    });
    this.place = new Uint32Array(this.n);
    this.byLane.forEach((list) => list.forEach((bar, at) => { this.place[bar] = at; }));
    this.pickLanes();
  }

  pickLanes() {
    this.lanes = this.data.lanes.map((_, i) => i).filter((i) => this.rank < 0 ||
      this.data.lanes[i].rank === this.rank);
  }

  build() {
    const n = count(this.n);
    this.search = make("input", { type: "search", id: "search", placeholder: "name of an operation",
      oninput: () => this.look(), onkeydown: (event) => {
        if (event.key === "Enter") {
          this.next(event.shiftKey ? -1 : 1);
          event.preventDefault();
        }
      } });
    this.hits = make("output", { for: "search", class: "quiet", "aria-live": "polite" });
    const ranks = [...new Set(this.data.lanes.map((l) => l.rank))];
    const pick = make("select", { onchange: (event) => this.choose(Number(event.target.value)) },
      make("option", { value: -1 }, ranks.length < this.data.ranks_in_all ?
        ranks.length + " of " + count(this.data.ranks_in_all) : "all " + ranks.length),
      ...ranks.map((rank) => make("option", { value: rank }, "rank " + rank)));
    const button = (label, act) => make("button", { type: "button", onclick: act }, label);
    const box = (label, name) => make("label", {}, make("input", { type: "checkbox", checked: true,
      onchange: (event) => { this.show[name] = event.target.checked; this.draw(); } }), " " + label);
    this.names = make("canvas", { "aria-hidden": "true" });
    this.canvas = make("canvas", { class: "bars", tabindex: 0, role: "application",
      "aria-label": "Timeline of " + n + " bars in " + this.data.lanes.length + " lanes",
      "aria-describedby": "timeline-keys", "aria-roledescription": "timeline" });
    this.board = make("div", { class: "board" }, this.names, this.canvas);
    this.told = make("div", { class: "unseen", "aria-live": "polite" });
    this.details = make("div", { class: "details", id: "details" });
    this.rows = make("div");
    const list = make("details", { id: "as-table", ontoggle: () => this.list() },
      make("summary", {}, "The same as a table"), this.rows);
    this.listing = list;
    this.element = make("div", {},
      make("div", { class: "tools" }, make("label", {}, "Search ", this.search), this.hits,
        make("label", {}, "Ranks ", pick), button("Zoom in", () => this.zoomBy(2)),
        button("Zoom out", () => this.zoomBy(0.5)), button("Whole run", () => this.whole()),
        box("critical path", "critical"), box("interference", "shade")),
      make("ul", { class: "legend" }, ...KINDS.map((k, i) => (i < 5 || this.data.bars.kind.includes(i) ?
        make("li", {}, key(k), KIND_WORDS[i]) : null)),
        make("li", {}, key("critical"), "on the critical path (edge)"),
        make("li", {}, "darker: slowed by " + this.slower), make("li", {}, "outlined: waiting in place")),
      this.begin ? make("p", { class: "quiet" }, "Times count from the beginning of the last step; the steps before it lie before 0.") : null,
      this.board,
      make("p", { class: "quiet", id: "timeline-keys" }, "Drag to move, Ctrl and the wheel to zoom, the " +
        "wheel to see other lanes, click for details. By keyboard: left and right go to the operation " +
        "before and after, up and down to another lane, + and − zoom, Enter shows the operation in " +
        "full, Home the whole run, c the next one on the critical path."),
      this.details, this.told, list);
    this.tell();
  }

  /* Once the element is in the page. */
  start() {
    const self = this;
    this.zoom = d3.zoom().scaleExtent([1, Math.max(10, this.end / 100)])
      .filter((event) => { const e = event || d3.event; return e.type === "wheel" ? e.ctrlKey || e.metaKey : !e.button; })
      .on("zoom", function () {
        const e = d3.event;
        if (e.sourceEvent && e.sourceEvent.type === "mousemove") {
          self.scrollTo(self.top - e.sourceEvent.movementY);
        }
        self.transform = e.transform;
        self.later();
      });
    this.transform = d3.zoomIdentity;
    d3.select(this.canvas).call(this.zoom).on("dblclick.zoom", null);
    this.canvas.addEventListener("click", (event) => this.click(event));
    this.canvas.addEventListener("keydown", (event) => this.press(event));
    this.canvas.addEventListener("wheel", (event) => {
      const before = this.top;
      if (!event.ctrlKey && !event.metaKey) {
        this.scrollTo(this.top + event.deltaY);
        if (this.top !== before) {
          event.preventDefault();
        }
      }
    }, { passive: false });
    new ResizeObserver(() => this.resize()).observe(this.board);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
    this.resize();
  }

  resize() {
    const ratio = window.devicePixelRatio || 1;
    const names = Math.min(NAMES, this.board.clientWidth / 3);
    this.width = Math.max(100, this.board.clientWidth - names);
    this.height = Math.min(this.lanes.length * LANE, 24 * LANE) + AXIS + 4;
    for (const [canvas, width] of [[this.names, names], [this.canvas, this.width]]) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(this.height * ratio);
      canvas.style.width = width + "px";
      canvas.style.height = this.height + "px";
      canvas.getContext("2d").setTransform(ratio, 0, 0, ratio, 0, 0);
    }
    this.zoom.extent([[0, 0], [this.width, this.height]])
      .translateExtent([[0, -Infinity], [this.width, Infinity]]);
    this.scrollTo(this.top);
    this.draw();
  }

  later() {
    if (!this.waiting) {
      this.waiting = requestAnimationFrame(() => { this.waiting = 0; this.draw(); });
    }
  }

  scrollTo(top) {
    const most = Math.max(0, this.lanes.length * LANE + AXIS + 4 - this.height);
    this.top = Math.min(most, Math.max(0, top));
    this.later();
  }

  scale() {
    const whole = d3.scaleLinear().domain([0, this.end]).range([1, this.width - 1]);
    return this.transform.rescaleX(whole);
  }

  /* --- Drawing --- */

  draw() {
    const x = this.scale(), context = this.canvas.getContext("2d");
    this.colours = KINDS.map(colour);
    this.ink = { text: colour("text"), quiet: colour("quiet"), line: colour("line"), page: colour("page"),
      critical: colour("critical"), shade: colour("shade"), on: colour("on-bar"), stripe: colour("panel") };
    context.clearRect(0, 0, this.width, this.height);
    context.font = "12px system-ui, 'DejaVu Sans', sans-serif";
    context.textBaseline = "middle";
    this.drawAxis(context, x);
    context.save();
    context.beginPath();
    context.rect(0, AXIS, this.width, this.height - AXIS);
    context.clip();
    const first = Math.floor(this.top / LANE), last = Math.ceil((this.top + this.height - AXIS) / LANE);
    for (let row = first; row < Math.min(last, this.lanes.length); row++) {
      this.drawLane(context, x, this.lanes[row], AXIS + row * LANE - this.top);
    }
    this.drawChosen(context, x);
    context.restore();
    this.drawNames(first, last);
  }

  drawAxis(context, x) {
    const [from, to] = x.domain().map((moment) => moment - this.begin), [unit, power] = unitFor(to - from);
    const ticks = d3.scaleLinear().domain([from / 10 ** power, to / 10 ** power]).range([0, this.width]);
    const shown = ticks.ticks(Math.max(2, this.width / 110)), format = ticks.tickFormat(Math.max(2, this.width / 110), ",f");
    const step = shown.length > 1 ? shown[1] - shown[0] : 1;
    const decimals = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
    context.textAlign = "left";
    shown.forEach((tick) => {
      const at = Math.round(ticks(tick)) + 0.5;
      context.fillStyle = this.ink.line;
      context.fillRect(at, AXIS - 5, 1, this.height);
      context.fillStyle = this.ink.quiet;
      context.fillText((decimals > 12 ? format(tick) : tick.toFixed(decimals)) + " " + unit, at + 4, AXIS / 2);
    });
  }

  drawNames(first, last) {
    const context = this.names.getContext("2d"), width = parseFloat(this.names.style.width);
    context.clearRect(0, 0, width, this.height);
    context.font = "12px system-ui, 'DejaVu Sans', sans-serif";
    context.textBaseline = "middle";
    context.save();
    context.beginPath();
    context.rect(0, AXIS, width, this.height - AXIS);
    context.clip();
    for (let row = first; row < Math.min(last, this.lanes.length); row++) {
      const lane = this.data.lanes[this.lanes[row]], y = AXIS + row * LANE - this.top;
      const leads = row === 0 || this.data.lanes[this.lanes[row - 1]].rank !== lane.rank;
      context.fillStyle = this.ink.line;
      context.fillRect(leads ? 0 : 62, y, width, 1);
      context.fillStyle = this.ink.text;
      if (leads || row === first) {
        context.fillText("rank " + lane.rank, 8, y + LANE / 2);
      }
      context.fillStyle = this.ink.quiet;
      context.fillText(lane.name, 66, y + LANE / 2, width - 72);
    }
    context.restore();
  }

  /* Index into the lane of the first bar that ends after a moment. */
  firstAfter(lane, moment) {
    const ends = this.ends[lane];
    let low = 0, high = ends.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (ends[middle] < moment) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  drawLane(context, x, lane, y) {
    const { start_ps, length_ps, wait_ps, kind, name, slow } = this.bars;
    const list = this.byLane[lane], [from, to] = x.domain();
    const slope = this.width > 0 ? (x(this.end) - x(0)) / this.end : 0, zero = x(0);
    const top = y + 3, tall = LANE - 5;
    let filled = -1, fill = -1;
    context.fillStyle = this.ink.line;
    context.fillRect(0, y, this.width, 1);
    for (let at = this.firstAfter(lane, from); at < list.length; at++) {
      const bar = list[at], start = start_ps[bar];
      if (start - wait_ps[bar] > to) {
        break;
      }
      const left = Math.max(-2, zero + slope * start);
      const right = Math.min(this.width + 2, zero + slope * (start + length_ps[bar]));
      const dim = this.found && !this.found[name[bar]];
      const tiny = right - left < 0.7;
      if (tiny && left < filled && fill === kind[bar] && !(this.found && !dim)) {
        continue; /* the pixel has its colour already */
      }
      if (wait_ps[bar] && slope * wait_ps[bar] > 2) {
        context.strokeStyle = this.ink.quiet;
        const begin = Math.max(-2, zero + slope * (start - wait_ps[bar]));
        context.strokeRect(begin + 0.5, top + 2.5, left - begin - 1, tall - 5);
      }
      const wide = Math.max(1, right - left - (right - left > 3 ? 1 : 0));
      context.globalAlpha = dim ? 0.22 : 1;
      context.fillStyle = this.colours[kind[bar]];
      context.fillRect(left, top, wide, tall);
      filled = left + Math.max(1, right - left);
      fill = kind[bar];
      if (!tiny) {
        this.dress(context, x, bar, left, wide, top, tall, slow[bar]);
      } else if (this.show.critical && this.isCritical[bar]) {
        context.fillStyle = this.ink.critical;
        context.fillRect(left, top + tall, wide, 3);
      }
      context.globalAlpha = 1;
    }
  }

  /* What is on a bar: where it was slow, its edge if it is critical, its name. */
  dress(context, x, bar, left, wide, top, tall, slow) {
    if (this.show.shade && slow >= 0) {
      const at = this.data.slow[slow].at;
      context.fillStyle = this.ink.shade;
      for (let i = 0; i < at.length; i += 3) {
        const a = Math.max(left, x(at[i])), b = Math.min(left + wide, x(at[i + 1]));
        if (b > a) {
          const lost = Math.max(3, tall * (1 - at[i + 2])); /* as high as the part that is lost */
          context.fillRect(a, top, b - a, lost);
        }
      }
    }
    if (this.show.critical && this.isCritical[bar]) {
      context.fillStyle = this.ink.critical;
      context.fillRect(left, top + tall - 1, wide, 4);
    }
    if (wide > 26) {
      const text = this.data.names[this.bars.name[bar]], begin = Math.max(left, 0) + 5;
      const room = left + wide - begin - 4, letters = Math.floor(room / 6.6);
      if (letters > 1) {
        context.fillStyle = this.ink.on;
        context.fillText(text.length > letters ? text.slice(0, letters - 1) + "…" : text, begin, top + tall / 2);
      }
    }
  }

  drawChosen(context, x) {
    const row = this.chosen < 0 ? -1 : this.lanes.indexOf(this.bars.lane[this.chosen]);
    if (row >= 0) {
      const left = x(this.bars.start_ps[this.chosen]);
      const wide = Math.max(2, x(this.bars.start_ps[this.chosen] + this.bars.length_ps[this.chosen]) - left);
      context.strokeStyle = this.ink.text;
      context.lineWidth = 2;
      context.strokeRect(left - 1, AXIS + row * LANE - this.top + 2, wide + 1, LANE - 3);
      context.lineWidth = 1;
    }
  }

  /* --- Moving --- */

  zoomBy(factor) {
    d3.select(this.canvas).call(this.zoom.scaleBy, factor);
  }

  whole() {
    d3.select(this.canvas).call(this.zoom.transform, d3.zoomIdentity);
  }

  /* Shows from one moment to another, with some room. */
  showSpan(from, to) {
    const span = Math.max(to - from, 1) * 1.6, k = Math.max(1, Math.min(this.end / span, this.end / 100));
    const middle = ((from + to) / 2 / this.end) * this.width;
    const shift = Math.min(0, Math.max(this.width * (1 - k), this.width / 2 - k * middle));
    d3.select(this.canvas).call(this.zoom.transform, d3.zoomIdentity.translate(shift, 0).scale(k));
  }

  showRow(bar) {
    const row = this.lanes.indexOf(this.bars.lane[bar]);
    const y = row * LANE, seen = this.height - AXIS - LANE;
    if (y < this.top || y > this.top + seen) {
      this.scrollTo(y - seen / 2);
    }
  }

  /* Chooses a bar and moves just so far that it is seen. */
  select(bar, zoomed) {
    this.chosen = bar;
    if (bar >= 0) {
      if (this.rank >= 0 && this.data.lanes[this.bars.lane[bar]].rank !== this.rank) {
        this.choose(-1);
      }
      this.showRow(bar);
      const start = this.bars.start_ps[bar], end = start + this.bars.length_ps[bar], [from, to] = this.scale().domain();
      if (zoomed) {
        this.showSpan(start, end);
      } else if (end < from || start > to) {
        const half = (to - from) / 3.2;
        this.showSpan((start + end) / 2 - half, (start + end) / 2 + half);
      }
    }
    this.tell();
    this.draw();
  }

  /* Chooses the first bar of a name on a rank that starts at a moment, or the first of the name. */
  find(name, rank, start) {
    const { names, lanes } = this.data;
    let best = -1;
    for (let i = 0; i < this.n; i++) {
      if (names[this.bars.name[i]] === name && this.bars.kind[i] !== 3) {
        const exact = lanes[this.bars.lane[i]].rank === rank && this.bars.start_ps[i] === start + this.begin;
        if (exact || best < 0) {
          best = i;
        }
        if (exact) {
          break;
        }
      }
    }
    this.select(best, true);
    this.canvas.scrollIntoView({ block: "center" });
  }

  choose(rank) {
    this.rank = rank;
    this.top = 0;
    this.pickLanes();
    this.resize();
    this.list();
  }

  /* The bar at a place of the canvas; near enough is enough for thin ones. */
  at(px, py) {
    const row = Math.floor((py - AXIS + this.top) / LANE);
    if (py < AXIS || row < 0 || row >= this.lanes.length) {
      return -1;
    }
    const x = this.scale(), lane = this.lanes[row], list = this.byLane[lane];
    const moment = x.invert(px), near = x.invert(px + 3) - moment;
    let best = -1, least = near;
    for (let i = this.firstAfter(lane, moment - near); i < list.length; i++) {
      const start = this.bars.start_ps[list[i]], end = start + this.bars.length_ps[list[i]];
      const away = Math.max(start - moment, moment - end, 0);
      if (away < least || (away === 0 && best < 0)) {
        best = list[i];
        least = away;
      }
      if (start > moment + near || (away === 0 && moment < end)) {
        break;
      }
    }
    return best;
  }

  click(event) {
    const box = this.canvas.getBoundingClientRect();
    this.select(this.at(event.clientX - box.left, event.clientY - box.top), false);
  }

  press(event) {
    const moves = { ArrowRight: () => this.step(1), ArrowLeft: () => this.step(-1), ArrowUp: () => this.change(-1),
      ArrowDown: () => this.change(1), "+": () => this.zoomBy(2), "=": () => this.zoomBy(2),
      "-": () => this.zoomBy(0.5), Home: () => this.whole(), c: () => this.nextCritical(),
      Enter: () => this.chosen >= 0 && this.select(this.chosen, true), Escape: () => this.select(-1, false) };
    if (moves[event.key] && !event.ctrlKey && !event.metaKey && !event.altKey) {
      moves[event.key]();
      event.preventDefault();
    }
  }

  step(by) {
    if (this.chosen < 0) {
      const lane = this.lanes.find((l) => this.byLane[l].length);
      this.select(lane === undefined ? -1 : this.byLane[lane][0], false);
      return;
    }
    const list = this.byLane[this.bars.lane[this.chosen]];
    const to = list[this.place[this.chosen] + by];
    if (to !== undefined) {
      this.select(to, false);
    }
  }

  change(by) {
    if (this.chosen < 0) {
      this.step(1);
      return;
    }
    const moment = this.bars.start_ps[this.chosen];
    for (let row = this.lanes.indexOf(this.bars.lane[this.chosen]) + by; this.lanes[row] !== undefined; row += by) {
      const list = this.byLane[this.lanes[row]];
      if (list.length) {
        this.select(list[Math.min(list.length - 1, this.firstAfter(this.lanes[row], moment))], false);
        return;
      }
    }
  }

  nextCritical() {
    const now = this.chosen < 0 ? -1 : this.bars.start_ps[this.chosen];
    const list = this.data.critical.filter((i) => this.bars.start_ps[i] > now ||
      (this.bars.start_ps[i] === now && i > this.chosen));
    list.sort((a, b) => this.bars.start_ps[a] - this.bars.start_ps[b] || a - b);
    if (list.length) {
      this.select(list[0], false);
    }
  }

  /* --- Searching --- */

  look() {
    const text = this.search.value.trim().toLowerCase();
    this.found = text ? this.data.names.map((name) => name !== "" && name.toLowerCase().includes(text)) : null;
    this.matches = [];
    for (let i = 0; text && i < this.n; i++) {
      if (this.found[this.bars.name[i]]) {
        this.matches.push(i);
      }
    }
    this.matches.sort((a, b) => this.bars.start_ps[a] - this.bars.start_ps[b] || a - b);
    this.hits.textContent = !text ? "" : this.matches.length ? count(this.matches.length) +
      (this.matches.length === 1 ? " bar" : " bars") + "; Enter goes to the next" : "nothing has this name";
    this.list();
    this.draw();
  }

  next(by) {
    const list = this.matches || [];
    if (list.length) {
      const now = list.indexOf(this.chosen);
      this.select(list[(now + by + list.length) % list.length], false);
    }
  }

  /* --- Telling --- */

  facts(bar) {
    const b = this.bars, lane = this.data.lanes[b.lane[bar]], start = b.start_ps[bar], length = b.length_ps[bar];
    const facts = [["Kind", KIND_WORDS[b.kind[bar]]], ["On", "rank " + lane.rank + ", " + lane.name],
      ["Start", time(start - this.begin)], ["End", time(start + length - this.begin)], ["Takes", time(length)]];
    if (b.wait_ps[bar]) {
      facts.push(["Waits in place for", time(b.wait_ps[bar])]);
    }
    facts.push(["Could not begin before", b.by[bar] < 0 ? (b.kind[bar] === 3 ? undefined : "the start") :
      this.data.names[b.by[bar]] + " (" + this.data.whys[b.why[bar]] + ")"]);
    if (b.op[bar] >= 0) {
      facts.push(["Operation", words(this.data.ops[b.op[bar]])], ["Group", this.data.names[b.group[bar]] +
        ", " + count(b.members[bar]) + " ranks"], ["Bytes", bytes(b.bytes[bar])]);
      if (length && b.bytes[bar]) {
        facts.push(["Algorithm bandwidth", rate(b.bytes[bar] / (length / 1e12))]);
      }
    }
    if (b.slow[bar] >= 0) {
      this.data.slow[b.slow[bar]].lost.forEach(([name, during, lost]) =>
        facts.push(["Lost to " + name, time(lost) + " in " + time(during)]));
    }
    facts.push(["Critical path", this.isCritical[bar] ? "yes" : "no"]);
    return facts.filter(([, text]) => text !== undefined);
  }

  tell() {
    if (this.chosen < 0) {
      this.details.replaceChildren(make("p", { class: "quiet" }, "Click a bar, or move to one with the arrow keys, to see its details here."));
      return;
    }
    const issued = this.bars.kind[this.chosen] === 3 && this.bars.by[this.chosen] < 0 ? "host: " : "";
    const name = issued + this.data.names[this.bars.name[this.chosen]], facts = this.facts(this.chosen);
    this.details.replaceChildren(make("h3", {}, name), make("dl", {}, ...facts.map(([term, text]) =>
      make("div", {}, make("dt", {}, term), make("dd", {}, text)))));
    this.told.textContent = name + ". " + facts.map(([term, text]) => term + " " + text).join(", ");
  }

  /* The text beside the picture: bars of the chosen ranks whose names were searched for. */
  list() {
    if (!this.listing.open) {
      return;
    }
    const b = this.bars, rows = [];
    this.lanes.forEach((lane) => this.byLane[lane].forEach((bar) => {
      if (!this.found || this.found[b.name[bar]]) {
        rows.push(bar);
      }
    }));
    this.rows.replaceChildren(table("operations", "Operations by lane, in order of their starts", [
      { title: "rank", get: (i) => this.data.lanes[b.lane[i]].rank },
      { title: "stream", kind: "text", get: (i) => this.data.lanes[b.lane[i]].name },
      { title: "name", kind: "text", get: (i) => this.data.names[b.name[i]], node: (i) =>
        make("button", { type: "button", class: "plain", onclick: () => this.select(i, true) }, this.data.names[b.name[i]]) },
      { title: "kind", kind: "text", get: (i) => KIND_WORDS[b.kind[i]] },
      { title: "start", kind: "time", get: (i) => b.start_ps[i] - this.begin },
      { title: "takes", kind: "time", get: (i) => b.length_ps[i] },
      { title: "waits", kind: "time", get: (i) => b.wait_ps[i] },
      { title: "lost to " + this.slower, kind: "time", get: (i) => (b.slow[i] < 0 ? 0 :
        this.data.slow[b.slow[i]].lost.reduce((sum, l) => sum + l[2], 0)) },
      { title: "critical path", kind: "text", get: (i) => (this.isCritical[i] ? "yes" : "") },
    ], rows));
  }
}
