// Which groups a client belongs to, and belonged to.

import { html, useEffect } from "./vendor/htm-preact-3.1.1.js";
import { change } from "./address.js";
import { useAnswer, useNow } from "./api.js";
import { ago, counted, duration, moment, number, plain } from "./format.js";
import { GroupLink, Search } from "./search.js";

function Row({ client, now }) {
  return client.memberships.map((each, at) => html`<tr key=${`${each.group} ${each.client_host} ${each.since_ms}`} class=${at ? "more" : ""}>
    ${at ? html`<td></td>` : html`<th scope="row"><bdi>${plain(client.client_id || "(no client id)")}</bdi></th>`}
    <td><${GroupLink} id=${each.group} /></td><td class="quiet">${plain(each.client_host.replace(/^\//, ""))}</td>
    <td class="number wide">${number(each.most)}</td>
    <td class="when" title=${moment(each.since_ms, true)}>${ago(each.since_ms, now)}</td>
    <td class="when quiet">${each.until_ms === null ? html`<span class="good">is there</span>` : `left ${ago(each.until_ms, now)}, after ${duration(each.until_ms - each.since_ms)}`}</td></tr>`);
}

export function Clients({ query, status }) {
  const now = useNow();
  const past = query.past === "1";
  const { answer, error } = useAnswer("clients", { q: query.q, past: past ? 1 : null }, status?.version);
  useEffect(() => { document.title = "Clients · coordinator-server"; }, []);
  return html`<section class="groups clients">
    <div class="title"><h1>Clients</h1>${answer ? html`<p class="quiet" aria-live="polite">${counted(answer.count, "client")}</p>` : ""}</div>
    <${Search} typed=${query.q ?? ""} label="Filter: a word of a client id, a host or a group"><div class="chips"><button class="chip" aria-pressed=${past} onClick=${() => change({ past: past ? null : 1 })}>with those that left</button></div></${Search}>
    ${error ? html`<p class="banner" role="alert">${error.message}</p>` : ""}
    ${!answer ? (error ? "" : html`<div class="loading" aria-busy="true"><i></i><i></i></div>`) : !answer.rows.length ? html`<div class="nothing"><h2>No client</h2><p>No member of a group matches.</p></div>`
      : html`<table class="list"><thead><tr><th scope="col">Client</th><th scope="col">Group</th><th scope="col">Host</th><th scope="col" class="number wide" title="so many at the same time">Members</th><th scope="col">Since</th><th scope="col">Now</th></tr></thead>
        <tbody>${answer.rows.map((each) => html`<${Row} key=${each.client_id} client=${each} now=${now} />`)}</tbody></table>`}
    ${answer && answer.count > answer.rows.length ? html`<p class="quiet fine">The first ${answer.rows.length}: type more to see others.</p>` : ""}
  </section>`;
}
