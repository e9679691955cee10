/* Memory over time: areas of categories on top of each other, as steps. */
const HUES = ["#2f6cb0", "#b45309", "#4d7c0f", "#7c3aed", "#0f766e", "#b3261e", "#64707d", "#a16207"];

class Memory {
  constructor(run, begin) {
    this.begin = begin; /* samples count from the start of the run, all else from the last step */
    this.ranks = run.ranks.filter((rank) => rank.live_over_time && rank.live_over_time.length);
    this.limit = run.memory && run.memory.limit_bytes;
    this.end = begin + ps(run.step.time_s);
    this.rank = this.ranks[0];
    this.what = "live";
    const select = (label, options, act) => make("label", {}, label + " ", make("select",
      { onchange: (event) => { act(event.target.value); this.draw(); } },
      ...options.map(([value, text]) => make("option", { value }, text))));
    this.canvas = make("canvas", { role: "img", "aria-label": "Memory over time; its peaks are in the tables below" });
    this.legend = make("ul", { class: "legend" });
    this.element = make("div", {}, make("div", { class: "tools" },
      select("Rank", this.ranks.map((rank, i) => [i, "rank " + rank.rank + (rank.count > 1 ? " and " + (rank.count - 1) + " alike" : "")]),
        (value) => { this.rank = this.ranks[value]; }),
      select("Bytes", [["live", "that hold data, at the GPU's time"], ["allocated", "allocated and reserved, at the host's time"]],
        (value) => { this.what = value; })), this.legend, make("div", { class: "board" }, this.canvas));
  }

  start() {
    new ResizeObserver(() => this.draw()).observe(this.canvas.parentNode);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
    this.draw();
  }

  samples() {
    return this.what === "live" ? this.rank.live_over_time.map((s) => ({ at: ps(s.at_s), of: s.bytes })) :
      this.rank.allocated_over_time.map((s) => ({ at: ps(s.at_s), of: s.allocated, reserved: s.reserved_bytes }));
  }

  draw() {
    const samples = this.samples(), ratio = window.devicePixelRatio || 1;
    const width = this.canvas.parentNode.clientWidth, height = 240, left = 76, low = height - 24;
    const categories = [...new Set(samples.flatMap((s) => Object.keys(s.of)))];
    this.canvas.width = width * ratio;
    this.canvas.height = height * ratio;
    this.canvas.style.width = width + "px";
    const context = this.canvas.getContext("2d");
    context.scale(ratio, ratio);
    context.font = "12px system-ui, 'DejaVu Sans', sans-serif";
    if (samples.length) {
      samples.push({ ...samples[samples.length - 1], at: this.end });
    }
    const most = d3.max(samples, (s) => Math.max(s.reserved || 0, d3.sum(categories, (c) => s.of[c] || 0))) || 1;
    const x = d3.scaleLinear().domain([0, this.end]).range([left, width - 8]);
    const y = d3.scaleLinear().domain([0, most * 1.06]).range([low, 8]);
    this.axes(context, x, y, width, left, low, most);
    const stack = d3.stack().keys(categories).value((s, c) => s.of[c] || 0)(samples);
    stack.forEach((layer, i) => {
      context.fillStyle = HUES[i % HUES.length];
      context.beginPath();
      d3.area().curve(d3.curveStepAfter).x((p) => x(p.data.at)).y0((p) => y(p[0])).y1((p) => y(p[1])).context(context)(layer);
      context.fill();
    });
    if (this.what === "allocated") {
      context.strokeStyle = colour("text");
      context.lineWidth = 1.5;
      context.beginPath();
      d3.line().curve(d3.curveStepAfter).x((s) => x(s.at)).y((s) => y(s.reserved)).context(context)(samples);
      context.stroke();
    }
    this.legend.replaceChildren(...categories.map((c, i) => make("li", {},
      make("span", { class: "key", style: "background:" + HUES[i % HUES.length] }), words(c))),
      ...(this.what === "allocated" ? [make("li", {}, "line: reserved")] : []),
      ...(this.limit ? [make("li", {}, "the GPU holds " + bytes(this.limit))] : []));
  }

  axes(context, x, y, width, left, low, most) {
    const [unit, power] = unitFor(this.end), size = Math.min(5, Math.floor(Math.log2(most) / 10));
    const name = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"][size], scale = 1024 ** size;
    const up = d3.scaleLinear().domain([0, y.domain()[1] / scale]), along = d3.scaleLinear().domain([0, this.end / 10 ** power]);
    context.textBaseline = "middle";
    context.textAlign = "right";
    up.ticks(4).forEach((tick) => {
      context.fillStyle = colour("line");
      context.fillRect(left, Math.round(y(tick * scale)), width - left, 1);
      context.fillStyle = colour("quiet");
      context.fillText(tick + " " + name, left - 6, y(tick * scale));
    });
    context.textAlign = "center";
    along.ticks(Math.max(2, width / 130)).forEach((tick) => context.fillText(tick + " " + unit, x(tick * 10 ** power), low + 13));
    context.textAlign = "left";
  }
}
