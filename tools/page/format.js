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
  const [unit, power] = unitFor(value);
  return (sign && value > 0 ? "+" : "") + inUnit(value, power, Math.min(3, power)) + " " + unit;
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
