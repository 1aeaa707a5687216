// The address of a view says all that it shows, so that it can be sent to somebody. What is changed again and again, as one types or
// drags, is shown at once, and the browser gets the address when it rests: for each one it would write its history, and draw its icon.

import { useEffect, useState } from "./vendor/htm-preact-3.1.1.js";

const REST_MS = 200;
const followers = new Set();
const ofBrowser = () => location.pathname + location.search;
let shown = ofBrowser();
let timer = null;

function read() {
  const { pathname: path, searchParams } = new URL(shown, location.origin);
  return { path, query: Object.fromEntries(searchParams) };
}

function write() {
  clearTimeout(timer);
  if (shown !== ofBrowser()) history.replaceState(null, "", shown);
}

function tell() { for (const each of followers) each(); }

addEventListener("pagehide", write);
addEventListener("popstate", () => { clearTimeout(timer); shown = ofBrowser(); tell(); });

/** The address of a view. */
export function address(path, query) {
  const text = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== null && value !== undefined && value !== ""));
  return text.size ? `${path}?${text}` : path;
}

/** Go to a view; with `replace` it is the same step of the history. What had the focus gets it again when the viewer comes back. */
export function go(to, replace = false) {
  if (to === shown) return;
  clearTimeout(timer);
  if (replace) timer = setTimeout(write, REST_MS);
  else {
    history.replaceState({ focus: document.activeElement?.getAttribute("href") }, "", shown);
    history.pushState(null, "", to);
  }
  shown = to;
  tell();
}

/** Whether this view was left before, and is come back to. */
export function comesBack() { return Boolean(history.state?.focus); }

/** The link that had the focus when the viewer left this view, if there is one. */
export function focused() {
  const href = history.state?.focus;
  return href ? document.querySelector(`main a[href="${CSS.escape(href)}"]`) : null;
}

/** Change some of the query of the present view. */
export function change(query, replace = true) {
  const now = read();
  go(address(now.path, { ...now.query, ...query }), replace);
}

export function useAddress() {
  const [now, setNow] = useState(read);
  useEffect(() => {
    const follow = () => setNow(read());
    followers.add(follow);
    return () => followers.delete(follow);
  }, []);
  return now;
}

/** What a link does when it is clicked without a key that opens it elsewhere. */
export function follow(event) {
  if (event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  go(event.currentTarget.getAttribute("href"));
  scrollTo(0, 0);
}
