// Who consumes a topic.

import { html, useEffect } from "./vendor/htm-preact-3.1.1.js";
import { address, follow } from "./address.js";
import { useAnswer } from "./api.js";
import { counted, number, plain } from "./format.js";
import { GroupLinks, Search } from "./search.js";

export function Topics({ query, status }) {
  const { answer, error } = useAnswer("topics", { q: query.q }, status?.version);
  useEffect(() => { document.title = "Topics · coordinator-server"; }, []);
  return html`<section class="groups">
    <div class="title"><h1>Topics</h1>${answer ? html`<p class="quiet" aria-live="polite">${counted(answer.count, "topic")} with groups</p>` : ""}</div>
    <${Search} typed=${query.q ?? ""} label="Filter: a word of a topic" />
    ${error ? html`<p class="banner" role="alert">${error.message}</p>` : ""}
    ${!answer ? (error ? "" : html`<div class="loading" aria-busy="true"><i></i><i></i></div>`) : !answer.rows.length ? html`<div class="nothing"><h2>No topic</h2><p>No group that matches consumes a topic.</p></div>`
      : html`<table class="list"><thead><tr><th scope="col">Topic</th><th scope="col" class="number">Groups</th><th scope="col" class="number">Members</th><th scope="col">Consumed by</th></tr></thead>
        <tbody>${answer.rows.map((each) => html`<tr key=${each.topic}><th scope="row"><a href=${address("/", { q: `topic:${each.topic}` })} onClick=${follow}><bdi>${plain(each.topic)}</bdi></a></th>
          <td class="number">${number(each.group_count)}</td><td class="number">${number(each.members)}</td><td><${GroupLinks} ids=${each.groups} count=${each.group_count} /></td></tr>`)}</tbody></table>`}
  </section>`;
}
