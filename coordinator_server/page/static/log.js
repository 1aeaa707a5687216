// What is behind the groups: the directory, the server's loops, jobs over the log, and its shards.

import { html, useEffect } from "./vendor/htm-preact-3.1.1.js";
import { useAnswer, useNow } from "./api.js";
import { ago, bytes, counted, duration, moment, number, plain, zone } from "./format.js";

function Loops({ loops }) {
  if (!loops.length) return "";
  return html`<table class="list"><caption>${counted(loops.length, "loop")} of the server</caption><thead><tr><th scope="col">Loop</th><th scope="col">Stage</th><th scope="col" class="number">Node</th><th scope="col" class="number wide">Process</th><th scope="col">Listens on</th><th scope="col" class="number">Up for</th><th scope="col" class="number">Connections</th><th scope="col" class="number">Shards</th><th scope="col" class="wide">Groups</th></tr></thead>
    <tbody>${loops.map((each) => html`<tr key=${each.loop}><th scope="row">${each.loop}</th><td class=${each.log_failure || each.stage !== "serving" ? "bad" : ""}>${each.log_failure ? plain(each.log_failure) : each.stage}${each.starts > 1 ? html` <span class="quiet">started ${each.starts} times</span>` : ""}</td>
      <td class="number">${each.node_id}</td><td class="number wide">${each.pid}</td><td><code>${each.listeners.map(plain).join(", ")}</code></td><td class="number">${each.uptime_ms === null ? "–" : duration(each.uptime_ms)}</td><td class="number">${number(each.connections)}</td><td class="number">${number(each.shards)}</td>
      <td class="wide quiet">${Object.entries(each.groups).filter(([, count]) => count).map(([type, count]) => `${number(count)} ${type}`).join(", ") || "none"}</td></tr>`)}</tbody></table>`;
}

function Jobs({ jobs, now }) {
  if (!jobs.length) return "";
  return html`<table class="list"><caption>Jobs over the log</caption><thead><tr><th scope="col">Job</th><th scope="col">Run by</th><th scope="col" class="number">Runs</th><th scope="col">Last</th><th scope="col">Said</th></tr></thead>
    <tbody>${jobs.map((each) => html`<tr key=${`${each.job} ${each.by}`}><th scope="row">${each.job}</th><td>${plain(each.by)}</td><td class="number">${number(each.runs)}${each.failures ? html` <span class="bad">${number(each.failures)} failed</span>` : ""}</td>
      <td class="when" title=${moment(each.last_ms, true)}>${each.last_ms ? ago(each.last_ms, now) : html`<span class="quiet">not since the start</span>`}</td><td>${each.is_equal === true ? html`<span class="good">all states are equal</span> ` : each.is_equal === false ? html`<span class="bad">states differ</span> ` : ""}<span class="quiet">${plain(each.said)}</span></td></tr>`)}</tbody></table>`;
}

function Shards({ answer, now }) {
  const { shards, indexed, is_observed: isObserved } = answer;
  const hasOwners = shards.some((each) => each.loop !== null);
  return html`<table class="list"><caption>${counted(shards.length, "shard")} of the log</caption><thead><tr><th scope="col">Shard</th>${hasOwners ? html`<th scope="col" class="number">Loop</th>` : ""}${isObserved ? html`<th scope="col" class="number">Leader</th><th scope="col" class="number">Behind</th>` : html`<th scope="col" class="wide">State</th>`}
      <th scope="col" class="number">Log</th><th scope="col" class="number">Compacted up to</th><th scope="col" class="wide">Layer</th><th scope="col" class="number wide">History from</th><th scope="col" class="number">Indexed up to</th></tr></thead>
    <tbody>${shards.map((each) => { const known = indexed[each.shard]; return html`<tr key=${each.shard}><th scope="row">${each.shard}</th>${hasOwners ? html`<td class="number" title=${`epoch ${number(each.epoch)}`}>${number(each.loop)}</td>` : ""}
      ${isObserved ? html`<td class="number">${number(each.leader)}</td><td class=${`number ${each.high_watermark > each.next_offset ? "warn" : ""}`}>${each.high_watermark === null ? "–" : number(Math.max(0, each.high_watermark - each.next_offset))}${each.missing ? html` <span class="quiet" title="removed by the cluster's cleaner before they were read">${number(each.missing)} missing</span>` : ""}</td>` : html`<td class=${`wide ${each.state && each.state !== "active" ? "warn" : "quiet"}`}>${each.state ?? "–"}</td>`}
      <td class="number" title=${counted(each.segments, "segment")}>${bytes(each.size)}</td><td class="number">${each.layer_to ? number(each.layer_to) : html`<span class="quiet">–</span>`}</td><td class="wide quiet" title=${moment(each.layer_ms, true)}>${each.layer_to ? `${bytes(each.layer_size)}, ${ago(each.layer_ms, now)}` : "none"}</td>
      <td class="number wide">${known ? number(known.begins_at) : "–"}</td><td class="number">${known ? number(known.next_offset) : "–"}${known?.lost_to ? html` <span class="bad" title=${`some records before offset ${number(known.lost_to)} were lost`}>lost</span>` : ""}</td></tr>`; })}</tbody></table>`;
}

export function Log({ status }) {
  const now = useNow();
  const { answer, error } = useAnswer("log", {}, status?.version);
  useEffect(() => { document.title = "Log · coordinator-server"; }, []);
  if (error && !answer) return html`<p class="banner" role="alert">${error.message}</p>`;
  if (!answer) return html`<div class="loading" aria-busy="true"><i></i><i></i></div>`;
  const records = Object.values(answer.indexed).reduce((sum, each) => sum + each.next_offset, 0);
  const size = answer.shards.reduce((sum, each) => sum + each.size + each.layer_size, 0);
  return html`<section class="log">
    <div class="title"><h1>Log</h1></div>
    ${answer.unknown ? html`<p class="note">The server does not say more: ${plain(answer.unknown)}</p>` : ""}
    <dl class="facts">
      <div><dt>Directory</dt><dd><code>${plain(answer.data_dir)}</code>, ${bytes(size)}</dd></div>
      <div><dt>Cluster</dt><dd><code>${plain(answer.cluster_id)}</code></dd></div>
      <div><dt>${answer.is_observed ? "Observer" : "Server"}</dt><dd>${status?.is_served ? `runs${answer.is_observed ? ", and follows the cluster" : ""}` : "does not run on this directory"}</dd></div>
      <div><dt>Read up to</dt><dd>${status?.as_of_ms ? `${moment(status.as_of_ms, true)} (${zone()}), ${ago(status.as_of_ms, now)}` : "–"}</dd></div>
      <div><dt>Indexed</dt><dd>${counted(records, "record")} of groups</dd></div>
    </dl>
    <${Loops} loops=${answer.loops} /><${Jobs} jobs=${answer.jobs} now=${now} /><${Shards} answer=${answer} now=${now} />
    ${answer.set_aside.length ? html`<table class="list"><caption>Records that the cluster has lost</caption><thead><tr><th scope="col">Shard</th><th scope="col">Offsets</th><th scope="col">When</th><th scope="col">Why</th></tr></thead><tbody>${answer.set_aside.map((each, at) => html`<tr key=${at}><th scope="row">${each.shard}</th><td>${number(each.begin)}–${number(each.end)}</td><td>${moment(each.at_ms)}</td><td>${plain(each.why)}</td></tr>`)}</tbody></table>` : ""}
  </section>`;
}
