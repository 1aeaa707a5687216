// Transactions: which are open, which hang, and how the last ones ended.

import { html, useEffect } from "./vendor/htm-preact-3.1.1.js";
import { useAnswer, useNow } from "./api.js";
import { ago, counted, duration, moment, number, plain } from "./format.js";
import { GroupLinks } from "./search.js";

const WHY = {
  producer: "its producer ended it", timeout: "it was open for longer than its timeout", fenced: "a newer producer of the same id fenced it", administrator: "an operator ended it",
};

function Who({ each }) {
  return html`<bdi>${plain(each.client_id || "–")}</bdi>${each.client_host ? html` <span class="quiet">${plain(each.client_host.replace(/^\//, ""))}</span>` : ""}`;
}

function Open({ rows, count, now }) {
  if (!count) return html`<p class="quiet">No transaction is open.</p>`;
  return html`<table class="list"><caption>${counted(count, "open transaction")}</caption><thead><tr><th scope="col">Transactional id</th><th scope="col">Open for</th><th scope="col">Ends</th><th scope="col">Client</th><th scope="col">Groups</th><th scope="col" class="wide">Partitions</th></tr></thead>
    <tbody>${rows.map((each) => html`<tr key=${`${each.transactional_id} ${each.begun_ms}`}><th scope="row"><bdi>${plain(each.transactional_id)}</bdi></th><td class="when" title=${moment(each.begun_ms, true)}>${duration(Math.max(0, now - each.begun_ms))}</td>
      <td>${each.decided_ms !== null ? html`<span class="warn">${plain(each.outcome)}, its markers are being written</span>` : each.due_ms === null ? "–" : each.due_ms < now ? html`<span class="bad">should have timed out ${ago(each.due_ms, now)}</span>` : `times out in ${duration(each.due_ms - now)}`}</td>
      <td><${Who} each=${each} /></td><td><${GroupLinks} ids=${each.groups} /></td><td class="wide quiet">${each.partitions.slice(0, 4).map(plain).join(", ")}${each.partitions.length > 4 ? ` and ${each.partitions.length - 4} more` : ""}</td></tr>`)}</tbody></table>`;
}

function Hanging({ rows, now }) {
  if (!rows.length) return "";
  return html`<table class="list"><caption class="bad">${counted(rows.length, "hanging transaction")}: no transactional id will end it</caption><thead><tr><th scope="col">Partition of the log</th><th scope="col" class="number">Producer</th><th scope="col" class="number">Since offset</th><th scope="col">Last write</th><th scope="col">Groups whose offsets it holds</th></tr></thead>
    <tbody>${rows.map((each) => html`<tr key=${`${each.partition} ${each.producer_id}`}><th scope="row">${each.partition}</th><td class="number">${each.producer_id} <span class="quiet">epoch ${each.producer_epoch}</span></td><td class="number">${number(each.first_offset)}</td><td class="when" title=${moment(each.last_ms, true)}>${ago(each.last_ms, now)}</td><td><${GroupLinks} ids=${each.groups} /></td></tr>`)}</tbody></table>`;
}

function Ended({ rows, now }) {
  if (!rows.length) return "";
  return html`<table class="list"><caption>The last that ended</caption><thead><tr><th scope="col">Transactional id</th><th scope="col">Outcome</th><th scope="col">Why</th><th scope="col">Ended</th><th scope="col">Took</th><th scope="col">Client</th><th scope="col" class="wide">Groups</th></tr></thead>
    <tbody>${rows.map((each) => html`<tr key=${`${each.transactional_id} ${each.begun_ms} ${each.ended_ms}`}><th scope="row"><bdi>${plain(each.transactional_id)}</bdi></th><td class=${each.outcome.startsWith("commit") ? "good" : "bad"}>${plain(each.outcome || "unknown")}</td><td class="quiet">${WHY[each.reason] ?? (plain(each.reason) || "nobody said")}</td>
      <td class="when" title=${moment(each.ended_ms, true)}>${ago(each.ended_ms, now)}</td><td class="when">${duration(Math.max(0, each.ended_ms - each.begun_ms))}</td><td><${Who} each=${each} /></td><td class="wide"><${GroupLinks} ids=${each.groups} /></td></tr>`)}</tbody></table>`;
}

export function Transactions({ status }) {
  const now = useNow();
  const { answer, error } = useAnswer("transactions", {}, status?.version);
  useEffect(() => { document.title = "Transactions · coordinator-server"; }, []);
  if (error && !answer) return html`<p class="banner" role="alert">${error.message}</p>`;
  if (!answer) return html`<div class="loading" aria-busy="true"><i></i><i></i></div>`;
  return html`<section class="log"><div class="title"><h1>Transactions</h1><p class="quiet">${counted(answer.ids, "transactional id")}</p></div>
    <${Hanging} rows=${answer.hanging} now=${now} /><${Open} rows=${answer.open} count=${answer.open_count} now=${now} /><${Ended} rows=${answer.ended} now=${now} /></section>`;
}
