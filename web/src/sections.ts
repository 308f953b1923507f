// The parts of the page below the tree: what matters, how good it is, evidence and settings, how to cite.

import { bars, calibrationChart, calibrationTable, leavesChart } from "./charts.ts";
import type { Calibration, HeldOut, PageData, Posterior, Reliability } from "./data.ts";
import { h, name, on } from "./dom.ts";
import { heldOutTable } from "./heldout.ts";
import { confusionTable, thresholdPanel } from "./threshold.ts";

const MOST_BARS = 12;

export function posteriorPart(data: PageData, found: Posterior): HTMLElement[] {
  const parts: HTMLElement[] = [
    h("h2", { id: "posterior-title" }, "What matters"),
    h("p", { class: "quiet" }, `The probability that the tree uses each column, over every tree. ${found.about}`),
    bars(found.inclusion, MOST_BARS, "Probability that the tree uses the column"),
    found.tests.length > 0
      ? h("details", {}, h("summary", {}, "By test"), bars(found.tests.map(({ t, p }) => ({ name: data.tests[t]!.name, p })), 40, "Probability that the tree uses the test"))
      : h("p", { class: "quiet" }, "Every node chooses its own cuts; those of a column count together."),
  ];
  if (found.leaves.length > 1) {
    const chart = h("div", {});
    chart.append(leavesChart(found.leaves));
    parts.push(h("h3", {}, "How many leaves the tree has"), chart);
  }
  return parts;
}

export function heldOutPart(found: HeldOut): HTMLElement[] {
  return [
    h("h2", { id: "heldout-title" }, "How good is it on examples it has not seen?"),
    found.verdict ? h("p", { class: found.poor ? "verdict-line" : "quiet" }, found.verdict) : h("p", { class: "hidden" }),
    heldOutTable(found),
    h("p", { class: "quiet" }, `${found.about} Higher accuracy and AUC are better, lower log-loss and Brier score.`),
  ];
}

export function calibrationPart(data: PageData, found: Calibration): HTMLElement[] {
  const scores = found.scores.map(([key, value]) => h("div", {}, h("dt", {}, key), h("dd", {}, value)));
  const box = h("div", {});
  const draw = (which: Reliability) => {
    const chart = h("div", {});
    chart.append(calibrationChart(which));
    box.replaceChildren(
      h("div", { class: "side-by-side" }, chart, h("details", { open: true }, h("summary", {}, "The numbers"), calibrationTable(which))),
    );
  };
  draw(found);
  const parts: HTMLElement[] = [
    h("h2", { id: "calibration-title" }, "Can the probabilities be trusted?"),
    h("p", { class: "quiet" }, found.about),
    h("dl", { class: "scores" }, ...scores),
  ];
  const byClass = found.classes ?? [];
  if (byClass.length > 1) {
    const select = h("select", { id: "calibration-class" }, h("option", { value: -1 }, "what is said"));
    data.classes.forEach((label, c) => select.append(h("option", { value: c }, label)));
    on(select, "change", () => draw(Number(select.value) < 0 ? found : byClass[Number(select.value)]!));
    parts.push(h("p", { class: "pick" }, h("label", { for: "calibration-class" }, "The probability of "), select));
  }
  const decisions = h("div", {});
  if (found.confusion?.length && data.classes.length > 2) {
    decisions.append(h("h3", {}, "What is said, and what is true"), confusionTable(found.confusion, data.classes));
  }
  if (found.grid?.length && data.classes.length > 1) {
    decisions.append(h("h3", { class: "threshold-title" }, "From a probability to a decision"), thresholdPanel(data, found));
  }
  const left = h("div", {}, ...parts.splice(3), box);
  parts.push(h("div", { class: "halves" }, left, decisions));
  return parts;
}

export function factsPart(groups: { title: string; rows: [string, string][] }[]): HTMLElement[] {
  const made = groups.map(({ title, rows }) =>
    h(
      "div",
      {},
      h("h3", {}, title),
      h("dl", { class: "facts" }, ...rows.map(([key, value]) => h("div", {}, h("dt", {}, name(key)), h("dd", {}, name(value))))),
    ),
  );
  return [h("h2", { id: "facts-title" }, "Evidence and settings"), h("div", { class: "groups" }, ...made)];
}

export function citePart({ text, bibtex }: { text: string; bibtex: string }): HTMLElement[] {
  return [
    h("h2", { id: "cite-title" }, "How to cite"),
    h("p", {}, text),
    h("pre", { class: "as-text", tabindex: 0, role: "region", "aria-label": "BibTeX" }, bibtex),
  ];
}
