// One node: its examples, the values of a column among them by class, and in the explorer what it could ask instead.

import type { Edit, Node, PageData, Shape, Test, Tree } from "./data.ts";
import { chance, colour, h, largest, many, name, on, sum } from "./dom.ts";
import { histogram } from "./histogram.ts";
import { said } from "./words.ts";

export interface Step {
  path: string; // the way to the node: 1 for yes, 0 for no
  steps: [number, number][]; // the tests on it, by number, with their outcomes
}

// The explorer's answer about a node.
export interface NodeFacts {
  options: [number, number, number, number][]; // test of the model, its number in the page, examples on the two sides
  tests: Record<string, Test>;
  shapes: Shape[];
  counts: number[][];
}

export interface Asker {
  node(steps: [number, number][]): Promise<NodeFacts>;
  prices(steps: [number, number][], tests: number[]): Promise<[number, number | null][]>;
  edits(): Edit[];
  edit(edits: Edit[]): void;
  objective(): { words: string; best: number | null };
  depth(): number;
}

export function wayTo(tree: Tree, k: number): Step {
  const up = new Map<number, [number, number]>();
  tree.nodes.forEach((node, parent) => node.k?.forEach((child, at) => up.set(child, [parent, at])));
  const steps: [number, number][] = [];
  let path = "";
  for (let here = k; up.has(here); ) {
    const [parent, at] = up.get(here)!;
    steps.unshift([tree.nodes[parent]!.t ?? -1, at === 0 ? 1 : 0]);
    path = (at === 0 ? "1" : "0") + path;
    here = parent;
  }
  return { path, steps };
}

// The choices after one more at the end of a way; undefined undoes it. Nodes above a choice stay as they are in the tree
// in sight, those below it are forgotten.
export function edited(now: Edit[], way: Step, raw: (test: number) => number, test: number | null | undefined): Edit[] {
  const found = new Map(now.filter(([path]) => !path.startsWith(way.path)).map((each) => [each[0], each]));
  if (test !== undefined) {
    way.steps.forEach(([number], at) => {
      const path = way.path.slice(0, at);
      if (!found.has(path)) found.set(path, [path, raw(number), 1]);
    });
    found.set(way.path, [way.path, test, 0]);
  }
  return supported([...found.values()]);
}

// Without the nodes that only stood above a choice that is gone.
export function supported(edits: Edit[]): Edit[] {
  const chosen = edits.filter(([, , kept]) => !kept);
  return edits
    .filter(([path, , kept]) => !kept || chosen.some(([each]) => each.startsWith(path)))
    .sort((a, b) => a[0].length - b[0].length || (a[0] < b[0] ? -1 : 1));
}

const PRICED = 40; // tests of a node whose price is asked for

export class NodeView {
  readonly element = h("div", { class: "node-panel", role: "region", "aria-label": "The chosen node", hidden: true });
  private turn = 0;
  private column: number | null = null;
  private tree: Tree | null = null;
  private node = -1;

  constructor(
    private readonly data: PageData,
    private readonly asker: Asker | null,
    private readonly close: () => void,
  ) {}

  hide(): void {
    this.turn++;
    this.node = -1;
    this.element.hidden = true;
    this.element.replaceChildren();
  }

  // A node of the tree in sight; only the model's own tree has counts of columns in a report.
  show(tree: Tree, k: number): void {
    const turn = ++this.turn;
    const again = this.tree === tree && this.node === k;
    this.tree = tree;
    this.node = k;
    const node = tree.nodes[k]!;
    const way = wayTo(tree, k);
    const where = way.steps.every(([test]) => test >= 0) ? said(this.data, way.steps) : [];
    if (!again) this.column = node.t !== undefined ? this.data.tests[node.t]!.column : (node.col ?? null);
    const shut = h("button", { type: "button", class: "shut", "aria-label": "Close the panel of the node" }, "✕");
    on(shut, "click", () => this.close());
    const words = where.length > 0 ? where.flatMap((each, i) => (i ? [" and ", name(each)] : [name(each)])) : ["all examples"];
    const body = h("div", { class: "node-body" });
    this.element.hidden = false;
    this.element.replaceChildren(
      h("div", { class: "node-head" }, h("h3", {}, way.path === "" ? "The root: " : "The node where ", ...words), shut),
      this.counts(node),
      body,
    );
    const known = this.data.distributions?.nodes[String(k)];
    if (this.asker === null) {
      if (known && tree === this.data.tree) body.append(this.spread(this.data.distributions!.shapes, known));
      return;
    }
    const wait = h("p", { class: "quiet" }, "counting …");
    body.append(wait);
    this.asker.node(way.steps).then(
      (facts) => {
        if (turn !== this.turn) return;
        for (const [number, test] of Object.entries(facts.tests)) this.data.tests[Number(number)] = test;
        body.replaceChildren(this.editor(tree, k, way, facts, turn), this.spread(facts.shapes, facts.counts));
      },
      (error) => turn === this.turn && wait.replaceChildren(String(error instanceof Error ? error.message : error)),
    );
  }

  private counts(node: Node): HTMLElement {
    const { classes } = this.data;
    const total = sum(node.n);
    const list = h("ul", { class: "legend" });
    const order = [...node.n.keys()].sort((a, b) => node.n[b]! - node.n[a]!).slice(0, 8);
    for (const c of order) {
      const swatch = h("span", { class: "swatch", "aria-hidden": "true" });
      colour(swatch, c);
      const share = total > 0 ? ` (${Math.round((1000 * node.n[c]!) / total) / 10}\u202f%)` : "";
      list.append(h("li", {}, swatch, h("span", {}, name(classes[c]!), ` ${node.n[c]}${share}`)));
    }
    const says = node.s ?? largest(node.p);
    const range = node.i ? `, 95\u202f% interval ${chance(node.i[0])} to ${chance(node.i[1])}` : "";
    const rest = `A leaf here would say ${classes[says]} with probability ${chance(node.p[says]!)}${range}.`;
    return h("div", {}, list, h("p", { class: "quiet" }, `${many(Math.round(total * 100) / 100, "example")}. ${rest}`));
  }

  private spread(shapes: Shape[], counts: number[][]): HTMLElement {
    const { columns, classes } = this.data;
    const select = h("select", { id: "spread-column" });
    const first = this.column ?? 0;
    columns.forEach((column, j) => select.append(h("option", { value: j, selected: j === first }, column.name)));
    const box = h("div", {});
    const draw = () => {
      const j = Number(select.value);
      this.column = j;
      box.replaceChildren(histogram(columns[j]!, shapes[j]!, counts[j]!, classes));
    };
    on(select, "change", draw);
    draw();
    return h("div", { class: "node-spread" }, h("p", { class: "pick" }, h("label", { for: "spread-column" }, "Values here of "), select), box);
  }

  // What the node could ask. Above it everything stays, below it everything is the best there is.
  private editor(tree: Tree, k: number, way: Step, facts: NodeFacts, turn: number): HTMLElement {
    const asker = this.asker!;
    const { data } = this;
    const node = tree.nodes[k]!;
    const own = node.t === undefined ? null : data.tests[node.t]!;
    const fixed = tree === data.tree && asker.edits().some(([path, , kept]) => path === way.path && !kept);
    const part = h("div", { class: "node-edit" });
    const prices = new Map<number, number | null>();
    const { words: cost, best } = asker.objective();

    const put = (test: number | null | undefined) => {
      const now = tree === data.tree ? asker.edits() : [];
      asker.edit(edited(now, way, (number) => data.tests[number]!.raw!, test));
    };

    if (facts.options.length === 0) {
      const why = way.path.length >= asker.depth() ? "It is as deep as a tree may be" : "No test leaves enough examples on either side";
      part.append(h("p", { class: "quiet" }, `${why}, so that it can only be a leaf.`));
    } else {
      const byColumn = new Map<number, [number, number, number, number][]>();
      for (const option of facts.options) {
        const j = data.tests[option[1]]!.column;
        byColumn.set(j, [...(byColumn.get(j) ?? []), option]);
      }
      const columns = h("select", { id: "edit-column" });
      const tests = h("select", { id: "edit-test" });
      const price = h("p", { class: "price", role: "status" });
      const go = h("button", { type: "button", class: "strong" }, "Ask this here");
      const columnWords = (j: number) => {
        const known = byColumn.get(j)!.map(([raw]) => prices.get(raw)).filter((each): each is number => each !== undefined && each !== null);
        return data.columns[j]!.name + (known.length > 0 && best !== null ? `  (${signed(Math.min(...known) - best)})` : "");
      };
      const testWords = ([raw, number, yes, no]: [number, number, number, number]) => {
        const known = prices.get(raw);
        const more = known === undefined || known === null || best === null ? "" : `, ${signed(known - best)}`;
        return `${data.tests[number]!.name}  (${yes} yes, ${no} no${more})`;
      };
      const order = [...byColumn.keys()];
      const current = own === null ? order[0]! : byColumn.has(own.column) ? own.column : order[0]!;
      const fillColumns = () => {
        const chosen = columns.value === "" ? current : Number(columns.value);
        const rank = (j: number) => Math.min(Infinity, ...byColumn.get(j)!.map(([raw]) => prices.get(raw) ?? Infinity));
        const sorted = prices.size > 0 ? [...order].sort((a, b) => rank(a) - rank(b) || order.indexOf(a) - order.indexOf(b)) : order;
        columns.replaceChildren(...sorted.map((j) => h("option", { value: j, selected: j === chosen }, columnWords(j))));
      };
      const fillTests = (keep: boolean) => {
        const options = byColumn.get(Number(columns.value))!;
        const before = keep ? Number(tests.value) : own !== null && Number(columns.value) === own.column ? own.raw! : options[0]![0];
        const listed = [...options].sort((a, b) => (data.tests[a[1]]!.value ?? -1) - (data.tests[b[1]]!.value ?? -1));
        tests.replaceChildren(...listed.map((each) => h("option", { value: each[0], selected: each[0] === before }, testWords(each))));
        tell();
      };
      const tell = () => {
        const known = prices.get(Number(tests.value));
        const same = own !== null && own.raw === Number(tests.value);
        go.disabled = same;
        price.replaceChildren(
          same ? "This is what it asks now." : known === undefined ? "" : known === null ? "With this no tree meets the question." : best === null ? `The best tree with it has ${known} ${cost}.` : `The best tree with it: ${round(known)} ${cost}, ${signed(known - best)} beside the best.`,
        );
      };
      fillColumns();
      fillTests(false);
      on(columns, "change", () => {
        fillTests(false);
        void ask(byColumn.get(Number(columns.value))!.map(([raw]) => raw));
      });
      on(tests, "change", tell);
      on(go, "click", () => put(Number(tests.value)));
      const ask = async (wanted: number[]) => {
        const left = wanted.filter((raw) => !prices.has(raw)).slice(0, PRICED);
        if (left.length === 0) return;
        try {
          const found = await asker.prices(way.steps, left);
          if (turn !== this.turn) return;
          for (const [raw, value] of found) prices.set(raw, value);
          fillColumns();
          fillTests(true);
        } catch {
          if (turn === this.turn) price.textContent = "The prices could not be found.";
        }
      };
      part.append(
        h("h4", {}, own === null ? "Ask something here" : "Ask something else here"),
        h(
          "div",
          { class: "fields" },
          h("div", { class: "field" }, h("label", { for: "edit-column" }, "Column"), columns),
          h("div", { class: "field wide" }, h("label", { for: "edit-test" }, "Question"), tests),
        ),
        price,
        h("div", { class: "actions" }, go),
      );
      // First the best test of every column, as they part the classes; then those of the column in sight.
      const first = order.map((j) => byColumn.get(j)![0]![0]);
      void ask(first).then(() => {
        if (turn === this.turn) void ask(byColumn.get(Number(columns.value))!.map(([raw]) => raw));
      });
    }
    const actions = part.querySelector(".actions") ?? part.appendChild(h("div", { class: "actions" }));
    if (node.k !== undefined) {
      const cut = h("button", { type: "button" }, "Cut this branch off");
      on(cut, "click", () => put(null));
      actions.append(cut);
    }
    if (fixed) {
      const free = h("button", { type: "button" }, "Undo this choice");
      on(free, "click", () => put(undefined));
      actions.append(free);
    }
    return part;
  }
}

export function signed(x: number): string {
  const value = round(Math.abs(x));
  return value === 0 ? "±0" : `${x < 0 ? "−" : "+"}${value}`;
}

function round(x: number): number {
  return Number(x.toPrecision(5));
}
