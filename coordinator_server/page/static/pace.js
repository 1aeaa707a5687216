// How fast a group consumes, and how far it is behind, now.

import { html } from "./vendor/htm-preact-3.1.1.js";
import { useAnswer } from "./api.js";
import { Health, Lag } from "./facts.js";
import { clock, counted, number, plain, rate } from "./format.js";
import { Rows } from "./rows.js";

export function Pace({ id, version }) {
  const { answer, error } = useAnswer("pace", { id }, version, { later: true });
  const sampled = answer?.sampled_ms;
  const head = html`<header><h2>Lag and rate</h2><span class="quiet">${!answer ? "" : sampled ? `ends of partitions as of ${clock(sampled)}` : "now"}</span></header>`;
  if (error) return html`<section class="panel">${head}<p class="note" role="alert">${error.message}</p></section>`;
  if (!answer) return html`<section class="panel">${head}<div class="loading" aria-busy="true"><i></i><i></i></div></section>`;
  if (!answer.partition_count) return html`<section class="panel">${head}<p class="quiet">It has committed nothing.</p></section>`;
  return html`<section class="panel">${head}
    ${sampled ? "" : html`<p class="note">The lag is unknown: this server keeps no messages, so nobody knows how far the partitions are. <code>observe</code> samples their ends, of a Kafka cluster.</p>`}
    <table class="list small"><caption>${counted(answer.partition_count, "partition")}</caption>
      <thead><tr><th scope="col">Partition</th><th scope="col" class="number">Committed</th><th scope="col" class="number">Rate</th><th scope="col" class="number">Unread</th><th scope="col">Health</th></tr></thead>
      <${Rows} rows=${answer.partitions} count=${answer.partition_count} row=${(each) => html`<tr key=${`${each.topic} ${each.partition}`}>
        <th scope="row"><bdi>${plain(each.topic)}</bdi> ${each.partition}</th><td class="number">${number(each.offset)}</td><td class="number">${rate(each.rate)}</td>
        <td class="number"><${Lag} ...${each} /></td><td><${Health} verdict=${each.verdict} title=${each.reason} />${each.verdict && each.verdict !== "OK" ? html` <span class="quiet">${plain(each.reason)}</span>` : ""}</td></tr>`} /></table></section>`;
}
