// What speaks for the answer and what against it, where the evidence of several averages is added up.
//
//   odds of a class against another = odds of their shares · Π over averages of exp(evidence of one − evidence of the other)

import type { PageData } from "./data.ts";
import { h, many, name } from "./dom.ts";
import { cellText } from "./cells.ts";
import type { Row } from "./route.ts";

const MOST = 8;
const LEAST = 0.015; // of a logarithm: a factor that reads as 1.01 or 1.00 tells nobody anything

// The answer against the class that is next to it, by the evidence [average][class]; null where the page has none.
export function evidencePart(data: PageData, moved: number[][] | null, row: Row, p: number[]): HTMLElement | null {
  const { posterior, classes } = data;
  if (moved === null || classes.length < 2 || !posterior?.shares || !posterior.members) return null;
  const order = [...p.keys()].sort((a, b) => p[b]! - p[a]!);
  const [one, other] = [order[0]!, order[1]!];
  const found = moved
    .map((each, k) => ({ columns: posterior.members![k]!, log: each[one]! - each[other]! }))
    .sort((a, b) => Math.abs(b.log) - Math.abs(a.log));
  const start = Math.log(posterior.shares[one]! / posterior.shares[other]!);
  const total = found.reduce((sum, each) => sum + each.log, start);
  const told = found.filter((each, k) => k < MOST && (k === 0 || Math.abs(each.log) >= LEAST));
  const rest = found.slice(told.length);
  const line = (factor: string, title: (HTMLElement | string)[], strong = false) =>
    h("tr", { class: strong ? "own" : null }, h("td", { class: "number" }, factor), h("td", {}, ...title));
  const lines = told.map(({ columns, log }) => line(times(log), words(data, columns, row)));
  if (rest.length > 0) {
    lines.push(line(times(rest.reduce((sum, each) => sum + each.log, 0)), [`${many(rest.length, "other average")}`]));
  }
  return h(
    "div",
    { class: "covering" },
    h("h3", {}, "What speaks for it, and what against"),
    h(
      "p",
      { class: "quiet" },
      "Each average over every tree multiplies the odds of ",
      name(classes[one]!),
      " against ",
      name(classes[other]!),
      ": more than 1 speaks for it, less against it.",
    ),
    h(
      "div",
      { class: "scroll", tabindex: 0, role: "region", "aria-label": "What speaks for it, and what against" },
      h(
        "table",
        { class: "plain" },
        h(
          "tbody",
          {},
          line(`${odds(start)}\u2009:\u20091`, ["before anything is known: the shares of the classes"]),
          ...lines,
          line(`${odds(total)}\u2009:\u20091`, ["together"], true),
        ),
      ),
    ),
  );
}

function words(data: PageData, columns: string[], row: Row): (HTMLElement | string)[] {
  const some = columns.slice(0, 3).flatMap((column, k) => {
    const j = data.columns.findIndex((each) => each.name === column);
    const cell = columns.length <= 3 && j >= 0 ? ` = ${cellText(data, j, row[j] ?? null)}` : "";
    return [k > 0 ? ", " : "", name(`${column}${cell}`)];
  });
  return columns.length === 0 ? ["no column"] : columns.length > 3 ? [...some, ` and ${columns.length - 3} more`] : some;
}

function odds(log: number): string {
  const x = Math.exp(log);
  return x >= 100 ? x.toFixed(0) : x >= 10 ? x.toFixed(1) : x >= 0.1 ? x.toFixed(2) : x.toPrecision(2);
}

function times(log: number): string {
  return `×\u2009${odds(log)}`;
}
