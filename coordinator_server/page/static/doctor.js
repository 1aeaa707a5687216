// What is wrong, the worst first, and what to do.

import { html, useEffect } from "./vendor/htm-preact-3.1.1.js";
import { useAnswer } from "./api.js";
import { counted, plain } from "./format.js";

const WORDS = { problem: "problem", warning: "warning", note: "note", ok: "in order" };

export function Doctor() {
  const { answer, error } = useAnswer("doctor", {}, 0);
  useEffect(() => { document.title = "Doctor · coordinator-server"; }, []);
  if (error) return html`<p class="banner" role="alert">${error.message}</p>`;
  if (!answer) return html`<div class="loading" aria-busy="true"><i></i><i></i><i></i></div>`;
  const count = (severity) => answer.findings.filter((each) => each.severity === severity).length;
  const said = [["problem", "problem"], ["warning", "warning"]].map(([severity, noun]) => counted(count(severity), noun)).join(", ");
  return html`<section class="doctor">
    <div class="title"><h1>Doctor</h1><p class="quiet">${said} in ${counted(answer.findings.length, "finding")}; they are at most a minute old</p></div>
    <ul class="findings">${answer.findings.map((each, at) => html`<li key=${at} class=${each.severity}>
      <span class="severity"><i></i>${WORDS[each.severity] ?? each.severity}</span><div><b>${plain(each.check)}</b><p>${plain(each.what)}</p>${each.action ? html`<p class="quiet">${plain(each.action)}</p>` : ""}</div></li>`)}</ul>
    <p class="note">The same, with the groups that do not settle and transactions that hang: <code>coordinator-server doctor</code></p>
  </section>`;
}
