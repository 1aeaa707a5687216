// What keys do in a view.

import { useEffect, useRef } from "./vendor/htm-preact-3.1.1.js";

/** Do what `actions` have for a key, unless somebody types; null does nothing. */
export function useKeys(actions) {
  const latest = useRef(null);
  latest.current = (event) => {
    if (event.metaKey || event.ctrlKey || event.altKey || event.target.closest("input:not([type=range]), dialog, select") || !actions) return;
    if (actions[event.key]) { event.preventDefault(); actions[event.key](event); }
  };
  useEffect(() => {
    const press = (event) => latest.current(event);
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
}
