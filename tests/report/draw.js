/* Runs inside a page: how long it takes to draw all bars, and a tenth, a hundredth of them. Reading a
 * pixel back waits until what was asked for is drawn. */
"use strict";
const line = overlapsim.timeline, context = line.canvas.getContext("2d");
const took = [];
for (const share of [1, 0.1, 0.01]) {
  const middle = line.end / 2;
  if (share < 1) {
    line.showSpan(middle - line.end * share / 3.2, middle + line.end * share / 3.2);
  }
  const times = [];
  for (let i = 0; i < 20; i++) {
    const begin = performance.now();
    line.draw();
    context.getImageData(0, 0, 1, 1);
    times.push(performance.now() - begin);
  }
  times.sort((a, b) => a - b);
  took.push(times[10].toFixed(1), times[19].toFixed(1));
}
const verdict = document.createElement("pre");
verdict.id = "verdict";
verdict.textContent = "bars " + line.n + " draw_ms " + took.join(" ") + " load_ms " + performance.now().toFixed(0) + "\n";
document.body.append(verdict);
