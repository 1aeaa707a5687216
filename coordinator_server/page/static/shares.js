// Share partitions: where they stand, and the deliveries that nobody has settled.

import { html, useEffect } from "./vendor/htm-preact-3.1.1.js";
import { useAnswer, useNow } from "./api.js";
import { ago, counted, duration, moment, number, plain } from "./format.js";
import { GroupLink } from "./search.js";

const LONG_MS = 60_000;

function Unsettled({ rows, now }) {
  if (!rows.length) return html`<span class="quiet">none</span>`;
  return html`<ul class="plain">${rows.slice(0, 4).map((each) => html`<li key=${each.first_offset} title=${`delivered last ${moment(each.last_ms, true)}`}>${each.first_offset === each.last_offset ? number(each.first_offset) : `${number(each.first_offset)}–${number(each.last_offset)}`}
    <span class=${now - each.since_ms > LONG_MS ? "bad" : "quiet"}> for ${each.is_earlier ? "more than " : ""}${duration(Math.max(0, now - each.since_ms))}</span><span class=${each.deliveries > 1 ? "warn" : "quiet"}>, ${counted(each.deliveries, "delivery").replace("deliverys", "deliveries")}</span></li>`)}${rows.length > 4 ? html`<li class="quiet">and ${rows.length - 4} more</li>` : ""}</ul>`;
}

export function Shares({ status }) {
  const now = useNow();
  const { answer, error } = useAnswer("shares", {}, status?.version);
  useEffect(() => { document.title = "Shares · coordinator-server"; }, []);
  if (error && !answer) return html`<p class="banner" role="alert">${error.message}</p>`;
  if (!answer) return html`<div class="loading" aria-busy="true"><i></i><i></i></div>`;
  return html`<section class="groups"><div class="title"><h1>Share partitions</h1><p class="quiet">${counted(answer.count, "share partition")}, those first that have waited for longest</p></div>
    ${!answer.rows.length ? html`<div class="nothing"><h2>No share group</h2><p>Share groups have a state for each partition that they consume; there is none.</p></div>` : html`
    <table class="list"><thead><tr><th scope="col">Group</th><th scope="col">Partition</th><th scope="col" class="number">Start</th><th scope="col" class="number">In flight</th><th scope="col" class="number wide">Acknowledged</th><th scope="col" class="number wide">Rejected</th><th scope="col" class="number">Most attempts</th><th scope="col">Not settled</th><th scope="col" class="wide">Changed</th></tr></thead>
      <tbody>${answer.rows.map((each) => html`<tr key=${`${each.group} ${each.topic} ${each.partition}`}><th scope="row"><${GroupLink} id=${each.group} /></th><td><bdi>${plain(each.topic)}</bdi> ${each.partition}</td><td class="number">${number(each.start_offset)}</td><td class="number">${number(each.in_flight)}</td><td class="number wide">${number(each.acknowledged)}</td><td class="number wide">${number(each.archived)}</td>
        <td class=${`number ${each.most_deliveries > 1 ? "warn" : ""}`}>${each.in_flight ? number(each.most_deliveries) : html`<span class="quiet">–</span>`}</td><td><${Unsettled} rows=${each.unsettled} now=${now} /></td><td class="wide when" title=${moment(each.changed_ms, true)}>${ago(each.changed_ms, now)}</td></tr>`)}</tbody></table>`}</section>`;
}
