// Whom the rebalance of a group waits for, as the running server says.

import { html } from "./vendor/htm-preact-3.1.1.js";
import { ago, duration, plain } from "./format.js";

export function Waits({ waits, now }) {
  if (!waits?.length) return "";
  return html`<section class="waits" role="status" aria-label="Rebalance in progress"><h2><i class="dot wait"></i>Rebalance in progress</h2>
    <ul>${waits.map((each, at) => html`<li key=${at}><b><bdi>${plain(each.client_id || each.member)}</bdi></b>${each.host ? html` <span class="quiet">${plain(each.host)}</span>` : ""} <bdi>${plain(each.what)}</bdi>
      ${each.since_ms ? html`<span class="quiet"> · for ${ago(each.since_ms, now).replace(" ago", "")}</span>` : ""}${each.until_ms ? html`<span class="quiet"> · it goes on without in ${duration(Math.max(0, each.until_ms - now))}</span>` : ""}</li>`)}</ul></section>`;
}
