// The time axis: which moment is where, and which ticks it has.

const STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000,
  900_000, 1_800_000, 3_600_000, 7_200_000, 10_800_000, 21_600_000, 43_200_000, 86_400_000, 172_800_000, 604_800_000, 2_592_000_000, 7_776_000_000, 31_536_000_000];

/** Maps moments of a window to pixels between `left` and `right`. */
export function scale(from, to, left, right) {
  const width = Math.max(1, right - left);
  return {
    from, to, left, right,
    x: (ms) => left + ((ms - from) / (to - from)) * width,
    ms: (x) => Math.round(from + ((x - left) / width) * (to - from)),
  };
}

/** Moments for the ticks of a scale, in the viewer's zone, and how far apart they are. */
export function ticks(of, inUtc) {
  const most = Math.max(2, Math.floor((of.right - of.left) / 90));
  const step = STEPS.find((each) => (of.to - of.from) / each <= most) ?? STEPS[STEPS.length - 1];
  // Hours and days begin with the zone's.
  const shift = inUtc ? 0 : new Date(of.from).getTimezoneOffset() * 60_000;
  const found = [];
  for (let ms = Math.ceil((of.from - shift) / step) * step + shift; ms <= of.to; ms += step) found.push(ms);
  return { step, found };
}
