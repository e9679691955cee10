/* Elements, and tables whose columns say how their cells look. */
function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key.startsWith("on")) {
      element.addEventListener(key.slice(2), value);
    } else if (value === true) {
      element.setAttribute(key, "");
    } else if (value !== undefined && value !== false) {
      element.setAttribute(key, value);
    }
  }
  element.append(...children.filter((child) => child !== undefined && child !== null));
  return element;
}

const MOST_ROWS = 300;

/* A column of times shares a unit and its decimals, so that what is added up is seen to add up: with
 * a foot it is rounded as a sum; where rows are added up, too, it is exact. */
function timeColumn(rows, column, foot) {
  const times = rows.map(column.get), all = times.concat(foot ? [foot] : []).filter((value) => value !== undefined);
  const most = all.reduce((a, b) => Math.max(a, Math.abs(b)), 0);
  const [unit, power] = column.unit || unitFor(most);
  const finest = column.exact ? power : mostDecimals(most, power);
  const decimals = Math.min(finest, all.reduce((a, b) => Math.max(a, decimalsOf(b, power)), Math.min(3, power)));
  const terms = foot === undefined ? undefined : roundedTerms(times.map((value) => value || 0), power, decimals);
  return { unit, show: (value, index) => (value === undefined ? NONE : (column.sign && value > 0 ? "+" : "") +
    inUnit(terms && index !== undefined ? terms[index] : rounded(value, power, decimals), power, decimals)) };
}

function cell(column, row, show, index) {
  const value = column.get(row);
  const kind = column.kind === "text" || column.kind === "wrap" ? (column.kind === "wrap" ? "wrap" : "text") : undefined;
  const td = make(column.head ? "th" : "td", { class: kind, scope: column.head ? "row" : undefined,
    "data-key": column.key, "data-value": typeof value === "number" ? value : undefined });
  td.append(column.node ? column.node(row) : show(value, index));
  return td;
}

function shower(column, rows, foot) {
  if (column.kind === "time") {
    return timeColumn(rows, column, foot);
  }
  const shows = { bytes, rate, percent };
  return { show: shows[column.kind] || ((value) => (value === undefined || value === "" ? NONE :
    typeof value === "number" ? count(value) : String(value))) };
}

/* columns: {key, title, kind: time|bytes|rate|percent|text|wrap|undefined, get, head, node, foot} */
function table(id, caption, columns, rows, narrow) {
  const used = columns.filter((c) => !c.optional || rows.some((row) => c.get(row) !== undefined));
  const shows = used.map((c) => shower(c, rows, c.foot));
  const head = make("tr", {}, ...used.map((c, i) => make("th", { scope: "col",
    class: c.kind === "text" || c.kind === "wrap" ? "text" : undefined },
    c.title + (shows[i].unit ? " [" + shows[i].unit + "]" : ""))));
  const body = make("tbody");
  const fill = (from, to) => rows.slice(from, to).forEach((row, k) =>
    body.append(make("tr", {}, ...used.map((c, i) => cell(c, row, shows[i].show, from + k)))));
  fill(0, MOST_ROWS);
  const parts = [make("caption", {}, caption), make("thead", {}, head), body];
  if (used.some((c) => c.foot !== undefined)) {
    parts.push(make("tfoot", {}, make("tr", {}, ...used.map((c, i) => make(c.head ? "th" : "td",
      { class: c.kind === "text" ? "text" : undefined, "data-key": c.key,
        "data-value": typeof c.foot === "number" ? c.foot : undefined },
      c.foot === undefined ? "" : shows[i].show(c.foot))))));
  }
  const box = make("div", {}, make("div", { class: "scroll", tabindex: 0, role: "region",
    "aria-label": caption }, make("table", { id, class: narrow ? "narrow" : undefined }, ...parts)));
  if (rows.length > MOST_ROWS) {
    const more = make("button", { type: "button", onclick: () => {
      fill(MOST_ROWS, rows.length);
      more.remove();
    } }, "Show all " + count(rows.length) + " rows (now the first " + MOST_ROWS + ")");
    box.append(more);
  }
  return box;
}

function section(id, title, ...children) {
  return make("section", { id, "aria-labelledby": id + "-title" },
    make("h2", { id: id + "-title" }, title), ...children);
}

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
const key = (name) => make("span", { class: "key", style: "background:var(--" + name + ")" });
