// Colours of owners: those of Okabe and Ito, which colour-blind eyes tell apart. After the seventh they come again, with stripes.

export const COLOURS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442"];
const DARK_TEXT = new Set([1, 3, 4, 6]);

/** A colour by its number, which of the patterns it has, and the colour of a text on it. */
export function ownerStyle(number) {
  const at = number % COLOURS.length;
  return { fill: COLOURS[at], pattern: Math.floor(number / COLOURS.length) % 3, text: DARK_TEXT.has(at) ? "#10151c" : "#ffffff" };
}

/** A colour of the style sheet. */
export function themed(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

const kept = new Map();

/** What a canvas fills with a colour. */
export function ownerFill(context, number) {
  const { fill, pattern } = ownerStyle(number);
  if (!pattern) return fill;
  const key = `${fill} ${pattern}`;
  if (!kept.has(key)) {
    const tile = new OffscreenCanvas(8, 8);
    const pen = tile.getContext("2d");
    pen.fillStyle = fill;
    pen.fillRect(0, 0, 8, 8);
    pen.strokeStyle = "rgb(255 255 255 / 45%)";
    pen.lineWidth = 2;
    pen.beginPath();
    for (const shift of [-8, 0, 8]) {
      if (pattern === 1) { pen.moveTo(shift, 8); pen.lineTo(shift + 8, 0); } else { pen.moveTo(shift, 0); pen.lineTo(shift + 8, 8); }
    }
    pen.stroke();
    kept.set(key, context.createPattern(tile, "repeat"));
  }
  return kept.get(key);
}
