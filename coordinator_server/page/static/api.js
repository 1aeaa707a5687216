// What the server says: answers to questions, and the status.

import { useEffect, useRef, useState } from "./vendor/htm-preact-3.1.1.js";

export class Failed extends Error {
  constructor(message, status) { super(message); this.status = status; }
}

/** Go to the form of the login, and come back. */
function logIn() {
  location.assign(`/login?${new URLSearchParams({ to: location.pathname + location.search })}`);
}

/** Ask for an answer. Parameters that are null are left out. */
export async function ask(name, parameters = {}, signal = undefined) {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(parameters)) if (value !== null && value !== undefined && value !== "") query.set(key, value);
  let answer;
  try {
    answer = await fetch(`/api/${name}?${query}`, { signal });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Failed("the server of this page does not answer", 0);
  }
  const body = await answer.json().catch(() => ({ error: `the answer is none of this page's (${answer.status})` }));
  if (answer.status === 401) logIn();
  if (!answer.ok) throw new Failed(body.error, answer.status);
  return body;
}

const MORE_MS = 500;

/** Ask again whenever the parameters or the version change, and while an answer says that it gets better. The last answer stays until the next one is there. */
export function useAnswer(name, parameters, version) {
  const key = parameters === null ? null : JSON.stringify(parameters);
  const [state, setState] = useState({ answer: null, error: null, key: null });
  const [more, setMore] = useState(0);
  const latest = useRef(0);
  useEffect(() => {
    if (state.answer?.is_exact !== false) return undefined;
    const timer = setTimeout(() => setMore((count) => count + 1), MORE_MS);
    return () => clearTimeout(timer);
  }, [state]);
  useEffect(() => {
    if (key === null) return undefined;
    const number = ++latest.current;
    const abort = new AbortController();
    ask(name, parameters, abort.signal).then(
      (answer) => { if (latest.current === number) setState({ answer, error: null, key }); },
      (error) => { if (latest.current === number && error.name !== "AbortError") setState((before) => ({ ...before, error, key })); },
    );
    return () => abort.abort();
  }, [name, key, version, more]);
  return { ...state, isCurrent: state.key === key };
}

/** One question at a time: of those that come meanwhile only the last is asked. For what follows a pointer. */
export function useLatest(name, parameters, version) {
  const key = parameters === null ? null : JSON.stringify(parameters);
  const [state, setState] = useState({ answer: null, error: null, key: null });
  const running = useRef(false);
  const wanted = useRef(null);
  const gone = useRef(false);
  useEffect(() => () => { gone.current = true; }, []);
  useEffect(() => {
    if (key === null) return;
    wanted.current = { key, parameters };
    if (running.current) return;
    const next = () => {
      const now = wanted.current;
      wanted.current = null;
      running.current = true;
      ask(name, now.parameters).then(
        (answer) => { if (!gone.current) setState({ answer, error: null, key: now.key }); },
        (error) => { if (!gone.current) setState({ answer: null, error, key: now.key }); },
      ).finally(() => {
        running.current = false;
        if (wanted.current && !gone.current) next();
      });
    };
    next();
  }, [name, key, version]);
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
  useEffect(() => { ask("viewer").then(setViewer, () => {}); }, []);
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
