// One plot over the time of a group's picture, with the same place for each moment as the lanes below it.

import { html, useEffect, useLayoutEffect, useRef } from "./vendor/htm-preact-3.1.1.js";
import { number } from "./format.js";
import { themed } from "./palette.js";
import { gutter, RIGHT } from "./timeline.js";

/** The address of the script that has this module: other files are beside it. */
const SCRIPT = document.currentScript.src;

/** The library, which is no module: it comes after the first picture, of which it is no part. */
let library = null;

function load(name, attributes) {
  return new Promise((done, failed) => {
    const element = Object.assign(document.createElement(name), attributes);
    element.onload = done;
    element.onerror = () => failed(new Error("plots cannot be drawn: their library was not loaded"));
    document.head.append(element);
  });
}

function libraryLoaded() {
  const address = (suffix) => new URL(`./vendor/uplot-1.6.32.${suffix}`, SCRIPT).href;
  library ??= Promise.all([load("script", { src: address("js") }), load("link", { rel: "stylesheet", href: address("css") })]);
  return library;
}

function options({ width, height, series, format }, zoom) {
  return {
    width, height, padding: [8, RIGHT, 7, 0], legend: { show: false },
    cursor: { y: false, points: { show: false }, drag: { x: true, y: false, setScale: false } },
    scales: { x: { time: false }, y: { range: (_, __, most) => [0, Math.max(most * 1.1, 1e-3)] } },
    axes: [
      { show: false },
      { size: gutter(width), side: 3, stroke: themed("--quiet"), font: "11px system-ui, sans-serif", gap: 8, splits: (_, __, low, high) => (height < 60 ? [low, high / 1.1] : [low, high / 2.2, high / 1.1]),
        values: (_, values) => values.map((value, at) => (at ? format(value) : "0")), grid: { stroke: themed("--grid"), width: 1 }, ticks: { show: false } },
    ],
    series: [{}, series()],
    hooks: { setSelect: [(self) => {
      if (self.select.width < 4) return;
      const ms = (x) => Math.round(self.posToVal(x, "x") * 1000);
      zoom.current(null, null, ms(self.select.left), ms(self.select.left + self.select.width));
      self.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    }] },
  };
}

/** How bars and lines are drawn. */
export const bars = () => ({ stroke: themed("--accent"), fill: themed("--activity"), width: 1, points: { show: false }, paths: uPlot.paths.bars({ size: [0.9, 40], align: 0 }) });
export const line = (colour) => () => ({ stroke: themed(colour), fill: `color-mix(in srgb, ${themed(colour)} 14%, transparent)`, width: 1.5, spanGaps: true, points: { show: false } });

export function Plot({ label, hint, data, from, to, width, height, series, format = (value) => number(Math.round(value * 10) / 10), onZoom }) {
  const place = useRef(null);
  const plot = useRef(null);
  const zoom = useRef(onZoom);
  zoom.current = onZoom;
  const fill = useRef(null);
  fill.current = () => {
    plot.current?.setData(data, false);
    plot.current?.setScale("x", { min: from / 1000, max: to / 1000 });
  };
  useEffect(() => {
    let isShown = true;
    const make = () => {
      plot.current?.destroy();
      plot.current = new uPlot(options({ width, height, series, format }, zoom), null, place.current);
      fill.current();
    };
    const remake = () => { if (plot.current) make(); };
    libraryLoaded().then(() => { if (isShown) make(); });
    addEventListener("themechange", remake);
    return () => { isShown = false; removeEventListener("themechange", remake); plot.current?.destroy(); plot.current = null; };
  }, [width]);
  useLayoutEffect(() => fill.current(), [data, from, to, width]);
  return html`<div class="plot"><span class="side">${label}${hint ? html`<span class="quiet" title=${hint}> ≈</span>` : ""}</span><div ref=${place}></div></div>`;
}
