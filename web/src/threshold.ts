// From probabilities to decisions: say a class from some probability on, and what that gets right and wrong.
//
//   precision  of the rows said, the share that is true        recall  of the true rows, the share that is said
//
// A threshold t says the class where its probability is at least t. If a miss costs m false alarms, the least expected
// cost is at t = 1 / (1 + m), where the probabilities are right; the page shows the cost on the rows that judge.

import type { Calibration, PageData } from "./data.ts";
import { colour, h, many, name, on, sum } from "./dom.ts";

export function confusionTable(confusion: number[][], classes: string[], title = "Confusion matrix"): HTMLElement {
  const most = Math.max(1, ...confusion.flat());
  const head = h("tr", {}, h("td", {}), ...classes.map((label) => h("th", { scope: "col" }, "says ", name(label))));
  const rows = confusion.map((row, truth) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, "is ", name(classes[truth]!)),
      ...row.map((n, said) => {
        const cell = h("td", { class: `number cell${said === truth ? " right" : ""}` }, String(n));
        colour(cell, truth);
        cell.style.setProperty("--tint", `${Math.round((32 * n) / most)}%`);
        return cell;
      }),
    ),
  );
  return h(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": title },
    h("table", { class: "plain confusion" }, h("thead", {}, head), h("tbody", {}, ...rows)),
  );
}

interface Counts {
  hit: number;
  miss: number;
  alarm: number;
  quiet: number;
}

export function countsAt(grid: number[][], c: number, threshold: number): Counts {
  const from = (row: number[]) => sum(row.slice(threshold));
  const all = grid.map(sum);
  const said = grid.map(from);
  const hit = said[c]!;
  const alarm = sum(said) - hit;
  return { hit, miss: all[c]! - hit, alarm, quiet: sum(all) - all[c]! - alarm };
}

export function thresholdPanel(data: PageData, found: Calibration): HTMLElement {
  const { classes } = data;
  const positive = classes.length === 2 ? rarer(found) : 0;
  const choose = h("select", { id: "threshold-class" });
  classes.forEach((label, c) => choose.append(h("option", { value: c, selected: c === positive }, label)));
  const slider = h("input", { type: "range", id: "threshold", min: 0, max: 100, step: 1, value: 50 });
  const value = h("output", { for: "threshold" });
  const ratio = h("input", { type: "text", id: "threshold-ratio", inputmode: "decimal", value: "1", class: "short" });
  const box = h("div", {});
  const draw = () => {
    const c = Number(choose.value);
    const t = Number(slider.value);
    const n = countsAt(found.grid![c]!, c, t);
    const label = classes[c]!;
    value.textContent = `${t}\u202f%`;
    slider.setAttribute("aria-valuetext", `say ${label} from ${t} % on`);
    const share = (a: number, b: number) => (b === 0 ? "–" : `${((100 * a) / b).toFixed(1)}\u202f%`);
    const miss = Number(ratio.value.trim().replace(",", "."));
    const priced = Number.isFinite(miss) && miss > 0 && ratio.value.trim() !== "";
    ratio.setAttribute("aria-invalid", String(!priced));
    const costs = Array.from({ length: 101 }, (_, at) => {
      const here = countsAt(found.grid![c]!, c, at);
      return miss * here.miss + here.alarm;
    });
    const least = costs.indexOf(Math.min(...costs));
    const facts: [string, string][] = [
      ["recall: true ones found", share(n.hit, n.hit + n.miss)],
      ["precision: said ones true", share(n.hit, n.hit + n.alarm)],
      ["false alarms among the others", share(n.alarm, n.alarm + n.quiet)],
      ["accuracy", share(n.hit + n.quiet, n.hit + n.miss + n.alarm + n.quiet)],
    ];
    if (priced) facts.push(["cost, in false alarms", String(Math.round(costs[t]! * 100) / 100)]);
    box.replaceChildren(
      confusionTable(
        [
          [n.hit, n.miss],
          [n.alarm, n.quiet],
        ],
        [label, classes.length === 2 ? classes[1 - c]! : `not ${label}`],
        "Confusion matrix at this threshold",
      ),
      h("dl", { class: "scores" }, ...facts.map(([key, each]) => h("div", {}, h("dt", {}, key), h("dd", {}, each)))),
      h("p", { class: "quiet" }, priced ? `On these rows the cost is least from ${least}\u202f% on: ${Math.round(costs[least]! * 100) / 100}.` : "A miss costs a number above 0."),
    );
  };
  on(choose, "change", draw);
  on(slider, "input", draw);
  on(ratio, "input", draw);
  draw();
  return h(
    "div",
    { class: "threshold" },
    h(
      "div",
      { class: "slider" },
      h("label", { for: "threshold-class" }, "Say"),
      choose,
      h("label", { for: "threshold" }, "from a probability of"),
      slider,
      value,
    ),
    h("p", {}, h("label", { for: "threshold-ratio" }, "A miss costs as much as "), ratio, " false alarms."),
    box,
    h("p", { class: "quiet" }, `Counted on the ${many(sum(found.rows), "row")} that judge the model.`),
  );
}

function rarer(found: Calibration): number {
  const [a, b] = found.confusion!.map(sum);
  return a! < b! ? 0 : 1;
}
