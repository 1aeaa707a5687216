// Numbers, times and texts as they are shown. Texts come from clients, and may have anything in them.

const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** A text without characters that cannot be seen, or that turn the direction of others: they are shown as escapes. */
export function plain(text) {
  return String(text).replace(UNSEEN, (each) => "\\u" + each.charCodeAt(0).toString(16).padStart(4, "0"));
}

/** A number with a comma between thousands. By hand: what the browser has for it takes ten times as long to make as a view. */
export function number(value) {
  if (value === null || value === undefined) return "–";
  const [whole, part] = String(value).split(".");
  const grouped = whole.length < 4 ? whole : whole.replace(/\B(?=(\d{3})+$)/g, ",");
  return part ? `${grouped}.${part}` : grouped;
}

export function counted(value, noun) {
  return `${number(value)} ${noun}${value === 1 ? "" : "s"}`;
}

const chosen = document.documentElement.dataset;
let inUtc = chosen.zone === "utc";

export function isUtc() { return inUtc; }

export function setUtc(utc) {
  inUtc = utc;
  choose("zone", utc ? "utc" : "local");
}

/** Remember what the viewer has chosen, in a cookie: the next document has it from the start. */
export function choose(name, value) {
  chosen[name] = value;
  document.cookie = `page-${name}=${value}; path=/; max-age=31536000; samesite=strict${location.protocol === "https:" ? "; secure" : ""}`;
}

function parts(ms) {
  const at = new Date(ms);
  const two = (value) => String(value).padStart(2, "0");
  const of = inUtc
    ? [at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate(), at.getUTCHours(), at.getUTCMinutes(), at.getUTCSeconds(), at.getUTCMilliseconds()]
    : [at.getFullYear(), at.getMonth(), at.getDate(), at.getHours(), at.getMinutes(), at.getSeconds(), at.getMilliseconds()];
  return { day: `${of[0]}-${two(of[1] + 1)}-${two(of[2])}`, clock: `${two(of[3])}:${two(of[4])}`, s: two(of[5]), ms: String(of[6]).padStart(3, "0") };
}

let local = null;

/** The zone in which times are shown. */
export function zone() {
  local ??= Intl.DateTimeFormat().resolvedOptions().timeZone || "local time";
  return inUtc ? "UTC" : local;
}

/** A moment to the second, with the day; `exact` adds milliseconds. */
export function moment(ms, exact = false) {
  if (ms === null || ms === undefined) return "–";
  const at = parts(ms);
  return `${at.day} ${at.clock}:${at.s}${exact ? "." + at.ms : ""}`;
}

export function clock(ms) {
  const at = parts(ms);
  return `${at.clock}:${at.s}`;
}

/** A moment as the label of an axis whose labels are `step` apart. */
export function tick(ms, step) {
  const at = parts(ms);
  if (step >= 86_400_000) return at.day.slice(5);
  if (at.clock === "00:00" && at.s === "00" && step >= 1000) return at.day.slice(5);
  if (step >= 60_000) return at.clock;
  return step >= 1000 ? `${at.clock}:${at.s}` : `${at.s}.${at.ms}`;
}

/** What `datetime-local` takes and gives. */
export function field(ms) {
  const at = parts(ms);
  return `${at.day}T${at.clock}:${at.s}`;
}

/** The moment of such a text; null if it is none. */
export function fromField(text) {
  const ms = Date.parse(inUtc ? `${text}Z` : text);
  return Number.isNaN(ms) ? null : ms;
}

const UNITS = [[86_400_000, "d"], [3_600_000, "h"], [60_000, "min"], [1000, "s"]];

/** A length of time in at most two units. */
export function duration(ms) {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`;
  for (let index = 0; index < UNITS.length; index += 1) {
    const [size, unit] = UNITS[index];
    if (ms >= size) {
      const whole = Math.floor(ms / size);
      const next = UNITS[index + 1];
      const rest = next && whole < 10 ? Math.floor((ms % size) / next[0]) : 0;
      return rest ? `${whole} ${unit} ${rest} ${next[1]}` : `${whole} ${unit}`;
    }
  }
  return "";
}

/** How long ago a moment was, roughly. */
export function ago(ms, now) {
  if (ms === null || ms === undefined) return "–";
  const gone = now - ms;
  if (gone < 1500) return "now";
  const [size, unit] = UNITS.find(([each]) => gone >= each) ?? UNITS[3];
  return `${Math.floor(gone / size)} ${unit} ago`;
}

/** A size. */
export function bytes(value) {
  if (value < 1000) return `${value} B`;
  const unit = Math.min(4, Math.floor(Math.log10(value) / 3));
  return `${Number((value / 1000 ** unit).toPrecision(3))} ${["B", "kB", "MB", "GB", "TB"][unit]}`;
}

/** A rate of records, in the unit that reads best. */
export function rate(value) {
  if (value === null || value === undefined) return "–";
  if (value >= 100) return `${number(Math.round(value))}/s`;
  if (value >= 1 || value === 0) return `${Number(value.toPrecision(3))}/s`;
  return `${Number((value * 60).toPrecision(2))}/min`;
}

/** Numbers of partitions with ranges: 0–3, 7. */
export function ranges(numbers) {
  const found = [];
  for (let index = 0; index < numbers.length; index += 1) {
    const first = numbers[index];
    while (numbers[index + 1] === numbers[index] + 1) index += 1;
    found.push(first === numbers[index] ? `${first}` : `${first}–${numbers[index]}`);
  }
  return found.join(", ");
}
