// How much happened when: a plot of events over the time of the picture.

import { html, useEffect, useLayoutEffect, useRef } from "./vendor/htm-preact-3.1.1.js";
import { number } from "./format.js";
import { themed } from "./palette.js";
import { gutter, RIGHT } from "./timeline.js";

const HEIGHT = 84;
const BAR = 4;

/** Sums of neighbouring columns, so that bars can be seen. */
function bars(picture, width) {
  const each = Math.max(1, Math.round((picture.density.length * BAR) / Math.max(1, width)));
  const step = ((picture.until_ms - picture.since_ms) / picture.density.length) * each;
  const xs = [];
  const ys = [];
  for (let at = 0; at < picture.density.length; at += each) {
    let sum = 0;
    for (let index = at; index < Math.min(at + each, picture.density.length); index += 1) sum += picture.density[index];
    xs.push((picture.since_ms + step * (at / each + 0.5)) / 1000);
    ys.push((sum / step) * 60_000);
  }
  return [xs, ys];
}

export function Activity({ picture, from, to, width, onZoom }) {
  const place = useRef(null);
  const plot = useRef(null);
  const zoom = useRef(onZoom);
  zoom.current = onZoom;
  useEffect(() => {
    const make = () => {
      plot.current?.destroy();
      plot.current = new uPlot({
        width, height: HEIGHT, padding: [8, RIGHT, 2, 0], legend: { show: false },
        cursor: { y: false, points: { show: false }, drag: { x: true, y: false, setScale: false } },
        scales: { x: { time: false }, y: { range: (_, __, most) => [0, Math.max(most * 1.1, 1)] } },
        axes: [
          { show: false },
          { size: gutter(width), side: 3, stroke: themed("--quiet"), font: "11px system-ui, sans-serif", gap: 8, splits: (_, __, low, high) => [low, high / 2, high / 1.1], values: (_, values) => values.map((value, at) => (at ? number(Math.round(value * 10) / 10) : "0")), grid: { stroke: themed("--grid"), width: 1 }, ticks: { show: false } },
        ],
        series: [{}, { stroke: themed("--accent"), fill: themed("--activity"), width: 1, points: { show: false }, paths: uPlot.paths.bars({ size: [0.9, 40], align: 0 }) }],
        hooks: { setSelect: [(self) => {
          if (self.select.width < 4) return;
          const ms = (x) => Math.round(self.posToVal(x, "x") * 1000);
          zoom.current(null, null, ms(self.select.left), ms(self.select.left + self.select.width));
          self.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        }] },
      }, bars(picture, width), place.current);
      plot.current.setScale("x", { min: from / 1000, max: to / 1000 });
    };
    make();
    addEventListener("themechange", make);
    return () => { removeEventListener("themechange", make); plot.current.destroy(); plot.current = null; };
  }, [width]);
  useLayoutEffect(() => {
    if (!plot.current) return;
    plot.current.setData(bars(picture, width), false);
    plot.current.setScale("x", { min: from / 1000, max: to / 1000 });
  }, [picture, from, to, width]);
  return html`<div class="activity"><span class="side">events a minute${picture.is_exact ? "" : html`<span class="quiet" title="Of some stretches only the number of events is known, and not yet when each was; it becomes exact when you look again, or zoom in."> ≈</span>`}</span><div ref=${place}></div></div>`;
}
