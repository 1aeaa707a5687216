// One group: its past as a picture, its state at any moment, and what happened in words.

import { html, useEffect, useRef } from "./vendor/htm-preact-3.1.1.js";
import { address, change, follow, go } from "./address.js";
import { Activity } from "./activity.js";
import { columnsToAsk, useAnswer, useNow } from "./api.js";
import { Health, Lag, State } from "./facts.js";
import { ago, counted, duration, field, fromField, moment, number, plain, rate, zone } from "./format.js";
import { useKeys } from "./keys.js";
import { Difference, Moment } from "./moment.js";
import { Pace } from "./pace.js";
import { asNumber, LanePager, Presets, stretch, useTimes, useWidth } from "./stretch.js";
import { gutter, LaneTable, RIGHT, Timeline } from "./timeline.js";
import { Waits } from "./waits.js";

/** So many lanes a picture has if nobody says how many. */
const LANES = 60;
const LEAST_MS = 200;

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
  const { answer, error } = useAnswer("events", { id, from, to, limit: 200 }, version, { later: true });
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
  const times = useTimes(query);
  const { from, to, at, setAt } = times;
  const versus = asNumber(query.vs);
  const lane = asNumber(query.lane) ?? 0;
  const showsTable = query.table === "1";
  const version = status?.changed && !status.changed.includes(id) ? undefined : status?.version;
  const latest = useRef(version);
  if (version !== undefined) latest.current = version;
  const asked = useAnswer("picture", { id, from, to, columns: columnsToAsk(), lane: lane || null }, to === null ? status?.version : latest.current);
  const picture = asked.answer;
  const summary = useAnswer("group", { id }, latest.current);
  // What stands below is of the time of the picture that is shown: the server makes the next picture first.
  const drawn = useRef(null);
  if (asked.isCurrent) drawn.current = { from, to };
  useEffect(() => { document.title = `${plain(id ?? "")} · coordinator-server`; }, [id]);

  const shown = stretch(times, picture, LEAST_MS);
  const { first, last, moveTo, zoom, pan } = shown;
  const shownAt = at ?? (picture ? Math.min(picture.known_until_ms, picture.until_ms) : null);
  const column = picture ? Math.max(1, Math.round((last - first) / Math.max(50, width - gutter(width) - RIGHT))) : 1;
  const toMoment = (ms) => setAt(Math.round(ms));
  const jump = (direction) => {
    const marks = (picture?.marks.found ?? []).map((each) => each.at_ms);
    const next = direction > 0 ? marks.find((each) => each > shownAt) : marks.filter((each) => each < shownAt).pop();
    if (next !== undefined) toMoment(next);
  };
  const compare = () => change({ vs: versus === null ? shownAt : null });

  const far = (event) => column * (event.shiftKey ? 10 : 1);
  useKeys(picture ? {
    ...shown.keys,
    ArrowLeft: (event) => toMoment(shownAt - far(event)), ArrowRight: (event) => toMoment(shownAt + far(event)),
    "[": () => jump(-1), "]": () => jump(1),
    c: compare, w: () => go(address("/what-if", { id, from, to, at })), t: () => change({ table: showsTable ? null : 1 }),
  } : null);

  if (!id) return html`<p class="nothing">No group is named. <a href="/" onClick=${follow}>All groups</a></p>`;
  const error = asked.error ?? summary.error;
  if (error && !picture) {
    return html`<div ref=${frame}><${Head} id=${id} summary=${null} now=${now} /><div class="nothing"><h2>${error.status === 404 ? "There is no such group" : "That did not work"}</h2><p>${plain(error.message)}</p>
      <button onClick=${() => go("/")}>All groups</button></div></div>`;
  }
  return html`<div class="group">
    <${Head} id=${id} summary=${summary.answer} now=${now} />
    <div class="toolbar" role="toolbar" aria-label="Time">
      <${Presets} shown=${shown} known=${picture ? picture.known_until_ms : null} />
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
        <${LanePager} lane=${lane} most=${LANES} count=${picture.lane_count} />`}
    </div>
    ${error ? html`<p class="banner" role="alert">${error.message}</p>` : ""}
    ${picture ? html`<div class="below">
      ${versus !== null && shownAt !== null && versus !== shownAt ? html`<${Difference} id=${id} from=${versus} to=${shownAt} picture=${picture} version=${latest.current} close=${() => change({ vs: null })} />` : html`<${Moment} id=${id} at=${shownAt} picture=${picture} version=${latest.current} isLast=${at === null && to === null} />`}
      <${Words} id=${id} ...${drawn.current} at=${shownAt} version=${latest.current} onMoment=${toMoment} />
      <${Pace} id=${id} version=${latest.current} /></div>` : ""}
  </div>`;
}
