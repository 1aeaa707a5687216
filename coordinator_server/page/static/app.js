// The frame of all views: navigation, the status, and the keys that work everywhere.

import { html, render, useEffect, useRef, useState } from "./vendor/htm-preact-3.1.1.js";
import { follow, go, useAddress } from "./address.js";
import { useStatus, useNow, useViewer } from "./api.js";
import { ago, clock, isUtc, moment, plain, setUtc, zone } from "./format.js";
import { Clients } from "./clients.js";
import { Doctor } from "./doctor.js";
import { Group } from "./group.js";
import { Groups } from "./groups.js";
import { Log } from "./log.js";
import { Shares } from "./shares.js";
import { Topics } from "./topics.js";
import { Transactions } from "./transactions.js";
import { WhatIf } from "./what_if.js";

const KEYS = [
  ["/", "filter groups"],
  ["j  k", "next, previous row"],
  ["Enter", "open the row"],
  ["g", "all groups"],
  ["← →", "move the moment (Shift: ten times as far)"],
  ["[  ]", "previous, next event"],
  ["+  −", "zoom in, out"],
  [",  .", "earlier, later"],
  ["0", "all of the history"],
  ["c", "compare with this moment"],
  ["w", "what if another rule had been in force"],
  ["t", "table instead of lanes"],
  ["u", "UTC, or the local time"],
  ["?", "these keys"],
  ["Esc", "close, or leave a field"],
];

function Status({ status, isConnected }) {
  const now = useNow();
  if (!isConnected) return html`<span class="status lost" role="status"><i class="dot"></i>connection lost, trying again</span>`;
  if (!status) return html`<span class="status" role="status"><i class="dot wait"></i>connecting</span>`;
  if (status.reading) return html`<span class="status" role="status"><i class="dot wait"></i>reading the log: ${status.reading}</span>`;
  if (!status.as_of_ms) return html`<span class="status" role="status"><i class="dot wait"></i>reading the log</span>`;
  const age = now - status.as_of_ms;
  const title = `${status.is_served ? "the server is running" : "no server runs on this directory"}; read up to ${moment(status.as_of_ms, true)} (${zone()})`;
  return html`<span class="status" role="status" title=${title}>
    <i class=${`dot ${status.is_served ? (age < 15_000 ? "live" : "wait") : "still"}`}></i>
    ${status.is_served ? "live" : "no server runs"}<span class="quiet"> · as of ${clock(status.as_of_ms)}${age > 5000 ? `, ${ago(status.as_of_ms, now)}` : ""}</span>
    ${status.unread ? html`<span class="quiet"> · ${status.unread.toLocaleString("en-US")} groups to read</span>` : ""}
  </span>`;
}

function Keys({ close }) {
  const dialog = useRef(null);
  useEffect(() => { dialog.current.showModal(); }, []);
  return html`<dialog ref=${dialog} class="keys" onClose=${close} onClick=${(event) => event.target === dialog.current && dialog.current.close()} aria-label="Keys">
    <h2>Keys</h2>
    <dl>${KEYS.map(([key, what]) => html`<div key=${key}><dt>${key.split("  ").map((each) => html`<kbd>${each}</kbd> `)}</dt><dd>${what}</dd></div>`)}</dl>
    <button onClick=${() => dialog.current.close()}>Close</button>
  </dialog>`;
}

function toggleTheme() {
  const root = document.documentElement;
  const isDark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = isDark ? "light" : "dark";
  try { localStorage.setItem("theme", root.dataset.theme); } catch { /* storage may be forbidden */ }
  dispatchEvent(new Event("themechange"));
}

function App() {
  const { path, query } = useAddress();
  const { status, isConnected } = useStatus();
  const viewer = useViewer();
  const [showsKeys, setShowsKeys] = useState(false);
  const [, redraw] = useState(0);
  const changeZone = () => { setUtc(!isUtc()); redraw((count) => count + 1); };
  useEffect(() => {
    const press = (event) => {
      if (event.metaKey || event.ctrlKey || event.altKey || event.target.closest("input:not([type=range]), dialog, select")) return;
      if (event.key === "?") setShowsKeys(true);
      else if (event.key === "g") go("/");
      else if (event.key === "u") changeZone();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
  const view = path === "/group" ? html`<${Group} key=${query.id} query=${query} status=${status} />`
    : path === "/what-if" ? html`<${WhatIf} key=${query.id} query=${query} status=${status} />`
    : path === "/clients" ? html`<${Clients} query=${query} status=${status} />`
    : path === "/topics" ? html`<${Topics} query=${query} status=${status} />`
    : path === "/transactions" ? html`<${Transactions} status=${status} />`
    : path === "/shares" ? html`<${Shares} status=${status} />`
    : path === "/log" ? html`<${Log} status=${status} />`
    : path === "/doctor" ? html`<${Doctor} />`
    : html`<${Groups} query=${query} status=${status} />`;
  const link = (to, text) => html`<a href=${to} onClick=${follow} aria-current=${path === to ? "page" : null}>${text}</a>`;
  return html`
    <a class="skip" href="#main" onClick=${(event) => { event.preventDefault(); document.getElementById("main").focus(); }}>Skip to the content</a>
    <header class="bar">
      <a class="brand" href="/" onClick=${follow} aria-label="coordinator-server, all groups"><img src="/static/icon.svg" alt="" width="22" height="22" /><span>coordinator-server</span></a>
      <nav aria-label="Views">${link("/", "Groups")}${link("/clients", "Clients")}${link("/topics", "Topics")}${link("/transactions", "Transactions")}${link("/shares", "Shares")}${viewer.has_cluster ? html`${link("/log", "Log")}${link("/doctor", "Doctor")}` : ""}</nav>
      <${Status} status=${status} isConnected=${isConnected} />
      <div class="tools">
        ${viewer.user === null ? "" : html`<span class="user"><bdi class="quiet">${plain(viewer.user)}</bdi><form method="post" action="/logout"><button class="flat">log out</button></form></span>`}
        <button class="flat" onClick=${changeZone} title=${`times are in ${zone()}; press u for the other`}>${isUtc() ? "UTC" : "local"}</button>
        <button class="flat" onClick=${toggleTheme} title="dark or light" aria-label="Dark or light">◐</button>
        <button class="flat" onClick=${() => setShowsKeys(true)} title="keys (?)" aria-label="Keys">?</button>
      </div>
    </header>
    ${status && status.problem ? html`<p class="banner" role="alert">Not up to date: ${status.problem}</p>` : ""}
    <main id="main" tabindex="-1">${view}</main>
    ${showsKeys ? html`<${Keys} close=${() => setShowsKeys(false)} />` : ""}`;
}

render(html`<${App} />`, document.getElementById("page"));
