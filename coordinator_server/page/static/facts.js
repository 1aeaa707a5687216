// What is said of a group in a few words: its state, its health, how far it is behind.

import { html } from "./vendor/htm-preact-3.1.1.js";
import { duration, number, plain } from "./format.js";

const WORDS = { OK: "ok", WARN: "slower than it is written", STOP: "stopped", STALL: "stalled", REWIND: "went back", ERR: "stuck" };

export function State({ state }) {
  return html`<span class=${`state ${state}`}><i></i>${state}</span>`;
}

/** What is said of a group or a partition. Without samples of the ends of partitions nothing is. */
export function Health({ verdict, title }) {
  if (!verdict) return html`<span class="quiet" title="its lag is unknown: nobody samples the ends of its partitions">–</span>`;
  return html`<span class=${`health ${verdict.toLowerCase()}`} title=${title ? plain(title) : WORDS[verdict]}><i></i>${verdict}</span>`;
}

/** How many records are unread, and for how long. */
export function Lag({ lag, lag_s: seconds }) {
  if (lag === null || lag === undefined) return html`<span class="quiet" title="unknown">–</span>`;
  return html`${number(lag)}${seconds ? html` <span class="quiet">${duration(seconds * 1000)}</span>` : ""}`;
}
