// The picture of a group over time: events, a lane for each partition, and the sessions of members, on one canvas.

import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from "./vendor/htm-preact-3.1.1.js";
import { duration, isUtc, moment, number, plain, tick } from "./format.js";
import { ownerFill, ownerStyle, themed } from "./palette.js";
import { scale, ticks } from "./scale.js";

const AXIS = 24;
const STRIP = 24;
const HEADING = 20;
const SESSION = 16;
const MOST_SESSIONS = 40;
const MIXED = -1;
export const RIGHT = 14;

/** How wide the labels to the left of the plots are. */
export function gutter(width) { return width < 640 ? 96 : 188; }

/** The name by which an owner is known in a picture: its client, or its id. */
export function ownerName(owner) { return owner ? plain(owner.client_id || owner.member) : "?"; }

/** The rows of a picture, from top to bottom, each with its place. */
function layout(picture) {
  const rows = [];
  let y = AXIS;
  const add = (height, row) => { rows.push({ y, height, ...row }); y += height; };
  add(STRIP, { kind: "strip" });
  const lane = picture.lanes.length <= 16 ? 24 : picture.lanes.length <= 40 ? 17 : 12;
  const topics = new Set(picture.lanes.map((each) => each.topic));
  let topic = null;
  for (const each of picture.lanes) {
    if (each.topic !== topic) add(HEADING, { kind: "heading", text: (topic = each.topic), note: topics.size === 1 ? "partitions and their owners" : "" });
    add(lane, { kind: "lane", lane: each });
  }
  const sessions = picture.sessions.slice(-MOST_SESSIONS);
  if (sessions.length) {
    const left = picture.sessions.length - sessions.length;
    add(HEADING, { kind: "heading", text: "members", note: left ? `the last ${sessions.length} of ${picture.sessions.length}` : "when they were there" });
    for (const each of sessions) add(SESSION, { kind: "session", session: each });
  }
  return { rows, height: y + 6 };
}

function drawAxis(pen, at, height, colours) {
  const { step, found } = ticks(at, isUtc());
  pen.font = "11px system-ui, sans-serif";
  pen.textBaseline = "middle";
  for (const ms of found) {
    const x = Math.round(at.x(ms)) + 0.5;
    pen.strokeStyle = colours.grid;
    pen.beginPath(); pen.moveTo(x, AXIS); pen.lineTo(x, height); pen.stroke();
    pen.fillStyle = colours.quiet;
    pen.textAlign = x > at.right - 24 ? "right" : x < at.left + 24 ? "left" : "center";
    pen.fillText(tick(ms, step), x, AXIS / 2);
  }
}

function drawLabel(pen, row, text, at, colours, dim) {
  pen.save();
  pen.beginPath(); pen.rect(0, row.y, at.left - 8, row.height); pen.clip();
  pen.fillStyle = dim ? colours.quiet : colours.text;
  pen.textAlign = "right";
  pen.font = `${Math.min(12, Math.max(9, row.height - 3))}px system-ui, sans-serif`;
  pen.fillText(text, at.left - 10, row.y + row.height / 2 + 0.5);
  pen.restore();
}

function drawSpan(pen, row, left, right, owner, picture, faded, colours) {
  const top = row.y + 1;
  const height = row.height - 2;
  pen.globalAlpha = faded ? 0.22 : 1;
  if (owner === MIXED) {
    pen.fillStyle = colours.mixed;
    pen.fillRect(left, top, Math.max(1, right - left), height);
  } else {
    pen.fillStyle = ownerFill(pen, picture.owners[owner].colour);
    pen.beginPath(); pen.roundRect(left, top, Math.max(1.5, right - left - 1), height, right - left > 6 ? 3 : 0); pen.fill();
    const name = ownerName(picture.owners[owner]);
    if (right - left > 48 && height >= 13) {
      pen.save();
      pen.beginPath(); pen.rect(left, top, right - left - 5, height); pen.clip();
      pen.fillStyle = ownerStyle(picture.owners[owner].colour).text;
      pen.textAlign = "left";
      pen.font = "600 11px system-ui, sans-serif";
      pen.fillText(name, Math.max(left + 7, 0), top + height / 2 + 0.5);
      pen.restore();
    }
  }
  pen.globalAlpha = 1;
}

function drawLane(pen, row, at, known, picture, lit, colours) {
  for (const [since, until, owners] of row.lane.spans) {
    const left = Math.max(at.left, at.x(since));
    const right = Math.min(at.right, at.x(Math.min(until ?? known, known)));
    if (right < at.left || left > at.right || right <= left) continue;
    if (!owners.length) {
      pen.strokeStyle = colours.gap;
      pen.setLineDash([2, 3]);
      pen.beginPath(); pen.moveTo(left + 2, row.y + row.height / 2); pen.lineTo(right - 2, row.y + row.height / 2); pen.stroke();
      pen.setLineDash([]);
      continue;
    }
    const part = row.height / owners.length;
    owners.forEach((owner, index) => {
      const place = { y: row.y + part * index, height: Math.max(part, 3) };
      drawSpan(pen, place, left, right, owner, picture, lit !== null && lit !== owner, colours);
    });
  }
}

function drawSession(pen, row, at, known, picture, lit, numbers, colours) {
  const each = row.session;
  const left = Math.max(at.left, each.since_ms === null ? at.left : at.x(each.since_ms));
  const right = Math.min(at.right, at.x(Math.min(each.until_ms ?? known, known)));
  const owner = numbers.get(each.member);
  pen.globalAlpha = lit !== null && lit !== owner ? 0.25 : 1;
  pen.fillStyle = owner === undefined ? colours.gap : ownerFill(pen, picture.owners[owner].colour);
  pen.beginPath(); pen.roundRect(left, row.y + 4, Math.max(2, right - left), row.height - 8, 4); pen.fill();
  pen.globalAlpha = 1;
  drawLabel(pen, row, plain(each.client_id || each.member), at, colours, true);
}

const GLYPHS = {
  rebalance: (pen, x, y) => { pen.moveTo(x - 5, y - 5); pen.lineTo(x + 5, y - 5); pen.lineTo(x, y + 5); },
  operator: (pen, x, y) => { pen.moveTo(x, y - 6); pen.lineTo(x + 6, y); pen.lineTo(x, y + 6); pen.lineTo(x - 6, y); },
  life: (pen, x, y) => { pen.arc(x, y, 4.5, 0, 7); },
  aborted: (pen, x, y) => { pen.rect(x - 4, y - 4, 8, 8); },
};

function drawStrip(pen, row, at, picture, colours) {
  const y = row.y + row.height / 2;
  const { marks } = picture;
  drawLabel(pen, row, "events", at, colours, true);
  if (marks.counts) {
    const most = Math.max(...marks.counts);
    const width = (at.x(picture.until_ms) - at.x(picture.since_ms)) / marks.counts.length;
    pen.fillStyle = colours.rebalance;
    marks.counts.forEach((count, index) => {
      const x = at.x(picture.since_ms) + index * width;
      if (count && x >= at.left && x <= at.right) pen.fillRect(x, row.y + row.height - 2 - (count / most) * (row.height - 4), Math.max(1, width), (count / most) * (row.height - 4));
    });
    return;
  }
  if (marks.left_out) {
    pen.fillStyle = colours.quiet;
    pen.textAlign = "left";
    pen.font = "11px system-ui, sans-serif";
    pen.fillText(`${number(marks.left_out)} events: zoom in to see them`, at.left + 8, y);
    return;
  }
  for (const each of marks.found) {
    const x = at.x(each.at_ms);
    if (x < at.left || x > at.right) continue;
    pen.fillStyle = colours[each.kind] ?? colours.quiet;
    pen.beginPath();
    (GLYPHS[each.kind] ?? GLYPHS.life)(pen, x, y);
    pen.closePath();
    pen.fill();
    if (each.kind === "operator") {
      pen.fillRect(x - 0.5, row.y + row.height, 1, 4000);
    }
  }
}

function draw(canvas, width, picture, rows, height, from, to, lit) {
  const ratio = devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  const at = scale(from, to, gutter(width), width - RIGHT);
  const colours = Object.fromEntries(["text", "quiet", "grid", "gap", "mixed", "rebalance", "operator", "aborted", "life"].map((each) => [each, themed(`--${each}`)]));
  const known = picture.known_until_ms;
  const numbers = new Map(picture.owners.map((each, index) => [each.member, index]));
  drawAxis(pen, at, height, colours);
  for (const row of rows) {
    if (row.kind === "heading") {
      pen.fillStyle = colours.text;
      pen.textAlign = "left";
      pen.font = "600 12px system-ui, sans-serif";
      pen.fillText(plain(row.text), 0, row.y + row.height / 2 + 2, at.left - 12);
      pen.fillStyle = colours.quiet;
      pen.font = "11px system-ui, sans-serif";
      pen.fillText(row.note, at.left, row.y + row.height / 2 + 2);
    } else if (row.kind === "lane") {
      drawLabel(pen, row, String(row.lane.partition), at, colours, true);
      drawLane(pen, row, at, known, picture, lit, colours);
    } else if (row.kind === "session") drawSession(pen, row, at, known, picture, lit, numbers, colours);
    else drawStrip(pen, row, at, picture, colours);
  }
}

/** What is at a place of the picture, in words, and the owner there. */
function found(picture, rows, at, x, y) {
  const row = rows.find((each) => y >= each.y && y < each.y + each.height);
  if (!row || x < at.left || x > at.right) return null;
  const ms = at.ms(x);
  const known = picture.known_until_ms;
  if (row.kind === "lane") {
    const span = row.lane.spans.find(([since, until]) => since <= ms && ms < Math.min(until ?? known, known));
    const name = `${plain(row.lane.topic)} ${row.lane.partition}`;
    if (!span) return { title: name, lines: ["no owner is known"], owner: null };
    const [since, until, owners] = span;
    const time = `${moment(since)} – ${until === null ? "goes on" : moment(until)} · ${duration(Math.min(until ?? known, known) - since)}`;
    if (!owners.length) return { title: name, lines: ["nobody owned it", time], owner: null };
    if (owners[0] === MIXED) return { title: name, lines: ["owners change faster than can be shown: zoom in", time], owner: null };
    return { title: name, lines: [...owners.map((each) => `${ownerName(picture.owners[each])} · ${plain(picture.owners[each].member)}`), plain(picture.owners[owners[0]].host), time], owner: owners[0] };
  }
  if (row.kind === "session") {
    const each = row.session;
    const owner = picture.owners.findIndex((one) => one.member === each.member);
    return { title: plain(each.client_id || each.member), lines: [plain(each.member), plain(each.host), `${each.since_ms === null ? "before" : moment(each.since_ms)} – ${each.until_ms === null ? "goes on" : moment(each.until_ms)}`], owner: owner < 0 ? null : owner };
  }
  if (row.kind === "strip" && picture.marks.found.length) {
    const near = picture.marks.found.reduce((best, each) => (Math.abs(at.x(each.at_ms) - x) < Math.abs(at.x(best.at_ms) - x) ? each : best));
    if (Math.abs(at.x(near.at_ms) - x) < 8) return { title: moment(near.at_ms, true), lines: [plain(near.text)], owner: null, at_ms: near.at_ms };
  }
  return null;
}

export function Timeline({ picture, from, to, at, versus, width, onMoment, onZoom, onPan, describedBy }) {
  const canvas = useRef(null);
  const [hover, setHover] = useState(null);
  const [theme, setTheme] = useState(0);
  const dragged = useRef(null);
  const { rows, height } = useMemo(() => layout(picture), [picture]);
  const place = scale(from, to, gutter(width), width - RIGHT);
  const lit = hover?.what?.owner ?? null;
  useLayoutEffect(() => { draw(canvas.current, width, picture, rows, height, from, to, lit); }, [picture, rows, height, from, to, width, lit, theme, isUtc()]);
  useEffect(() => {
    const again = () => setTheme((count) => count + 1);
    addEventListener("themechange", again);
    return () => removeEventListener("themechange", again);
  }, []);
  useEffect(() => {
    const wheel = (event) => {
      const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY);
      if (!event.ctrlKey && !event.metaKey && !sideways && !event.shiftKey) return;
      event.preventDefault();
      if (event.ctrlKey || event.metaKey) onZoom(Math.exp(event.deltaY / 300), place.ms(event.offsetX));
      else onPan(((sideways ? event.deltaX : event.deltaY) / (place.right - place.left)));
    };
    const element = canvas.current;
    element.addEventListener("wheel", wheel, { passive: false });
    return () => element.removeEventListener("wheel", wheel);
  });
  const inside = (x) => Math.max(from, Math.min(to, place.ms(Math.max(place.left, Math.min(place.right, x)))));
  const pointer = {
    onPointerDown: (event) => {
      if (event.button || event.offsetX < place.left) return;
      event.currentTarget.setPointerCapture(event.pointerId);
      const what = found(picture, rows, place, event.offsetX, event.offsetY);
      dragged.current = { ...(event.shiftKey ? { since: event.offsetX } : {}) };
      if (!event.shiftKey) onMoment(what?.at_ms ?? inside(event.offsetX));
    },
    onPointerMove: (event) => {
      const x = event.offsetX;
      if (dragged.current && dragged.current.since === undefined) onMoment(inside(x));
      setHover({ x, y: event.offsetY, what: found(picture, rows, place, x, event.offsetY), since: dragged.current?.since });
    },
    onPointerUp: (event) => {
      const since = dragged.current?.since;
      dragged.current = null;
      if (since !== undefined && Math.abs(event.offsetX - since) > 4) onZoom(null, null, inside(Math.min(since, event.offsetX)), inside(Math.max(since, event.offsetX)));
      setHover(null);
    },
    onPointerLeave: () => { if (!dragged.current) setHover(null); },
  };
  const line = (ms, kind) => ms !== null && ms >= from && ms <= to ? html`<i class=${`line ${kind}`} style=${{ transform: `translateX(${place.x(ms)}px)` }}></i>` : "";
  const choice = hover?.since !== undefined ? html`<i class="choice" style=${{ left: `${Math.min(hover.since, hover.x)}px`, width: `${Math.abs(hover.x - hover.since)}px` }}></i>` : "";
  return html`<div class="timeline" style=${{ height: `${height}px` }}>
    <canvas ref=${canvas} role="img" aria-labelledby=${describedBy} style=${{ width: `${width}px`, height: `${height}px` }} ...${pointer}></canvas>
    ${line(versus, "versus")}${line(at, "at")}${choice}
    ${hover?.what ? html`<div class="tip" role="presentation" style=${{ transform: `translate(${Math.min(hover.x + 14, width - 300)}px, ${hover.y + 14}px)` }}><b>${hover.what.title}</b>${hover.what.lines.filter(Boolean).map((each) => html`<span>${each}</span>`)}</div>` : ""}
  </div>`;
}

/** The same as a table, for those who do not see the picture. */
export function LaneTable({ picture }) {
  const rows = picture.lanes.flatMap((lane) => lane.spans.map(([since, until, owners]) => ({ lane, since, until, owners })));
  return html`<table class="list"><caption>Partitions and their owners in this time</caption><thead><tr><th scope="col">Partition</th><th scope="col">Owner</th><th scope="col">Since</th><th scope="col">Until</th></tr></thead>
    <tbody>${rows.slice(0, 2000).map((each) => html`<tr><th scope="row"><bdi>${plain(each.lane.topic)}</bdi> ${each.lane.partition}</th>
      <td>${each.owners.length ? each.owners.map((one) => (one === MIXED ? "changes too fast to be shown" : html`<bdi>${ownerName(picture.owners[one])}</bdi> `)) : html`<span class="bad">nobody</span>`}</td>
      <td>${moment(each.since)}</td><td>${each.until === null ? "goes on" : moment(each.until)}</td></tr>`)}</tbody></table>`;
}
