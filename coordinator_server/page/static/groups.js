// All groups: filtered as one types, sorted, a hundred rows at a time.

import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from "./vendor/htm-preact-3.1.1.js";
import { address, change, comesBack, follow } from "./address.js";
import { useAnswer, useNow } from "./api.js";
import { Health, Lag, State } from "./facts.js";
import { ago, counted, duration, isUtc, moment, number, plain, rate } from "./format.js";
import { useKeys } from "./keys.js";
import { Search } from "./search.js";

const ROWS = 100;
const ROW_PX = 38;
/** So many rows fill the screen: they are drawn first, and the others right after them. */
const screenful = () => Math.ceil(innerHeight / ROW_PX);
const FIRST = "group";
const NONE = [];
const COLUMNS = [
  ["group", "Group", ""],
  ["state", "State", ""],
  ["type", "Type", "wide"],
  ["members", "Members", "number"],
  ["partitions", "Partitions", "number wide"],
  ["lag", "Unread", "number"],
  [null, "Health", "wide"],
  ["rate", "Rate", "number wide"],
  ["rebalanced_ms", "Last rebalance", ""],
  ["committed_ms", "Last commit", ""],
  [null, "Topics", "wide"],
];
const DESCENDING_FIRST = new Set(["members", "partitions", "lag", "rate", "rebalanced_ms", "committed_ms"]);
const STATES = ["stable", "rebalancing", "reconciling", "assigning", "empty", "deleted", "unreadable"];

function States({ text, set, states }) {
  const chosen = /(?:^|\s)state:(\S+)/.exec(text)?.[1];
  const choose = (state) => set(`${text.replace(/(?:^|\s)state:\S*/, "").trim()}${state && state !== chosen ? ` state:${state}` : ""}`.trim());
  return html`<div class="chips" role="group" aria-label="States">
      ${STATES.filter((each) => states[each] || each === chosen || each === "deleted").map((each) => html`
        <button key=${each} class="chip" aria-pressed=${each === chosen} onClick=${() => choose(each)}><${State} state=${each} />
          ${states[each] !== undefined ? html`<b>${number(states[each])}</b>` : ""}</button>`)}
    </div>`;
}

/** It is made again if it says something else: not with each second. */
function Row({ row, rebalanced, committed }) {
  return useMemo(() => cells(row, rebalanced, committed), [row, rebalanced, committed, isUtc()]);
}

function cells(row, rebalanced, committed) {
  const took = row.took_ms === null || row.took_ms === undefined ? "" : ` · took ${duration(row.took_ms)}`;
  return html`<tr>
    <th scope="row"><a href=${address("/group", { id: row.group })} onClick=${follow} title=${row.group.length > 60 ? plain(row.group) : null}><bdi>${plain(row.group)}</bdi></a></th>
    <td>${State(row)}</td>
    <td class="wide quiet">${row.type}</td>
    <td class="number">${number(row.members)}</td>
    <td class="number wide">${number(row.partitions)}</td>
    <td class="number">${Lag(row)}</td>
    <td class="wide">${Health({ verdict: row.verdict, title: row.worst })}</td>
    <td class="number wide">${rate(row.rate)}</td>
    <td class="cause" title=${row.rebalanced_ms ? `${moment(row.rebalanced_ms, true)}${took}\n${plain(row.cause)}` : "the index has no rebalance of it"}>
      ${row.waits_for ? html`<span class="when warn">now</span> <bdi class="quiet">${plain(row.waits_for)}</bdi>` : html`<span class="when">${rebalanced}</span> <bdi class="quiet">${plain(row.cause)}</bdi>`}</td>
    <td class="when" title=${row.committed_ms ? moment(row.committed_ms, true) : "it has no committed offsets"}>${committed}</td>
    <td class="wide topics">${row.topics.slice(0, 2).map((each) => html`<bdi class="tag" key=${each}>${plain(each)}</bdi>`)}${row.topics.length > 2 ? html`<span class="quiet">+${row.topics.length - 2}</span>` : ""}</td>
  </tr>`;
}

/** Some of the rows. The same ones are not made again with each key. */
function Body({ rows, from, to, now }) {
  const shown = useMemo(() => rows.slice(from, to), [rows, from, to]);
  return useMemo(() => html`<tbody>${shown.map((row) => html`<${Row} key=${row.group} row=${row} rebalanced=${ago(row.rebalanced_ms, now)} committed=${ago(row.committed_ms, now)} />`)}</tbody>`, [shown, now, isUtc()]);
}

function Nothing({ answer, typed, status }) {
  if (typed && answer.groups) {
    return html`<div class="nothing"><h2>No group matches</h2><p>${counted(answer.groups, "group")} exist. Words are looked for in ids, topics and clients; all of them have to match.</p>
      <button onClick=${() => { change({ q: null, first: null }); document.querySelector("input[type=search]").focus(); }}>Clear the filter</button></div>`;
  }
  return html`<div class="nothing"><h2>No groups yet</h2>
    <p>${status?.is_served ? "The server is running. As soon as a client joins a group or commits an offset, it is here." : "The log of this directory has no groups."}</p>
    <pre>consumer = KafkaConsumer("orders", bootstrap_servers="127.0.0.1:9092", group_id="readers")</pre></div>`;
}

export function Groups({ query, status }) {
  const now = useNow();
  const sorted = query.sort ?? FIRST;
  const isDescending = query.desc === "1";
  const first = Number(query.first ?? 0);
  const { answer, error, isCurrent } = useAnswer("groups", { q: query.q, sort: query.sort, desc: isDescending ? 1 : null, first: first || null }, status?.version);
  useEffect(() => { document.title = `${query.q ? `${query.q} · ` : ""}Groups · coordinator-server`; }, [query.q]);
  // The row that gets the focus when other rows are there: the first or the last one.
  const turned = useRef(null);
  // A button that is pressed by a key stays in sight; it keeps the focus at both ends of the list, since it is not disabled there.
  const turn = (to, isByKey = false) => {
    if (to >= answer.matching) return;
    change({ first: Math.max(0, to) || null }, false);
    if (!isByKey) scrollTo(0, 0);
  };
  const step = (by) => {
    const links = [...document.querySelectorAll("tbody th a")];
    const next = links.indexOf(document.activeElement) + by;
    if (links[next]) links[next].focus();
    else if (next === links.length && last < answer.matching) { turned.current = 0; turn(first + ROWS); }
    else if (next === -1 && first) { turned.current = -1; turn(first - ROWS); }
  };
  useKeys({ j: () => step(1), k: () => step(-1) });
  const rows = answer?.rows ?? NONE;
  const count = screenful();
  // Who comes back may have been further down.
  const [others, setOthers] = useState(comesBack() ? rows : NONE);
  useEffect(() => setOthers(rows), [rows]);
  useLayoutEffect(() => {
    if (turned.current === null || !isCurrent || others !== rows) return;
    [...document.querySelectorAll("tbody th a")].at(turned.current)?.focus();
    turned.current = null;
  }, [rows, others]);
  const sort = (column) => change({ sort: column === FIRST ? null : column, desc: (column === sorted ? !isDescending : DESCENDING_FIRST.has(column)) ? 1 : null, first: null });
  const heading = ([column, text, kind]) => html`<th key=${text} scope="col" class=${kind} aria-sort=${column === sorted ? (isDescending ? "descending" : "ascending") : null}>
    ${column ? html`<button class="sort" onClick=${() => sort(column)}>${text}<span aria-hidden="true">${column === sorted ? (isDescending ? "↓" : "↑") : ""}</span></button>` : text}</th>`;
  const last = answer ? Math.min(first + ROWS, answer.matching) : 0;
  return html`<section class="groups" aria-busy=${isCurrent ? null : "true"}>
    <div class="title"><h1>Groups</h1>${answer ? html`<p class="quiet" aria-live="polite">${answer.matching === answer.groups ? number(answer.groups) : `${number(answer.matching)} of ${number(answer.groups)}`}</p>` : ""}</div>
    <${Search} typed=${query.q ?? ""} label="Filter: words of ids, topics and clients, or state:empty  health:err  type:consumer  topic:orders  -word"
      name="Filter groups" opens=${["Enter", "ArrowDown"]}>${(text, set) => html`<${States} text=${text} set=${set} states=${answer?.states ?? {}} />`}</${Search}>
    ${error ? html`<p class="banner" role="alert">${error.message}</p>` : ""}
    ${!answer ? (error ? "" : html`<div class="loading" aria-busy="true">${[...Array(8)].map((_, at) => html`<i key=${at}></i>`)}</div>`)
      : !answer.rows.length ? html`<${Nothing} answer=${answer} typed=${query.q} status=${status} />`
      : html`<table class="list lines"><thead><tr>${COLUMNS.map(heading)}</tr></thead><${Body} rows=${rows} from=${0} to=${count} now=${now} />${others.length > count ? html`<${Body} rows=${others} from=${count} to=${ROWS} now=${now} />` : ""}</table>`}
    ${answer && answer.matching > ROWS ? html`<nav class="pager" aria-label="Rows">
      <button aria-disabled=${!first} onClick=${({ detail }) => turn(first - ROWS, !detail)}>← Previous</button>
      <span>${number(first + 1)}–${number(last)} of ${number(answer.matching)}</span>
      <button aria-disabled=${last >= answer.matching} onClick=${({ detail }) => turn(first + ROWS, !detail)}>Next →</button></nav>` : ""}
  </section>`;
}
