// How much happened when, how fast the group consumed, and how far it was behind: plots over the time of the picture.

import { html, useMemo } from "./vendor/htm-preact-3.1.1.js";
import { useAnswer } from "./api.js";
import { number, rate } from "./format.js";
import { bars, line, Plot } from "./plot.js";

const BAR = 4;

/** Sums of neighbouring columns, so that bars can be seen. */
function counted(picture, width) {
  const each = Math.max(1, Math.round((picture.density.length * BAR) / Math.max(1, width)));
  const step = ((picture.until_ms - picture.since_ms) / picture.density.length) * each;
  const xs = [];
  const ys = [];
  for (let at = 0; at < picture.density.length; at += each) {
    let sum = 0;
    for (let index = at; index < Math.min(at + each, picture.density.length); index += 1) sum += picture.density[index];
    xs.push((picture.since_ms + step * (at / each + 0.5)) / 1000);
    ys.push((sum / step) * 60_000);
  }
  return [xs, ys];
}

function course(trend, values) {
  const step = (trend.until_ms - trend.since_ms) / values.length;
  return [values.map((_, at) => (trend.since_ms + step * (at + 0.5)) / 1000), values];
}

export function Activity({ id, picture, from, to, width, version, onZoom }) {
  const { answer: trend } = useAnswer("trend", { id, from: picture.since_ms, to: picture.until_ms, points: Math.min(300, Math.max(20, Math.round(width / 4))) }, version, { later: true });
  const events = useMemo(() => counted(picture, width), [picture, width]);
  const [rates, lags] = useMemo(() => (trend ? [course(trend, trend.rate), course(trend, trend.lag)] : [null, null]), [trend]);
  const has = (values, isShown) => values !== null && values[1].some(isShown);
  const common = { from, to, width, onZoom };
  const rough = "Not all of this time has been read: it becomes exact as you look, or zoom in.";
  return html`
    <${Plot} label="events a minute" hint=${picture.is_exact ? null : rough} data=${events} height=${64} series=${bars} ...${common} />
    ${has(rates, (each) => each > 0) ? html`<${Plot} label="consumed" hint=${trend.is_exact ? null : rough} data=${rates} height=${52} series=${line("--good")} format=${rate} ...${common} />` : ""}
    ${has(lags, (each) => each !== null) ? html`<${Plot} label="unread" hint=${trend.is_exact ? null : rough} data=${lags} height=${52} series=${line("--bad")} format=${(value) => number(Math.round(value))} ...${common} />` : ""}`;
}
