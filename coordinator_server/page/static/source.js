// Where all of this is from: the directory, its shards, and how far each is read.

import { html, useEffect } from "./vendor/htm-preact-3.1.1.js";
import { useAnswer, useNow } from "./api.js";
import { ago, counted, moment, number, plain, zone } from "./format.js";

export function Source({ status }) {
  const now = useNow();
  const { answer, error } = useAnswer("source", {}, status?.version);
  useEffect(() => { document.title = "Source · coordinator-server"; }, []);
  if (error) return html`<p class="banner" role="alert">${error.message}</p>`;
  if (!answer) return html`<div class="loading" aria-busy="true"><i></i><i></i></div>`;
  const records = answer.shards.reduce((sum, each) => sum + each.next_offset, 0);
  return html`<section class="source">
    <div class="title"><h1>Source</h1></div>
    <dl class="facts">
      <div><dt>Directory</dt><dd><code>${plain(answer.data_dir)}</code></dd></div>
      <div><dt>Cluster</dt><dd><code>${plain(answer.cluster_id)}</code></dd></div>
      <div><dt>Server</dt><dd>${status?.is_served ? "is running" : "does not run on this directory"}</dd></div>
      <div><dt>Read up to</dt><dd>${status?.as_of_ms ? `${moment(status.as_of_ms, true)} (${zone()}), ${ago(status.as_of_ms, now)}` : "–"}</dd></div>
      <div><dt>Records</dt><dd>${number(records)} in ${counted(answer.shards.length, "shard")}</dd></div>
    </dl>
    <p class="note">Everything here comes from the log of groups, through its index. A classic group's log does not say that a rebalance is in progress, or who is late: <code>coordinator-server groups waiting</code> asks the running server. What a log cannot say is shown as –.</p>
    <table class="list"><caption>Shards with groups</caption><thead><tr><th scope="col">Shard</th><th scope="col" class="number">History begins at offset</th><th scope="col" class="number">Read up to offset</th><th scope="col">Lost</th></tr></thead>
      <tbody>${answer.shards.map((each) => html`<tr key=${each.shard}><th scope="row">${each.shard}</th><td class="number">${number(each.begins_at)}</td><td class="number">${number(each.next_offset)}</td>
        <td>${each.lost_to ? html`<span class="bad">some records before offset ${number(each.lost_to)}</span>` : html`<span class="quiet">nothing</span>`}</td></tr>`)}</tbody></table>
  </section>`;
}
