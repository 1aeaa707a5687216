// What a group would have lived through with another rule: figures and owners beside what was, and what would have helped.

import { html, useEffect, useRef } from "./vendor/htm-preact-3.1.1.js";
import { address, change, follow } from "./address.js";
import { columnsToAsk, useAnswer } from "./api.js";
import { counted, duration, moment, number, plain } from "./format.js";
import { useKeys } from "./keys.js";
import { Rows } from "./rows.js";
import { asNumber, LanePager, Presets, stretch, useTimes, useWidth } from "./stretch.js";
import { LaneTable, Timeline } from "./timeline.js";

const LANES = 24;
const LEAST_MS = 1000;
const CLASSIC = ["range", "roundrobin", "sticky", "cooperative-sticky"];
const CONSUMER = ["uniform", "server-range"];
const FIGURES = [
  ["rebalances", "Rebalances", "how often members agreed on an assignment"],
  ["moved", "Partitions moved", "from a member that stayed, and still wants them, to another one"],
  ["needless", "Moves that balance did not need", "what exceeds the least number of moves that gives each member its share"],
  ["imbalance", "Imbalance, at worst", "by how many partitions the fullest member exceeds the emptiest one"],
  ["stopped", "Members that stopped", "how often a member that had partitions could work on none of them"],
  ["standstill_ms", "Standstill, of all members", "for how long, summed over members"],
];
const CERTAIN = {
  known: "as the log says it",
  bound: "an estimate that is too high rather than too low",
  unknown: "the log does not say it: a number is what is known of it, or an estimate",
};

/** The rules of an address, as a question. */
function asked(query) {
  return { assignor: query.assignor ?? null, static: query.static === "1" ? 1 : null, session: asNumber(query.session) || null, delay: asNumber(query.delay) || null };
}

function words(rules) {
  const found = rules.assignor ? [rules.assignor] : [];
  if (rules.static) found.push("static members");
  if (rules.session) found.push(`sessions of ${duration(rules.session)}`);
  if (rules.delay) found.push(`a delay of ${duration(rules.delay)}`);
  return found.join(", ");
}

function shownFigure(name, value) {
  if (value === null) return "?";
  return name === "standstill_ms" ? duration(value) : number(value);
}

function Certain({ certainty }) {
  return html`<span class=${`tag certain ${certainty}`} title=${CERTAIN[certainty]}>${certainty}</span>`;
}

function Figure({ name, figure, most }) {
  return html`<td class="figure"><span class="amount">${shownFigure(name, figure.value)}</span> <${Certain} certainty=${figure.certainty} />
    <i class="amount-bar" style=${{ width: `${most && figure.value ? Math.max(1, (figure.value / most) * 100) : 0}%` }}></i></td>`;
}

function Saved({ name, was, is }) {
  if (was.value === null || is.value === null) return html`<td class="number quiet">?</td>`;
  const more = is.value - was.value;
  if (!more) return html`<td class="number quiet">the same</td>`;
  return html`<td class=${`number ${more < 0 ? "good" : "bad"}`}>${more < 0 ? "−" : "+"}${shownFigure(name, Math.abs(more))}</td>`;
}

function Figures({ answer, rule }) {
  return html`<section class="panel"><header><h2>What it cost</h2><span class="quiet">${moment(answer.first_ms)} – ${moment(answer.last_ms)}, by ${answer.assignors.join(", ") || "no members"}</span></header>
    <table class="list small figures"><caption class="unseen">Costs as it was, and by the rule</caption>
      <thead><tr><th scope="col">Figure</th><th scope="col" class="figure">As it was</th>${rule ? html`<th scope="col" class="figure">With ${rule}</th><th scope="col" class="number">Difference</th>` : ""}</tr></thead>
      <tbody>${FIGURES.map(([name, text, title]) => { const [was, is] = [answer.recorded[name], answer.what_if[name]]; const most = Math.max(was.value ?? 0, rule ? is.value ?? 0 : 0); return html`<tr key=${name}>
        <th scope="row" title=${title}>${text}</th><${Figure} name=${name} figure=${was} most=${most} />${rule ? html`<${Figure} name=${name} figure=${is} most=${most} /><${Saved} name=${name} was=${was} is=${is} />` : ""}</tr>`; })}</tbody></table>
    <${Proof} answer=${answer} /></section>`;
}

/** What is known of a session that is shorter than it was. */
function shorter({ shortened_ms, silences }) {
  if (silences === null) return html`Members had sessions of up to ${duration(shortened_ms)}: whether a shorter one would have ended, the server has not measured all the time. <code>coordinator-server groups what-if</code> looks at commits, too.`;
  if (!silences) return "No shorter session would have ended: no member was silent for so long.";
  return `${counted(silences, "time")} a member was silent for so long, or may have been: its session is taken to have ended.`;
}

/** Whether the figures can be believed: the rule in force is played, too. */
function Proof({ answer }) {
  const { reproduced } = answer;
  return html`
    ${reproduced.generations ? html`<p class="fine quiet">The rule in force gives what was recorded in <b>${number(reproduced.same)}</b> of ${counted(reproduced.generations, "generation")}.${reproduced.differ.length ? ` In the others ${counted(reproduced.moved, "partition")} would have another owner: what follows is an estimate.` : ""}</p>` : ""}
    ${reproduced.unknown ? html`<p class="note">${counted(reproduced.unknown, "generation")} by an assignor that is not known here: they are taken as they were.</p>` : ""}
    ${answer.shortened_ms ? html`<p class="note">${shorter(answer)}</p>` : ""}
    ${answer.unreadable ? html`<p class="note">${counted(answer.unreadable, "generation")} in a format of its members are left out.</p>` : ""}
    ${answer.left_out ? html`<p class="note">${counted(answer.left_out, "earlier change")} in this time ${answer.left_out === 1 ? "is" : "are"} left out, which would take long: choose a shorter time, or <code>coordinator-server groups what-if</code>.</p>` : ""}
    ${answer.missing.slice(0, 3).map((each) => html`<p class="note" key=${each.first}>Generation ${each.first === each.last ? number(each.first) : `${number(each.first)} to ${number(each.last)}`} missing: ${each.is_removed ? "compaction has removed the record" : "the log has no record, as when a group changes again before it is assigned"}.</p>`)}
    ${answer.missing.length > 3 ? html`<p class="note">Generations are missing at ${counted(answer.missing.length - 3, "other place")}.</p>` : ""}`;
}

function Advice({ answer, rules }) {
  const same = ({ question: { assignor, membership } }) => assignor === rules.assignor && membership.static === Boolean(rules.static) && membership.session_timeout_ms === (rules.session ?? 0) && membership.delay_ms === (rules.delay ?? 0);
  const play = ({ question: { assignor, membership } }) => change({ assignor, static: membership.static ? 1 : null, session: membership.session_timeout_ms || null, delay: membership.delay_ms || null }, false);
  return html`<section class="panel"><header><h2>What would have helped</h2><span class="quiet">the best first</span></header>
    ${answer.advice.length ? "" : html`<p class="quiet">None of the rules that are tried would have saved anything.</p>`}
    <ol class="advice">${answer.advice.map((each) => html`<li key=${each.rule}><button class="chip" aria-pressed=${same(each)} onClick=${() => play(each)}>${each.rule}</button> <${Certain} certainty=${each.certainty} />
      <p><bdi>${plain(each.text)}</bdi></p>${each.evidence.map((line) => html`<p class="fine quiet" key=${line}><bdi>${plain(line)}</bdi></p>`)}</li>`)}</ol></section>`;
}

function Time({ name, text, ms, hint }) {
  return html`<label class="at" title=${hint}>${text} <input type="number" min="0" max="86400" step="1" inputmode="numeric" placeholder="as it was" value=${ms === null ? "" : ms / 1000} onChange=${(event) => change({ [name]: Math.round(Number(event.target.value) * 1000) || null })} /> s</label>`;
}

function Rules({ rules }) {
  const chip = (name) => html`<button key=${name} class="chip" aria-pressed=${rules.assignor === name} onClick=${() => change({ assignor: rules.assignor === name ? null : name })}>${name}</button>`;
  return html`<section class="panel rules" aria-label="The rule">
    <div class="chips" role="group" aria-label="Assignor"><span class="quiet">Assignor</span><button class="chip" aria-pressed=${rules.assignor === null} onClick=${() => change({ assignor: null })}>as it was</button>${CLASSIC.map(chip)}</div>
    <div class="chips" role="group" aria-label="Assignor of the consumer protocol"><span class="quiet" title="KIP-848: the coordinator assigns, and members change over one by one">Consumer protocol</span>${CONSUMER.map(chip)}</div>
    <div class="chips"><button class="chip" aria-pressed=${Boolean(rules.static)} title="a member that leaves and comes back within its session is no change of the group (KIP-345)" onClick=${() => change({ static: rules.static ? null : 1 })}>static members</button>
      <${Time} name="session" text="session" ms=${rules.session} hint="longer than it was: a member that came back before its end would have survived; shorter: who was silent for so long would have been put out" />
      <${Time} name="delay" text="rebalance delay" ms=${rules.delay} hint="changes that begin within this time of a join are one" /></div></section>`;
}

/** One side as a picture for the timeline. */
function side(answer, lanes, is) {
  const marks = answer.changes.filter(is).map((each) => ({ at_ms: each.at_ms, kind: "rebalance", text: each.cause || `generation ${each.generation}` }));
  return { ...answer, lanes, sessions: [], marks: { found: marks, counts: null, count: marks.length, left_out: 0 } };
}

function Lanes({ answer, rule, from, to, at, width, asTable, move }) {
  const sides = [["As it was", "was", side(answer, answer.was, () => true)]];
  if (rule) sides.push([`With ${rule}`, "would-be", side(answer, answer.would_be, (each) => each.what_if !== null)]);
  return sides.map(([text, name, picture]) => html`<h2 key=${`${name} heading`} id=${name}>${text}<span class="quiet">${counted(picture.marks.count, "change")}${answer.change_count > answer.changes.length ? " of the last" : ""}</span></h2>
    ${asTable ? html`<${LaneTable} key=${name} picture=${picture} />` : html`<${Timeline} key=${name} picture=${picture} from=${from} to=${to} at=${at} versus=${null} width=${width} describedBy=${name} ...${move} />`}`);
}

function Changes({ answer, rule }) {
  const rows = [...answer.changes].reverse();
  const few = (each) => (each === null ? html`<span class="good">no change</span>` : html`${each.moved === null ? "?" : number(each.moved)} moved, ${each.stopped === null ? "?" : number(each.stopped)} stopped${each.standstill_ms ? html` <span class="quiet">${duration(each.standstill_ms)}</span>` : ""}`);
  return html`<section class="panel"><table class="list small"><caption>${counted(answer.change_count, "change")}, the newest first</caption>
    <thead><tr><th scope="col">Time</th><th scope="col" class="number wide">Members</th><th scope="col">As it was</th>${rule ? html`<th scope="col">With ${rule}</th>` : ""}<th scope="col">Cause</th></tr></thead>
    <${Rows} rows=${rows} count=${answer.change_count} row=${(each) => html`<tr key=${`${each.at_ms} ${each.generation}`}><th scope="row"><button class="flat" onClick=${() => change({ at: each.at_ms })} title="show this moment"><time>${moment(each.at_ms)}</time></button></th>
      <td class="number wide">${number(each.members)}</td><td>${few(each.recorded)}</td>${rule ? html`<td>${few(each.what_if)}</td>` : ""}<td class="quiet"><bdi>${plain(each.cause || "–")}</bdi></td></tr>`} /></table></section>`;
}

export function WhatIf({ query, status }) {
  const { id } = query;
  const frame = useRef(null);
  const width = useWidth(frame);
  const times = useTimes(query);
  const { from, to, at, setAt } = times;
  const rules = asked(query);
  const rule = words(rules);
  const lane = asNumber(query.lane) ?? 0;
  const showsTable = query.table === "1";
  // It is played again when the group has rebalanced, and not with each commit.
  const summary = useAnswer("group", { id }, status?.version);
  const version = summary.answer ? `${summary.answer.epoch} ${summary.answer.rebalanced_ms} ${summary.answer.state}` : null;
  const given = useAnswer("what-if", version ? { id, from: query.from, to: query.to, columns: columnsToAsk(), lane: lane || null, lanes: LANES, ...rules } : null, version, { later: true });
  const latest = useRef(null);
  if (given.answer?.recorded) latest.current = given.answer;
  const answer = latest.current;
  const isCurrent = given.isCurrent && given.answer === answer;
  useEffect(() => { document.title = `What if · ${plain(id ?? "")} · coordinator-server`; }, [id]);
  const shown = stretch(times, answer, LEAST_MS);
  const { first, last, zoom, pan } = shown;
  useKeys(answer ? { ...shown.keys, t: () => change({ table: showsTable ? null : 1 }) } : null);
  const move = { onMoment: (ms) => setAt(Math.round(ms)), onZoom: zoom, onPan: pan };
  const error = given.error ?? summary.error;
  return html`<div class="group what-if">
    <div class="title group-title"><a href=${address("/group", { id, from, to, at })} onClick=${follow} class="back" aria-label="Back to the group">←</a><h1><bdi>${plain(id ?? "")}</bdi></h1><p class="quiet">what if another rule had been in force?</p></div>
    <${Rules} rules=${rules} />
    <div class="toolbar" role="toolbar" aria-label="Time">
      <${Presets} shown=${shown} known=${answer ? answer.known_until_ms : null} />
      <button aria-pressed=${showsTable} onClick=${() => change({ table: showsTable ? null : 1 })} title="t">table</button>
      <span class="quiet span" role="status">${answer && isCurrent ? `${moment(first)} – ${moment(last)}, ${duration(last - first)}` : error ? "" : "playing the past again …"}</span>
    </div>
    ${error ? html`<p class="banner" role="alert">${plain(error.message)}</p>` : ""}
    ${answer && answer.first_ms !== null ? html`<div key="figures" class=${`below figures-and-advice ${isCurrent ? "" : "old"}`}><${Figures} answer=${answer} rule=${rule} /><${Advice} answer=${answer} rules=${rules} /></div>` : ""}
    <div ref=${frame} key="frame" class=${`frame ${isCurrent ? "" : "old"}`}>
      ${!answer || !width ? (error ? "" : html`<div class="loading tall" aria-busy="true">${[...Array(6)].map((_, each) => html`<i key=${each}></i>`)}</div>`)
        : answer.first_ms === null ? html`<div class="nothing small"><h2>${answer.left_out ? "Too much to be played here" : "Nothing to play"}</h2><p>${nothing(answer)}</p></div>`
        : html`<${Lanes} answer=${answer} rule=${rule} from=${first} to=${last} at=${at} width=${width} asTable=${showsTable} move=${move} />
          <${LanePager} lane=${lane} most=${LANES} count=${answer.lane_count} />`}
    </div>
    ${answer && answer.first_ms !== null ? html`<div class="changes"><${Changes} answer=${answer} rule=${rule} /></div>
      <p class="note">Each change of the group is given to the assignor with what the members would have had then. <b>known</b>: ${CERTAIN.known}. <b>bound</b>: ${CERTAIN.bound}. <b>unknown</b>: ${CERTAIN.unknown}. The same, with each change: <code>coordinator-server groups what-if</code></p>` : ""}
  </div>`;
}

function nothing(answer) {
  if (answer.left_out) return "The last change of this group alone has more members and partitions than are played here: ask coordinator-server groups what-if.";
  if (answer.generations) return "The group did not change in this time. Widen it, or press 0 for all of the history.";
  if (answer.unreadable) return "Its members do not use the protocol of consumers: their assignments are in their own format.";
  return "The log has no rebalance of consumers in this group.";
}
