// What the model says about one row, why, what would change it, and how it differs from a row kept beside it.

import { addedAt, addedWords } from "./added.ts";
import { changeInMixture, changeInSum, changeInTree, plain, type Change } from "./change.ts";
import type { Drawn, PageData, Rule, Sum, Tree } from "./data.ts";
import { atMost, chance, colour, decided, examples, h, largest, many, name, on, percent, percentRange, sum } from "./dom.ts";
import { cellText } from "./cells.ts";
import { intervalOf, meanOf, poolOf, seenAt, type Estimate } from "./drawn.ts";
import { evidencePart } from "./evidence.ts";
import { RowForm } from "./form.ts";
import { average } from "./predict.ts";
import { branchWords, filled, outcomes, path, says, type Row } from "./route.ts";
import { number, said } from "./words.ts";

const MOST_RULES = 12;

interface Kept {
  row: Row;
  picked: number | null;
}

export class RowView {
  readonly element: HTMLElement; // the form and the answer, beside the tree
  readonly more = h("div", { class: "row-more" }); // what takes more room, below it
  readonly form: RowForm;
  private readonly says = h("div", { class: "says", "aria-live": "polite" });
  private kept: Kept | null = null;

  constructor(
    private readonly data: PageData,
    private readonly shown: () => Tree | null,
    private readonly mark: (passed: number[], beside: number[]) => void,
  ) {
    this.form = new RowForm(data, () => this.update());
    this.element = h("div", { class: "row-card" }, this.form.element, this.says);
  }

  // Say again what the row is, after it or the tree has changed.
  update(): void {
    const { data } = this;
    const { row } = this.form;
    this.form.arrange(this.shown());
    const problems = this.refusals(row);
    if (problems.length > 0) {
      this.mark([], []);
      this.says.replaceChildren(h("p", { class: "problem" }, `${problems.join("; ")}.`));
      this.show([]);
      return;
    }
    const whole = filled(data, row);
    const bits = outcomes(data, whole);
    const tree = this.shown();
    const passed = tree === null ? [] : path(tree, bits, whole);
    this.mark(passed, this.kept === null || tree === null ? [] : path(tree, outcomes(data, filled(data, this.kept.row)), filled(data, this.kept.row)));
    const parts: HTMLElement[] = [];
    const more: HTMLElement[] = [];
    const rules = data.posterior?.sum ?? null;
    const { picked } = this.form;
    const known = picked === null ? null : (data.posterior?.averages?.[picked] ?? null);
    const estimate = known === null ? this.estimated(bits) : null;
    if (data.answer === "average") {
      if (rules !== null) parts.push(this.byAverage(rules, average(rules, bits), bits));
      else if (known !== null) parts.push(this.byKnownAverage(known, bits));
      else if (estimate !== null) parts.push(this.byDraws(estimate, bits));
    }
    const exact = parts.length > 0;
    if (tree !== null) parts.push(...this.byTree(tree, passed, bits, exact));
    if (parts.length > 0) parts.push(this.changes(tree, rules, row, exact), this.keeper());
    const beside = this.beside(row);
    if (beside !== null) more.push(beside);
    const moved = picked !== null ? (data.posterior?.evidence?.[picked] ?? null) : (estimate?.evidence ?? null);
    const evidence = evidencePart(data, moved, whole, known ?? estimate?.p ?? []);
    const covering = evidence ?? this.covering(bits) ?? this.moving(bits);
    if (covering !== null) more.push(covering);
    this.says.replaceChildren(this.onPaper(row), ...parts);
    this.show(more);
  }

  // The row in words, for paper, which has no form.
  private onPaper(row: Row): HTMLElement {
    const words = this.form.asked.flatMap((j, k) => [
      k > 0 ? ", " : "The row has ",
      name(this.data.columns[j]!.name),
      ` ${cellText(this.data, j, row[j] ?? null)}`,
    ]);
    return h("p", { class: "print-only" }, ...words, ".");
  }

  private show(more: HTMLElement[]): void {
    this.more.replaceChildren(...more);
    if (this.more.parentElement !== null) this.more.parentElement.hidden = more.length === 0;
  }

  private refusals(row: Row): string[] {
    const { data } = this;
    const problems = [...this.form.problems.values()];
    if (problems.length > 0 || data.missing !== "error") return problems;
    const refused = data.columns.flatMap((column, j) => (column.used && (row[j] ?? null) === null ? [column.name] : []));
    return refused.length > 0 ? [`${refused.slice(0, 3).join(", ")}: this model takes no missing values`] : [];
  }

  // What the model says: the answer with its probability and how sure that is, in figures and in words.
  private verdict(p: number[], says: number | null, range: [number, number] | null, how: string): HTMLElement {
    const { classes, calibration } = this.data;
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
    const seen = range === null ? seenAt(calibration, choice, p[choice]!) : null;
    const shown = range ?? seen?.range ?? null;
    // The interval of rows like it is none of the model's: its answer may lie beyond it, and then that is said.
    const whose = seen === null ? "95\u202f% interval" : "rows like it, 95\u202f% interval";
    const sure = shown === null ? null : h("span", { class: "interval" }, ` (${whose} ${percentRange(shown)})`);
    const beyond = seen === null ? "" : p[choice]! > seen.range[1] ? "less" : p[choice]! < seen.range[0] ? "more" : "";
    return h(
      "div",
      { class: "verdict" },
      h("p", { class: "answer" }, h("strong", {}, name(classes[choice]!)), ` ${percent(p[choice]!)}`, sure),
      h("p", { class: "quiet" }, how),
      seen === null
        ? null
        : h(
            "p",
            { class: "quiet" },
            `Rows like it: of ${many(seen.rows, "row")} not seen in training that got ${seen.from} to ` +
              `${seen.to}\u202f%, ${seen.hits.toLocaleString("en")} ${seen.hits === 1 ? "is" : "are"} `,
            name(classes[choice]!),
            beyond === "" ? "." : `, ${beyond} than the model says: trust the interval.`,
          ),
      h("table", { class: "bars", "aria-label": "Class probabilities" }, h("tbody", {}, ...rows)),
    );
  }

  // What the trees that were drawn say of any row; null where the page has none.
  private estimated(bits: (0 | 1)[]): (Estimate & { evidence?: number[][] }) | null {
    const { posterior } = this.data;
    if (posterior?.pool && posterior.shares) return poolOf(posterior.pool, posterior.shares, bits);
    return posterior?.drawn ? meanOf(posterior.drawn, bits) : null;
  }

  // The 95 % interval of the class that is answered: Python's for a row of the page, that of the drawn trees for others.
  private interval(p: number[], bits: (0 | 1)[]): { range: [number, number] | null; drawn: Drawn | null } {
    const { posterior, costs } = this.data;
    const { picked } = this.form;
    const c = decided(p, costs);
    const known = picked === null ? null : (posterior?.intervals?.[picked]?.[c] ?? null);
    const drawn = known === null ? (posterior?.drawn ?? null) : null;
    return { range: known ?? (drawn === null ? null : intervalOf(drawn, bits, c)), drawn };
  }

  // The average over every tree; the bound is that of the rules by which the page computes it.
  private byAverage(rules: Sum, p: number[], bits: (0 | 1)[]): HTMLElement {
    const { range, drawn } = this.interval(p, bits);
    const how =
      `The average over every tree. The page computes it from ${many(rules.items.length, "rule")}; ` +
      `the exact average differs by at most ${atMost(rules.bound)}.`;
    return this.verdict(p, null, range, drawn === null ? how : `${how} ${intervalWords(drawn)}`);
  }

  // The average over every tree as Python computed it, for a row of the page.
  private byKnownAverage(p: number[], bits: (0 | 1)[]): HTMLElement {
    const { posterior, costs, classes } = this.data;
    const c = decided(p, costs);
    const raw = posterior?.raw?.[this.form.picked!] ?? null;
    const before = raw === null ? "" : ` Calibrated by left-out examples; before that ${classes[c]} had ${percent(raw[c]!)}.`;
    return this.verdict(p, null, this.interval(p, bits).range, `The average over every tree, for this row of the data.${before}`);
  }

  // The average over every tree by trees drawn from it, for a row typed in.
  private byDraws({ p, error }: Estimate, bits: (0 | 1)[]): HTMLElement {
    const { posterior, costs } = this.data;
    const members = posterior?.pool?.members ?? [posterior!.drawn!];
    const { range, drawn } = this.interval(p, bits);
    const off = Math.max(0.0005, 2 * error[decided(p, costs)]!);
    const how =
      `By ${many(sum(members.map((each) => each.draws)), "tree")} drawn from the average over every tree, ` +
      `which says the same to about ±\u202f${percent(off)}.`;
    return this.verdict(p, null, range, drawn === null ? how : `${how} ${intervalWords(drawn)}`);
  }

  private byTree(tree: Tree, passed: number[], bits: (0 | 1)[], second: boolean): HTMLElement[] {
    const leaf = tree.nodes[passed[passed.length - 1]!]!;
    const n = sum(leaf.n);
    const steps = passed.slice(1).map((child, k) =>
      h("li", {}, name(branchWords(this.data, tree.nodes[passed[k]!]!, child))),
    );
    const open = tree.spread ? "a missing value goes down every branch below the last node" : "a value without a branch: the last node";
    const ends = leaf.k === undefined ? "The leaf of the tree in sight" : open;
    const word = leaf.s ?? largest(leaf.p);
    const a = addedAt(tree.a, passed.length - 1);
    const seen = `${examples(leaf.n[word] ?? 0)} of ${many(Math.round(n * 100) / 100, "training example")}`;
    const more = a !== null ? `, ${addedWords(a, this.data.classes.length)}` : tree.path ? "; averaged along the path" : "";
    const how = `${ends}: ${seen}${more}`;
    const list = h("ol", { class: "path" }, ...(steps.length > 0 ? steps : [h("li", {}, "always")]));
    if (second) {
      const words = `The tree in sight says ${this.data.classes[word]} (${percent(leaf.p[word]!)}: ${seen}${more}), because`;
      return [h("div", { class: "because" }, h("h3", {}, words), list)];
    }
    const p = says(tree, bits, filled(this.data, this.form.row));
    const range = p === leaf.p ? (leaf.i ?? null) : null;
    return [this.verdict(p, leaf.s ?? null, range, how), h("div", { class: "because" }, h("h3", {}, "Because"), list)];
  }

  // --- what would change the answer

  private changes(tree: Tree | null, rules: Sum | null, row: Row, exact: boolean): HTMLElement {
    const { data } = this;
    let found: Change | null = null;
    let whose = "";
    if (data.answer === "average" && rules !== null) {
      found = changeInSum(data, rules, row);
      whose = found === null ? "No change of one or two columns makes the average say anything else." : "";
    } else if (tree !== null) {
      found = plain(tree) ? changeInTree(data, tree, row) : changeInMixture(data, tree, row);
      whose = found === null ? "No row gets another answer from this tree." : exact ? " (of the tree in sight)" : "";
    }
    const box = h("div", { class: "change" }, h("h3", {}, "What would change the answer"));
    if (found === null) {
      box.append(h("p", { class: "quiet" }, whose));
      return box;
    }
    const words = found.moves.flatMap((move, k) => [
      k > 0 ? " and " : "",
      h("strong", {}, name(data.columns[move.column]!.name)),
      ` from ${cellText(data, move.column, row[move.column] ?? null)} to `,
      h("strong", {}, move.above !== undefined ? `above ${number(move.above)}` : cellText(data, move.column, move.to)),
    ]);
    const other = h("span", { class: "pill" }, name(data.classes[found.says]!));
    colour(other, found.says);
    const take = h("button", { type: "button" }, "Make this change");
    on(take, "click", () => {
      const cells = this.form.row.slice();
      for (const move of found.moves) cells[move.column] = move.to;
      this.form.set(cells);
      this.update();
    });
    box.append(
      h("p", {}, "The nearest other answer is ", other, ` (${percent(found.p[found.says]!)})${whose}: change `, ...words, "."),
      take,
    );
    return box;
  }

  // --- two rows side by side

  private keeper(): HTMLElement {
    const keep = h("button", { type: "button" }, this.kept === null ? "Keep this row beside the next one" : "Keep this row instead");
    on(keep, "click", () => {
      this.kept = { row: this.form.row.slice(), picked: this.form.picked };
      this.update();
    });
    const box = h("p", { class: "actions" }, keep);
    if (this.kept !== null) {
      const swap = h("button", { type: "button" }, "Swap");
      on(swap, "click", () => {
        const { row, picked } = this.form;
        const before = this.kept!;
        this.kept = { row: row.slice(), picked };
        this.form.set(before.row, before.picked);
        this.update();
      });
      const drop = h("button", { type: "button" }, "Forget it");
      on(drop, "click", () => {
        this.kept = null;
        this.update();
      });
      box.append(swap, drop);
    }
    return box;
  }

  // The probabilities for any row, as the page knows them: of the average where it can, else of the tree in sight.
  private answer({ row, picked }: Kept): number[] | null {
    const { data } = this;
    const whole = filled(data, row);
    const bits = outcomes(data, whole);
    const rules = data.posterior?.sum ?? null;
    if (data.answer === "average" && rules !== null) return average(rules, bits);
    const known = picked === null ? null : (data.posterior?.averages?.[picked] ?? null);
    const mean = data.answer === "average" ? (known ?? this.estimated(bits)?.p ?? null) : null;
    if (mean !== null) return mean;
    const tree = this.shown();
    return tree === null ? null : says(tree, bits, whole);
  }

  private beside(row: Row): HTMLElement | null {
    const { data, kept } = this;
    if (kept === null) return null;
    const [before, now] = [this.answer(kept), this.answer({ row, picked: this.form.picked })];
    if (before === null || now === null) return null;
    const differ = data.columns.map((_, j) => j).filter((j) => (kept.row[j] ?? null) !== (row[j] ?? null));
    const line = (title: HTMLElement | string, a: Node | string, b: Node | string, strong = false) =>
      h("tr", { class: strong ? "own" : null }, h("th", { scope: "row" }, title), h("td", {}, a), h("td", {}, b));
    const word = (p: number[]) => {
      const c = decided(p, data.costs);
      const pill = h("span", { class: "pill" }, name(data.classes[c]!), ` ${percent(p[c]!)}`);
      colour(pill, c);
      return pill;
    };
    const rows = [
      line("the answer", word(before), word(now), true),
      ...differ.slice(0, 40).map((j) =>
        line(name(data.columns[j]!.name), name(cellText(data, j, kept.row[j] ?? null)), name(cellText(data, j, row[j] ?? null))),
      ),
    ];
    const head = ["", "the row kept", "this row"].map((each, k) => (k === 0 ? h("td", {}) : h("th", { scope: "col" }, each)));
    const same = data.columns.length - differ.length;
    return h(
      "div",
      { class: "beside" },
      h("h3", {}, "Two rows side by side"),
      h(
        "div",
        { class: "scroll", tabindex: 0, role: "region", "aria-label": "Two rows side by side" },
        h("table", { class: "plain" }, h("thead", {}, h("tr", {}, ...head)), h("tbody", {}, ...rows)),
      ),
      h("p", { class: "quiet" }, `${many(same, "other column")} ${same === 1 ? "is" : "are"} the same. In the tree the way of the row kept is dashed.`),
    );
  }

  // --- the rules behind an average

  // Of a sum of rules, those that move the answer most.
  private moving(bits: (0 | 1)[]): HTMLElement | null {
    const { posterior, classes, answer } = this.data;
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
      const words = said(this.data, items.map((code) => [code >> 1, code & 1]));
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
    const hold = alike(
      posterior.rules.filter((rule) => rule.items.every(([test, outcome]) => bits[test] === outcome)),
      (rule) => said(this.data, rule.items).join(" and "),
    );
    const weight = sum(hold.map((rule) => rule.weight));
    const rows = hold.slice(0, MOST_RULES).map((rule) => {
      const c = largest(rule.p);
      const pill = h("span", { class: "pill" }, name(classes[c]!));
      colour(pill, c);
      const words = said(this.data, rule.items);
      return h(
        "tr",
        {},
        h("td", { class: "number" }, percent(rule.weight)),
        h("td", {}, ...(words.length ? joined(words) : ["always"])),
        h("td", {}, pill, ` ${chance(rule.p[c]!)} `, h("span", { class: "quiet" }, range(rule.i))),
        h("td", { class: "number" }, `${examples(rule.n[c] ?? 0)} of ${examples(sum(rule.n))}`),
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
            h("table", { class: "plain rules" }, h("thead", {}, h("tr", {}, ...head)), h("tbody", {}, ...rows)),
          )
        : null,
    );
  }
}

// Rules that read the same and hold for the same examples are one: trees come to such a leaf by several ways.
function alike(rules: Rule[], read: (rule: Rule) => string): Rule[] {
  const found = new Map<string, Rule>();
  for (const rule of rules) {
    const key = JSON.stringify([read(rule), rule.n, rule.p]);
    const known = found.get(key);
    found.set(key, known === undefined ? rule : { ...known, weight: known.weight + rule.weight });
  }
  return [...found.values()].sort((a, b) => b.weight - a.weight);
}

function intervalWords(drawn: Drawn): string {
  return `The interval is that of ${many(drawn.draws, "tree")} drawn from all, with the spread in their leaves.`;
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
