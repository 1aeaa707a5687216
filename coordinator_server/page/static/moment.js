// The group at a moment, and what differs from another one.

import { html } from "./vendor/htm-preact-3.1.1.js";
import { useAnswer } from "./api.js";
import { State } from "./facts.js";
import { counted, duration, moment, number, plain, ranges, zone } from "./format.js";
import { ownerStyle } from "./palette.js";
import { Rows } from "./rows.js";

function Swatch({ member, picture, numbers }) {
  const owner = numbers.get(member);
  if (owner === undefined) return html`<i class="swatch none"></i>`;
  const { fill, pattern } = ownerStyle(picture.owners[owner].colour);
  return html`<i class=${`swatch p${pattern}`} style=${{ backgroundColor: fill }}></i>`;
}

function Assignment({ member }) {
  if (member.assignment === null) return html`<span class="quiet" title="its protocol is not that of Kafka's consumers">–</span>`;
  const topics = Object.entries(member.assignment).filter(([, numbers]) => numbers.length);
  if (!topics.length) return html`<span class="quiet">nothing</span>`;
  return topics.map(([topic, numbers]) => html`<span class="assigned" key=${topic}><bdi>${plain(topic)}</bdi> ${ranges(numbers)}</span>`);
}

function Members({ answer, picture, numbers }) {
  if (!answer.member_count) return html`<p class="quiet">No members.</p>`;
  const waits = answer.members.some((each) => each.state || Object.keys(each.revoking).length);
  return html`<table class="list small"><caption>${counted(answer.member_count, "member")}</caption>
    <thead><tr><th scope="col">Client</th><th scope="col">Host</th><th scope="col">Has</th>${waits ? html`<th scope="col">State</th>` : ""}</tr></thead>
    <${Rows} rows=${answer.members} count=${answer.member_count} row=${(each) => html`<tr key=${each.member_id}>
      <th scope="row" title=${plain(each.member_id)}><${Swatch} member=${each.member_id} picture=${picture} numbers=${numbers} /> <bdi>${plain(each.client_id || each.member_id)}</bdi>${each.member_id === answer.leader ? html` <span class="tag">leader</span>` : ""}${each.group_instance_id ? html` <span class="tag" title="static member"><bdi>${plain(each.group_instance_id)}</bdi></span>` : ""}</th>
      <td class="quiet">${plain(each.client_host.replace(/^\//, ""))}</td><td><${Assignment} member=${each} /></td>
      ${waits ? html`<td class="quiet">${each.state}${each.epoch === null ? "" : `, epoch ${each.epoch}`}${Object.keys(each.revoking).length ? html`<br />must give up ${Object.entries(each.revoking).map(([topic, some]) => `${plain(topic)} ${ranges(some)}`).join(", ")}` : ""}</td>` : ""}</tr>`} /></table>`;
}

function Offsets({ answer }) {
  if (!answer.offset_count) return html`<p class="quiet">No committed offsets.</p>`;
  return html`<table class="list small"><caption>${counted(answer.offset_count, "committed offset")}</caption>
    <thead><tr><th scope="col">Partition</th><th scope="col" class="number">Offset</th><th scope="col">Committed</th><th scope="col">Metadata</th></tr></thead>
    <${Rows} rows=${answer.offsets} count=${answer.offset_count} row=${(each) => html`<tr key=${`${each.topic} ${each.partition}`}>
      <th scope="row"><bdi>${plain(each.topic)}</bdi> ${each.partition}</th><td class="number">${number(each.offset)}</td>
      <td class="quiet">${duration(Math.max(0, answer.at_ms - each.commit_timestamp_ms))} before</td><td class="quiet"><bdi>${plain(each.metadata).slice(0, 80)}</bdi></td></tr>`} /></table>`;
}

export function Moment({ id, at, picture, version, isLast }) {
  const { answer, error } = useAnswer("moment", at === null ? null : { id, at }, version, { patient: true, later: isLast });
  const numbers = new Map(picture.owners.map((each, index) => [each.member, index]));
  const head = html`<header><h2>${isLast ? "Now" : "At this moment"}</h2><time>${moment(at, true)} <span class="quiet">${zone()}</span></time></header>`;
  if (error) return html`<section class="panel">${head}<p class="note" role="alert">${error.message}</p></section>`;
  if (!answer) return html`<section class="panel">${head}<div class="loading" aria-busy="true"><i></i><i></i></div></section>`;
  if (answer.state === null) return html`<section class="panel">${head}<p class="nothing small">The group did not exist.</p></section>`;
  return html`<section class="panel">${head}
    <p class="line-of-facts"><${State} state=${answer.state} /> <span>${answer.type}</span>${answer.epoch === null ? "" : html`<span>${answer.type === "classic" ? "generation" : "epoch"} <b>${number(answer.epoch)}</b></span>`}${answer.protocol ? html`<span>assignor <b>${plain(answer.protocol)}</b></span>` : ""}</p>
    ${answer.lost_to ? html`<p class="note">Records before offset ${number(answer.lost_to)} were lost: what they changed is not in this.</p>` : ""}
    <${Members} answer=${answer} picture=${picture} numbers=${numbers} /><${Offsets} answer=${answer} />
    ${Object.entries(answer.share_partitions).map(([what, topics]) => html`<p class="note">Share partitions ${what}: ${Object.entries(topics).map(([topic, some]) => `${plain(topic)} ${ranges(some)}`).join("; ")}</p>`)}
    <p class="quiet fine">State of ${answer.shard} before offset ${number(answer.offset)}</p></section>`;
}

function Names({ names, picture, numbers }) {
  if (!names.length) return html`<span class="quiet">nobody</span>`;
  return names.map((each) => html`<span key=${each}><${Swatch} member=${each} picture=${picture} numbers=${numbers} /> <bdi>${plain(picture.owners[numbers.get(each)]?.client_id || each)}</bdi> </span>`);
}

export function Difference({ id, from, to, picture, version, close }) {
  const [before, after] = from <= to ? [from, to] : [to, from];
  const { answer, error } = useAnswer("difference", { id, from: before, to: after }, version, { patient: true });
  const numbers = new Map(picture.owners.map((each, index) => [each.member, index]));
  const head = html`<header><h2>Difference</h2><time>${moment(before, true)} → ${moment(after, true)} <span class="quiet">${duration(after - before)}</span></time><button class="flat" onClick=${close} aria-label="End the comparison">✕</button></header>`;
  if (error) return html`<section class="panel">${head}<p class="note" role="alert">${error.message}</p></section>`;
  if (!answer) return html`<section class="panel">${head}<div class="loading" aria-busy="true"><i></i><i></i></div></section>`;
  const [was, is] = answer.states;
  const moved = (of, to2) => (of === null || to2 === null ? "" : `${to2 - of > 0 ? "+" : ""}${number(to2 - of)}`);
  const same = !answer.joined.length && !answer.gone.length && !answer.partition_count && !answer.offset_count && was === is && answer.epochs[0] === answer.epochs[1];
  return html`<section class="panel">${head}
    <p class="line-of-facts">${was ? html`<${State} state=${was} />` : html`<span class="quiet">did not exist</span>`} → ${is ? html`<${State} state=${is} />` : html`<span class="quiet">does not exist</span>`}<span>epoch <b>${number(answer.epochs[0])} → ${number(answer.epochs[1])}</b></span></p>
    ${same ? html`<p class="nothing small">Nothing differs.</p>` : ""}
    ${answer.joined.length ? html`<p><span class="good">joined</span> <${Names} names=${answer.joined.map((each) => each.member_id)} picture=${picture} numbers=${numbers} /></p>` : ""}
    ${answer.gone.length ? html`<p><span class="bad">gone</span> <${Names} names=${answer.gone.map((each) => each.member_id)} picture=${picture} numbers=${numbers} /></p>` : ""}
    ${answer.partition_count ? html`<table class="list small"><caption>${counted(answer.partition_count, "partition")} with another owner</caption><thead><tr><th scope="col">Partition</th><th scope="col">Before</th><th scope="col">After</th></tr></thead>
      <${Rows} rows=${answer.partitions} count=${answer.partition_count} row=${(each) => html`<tr key=${`${each.topic} ${each.partition}`}><th scope="row"><bdi>${plain(each.topic)}</bdi> ${each.partition}</th><td><${Names} names=${each.before} picture=${picture} numbers=${numbers} /></td><td><${Names} names=${each.after} picture=${picture} numbers=${numbers} /></td></tr>`} /></table>` : ""}
    ${answer.offset_count ? html`<table class="list small"><caption>${counted(answer.offset_count, "offset")} moved, by ${number(answer.progress)} in all</caption><thead><tr><th scope="col">Partition</th><th scope="col" class="number">Before</th><th scope="col" class="number">After</th><th scope="col" class="number">Moved</th></tr></thead>
      <${Rows} rows=${answer.offsets} count=${answer.offset_count} row=${(each) => html`<tr key=${`${each.topic} ${each.partition}`}><th scope="row"><bdi>${plain(each.topic)}</bdi> ${each.partition}</th><td class="number">${number(each.before)}</td><td class="number">${number(each.after)}</td><td class=${`number ${each.before !== null && each.after !== null && each.after < each.before ? "bad" : ""}`}>${moved(each.before, each.after)}</td></tr>`} /></table>` : ""}
  </section>`;
}
