// The frame of all views: navigation, the status, and the keys that work everywhere.

import { html, render, useEffect, useRef, useState } from "./vendor/htm-preact-3.1.1.js";
import { focused, follow, go, useAddress } from "./address.js";
import { first, useStatus, useNow, useViewer } from "./api.js";
import { Clients } from "./clients.js";
import { Doctor } from "./doctor.js";
import { ago, choose, clock, isUtc, moment, number, plain, setUtc } from "./format.js";
import { Group } from "./group.js";
import { Groups } from "./groups.js";
import { useKeys } from "./keys.js";
import { Log } from "./log.js";
import { Shares } from "./shares.js";
import { Topics } from "./topics.js";
import { Transactions } from "./transactions.js";
import { WhatIf } from "./what_if.js";

const VIEWS = {
  "/": Groups,
  "/group": Group,
  "/what-if": WhatIf,
  "/clients": Clients,
  "/topics": Topics,
  "/transactions": Transactions,
  "/shares": Shares,
  "/log": Log,
  "/doctor": Doctor,
};

/** That of icon.png, of any size. */
const BARS = [["M7 10h8M23 22h2", "#56b4e9"], ["M20 10h5M7 16h4", "#e69f00"], ["M16 16h9", "#cc79a7"], ["M7 22h11", "#f0e442"]];
const ICON = html`<svg viewBox="0 0 32 32" width="22" height="22" stroke-width="4" stroke-linecap="round" aria-hidden="true"><rect width="32" height="32" rx="7" fill="#14532d" />${BARS.map(([path, colour]) => html`<path d=${path} stroke=${colour} />`)}</svg>`;

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
  const title = `${status.is_served ? "the server is running" : "no server runs on this directory"}; read up to ${moment(status.as_of_ms, true)} (${isUtc() ? "UTC" : "local time"})`;
  return html`<span class="status" role="status" title=${title}>
    <i class=${`dot ${status.is_served ? (age < 15_000 ? "live" : "wait") : "still"}`}></i>
    ${status.is_served ? "live" : "no server runs"}<span class="quiet"> · as of ${clock(status.as_of_ms)}${age > 5000 ? `, ${ago(status.as_of_ms, now)}` : ""}</span>
    ${status.unread ? html`<span class="quiet"> · ${number(status.unread)} groups to read</span>` : ""}
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

/** Tell what is drawn on a canvas that colours have changed. */
function redraw() { dispatchEvent(new Event("themechange")); }

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);

function toggleTheme() {
  const root = document.documentElement;
  const isDark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  choose("theme", isDark ? "light" : "dark");
  redraw();
}

function App() {
  const { path, query } = useAddress();
  const { status, isConnected } = useStatus();
  const viewer = useViewer();
  const [showsKeys, setShowsKeys] = useState(false);
  const [, again] = useState(0);
  const changeZone = () => { setUtc(!isUtc()); again((count) => count + 1); };
  const View = VIEWS[path];
  useKeys({ "?": () => setShowsKeys(true), g: () => go("/"), u: changeZone });
  const isFirst = useRef(true);
  useEffect(() => {
    // A view that comes has the focus, or what had it when the viewer left that view.
    const link = focused();
    if (link) link.focus();
    else if (!isFirst.current) document.getElementById("main").focus({ preventScroll: true });
    isFirst.current = false;
  }, [path, query.id]);
  const link = (to, text) => html`<a href=${to} onClick=${follow} aria-current=${path === to ? "page" : null}>${text}</a>`;
  return html`
    <a class="skip" href="#main" onClick=${(event) => { event.preventDefault(); document.getElementById("main").focus(); }}>Skip to the content</a>
    <header class="bar">
      <a class="brand" href="/" onClick=${follow} aria-label="coordinator-server, all groups">${ICON}<span>coordinator-server</span></a>
      <nav aria-label="Views">${link("/", "Groups")}${link("/clients", "Clients")}${link("/topics", "Topics")}${link("/transactions", "Transactions")}${link("/shares", "Shares")}${viewer.has_cluster ? html`${link("/log", "Log")}${link("/doctor", "Doctor")}` : ""}</nav>
      <${Status} status=${status} isConnected=${isConnected} />
      <div class="tools">
        ${viewer.user === null ? "" : html`<span class="user"><bdi class="quiet">${plain(viewer.user)}</bdi><form method="post" action="/logout"><button class="flat">log out</button></form></span>`}
        <button class="flat" onClick=${changeZone} title=${`times are ${isUtc() ? "in UTC" : "local"}; press u for the other`}>${isUtc() ? "UTC" : "local"}</button>
        <button class="flat" onClick=${toggleTheme} title="dark or light" aria-label="Dark or light">◐</button>
        <button class="flat" onClick=${() => setShowsKeys(true)} title="keys (?)" aria-label="Keys">?</button>
      </div>
    </header>
    ${status && status.problem ? html`<p class="banner" role="alert">Not up to date: ${status.problem}</p>` : ""}
    <main id="main" tabindex="-1"><${View} key=${`${path} ${query.id ?? ""}`} query=${query} status=${status} /></main>
    ${showsKeys ? html`<${Keys} close=${() => setShowsKeys(false)} />` : ""}`;
}

first().then(() => render(html`<${App} />`, document.getElementById("page")));
