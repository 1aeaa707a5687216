// A field that finds rows as one types; what is typed is in the address.

import { html, useEffect, useRef, useState } from "./vendor/htm-preact-3.1.1.js";
import { address, change, follow } from "./address.js";
import { plain } from "./format.js";
import { useKeys } from "./keys.js";

/** `opens` are keys that lead to the first row. Children may be a function of what is typed and of what sets it. */
export function Search({ typed, label, name = label, opens = ["ArrowDown"], children }) {
  const field = useRef(null);
  const [text, setText] = useState(typed);
  useEffect(() => { if (document.activeElement !== field.current) setText(typed); }, [typed]);
  useKeys({ "/": () => { field.current.focus(); field.current.select(); } });
  const set = (value) => { setText(value); change({ q: value, first: null }); };
  return html`<div class="filter"><div class="search">
      <svg viewBox="0 0 16 16" aria-hidden="true"><circle cx="7" cy="7" r="4.5" /><path d="m10.5 10.5 4 4" /></svg>
      <input ref=${field} type="search" value=${text} placeholder=${label} aria-label=${name} spellcheck="false" autocomplete="off" onInput=${(event) => set(event.target.value)}
        onKeyDown=${(event) => { if (event.key === "Escape") { if (text) set(""); event.target.blur(); } if (opens.includes(event.key)) { event.preventDefault(); document.querySelector("tbody a")?.focus(); } }} />
      <kbd aria-hidden="true">/</kbd></div>${typeof children === "function" ? children(text, set) : children}</div>`;
}

/** A link to a group. */
export function GroupLink({ id }) {
  return html`<a href=${address("/group", { id })} onClick=${follow}><bdi>${plain(id)}</bdi></a>`;
}

/** Links to some groups of a number of them. */
export function GroupLinks({ ids, count = ids.length }) {
  const few = ids.slice(0, 6);
  return html`<span class="links">${few.map((each) => html`<${GroupLink} key=${each} id=${each} />`)}${count > few.length ? html`<span class="quiet">and ${count - few.length} more</span>` : ""}</span>`;
}
