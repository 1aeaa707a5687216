// One group: its past as a picture, its state at any moment, and what happened in words.

import { html, useCallback, useEffect, useLayoutEffect, useRef, useState } from "./vendor/htm-preact-3.1.1.js";
import { address, change, follow, go } from "./address.js";
import { Activity } from "./activity.js";
import { useAnswer, useNow } from "./api.js";
import { ago, counted, duration, field, fromField, moment, number, plain, rate, zone } from "./format.js";
import { State } from "./groups.js";
import { Difference, Moment } from "./moment.js";
import { Health, Lag, Pace } from "./pace.js";
import { gutter, LaneTable, RIGHT, Timeline } from "./timeline.js";
import { Waits } from "./waits.js";

const LANES = 60;
const LEAST_MS = 200;
export const PRESETS = [["15 min", 900_000], ["1 h", 3_600_000], ["6 h", 21_600_000], ["1 d", 86_400_000], ["7 d", 604_800_000]];

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

/** A value that is shown at once, and written into the address when it rests. */
export function useSettled(given, write) {
  const [value, setValue] = useState(given);
  const timer = useRef(null);
  // Each reading of an address makes values of its own.
  const key = JSON.stringify(given);
  const own = useRef(key);
  useEffect(() => { if (key !== own.current) { own.current = key; setValue(given); } }, [key]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const set = useCallback((next) => {
    setValue(next);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => { own.current = JSON.stringify(next); write(next); }, 250);
  }, []);
  return [value, set];
}

/** A number of an address; null if it has none. */
export function asNumber(text) { return text === undefined || text === "" || Number.isNaN(Number(text)) ? null : Number(text); }

function Head({ id, summary, now }) {
  return html`<div class="title group-title">
    <a href="/" onClick=${follow} class="back" aria-label="All groups">←</a><h1><bdi>${plain(id)}</bdi></h1>
    ${summary ? html`<p class="line-of-facts"><${State} state=${summary.state} /><span>${summary.type}</span>
      <span><b>${number(summary.members)}</b> ${summary.members === 1 ? "member" : "members"}</span><span><b>${number(summary.partitions)}</b> ${summary.partitions === 1 ? "partition" : "partitions"}</span>
      ${summary.epoch === null ? "" : html`<span>${summary.type === "classic" ? "generation" : "epoch"} <b>${number(summary.epoch)}</b></span>`}
      ${summary.lag === null ? "" : html`<span><b><${Lag} ...${summary} /></b> unread</span><${Health} verdict=${summary.verdict} title=${summary.worst} />`}${summary.rate === null ? "" : html`<span><b>${rate(summary.rate)}</b></span>`}
      <span class="quiet" title=${moment(summary.committed_ms, true)}>committed ${ago(summary.committed_ms, now)}</span></p>` : ""}
  </div>
  <${Waits} waits=${summary?.waits} now=${now} />
  ${summary?.cause ? html`<p class="because"><b>Last rebalance ${ago(summary.rebalanced_ms, now)}</b>${summary.took_ms === null ? "" : `, took ${duration(summary.took_ms)}`}: <bdi>${plain(summary.cause)}</bdi></p>` : ""}`;
}

function Words({ id, from, to, at, version, onMoment }) {
  const { answer, error } = useAnswer("events", { id, from, to, limit: 200 }, version);
  if (error) return html`<section class="panel"><header><h2>What happened</h2></header><p class="note" role="alert">${error.message}</p></section>`;
  const events = answer ? [...answer.events].reverse() : [];
  const nearest = at === null ? null : events.find((each) => each.at_ms <= at);
  return html`<section class="panel"><header><h2>What happened</h2><span class="quiet">in this time, the newest first</span></header>
    ${!answer ? html`<div class="loading" aria-busy="true"><i></i><i></i><i></i></div>` : !events.length ? html`<p class="nothing small">Nothing that the index has. Widen the time.</p>` : ""}
    <ol class="words">${events.map((each, index) => html`<li key=${`${each.at_ms} ${index}`} class=${`${each.kind} ${each === nearest ? "nearest" : ""}`}>
      <button class="flat" onClick=${() => onMoment(each.at_ms)} title="go to this moment"><time>${moment(each.at_ms)}</time></button><span><bdi>${plain(each.text)}</bdi></span></li>`)}</ol>
    ${answer?.left_out ? html`<p class="quiet fine">${counted(answer.left_out, "earlier event")} in this time: zoom in to see them.</p>` : ""}</section>`;
}

export function Group({ query, status }) {
  const { id } = query;
  const now = useNow();
  const frame = useRef(null);
  const width = useWidth(frame);
  const [[from, to], setWindow] = useSettled([asNumber(query.from), asNumber(query.to)], ([first, last]) => change({ from: first, to: last }));
  const [at, setAt] = useSettled(asNumber(query.at), (next) => change({ at: next }));
  const versus = asNumber(query.vs);
  const lane = asNumber(query.lane) ?? 0;
  const showsTable = query.table === "1";
  const version = status?.changed && !status.changed.includes(id) ? undefined : status?.version;
  const latest = useRef(version);
  if (version !== undefined) latest.current = version;
  const columns = Math.max(50, width - gutter(width) - RIGHT);
  const summary = useAnswer("group", { id }, latest.current);
  const asked = useAnswer("picture", width ? { id, from, to, columns, lane: lane || null, lanes: LANES } : null, to === null ? status?.version : latest.current);
  const picture = asked.answer;
  useEffect(() => { document.title = `${plain(id ?? "")} · coordinator-server`; }, [id]);

  const first = from ?? picture?.since_ms ?? 0;
  const last = to ?? picture?.until_ms ?? 1;
  const moveTo = (since, until) => {
    const span = Math.max(LEAST_MS, until - since);
    setWindow([Math.round(since), Math.round(since + span)]);
  };
  const zoom = (factor, centre, since = null, until = null) => {
    if (since !== null) { moveTo(since, until); return; }
    const middle = centre ?? at ?? (first + last) / 2;
    moveTo(middle - (middle - first) * factor, middle + (last - middle) * factor);
  };
  const pan = (part) => moveTo(first + (last - first) * part, last + (last - first) * part);
  const everything = () => setWindow([null, null]);
  const shownAt = at ?? (picture ? Math.min(picture.known_until_ms, last) : null);
  const column = picture ? Math.max(1, Math.round((last - first) / columns)) : 1;
  const toMoment = (ms) => setAt(Math.round(ms));
  const jump = (direction) => {
    const times = (picture?.marks.found ?? []).map((each) => each.at_ms);
    const next = direction > 0 ? times.find((each) => each > shownAt) : times.filter((each) => each < shownAt).pop();
    if (next !== undefined) toMoment(next);
  };
  const compare = () => change({ vs: versus === null ? shownAt : null });

  const keys = useRef(null);
  keys.current = (event) => {
    if (event.metaKey || event.ctrlKey || event.altKey || event.target.closest("input:not([type=range]), dialog, select") || !picture) return;
    const far = event.shiftKey ? 10 : 1;
    const actions = {
      ArrowLeft: () => toMoment(shownAt - column * far), ArrowRight: () => toMoment(shownAt + column * far),
      "[": () => jump(-1), "]": () => jump(1), "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), ",": () => pan(-0.25), ".": () => pan(0.25),
      0: everything, c: compare, w: () => go(address("/what-if", { id, from, to, at })), t: () => change({ table: showsTable ? null : 1 }),
    };
    if (actions[event.key]) { event.preventDefault(); actions[event.key](); }
  };
  useEffect(() => {
    const press = (event) => keys.current(event);
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);

  if (!id) return html`<p class="nothing">No group is named. <a href="/" onClick=${follow}>All groups</a></p>`;
  const error = asked.error ?? summary.error;
  if (error && !picture) {
    return html`<div ref=${frame}><${Head} id=${id} summary=${null} now=${now} /><div class="nothing"><h2>${error.status === 404 ? "There is no such group" : "That did not work"}</h2><p>${plain(error.message)}</p>
      <button onClick=${() => go("/")}>All groups</button></div></div>`;
  }
  return html`<div class="group">
    <${Head} id=${id} summary=${summary.answer} now=${now} />
    <div class="toolbar" role="toolbar" aria-label="Time">
      <div class="buttons">${PRESETS.map(([text, ms]) => html`<button key=${text} aria-pressed=${Math.abs(last - first - ms) < 2 && picture !== null} onClick=${() => moveTo(Math.max(picture.known_until_ms, 0) - ms, picture.known_until_ms)} disabled=${!picture}>${text}</button>`)}
        <button aria-pressed=${from === null && to === null} onClick=${everything}>all</button></div>
      <div class="buttons"><button onClick=${() => pan(-0.5)} aria-label="Earlier" title="earlier (,)">←</button><button onClick=${() => zoom(0.5)} aria-label="Zoom in" title="zoom in (+)">+</button><button onClick=${() => zoom(2)} aria-label="Zoom out" title="zoom out (−)">−</button><button onClick=${() => pan(0.5)} aria-label="Later" title="later (.)">→</button></div>
      <label class="at">Moment <input type="datetime-local" step="1" value=${shownAt === null ? "" : field(shownAt)} onChange=${(event) => { const ms = fromField(event.target.value); if (ms !== null) { toMoment(ms); if (ms < first || ms > last) moveTo(ms - (last - first) / 2, ms + (last - first) / 2); } }} /></label>
      ${at !== null ? html`<button onClick=${() => setAt(null)}>latest</button>` : ""}
      <button aria-pressed=${versus !== null} onClick=${compare} disabled=${shownAt === null} title="keep this moment, and move on to see what differs (c)">compare</button>
      <button aria-pressed=${showsTable} onClick=${() => change({ table: showsTable ? null : 1 })} title="t">table</button>
      <a class="button" href=${address("/what-if", { id, from, to, at })} onClick=${follow} title="what it would have lived through with another rule (w)">what if</a>
      ${picture ? html`<span class="quiet span">${duration(last - first)}</span>` : ""}
    </div>
    <div ref=${frame} class=${`frame ${asked.isCurrent ? "" : "old"}`}>
      ${!picture || !width ? html`<div class="loading tall" aria-busy="true">${[...Array(8)].map((_, each) => html`<i key=${each}></i>`)}</div>` : html`
        <p id="picture-words" class="unseen">Owners of ${counted(picture.lane_count, "partition")} from ${moment(first)} to ${moment(last)}, with ${counted(picture.marks.count, "event")}. Press t for a table.</p>
        <${Activity} id=${id} picture=${picture} from=${first} to=${last} width=${width} version=${latest.current} onZoom=${zoom} />
        ${showsTable ? html`<${LaneTable} picture=${picture} />` : html`<${Timeline} picture=${picture} from=${first} to=${last} at=${shownAt} versus=${versus} width=${width} onMoment=${toMoment} onZoom=${zoom} onPan=${pan} describedBy="picture-words" />`}
        <div class="slider" style=${{ paddingLeft: `${gutter(width)}px`, paddingRight: `${RIGHT}px` }}>
          <input type="range" min=${first} max=${last} step=${column} value=${shownAt} aria-label="Moment" aria-valuetext=${`${moment(shownAt)} ${zone()}`} onInput=${(event) => toMoment(Number(event.target.value))}
            onKeyDown=${(event) => { if (event.key === "ArrowLeft" || event.key === "ArrowRight") event.preventDefault(); }} /></div>
        ${picture.lane_count > LANES ? html`<nav class="pager" aria-label="Partitions"><button disabled=${!lane} onClick=${() => change({ lane: Math.max(0, lane - LANES) || null })}>← Previous</button><span>partitions ${number(lane + 1)}–${number(Math.min(lane + LANES, picture.lane_count))} of ${number(picture.lane_count)}</span><button disabled=${lane + LANES >= picture.lane_count} onClick=${() => change({ lane: lane + LANES })}>Next →</button></nav>` : ""}`}
    </div>
    ${error ? html`<p class="banner" role="alert">${error.message}</p>` : ""}
    ${picture ? html`<div class="below">
      ${versus !== null && shownAt !== null && versus !== shownAt ? html`<${Difference} id=${id} from=${versus} to=${shownAt} picture=${picture} version=${latest.current} close=${() => change({ vs: null })} />` : html`<${Moment} id=${id} at=${shownAt} picture=${picture} version=${latest.current} isLast=${at === null && to === null} />`}
      <${Words} id=${id} from=${from} to=${to} at=${shownAt} version=${latest.current} onMoment=${toMoment} />
      <${Pace} id=${id} version=${latest.current} /></div>` : ""}
  </div>`;
}
