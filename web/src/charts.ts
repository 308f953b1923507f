// Small pictures: the size–error front, bars of probabilities, the reliability diagram. Each has its numbers as text too.

import type { Point, Reliability } from "./data.ts";
import { chance, h, many, name, percent, s } from "./dom.ts";

// The least error for every size, the chosen size marked.
export function frontChart(points: Point[], chosen: number, cost: string): SVGElement {
  const [width, height, left, bottom] = [560, 170, 46, 30];
  const last = points[points.length - 1]!;
  const most = Math.max(...points.map((p) => p.error), 1e-12);
  const x = (size: number) => left + ((width - left - 14) * (size - 1)) / Math.max(1, last.size - 1);
  const y = (error: number) => 12 + (height - bottom - 12) * (1 - error / most);
  const steps = points
    .map((p, k) => (k === 0 ? `M${x(p.size)} ${y(p.error)}` : `H${x(p.size)}V${y(p.error)}`))
    .join("");
  const chart = s(
    "svg",
    {
      class: "chart",
      viewBox: `0 0 ${width} ${height}`,
      role: "img",
      "aria-label": `Least ${cost} for every size: from ${short(points[0]!.error)} with 1 node to ${short(last.error)} with ${many(last.size, "node")}`,
    },
    s("path", { class: "axis", d: `M${left} 8V${height - bottom}H${width - 8}` }),
    s("path", { class: "curve", d: steps }),
  );
  for (const error of new Set([0, last.error, points[0]!.error])) {
    chart.append(s("text", { class: "tick end", x: left - 8, y: y(error) + 4 }, short(error)));
  }
  const step = Math.max(1, Math.ceil(points.length / 9));
  points.forEach((point, k) => {
    const here = k === chosen;
    chart.append(
      s("circle", { class: here ? "dot chosen" : "dot", cx: x(point.size), cy: y(point.error), r: here ? 7 : 3.5 }),
    );
    if (k % step === 0) {
      chart.append(s("text", { class: "tick", x: x(point.size), y: height - bottom + 17 }, String(point.size)));
    }
  });
  chart.append(s("text", { class: "tick end", x: width - 8, y: height - 1 }, "nodes"));
  return chart;
}

// A list of names with probabilities, the largest first.
export function bars(list: { name: string; p: number }[], most: number, label: string): HTMLElement {
  const rows = [...list].sort((a, b) => b.p - a.p);
  const row = (entry: { name: string; p: number }) => {
    const fill = h("span", { class: "fill" });
    fill.style.setProperty("width", `${Math.max(0.3, 100 * entry.p)}%`);
    return h(
      "tr",
      {},
      h("th", { scope: "row" }, name(entry.name)),
      h("td", { class: "track-cell" }, h("span", { class: "track", "aria-hidden": "true" }, fill)),
      h("td", { class: "number" }, percent(entry.p)),
    );
  };
  const table = (part: typeof rows) =>
    h("table", { class: "bars", "aria-label": label }, h("tbody", {}, ...part.map(row)));
  const box = h("div", {}, table(rows.slice(0, most)));
  if (rows.length > most) {
    box.append(h("details", {}, h("summary", {}, `${rows.length - most} more`), table(rows.slice(most))));
  }
  return box;
}

// P(the tree has k leaves), k = 1, 2, …
export function leavesChart(p: number[]): SVGElement {
  const [width, height, bottom] = [560, 130, 24];
  let last = p.length - 1;
  while (last > 1 && p[last]! < 0.0005) last--;
  let first = 1;
  while (first < last && p[first]! < 0.0005) first++;
  const n = last - first + 1;
  const most = Math.max(...p);
  const step = (width - 20) / n;
  const mean = p.reduce((total, q, k) => total + q * k, 0);
  const chart = s("svg", {
    class: "chart",
    viewBox: `0 0 ${width} ${height}`,
    role: "img",
    "aria-label": `Number of leaves of the tree: ${mean.toFixed(1)} on average, most probably ${p.indexOf(most)}`,
  });
  for (let k = first; k <= last; k++) {
    const tall = ((height - bottom - 8) * p[k]!) / most;
    const x = 10 + step * (k - first);
    chart.append(
      s(
        "rect",
        { class: "column", x: x + step * 0.12, y: height - bottom - tall, width: step * 0.76, height: tall, rx: 2 },
        s("title", {}, `${k} leaves: ${percent(p[k]!)}`),
      ),
    );
    if (n <= 24 || (k - first) % Math.ceil(n / 16) === 0) {
      chart.append(s("text", { class: "tick", x: x + step / 2, y: height - 7 }, String(k)));
    }
  }
  return chart;
}

// Rows by the probability of their most probable class, against how often that class was true.
export function calibrationChart(data: Reliability): SVGElement {
  const size = 300;
  const [left, bottom] = [44, 38];
  const side = size - left - 10;
  const x = (p: number) => left + side * p;
  const y = (p: number) => 10 + side * (1 - p);
  const total = data.rows.reduce((a, b) => a + b, 0);
  const chart = s(
    "svg",
    {
      class: "chart square",
      viewBox: `0 0 ${size} ${size + bottom - 34}`,
      role: "img",
      "aria-label": "How often it was true, against the probability said; the table has the numbers",
    },
    s("path", { class: "axis", d: `M${left} 10V${y(0)}H${x(1)}` }),
    s("path", { class: "diagonal", d: `M${x(0)} ${y(0)}L${x(1)} ${y(1)}` }),
  );
  for (const p of [0, 0.5, 1]) {
    chart.append(
      s("text", { class: "tick", x: x(p), y: y(0) + 17 }, String(p)),
      s("text", { class: "tick end", x: left - 7, y: y(p) + 4 }, String(p)),
    );
  }
  chart.append(s("text", { class: "tick", x: x(0.5), y: y(0) + 32 }, "probability said"));
  chart.append(
    s("text", { class: "tick", x: 0, y: 0, transform: `translate(12 ${y(0.5)}) rotate(-90)` }, "share true"),
  );
  data.rows.forEach((n, k) => {
    if (n === 0) return;
    const said = data.confidence[k]! / n;
    const found = data.hits[k]! / n;
    chart.append(
      s(
        "circle",
        { class: "bubble", cx: x(said), cy: y(found), r: 4 + 14 * Math.sqrt(n / total) },
        s("title", {}, `${many(n, "row")}: said ${chance(said)}, true ${chance(found)}`),
      ),
    );
  });
  return chart;
}

export function calibrationTable(data: Reliability): HTMLElement {
  const rows = data.rows.flatMap((n, k) =>
    n === 0
      ? []
      : [
          h(
            "tr",
            {},
            h("td", { class: "number" }, String(n)),
            h("td", { class: "number" }, chance(data.confidence[k]! / n)),
            h("td", { class: "number" }, chance(data.hits[k]! / n)),
          ),
        ],
  );
  const head = ["rows", "said", "true"].map((word) => h("th", { scope: "col", class: "number" }, word));
  return h(
    "table",
    { class: "plain", "aria-label": "Calibration" },
    h("thead", {}, h("tr", {}, ...head)),
    h("tbody", {}, ...rows),
  );
}

export function short(x: number): string {
  return Number.isInteger(x) ? String(x) : String(Number(x.toPrecision(4)));
}
