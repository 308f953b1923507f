// How good the model is on examples that it has not seen, beside what everybody compares with.

import type { HeldOut } from "./data.ts";
import { h, name } from "./dom.ts";

export function heldOutTable(found: HeldOut): HTMLElement {
  const head = ["", "accuracy", "log-loss", "Brier score", "AUC"].map((word, k) =>
    k === 0 ? h("td", {}) : h("th", { scope: "col", class: "number" }, word),
  );
  const best = (key: "accuracy" | "log_loss" | "brier" | "auc", most: boolean) => {
    const values = found.lines.map((line) => line[key]).filter((x): x is number => x !== null);
    return most ? Math.max(...values) : Math.min(...values);
  };
  const marks = { accuracy: best("accuracy", true), log_loss: best("log_loss", false), brier: best("brier", false), auc: best("auc", true) };
  const shown = (key: keyof typeof marks, x: number) => (key === "accuracy" ? `${(100 * x).toFixed(1)}\u202f%` : x.toFixed(3));
  const cell = (key: keyof typeof marks, x: number | null, error?: number | null) => {
    const text = x === null ? "–" : shown(key, x);
    const spread = typeof error === "number" ? ` ±\u202f${shown(key, error)}` : "";
    return h("td", { class: "number" }, x !== null && x === marks[key] ? h("strong", {}, text) : text, spread);
  };
  const rows = found.lines.map((line) =>
    h(
      "tr",
      { class: line.own ? "own" : null },
      h("th", { scope: "row" }, name(line.name)),
      cell("accuracy", line.accuracy, line.accuracy_error),
      cell("log_loss", line.log_loss, line.log_loss_error),
      cell("brier", line.brier),
      cell("auc", line.auc),
    ),
  );
  return h(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": "Figures on examples not seen" },
    h("table", { class: "plain figures" }, h("thead", {}, h("tr", {}, ...head)), h("tbody", {}, ...rows)),
    found.lines.some((line) => typeof line.log_loss_error === "number") ? h("p", {}, "±: standard error over the examples") : null,
  );
}

// What stands beside a training error: "Of examples not seen, 27.1 % are wrong (always No: 25.3 %)." A tree that was not
// judged by itself has the figure of the model beside it.
export function beside(found: HeldOut | null | undefined, accuracy: number | null | undefined, own: boolean): string {
  const model = found?.lines.find((line) => line.own)?.accuracy;
  const right = accuracy ?? model;
  if (!found || right === undefined) return "";
  const wrong = (x: number) => `${(100 * (1 - x)).toFixed(1)}\u202f%`;
  const base = found.lines.find((line) => line.base);
  const other = base ? ` (${base.name}: ${wrong(base.accuracy)})` : "";
  const who = own || typeof accuracy === "number" ? "are wrong" : "are wrong by the model itself";
  return `Of examples not seen, ${wrong(right)} ${who}${other}.`;
}
