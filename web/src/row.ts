// One row: a form with its values, what the model says about it, and the rules that decide.

import { addedAt, addedWords } from "./added.ts";
import type { Column, PageData, Sum, Tree } from "./data.ts";
import { atMost, chance, colour, decided, h, largest, many, name, on, percent, percentRange, sum } from "./dom.ts";
import { average } from "./predict.ts";
import { branchWords, filled, outcomes, path, says, type Cell, type Row } from "./route.ts";

const MOST_RULES = 12;
const MOST_FIELDS = 400; // more fields than this make no form; a row can still be picked

export class RowView {
  readonly element: HTMLElement;
  private row: Row;
  private picked: number | null = null; // the row of the page that is shown as it is
  private readonly fields: ((cell: Cell) => void)[] = [];
  private readonly problems = new Map<number, string>();
  private readonly says = h("div", { class: "says", "aria-live": "polite" });

  constructor(
    private readonly data: PageData,
    private readonly shown: () => Tree | null,
    private readonly mark: (passed: number[]) => void,
  ) {
    this.row = data.columns.map((column) => column.start ?? null);
    const form = h("form", { class: "row-form", "aria-label": "The values of one row", novalidate: true });
    on(form, "submit", (event) => event.preventDefault());
    if (data.rows.length > 0) form.append(this.picker());
    const used = h("div", { class: "fields" });
    const unused = h("div", { class: "fields" });
    data.columns.slice(0, MOST_FIELDS).forEach((column, j) => {
      (column.used ? used : unused).append(this.field(column, j));
    });
    form.append(used);
    if (unused.childElementCount > 0) {
      const label = `${many(unused.childElementCount, "column")} that no test asks about`;
      form.append(h("details", {}, h("summary", {}, label), unused));
    }
    this.element = h("div", { class: "row-card" }, form, this.says);
    if (data.rows.length > 0) this.pick(0);
  }

  private picker(): HTMLElement {
    const { data } = this;
    const select = h("select", { id: "pick", "data-pick": true });
    data.rows.forEach((row, k) => {
      const label = row.label === null ? "" : ` (${data.classes[row.label]})`;
      select.append(h("option", { value: k }, row.name + label));
    });
    on(select, "change", () => {
      this.pick(Number(select.value));
      this.update();
    });
    return h("p", { class: "pick" }, h("label", { for: "pick" }, "Begin with "), select);
  }

  private pick(k: number): void {
    const { cells } = this.data.rows[k]!;
    this.problems.clear();
    this.picked = k;
    this.row = this.data.columns.map((_, j) => cells[j] ?? null);
    this.row.forEach((cell, j) => this.fields[j]?.(cell));
  }

  private field(column: Column, j: number): HTMLElement {
    const id = `field-${j}`;
    const set = (cell: Cell, problem = "") => {
      this.row[j] = cell;
      this.picked = null;
      if (problem) this.problems.set(j, problem);
      else this.problems.delete(j);
      this.update();
    };
    const label = h("label", { for: id }, name(column.name));
    if (column.kind === "numeric") {
      const input = h("input", { id, type: "text", inputmode: "decimal", autocomplete: "off", placeholder: "missing" });
      on(input, "input", () => {
        const text = input.value.trim().replace(/^−/, "-");
        const value = Number(text);
        const bad = text !== "" && !Number.isFinite(value);
        input.setAttribute("aria-invalid", String(bad));
        set(text === "" || bad ? null : value, bad ? `${column.name} wants a number` : "");
      });
      this.fields[j] = (cell) => {
        input.value = cell === null ? "" : String(cell);
        input.setAttribute("aria-invalid", "false");
      };
      this.fields[j]!(this.row[j] ?? null);
      return h("div", { class: "field" }, label, input);
    }
    const select = h("select", { id });
    const values = column.kind === "binary" ? ["0", "1"] : (column.values ?? []);
    values.forEach((value, k) => select.append(h("option", { value: k }, value)));
    if (column.kind !== "binary") select.append(h("option", { value: -1 }, "(another value)"));
    select.append(h("option", { value: "" }, "(missing)"));
    on(select, "change", () => set(select.value === "" ? null : Number(select.value)));
    this.fields[j] = (cell) => (select.value = cell === null ? "" : String(cell));
    this.fields[j]!(this.row[j] ?? null);
    return h("div", { class: "field" }, label, select);
  }

  // Say again what the row is, after it or the tree has changed.
  update(): void {
    const { data, row } = this;
    const refused =
      data.missing === "error"
        ? data.columns.flatMap((column, j) => (column.used && (row[j] ?? null) === null ? [column.name] : []))
        : [];
    const problems = [...this.problems.values()];
    if (problems.length === 0 && refused.length > 0) {
      problems.push(`${refused.slice(0, 3).join(", ")}: this model takes no missing values`);
    }
    if (problems.length > 0) {
      this.mark([]);
      this.says.replaceChildren(h("p", { class: "problem" }, `${problems.join("; ")}.`));
      return;
    }
    const whole = filled(data, row);
    const bits = outcomes(data, whole);
    const tree = this.shown();
    const passed = tree === null ? [] : path(tree, bits, whole);
    this.mark(passed);
    const parts: HTMLElement[] = [];
    const rules = data.posterior?.sum ?? null;
    if (data.answer === "average" && rules !== null) {
      parts.push(this.byAverage(rules, average(rules, bits)));
    }
    const known = this.picked === null ? null : (data.posterior?.averages?.[this.picked] ?? null);
    if (data.answer === "average" && known !== null) parts.push(this.byKnownAverage(known));
    if (tree !== null) parts.push(...this.byTree(tree, passed, bits, parts.length > 0));
    const covering = this.covering(bits) ?? this.moving(bits);
    if (covering !== null) parts.push(covering);
    this.says.replaceChildren(...parts);
  }

  private verdict(p: number[], says: number | null, range: [number, number] | null, how: string): HTMLElement {
    const { classes } = this.data;
    const choice = says ?? decided(p, this.data.costs);
    const order = [...p.keys()].sort((a, b) => p[b]! - p[a]!).slice(0, 6);
    const rows = order.map((c) => {
      const fill = h("span", { class: "fill" });
      fill.style.setProperty("width", `${100 * p[c]!}%`);
      colour(fill, c);
      return h(
        "tr",
        {},
        h("th", { scope: "row" }, name(classes[c]!)),
        h("td", { class: "track-cell" }, h("span", { class: "track", "aria-hidden": "true" }, fill)),
        h("td", { class: "number" }, percent(p[c]!)),
      );
    });
    const sure = range === null ? null : h("span", { class: "interval" }, ` (95\u202f% interval ${percentRange(range)})`);
    return h(
      "div",
      { class: "verdict" },
      h("p", { class: "answer" }, h("strong", {}, name(classes[choice]!)), ` ${percent(p[choice]!)}`, sure),
      h("p", { class: "quiet" }, how),
      h("table", { class: "bars", "aria-label": "Class probabilities" }, h("tbody", {}, ...rows)),
    );
  }

  // The average over every tree. Its interval is Python's; the bound is that of the rules by which the page computes it.
  private byAverage(rules: Sum, p: number[]): HTMLElement {
    const { posterior, rows } = this.data;
    const intervals = posterior?.intervals ?? null;
    const range = this.picked === null ? null : (intervals?.[this.picked]?.[decided(p, this.data.costs)] ?? null);
    const missing = intervals === null || rows.length === 0 ? "" : " Pick a row to see its 95\u202f% interval; this one was typed in.";
    const how =
      `The average over every tree. The page computes it from ${many(rules.items.length, "rule")}; ` +
      `the exact average differs by at most ${atMost(rules.bound)}.${range === null ? missing : ""}`;
    return this.verdict(p, null, range, how);
  }

  // The average over every tree as Python computed it, for a row of the page.
  private byKnownAverage(p: number[]): HTMLElement {
    const range = this.data.posterior?.intervals?.[this.picked!]?.[decided(p, this.data.costs)] ?? null;
    return this.verdict(p, null, range, "The average over every tree, for this row of the data.");
  }

  private byTree(tree: Tree, passed: number[], bits: (0 | 1)[], second: boolean): HTMLElement[] {
    const leaf = tree.nodes[passed[passed.length - 1]!]!;
    const n = sum(leaf.n);
    const steps = passed.slice(1).map((child, k) =>
      h("li", {}, name(branchWords(this.data, tree.nodes[passed[k]!]!, child))),
    );
    const open = tree.spread ? "a missing value goes down every branch below the last node" : "a value without a branch: the last node";
    const ends = leaf.k === undefined ? "the leaf of the tree above" : open;
    const said = leaf.s ?? largest(leaf.p);
    const a = addedAt(tree.a, passed.length - 1);
    const seen = `${Math.round((leaf.n[said] ?? 0) * 100) / 100} of ${many(Math.round(n * 100) / 100, "training example")}`;
    const more = a !== null ? `, ${addedWords(a, this.data.classes.length)}` : tree.path ? "; averaged along the path" : "";
    const pick = this.data.answer === "average" && this.data.posterior?.averages ? ". Pick a row to see the average over every tree; this one was typed in" : "";
    const how = `${ends}: ${seen}${more}${pick}`;
    const list = h("ol", { class: "path" }, ...(steps.length > 0 ? steps : [h("li", {}, "always")]));
    if (second) {
      const words = `The tree above says ${this.data.classes[said]} (${percent(leaf.p[said]!)}: ${seen}${more}), because`;
      return [h("div", {}, h("h3", {}, words), list)];
    }
    const p = says(tree, bits, filled(this.data, this.row));
    const range = p === leaf.p ? (leaf.i ?? null) : null;
    return [this.verdict(p, leaf.s ?? null, range, how), h("div", {}, h("h3", {}, "Because"), list)];
  }

  // Of a sum of rules, those that move the answer most.
  private moving(bits: (0 | 1)[]): HTMLElement | null {
    const { posterior, classes, tests, answer } = this.data;
    const rules = posterior?.sum ?? null;
    if (rules === null || answer !== "average" || posterior!.inclusion.length > 0) return null;
    const c = decided(average(rules, bits), this.data.costs);
    const hold = rules.items
      .map((items, k) => ({ items, move: rules.moves[k]![c]! }))
      .filter(({ items }) => items.every((code) => bits[code >> 1] === (code & 1)))
      .sort((a, b) => Math.abs(b.move) - Math.abs(a.move));
    const rest = sum(hold.slice(MOST_RULES).map(({ move }) => move));
    const line = (move: string, words: (HTMLElement | string)[]) =>
      h("tr", {}, h("td", { class: "number" }, move), h("td", {}, ...words));
    const lines = hold.slice(0, MOST_RULES).map(({ items, move }) => {
      const words = items.map((code) => (code & 1 ? tests[code >> 1]!.name : tests[code >> 1]!.no));
      return line(signed(move), joined(words));
    });
    const others = hold.length - lines.length;
    if (others > 0) lines.push(line(signed(rest), [`${many(others, "other rule")}`]));
    return h(
      "div",
      { class: "covering" },
      h("h3", {}, "The rules that hold"),
      h("p", { class: "quiet" }, "How far each moves the probability of ", name(classes[c]!), ", where all its conditions hold."),
      h("table", { class: "plain" }, h("tbody", {}, line(percent(rules.base[c]!), ["to begin with"]), ...lines)),
    );
  }

  // The rules of most weight that hold for the row: paths that are leaves of many probable trees.
  private covering(bits: (0 | 1)[]): HTMLElement | null {
    const { posterior, classes, answer } = this.data;
    if (posterior === null || answer !== "average" || posterior.rules.length === 0) return null;
    const hold = posterior.rules.filter((rule) => rule.items.every(([test, outcome]) => bits[test] === outcome));
    const weight = sum(hold.map((rule) => rule.weight));
    const rows = hold.slice(0, MOST_RULES).map((rule) => {
      const c = largest(rule.p);
      const says = h("span", { class: "pill" }, name(classes[c]!));
      colour(says, c);
      return h(
        "tr",
        {},
        h("td", { class: "number" }, percent(rule.weight)),
        h("td", {}, ...(rule.words.length ? joined(rule.words) : ["always"])),
        h("td", {}, says, ` ${chance(rule.p[c]!)} `, h("span", { class: "quiet" }, range(rule.i))),
        h("td", { class: "number" }, `${rule.n[c] ?? 0} of ${sum(rule.n)}`),
      );
    });
    const head = ["weight", "the row is in the leaf where", "which says", "examples"].map((word, k) =>
      h("th", { scope: "col", class: k === 0 || k === 3 ? "number" : null }, word),
    );
    const a = addedAt(posterior.a, 0);
    const deep = addedAt(posterior.a, 99);
    const more =
      a === null
        ? ""
        : JSON.stringify(a) === JSON.stringify(deep)
          ? ` A leaf counts its examples, ${addedWords(a, classes.length)}; in brackets its 95\u202f% interval.`
          : ` A leaf counts its examples and adds less the deeper it is; in brackets its 95\u202f% interval.`;
    const rest = hold.length > MOST_RULES ? `; the first ${MOST_RULES} of ${hold.length} are shown` : "";
    return h(
      "div",
      { class: "covering" },
      h("h3", {}, "The rules that decide"),
      h(
        "p",
        { class: "quiet" },
        hold.length > 0
          ? `Weight: the probability that this is a leaf of the tree. Known here: ${percent(weight)} of all weight${rest}.${more}`
          : "None of the rules in this page covers this row: its weight is spread over many small ones.",
      ),
      hold.length > 0
        ? h(
            "div",
            { class: "scroll", tabindex: 0, role: "region", "aria-label": "Rules" },
            h("table", { class: "plain" }, h("thead", {}, h("tr", {}, ...head)), h("tbody", {}, ...rows)),
          )
        : null,
    );
  }
}

function signed(x: number): string {
  return (x < 0 ? "−" : "+") + percent(Math.abs(x));
}

function range(i: [number, number]): string {
  return `[${chance(i[0])}, ${chance(i[1])}]`;
}

function joined(words: string[]): (HTMLElement | string)[] {
  return words.flatMap((word, k) => (k === 0 ? [name(word)] : [" and ", name(word)]));
}
