// The stretch of time that a view shows: that of its address, or all that there is; and what moves it.

import { html, useLayoutEffect, useState } from "./vendor/htm-preact-3.1.1.js";
import { change } from "./address.js";
import { number } from "./format.js";

const PRESETS = [["15 min", 900_000], ["1 h", 3_600_000], ["6 h", 21_600_000], ["1 d", 86_400_000], ["7 d", 604_800_000]];

/** How wide an element is. */
export function useWidth(element) {
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const watcher = new ResizeObserver(([entry]) => setWidth(Math.floor(entry.contentRect.width)));
    watcher.observe(element.current);
    setWidth(Math.floor(element.current.getBoundingClientRect().width));
    return () => watcher.disconnect();
  }, []);
  return width;
}

/** A number of an address; null if it has none. */
export function asNumber(text) { return text === undefined || text === "" || Number.isNaN(Number(text)) ? null : Number(text); }

/** The times of an address: what is shown, and a moment. What is null is all of it, or the latest. */
export function useTimes(query) {
  const [from, to, at] = [query.from, query.to, query.at].map(asNumber);
  return { from, to, at, setWindow: ([first, last]) => change({ from: first, to: last }), setAt: (next) => change({ at: next }) };
}

/** What is shown of a picture, null before there is one, and what moves it; `least` is the shortest stretch in ms. */
export function stretch({ from, to, setWindow, at }, picture, least) {
  const first = from ?? picture?.since_ms ?? 0;
  const last = to ?? picture?.until_ms ?? 1;
  const moveTo = (since, until) => {
    const span = Math.max(least, until - since);
    setWindow([Math.round(since), Math.round(since + span)]);
  };
  const zoom = (factor, centre, since = null, until = null) => {
    if (since !== null) { moveTo(since, until); return; }
    const middle = centre ?? at ?? (first + last) / 2;
    moveTo(middle - (middle - first) * factor, middle + (last - middle) * factor);
  };
  const pan = (part) => moveTo(first + (last - first) * part, last + (last - first) * part);
  const everything = () => setWindow([null, null]);
  const keys = { "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), ",": () => pan(-0.25), ".": () => pan(0.25), 0: everything };
  return { first, last, moveTo, zoom, pan, everything, isAll: from === null && to === null, keys };
}

/** Buttons for the last hour and the like, up to `known`, which is null before there is a picture; and for all of it. */
export function Presets({ shown, known }) {
  const { first, last, moveTo, everything, isAll } = shown;
  return html`<div class="buttons">${PRESETS.map(([text, ms]) => html`<button key=${text} aria-pressed=${known !== null && Math.abs(last - first - ms) < 2} onClick=${() => moveTo(known - ms, known)} disabled=${known === null}>${text}</button>`)}
    <button aria-pressed=${isAll} onClick=${everything}>all</button></div>`;
}

/** Leads to more lanes than the `most` that are shown at a time, from number `lane` on. */
export function LanePager({ lane, most, count }) {
  return count <= most ? "" : html`<nav class="pager" aria-label="Partitions"><button aria-disabled=${!lane} onClick=${() => change({ lane: Math.max(0, lane - most) || null })}>← Previous</button><span>partitions ${number(lane + 1)}–${number(Math.min(lane + most, count))} of ${number(count)}</span><button aria-disabled=${lane + most >= count} onClick=${() => lane + most < count && change({ lane: lane + most })}>Next →</button></nav>`;
}
