/* Numbers as texts. Times are whole picoseconds here: the JSON's seconds have 12 decimals, which a
 * double holds exactly when rounded to the picosecond, for up to two hours. */
const NONE = "–";

const ps = (seconds) => (seconds === undefined ? undefined : Math.round(seconds * 1e12));

const UNITS = [["s", 12], ["ms", 9], ["µs", 6], ["ns", 3]];

function unitFor(most) {
  const found = UNITS.find(([, power]) => Math.abs(most) >= 10 ** power);
  return found || UNITS[most ? 3 : 1];
}

/* How many decimals it takes to show a time in full in a unit. */
function decimalsOf(time, power) {
  let decimals = power;
  for (let rest = Math.abs(time); decimals > 0 && rest % 10 === 0; decimals--) {
    rest /= 10;
  }
  return time === 0 ? 0 : decimals;
}

/* As in the text report: as many decimals as give the largest of some times six significant digits.
 * Rates are rounded to the picosecond, and what is 72 ms may be one short of it. */
function mostDecimals(most, power) {
  let decimals = 5;
  for (let whole = Math.floor(Math.abs(most) / 10 ** power); whole >= 10 && decimals > 0; decimals--) {
    whole = Math.floor(whole / 10);
  }
  return Math.min(decimals, power);
}

function rounded(time, power, decimals) {
  const step = 10 ** (power - decimals), whole = Math.round(Math.abs(time) / step) * step;
  return time < 0 ? -whole : whole;
}

/* The terms of a sum, each rounded so that they still add up to their rounded total. */
function roundedTerms(times, power, decimals) {
  let before = 0;
  return times.map((time) => {
    const from = rounded(before, power, decimals);
    before += time;
    return rounded(before, power, decimals) - from;
  });
}

/* Exact, with at least `least` decimals: digits are cut by text, never rounded. */
function inUnit(time, power, least) {
  const digits = String(Math.abs(time)).padStart(power + 1, "0");
  const whole = digits.slice(0, -power), part = digits.slice(-power);
  const decimals = Math.max(least, decimalsOf(time, power));
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ",");
  return (time < 0 ? "−" : "") + grouped + (decimals ? "." + part.slice(0, decimals) : "");
}

function time(value, sign) {
  if (value === undefined) {
    return NONE;
  }
  const [unit, power] = unitFor(value), decimals = mostDecimals(value, power);
  return (sign && value > 0 ? "+" : "") + inUnit(rounded(value, power, decimals), power, Math.min(3, decimals)) + " " + unit;
}

/* Of a sum the total, then its terms, in one unit. */
function inSum(times) {
  const total = times.reduce((a, b) => a + b, 0), most = times.concat(total).reduce((a, b) => Math.max(a, Math.abs(b)), 0);
  const [unit, power] = unitFor(most), decimals = mostDecimals(most, power);
  const text = (time) => inUnit(time, power, Math.min(3, decimals)) + " " + unit;
  return [text(rounded(total, power, decimals)), ...roundedTerms(times, power, decimals).map(text)];
}

/* For figures to be read at a glance: three decimals, rounded; tables have them in full. */
function brief(value) {
  const [unit, power] = unitFor(value), drop = 10 ** Math.max(0, power - 3);
  return inUnit(Math.round(value / drop) * drop, power, Math.min(3, power)) + " " + unit;
}

function bytes(value) {
  if (value === undefined) {
    return NONE;
  }
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  let unit = 0, number = value;
  while (Math.abs(number) >= 1024 && unit < units.length - 1) {
    number /= 1024;
    unit++;
  }
  return (unit ? number.toFixed(2) : String(number)) + " " + units[unit];
}

function rate(value) {
  return value === undefined ? NONE : (value / 1e9).toFixed(2) + " GB/s";
}

const percent = (part) => (part === undefined || !isFinite(part) ? NONE : (100 * part).toFixed(1) + " %");
const count = (value) => value.toLocaleString("en-US");
const words = (key) => key.replace(/_/g, " ");
