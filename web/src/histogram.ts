// How the values of a column are spread over the classes at a node: one stack of class colours for each bin.

import type { Column, Shape } from "./data.ts";
import { clip, colour, h, many, name, s, sum } from "./dom.ts";
import { number } from "./words.ts";

const WIDTH = 420;
const HEIGHT = 150;
const BOTTOM = 34;

export function histogram(column: Column, shape: Shape, counts: number[], classes: string[]): HTMLElement {
  const c = classes.length;
  const bins = Array.from({ length: shape.bins + 1 }, (_, k) => counts.slice(k * c, (k + 1) * c));
  const gone = sum(bins[shape.bins]!);
  const shown = gone > 0 ? bins : bins.slice(0, -1);
  const words = shown.map((_, k) => binWords(column, shape, k));
  const most = Math.max(1, ...shown.map(sum));
  const step = WIDTH / Math.max(1, shown.length);
  const picture = s("svg", {
    class: "chart spread",
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    role: "img",
    "aria-label": `The values of ${column.name} by class; the table has the numbers`,
  });
  shown.forEach((bin, k) => {
    let y = HEIGHT - BOTTOM;
    const x = k * step + step * 0.08;
    bin.forEach((n, label) => {
      const tall = ((HEIGHT - BOTTOM - 8) * n) / most;
      if (n === 0) return;
      y -= tall;
      const piece = s(
        "rect",
        { class: "bar", x, y, width: step * 0.84, height: tall },
        s("title", {}, `${words[k]}: ${classes[label]} ${n}`),
      );
      colour(piece, label);
      picture.append(piece);
    });
  });
  if (shape.edges !== undefined) {
    // Numbers stand under the borders of the bins, as many as there is room for.
    const every = Math.ceil((shape.edges.length * 52) / WIDTH);
    shape.edges.forEach((edge, k) => {
      if (k % every > 0) return;
      const x = (k + 1) * step;
      picture.append(
        s("path", { class: "axis", d: `M${x} ${HEIGHT - BOTTOM}v4` }),
        s("text", { class: "tick", x, y: HEIGHT - BOTTOM + 18 }, number(Number(edge.toPrecision(3)))),
      );
    });
    if (gone > 0) picture.append(s("text", { class: "tick end", x: WIDTH, y: HEIGHT - 2 }, "missing"));
  } else {
    const every = Math.ceil((shown.length * 46) / WIDTH);
    const letters = Math.max(4, Math.floor((step * every) / 7));
    words.forEach((word, k) => {
      if (k % every > 0) return;
      picture.append(s("text", { class: "tick", x: k * step + step / 2, y: HEIGHT - BOTTOM + 16 }, clip(word, letters)));
    });
  }
  picture.append(s("path", { class: "axis", d: `M0 ${HEIGHT - BOTTOM}H${WIDTH}` }));
  const head = [h("th", { scope: "col" }, name(column.name)), ...classes.map((label) => h("th", { scope: "col", class: "number" }, name(label)))];
  const rows = shown.map((bin, k) =>
    h("tr", {}, h("th", { scope: "row" }, name(words[k]!)), ...bin.map((n) => h("td", { class: "number" }, String(n)))),
  );
  return h(
    "div",
    { class: "spread-box" },
    picture,
    h(
      "details",
      {},
      h("summary", {}, `The numbers (${many(sum(counts), "row")})`),
      h(
        "div",
        { class: "scroll", tabindex: 0, role: "region", "aria-label": `Values of ${column.name}` },
        h("table", { class: "plain" }, h("thead", {}, h("tr", {}, ...head)), h("tbody", {}, ...rows)),
      ),
    ),
  );
}

function binWords(column: Column, shape: Shape, k: number): string {
  if (k === shape.bins) return "missing";
  if (shape.at !== undefined) {
    const value = shape.at[k];
    if (value === undefined) return "others";
    return column.values === undefined ? number(value) : (column.values?.[value] ?? "another value");
  }
  const edges = shape.edges!;
  if (k === 0) return `≤ ${number(edges[0]!)}`;
  if (k === edges.length) return `> ${number(edges[k - 1]!)}`;
  return `${number(edges[k - 1]!)} – ${number(edges[k]!)}`;
}
