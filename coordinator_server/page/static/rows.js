// The body of a table that may be long.

import { html, useState } from "./vendor/htm-preact-3.1.1.js";
import { number } from "./format.js";

const FEW = 12;

/** The first rows of a table, and a button for the others. */
export function Rows({ rows, count, row }) {
  const [all, setAll] = useState(false);
  const shown = all ? rows : rows.slice(0, FEW);
  return html`<tbody>${shown.map(row)}
    ${rows.length > shown.length ? html`<tr><td colspan="9"><button class="flat" onClick=${() => setAll(true)}>Show ${number(rows.length)}${count > rows.length ? ` of ${number(count)}` : ""}</button></td></tr>` : ""}
    ${all && count > rows.length ? html`<tr><td colspan="9" class="quiet">The first ${number(rows.length)} of ${number(count)}.</td></tr>` : ""}</tbody>`;
}
