// What the server says: answers to questions, and the status.

import { useEffect, useLayoutEffect, useRef, useState } from "./vendor/htm-preact-3.1.1.js";

export class Failed extends Error {
  constructor(message, status) { super(message); this.status = status; }
}

/** Go to the form of the login, and come back. */
function logIn() {
  location.assign(`/login?${new URLSearchParams({ to: location.pathname + location.search })}`);
}

/** The answer in what the server sends, and the version of all answers that it has at least. */
async function read(sent) {
  let found;
  try {
    found = await sent;
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Failed("the server of this page does not answer", 0);
  }
  const body = await found.json().catch(() => ({ error: `the answer is none of this page's (${found.status})` }));
  if (found.status === 401) logIn();
  if (!found.ok) throw new Failed(body.error, found.status);
  return { answer: body, version: Number(found.headers.get("page-version")) };
}

/** The address of a question. Parameters that are null are left out. */
function addressOf(name, parameters) {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(parameters)) if (value !== null && value !== undefined && value !== "") query.set(key, value);
  query.sort();
  return `/api/${name}?${query}`;
}

const OLD_MS = 5000;
const FIRST_MS = 150;

/** What early.js has asked: it is taken once, and while it is new. */
let early = window.early.question && { url: window.early.question.url, found: read(window.early.question.answer) };
early?.found.catch(() => {});

function ask(url, signal = undefined) {
  if (early?.url !== url || performance.now() > OLD_MS) return read(fetch(url, { signal }));
  const { found } = early;
  early = null;
  return found;
}

/** Wait a moment for what early.js has asked: a view that has it when it comes is drawn only once. */
export async function first() {
  const asked = early;
  const wait = new Promise((done) => setTimeout(done, FIRST_MS));
  const found = await Promise.race([asked?.found.catch(() => {}), wait]);
  if (!found) return;
  early = null;
  keep(asked.url, { ...found, error: null, key: asked.url });
}

/** The last answers: who comes back to a view sees it as it was, until there is a newer one. */
const kept = new Map();
const MOST_KEPT = 30;

function keep(url, state) {
  kept.delete(url);
  kept.set(url, state);
  if (kept.size > MOST_KEPT) kept.delete(kept.keys().next().value);
  return state;
}

const MORE_MS = 250;
const LATER_MS = 120;

/** How many columns to ask for in a picture. */
export const columnsToAsk = () => window.early.columns();

/** Ask again whenever the parameters or the version change, and while an answer says that it gets better. The last answer stays until
 * the next one is there. What is asked is asked to its end, unless the parameters change: then it is given up, or, if it is
 * `patient`, only the last of those that came meanwhile is asked after it. That is for what follows a pointer. What is asked `later`
 * waits until the parameters rest: it leaves server and browser to what the view is about. */
export function useAnswer(name, parameters, version, { patient = false, later = false } = {}) {
  const key = parameters === null ? null : addressOf(name, parameters);
  const [state, setState] = useState(() => kept.get(key) ?? { answer: null, error: null, key: null });
  const wanted = useRef(null);
  const running = useRef(null);
  wanted.current = { key, version };
  const begin = () => {
    const mine = { ...wanted.current, abort: new AbortController() };
    running.current = mine;
    const end = (change, answered) => {
      if (running.current !== mine) return;
      running.current = null;
      setState((before) => keep(mine.key, { ...before, error: null, ...change, key: mine.key, version: answered }));
      const now = wanted.current;
      if (now.key === null) return;
      if (now.key !== mine.key || (now.version !== mine.version && now.version !== answered)) begin();
    };
    ask(mine.key, mine.abort.signal).then(({ answer, version: answered }) => end({ answer }, answered), (error) => end({ error }, mine.version));
  };
  const again = () => {
    if (running.current?.key !== key) {
      if (running.current && patient) return;
      running.current?.abort.abort();
      begin();
    }
  };
  // Before what is drawn meanwhile.
  useLayoutEffect(() => {
    if (key === null || (state.key === key && (version === undefined || state.version === version))) return undefined;
    if (!later) { again(); return undefined; }
    const timer = setTimeout(again, LATER_MS);
    return () => clearTimeout(timer);
  }, [key, version, later]);
  useEffect(() => {
    if (state.answer?.is_exact !== false || key === null) return undefined;
    const timer = setTimeout(again, MORE_MS);
    return () => clearTimeout(timer);
  }, [state, key]);
  useEffect(() => () => { running.current?.abort.abort(); running.current = null; }, []);
  return { ...state, isCurrent: state.key === key };
}

/** The status: what is known, how old it is, and whether there is a connection. */
export function useStatus() {
  const [status, setStatus] = useState(null);
  const [isConnected, setConnected] = useState(true);
  useEffect(() => {
    let source = null;
    let again = null;
    const open = () => {
      source = new EventSource("/api/status");
      source.onmessage = (event) => { setStatus(JSON.parse(event.data)); setConnected(true); };
      source.onerror = () => {
        setConnected(false);
        // A browser gives up where the answer was an error.
        if (source.readyState === EventSource.CLOSED) again = setTimeout(open, 3000);
      };
    };
    open();
    return () => { source.close(); clearTimeout(again); };
  }, []);
  return { status, isConnected };
}

/** Who looks, if there is a login, and whether that user may see the cluster. */
export function useViewer() {
  const [viewer, setViewer] = useState({ user: null, has_cluster: true });
  useEffect(() => { ask("/api/viewer").then(({ answer }) => setViewer(answer), () => {}); }, []);
  return viewer;
}

/** The time, each second. */
export function useNow() {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  return now;
}
