// The page: a report that opens from disk, or the explorer with its local server. One layout for both.

import { smoothing } from "./added.ts";
import { frontChart, short } from "./charts.ts";
import { readData, type PageData, type Tree } from "./data.ts";
import { colour, h, many, name, on, percent, sum } from "./dom.ts";
import { beside } from "./heldout.ts";
import { LivePanel, type Answer } from "./live.ts";
import { NodeView } from "./node.ts";
import { RowView } from "./row.ts";
import { calibrationPart, citePart, factsPart, heldOutPart, posteriorPart } from "./sections.ts";
import { TreeView } from "./tree.ts";

type Mode = "model" | "front" | "top";

const MOST_LEGEND = 12;

class Page {
  private readonly view: TreeView;
  private readonly panel: LivePanel | null;
  private readonly node: NodeView;
  private row: RowView;
  private mode: Mode = "model";
  private size = -1; // position on the front
  private rank = 0; // position among the most probable trees
  private tree: Tree | null = null;
  private readonly parts: Record<string, HTMLElement> = {};

  constructor(
    private readonly data: PageData,
    private readonly root: HTMLElement,
  ) {
    this.panel = data.live === undefined ? null : new LivePanel(data.live, (answer) => this.take(answer), () => this.toModel());
    this.view = new TreeView(data, (node) => this.chooseNode(node));
    this.node = new NodeView(data, this.panel?.asker(() => this.data.claims) ?? null, () => this.closeNode());
    this.row = this.newRow();
    this.build();
    if (data.tree === null) this.mode = data.posterior?.top.length ? "top" : data.front ? "front" : "model";
    this.refresh();
  }

  private newRow(): RowView {
    return new RowView(
      this.data,
      () => this.tree,
      (passed, other) => this.view.mark(passed, other),
    );
  }

  private build(): void {
    const { data } = this;
    const header = h(
      "header",
      { class: "top" },
      h("p", { class: "brand" }, "everytree"),
      h("h1", {}, name(data.title)),
      h("p", { class: "summary" }, data.summary),
      data.held_out?.verdict ? h("p", { class: "summary worth" }, data.held_out.verdict) : null,
      this.legend(),
    );
    const main = h("main", {});
    if (this.panel !== null) {
      main.append(this.panel.element);
      queueMicrotask(() => this.panel!.ask());
    }
    const bench = h("div", { class: "bench" }); // the tree stays in sight while a row is typed beside it
    const pair = h("div", { class: "pair" });
    const inside: Record<string, HTMLElement> = { tree: bench, row: bench, more: bench, heldout: pair, posterior: pair };
    for (const part of ["notes", "tree", "row", "more", "heldout", "posterior", "calibration", "facts", "cite"]) {
      const labelled = part === "more" ? { "aria-label": "More about the row" } : { "aria-labelledby": `${part}-title` };
      this.parts[part] = h("section", { class: `card part-${part}`, ...labelled });
      const where = inside[part] ?? main;
      if (where !== main && !where.hasChildNodes()) main.append(where);
      where.append(this.parts[part]!);
    }
    this.root.replaceChildren(header, main, h("footer", {}, "Made by everytree. This page asks nothing of any network."));
    this.parts["tree"]!.append(
      h("h2", { id: "tree-title" }, data.text === null ? "The tree" : "The model"),
      h("div", { class: "chooser" }),
      h("div", { class: "choices" }),
      this.view.element,
      this.node.element,
    );
    this.parts["cite"]!.append(...citePart(data.cite));
  }

  private chooseNode(node: number | null): void {
    if (node === null || this.tree === null) this.node.hide();
    else this.node.show(this.tree, node);
  }

  private closeNode(): void {
    this.node.hide();
    this.view.setChosen(null);
  }

  // A choice at a node is about the tree of the question.
  private toModel(): void {
    this.mode = "model";
    this.closeNode();
  }

  // What the explorer's server has found so far. A question that has ended leaves nothing of the one before in sight;
  // until then what belongs to that one stays, pale, and says so.
  private take(answer: Answer): void {
    const { tests, ...part } = answer.part;
    const found = new Set(Object.keys(part));
    // A number is one test for good, so that what is still in sight keeps its tests.
    for (const [number, test] of Object.entries(tests ?? {})) this.data.tests[Number(number)] = test;
    if (answer.done) {
      if (!found.has("tree")) Object.assign(part, { tree: null, treeAbout: "There is no tree for this question.", claims: [] });
      if (!found.has("front")) part.front = null;
      if (!found.has("posterior")) part.posterior = null;
      if (!found.has("held_out")) part.held_out = null;
      if (!found.has("facts")) part.facts = [];
      if (!found.has("notes")) part.notes = [];
    }
    const before = this.data.posterior;
    const same = (key: "tree" | "front" | "posterior") =>
      key in part && JSON.stringify(part[key]) === JSON.stringify(this.data[key]);
    for (const key of ["tree", "front", "posterior"] as const) if (same(key)) delete part[key];
    Object.assign(this.data, part);
    this.size = Math.min(this.size, (this.data.front?.points.length ?? 0) - 1);
    this.rank = Math.min(this.rank, Math.max(0, (this.data.posterior?.top.length ?? 0) - 1));
    this.refresh(before !== this.data.posterior);
    const inSight = this.mode === "front" && this.data.front ? "front" : this.mode === "top" && this.data.posterior ? "posterior" : "tree";
    const source = { tree: inSight, facts: inSight, notes: "notes", posterior: "posterior", row: "tree", more: "posterior", heldout: "held_out" };
    const some = this.data.tree !== null || this.data.posterior !== null;
    for (const [name, key] of Object.entries(source)) {
      this.parts[name]!.classList.toggle("stale", some && !answer.done && !found.has(key));
    }
  }

  private refresh(all = true): void {
    this.notes();
    this.chooser();
    this.drawTree();
    if (!this.parts["row"]!.hasChildNodes()) this.rowSection();
    this.row.update();
    if (this.parts["row"]!.hidden) this.parts["more"]!.hidden = true;
    if (all) this.posterior();
    this.heldOut();
    this.calibration();
    this.facts();
  }

  private legend(): HTMLElement | null {
    const { classes } = this.data;
    if (classes.length < 2 || classes.length > MOST_LEGEND) return null;
    const items = classes.map((label, c) => {
      const swatch = h("span", { class: "swatch", "aria-hidden": "true" });
      colour(swatch, c);
      return h("li", {}, swatch, name(label));
    });
    return h("ul", { class: "legend", "aria-label": "Classes" }, ...items);
  }

  private notes(): void {
    const part = this.parts["notes"]!;
    part.hidden = this.data.notes.length === 0;
    part.replaceChildren(
      h("h2", { id: "notes-title" }, "Good to know"),
      h("ul", {}, ...this.data.notes.map((note) => h("li", {}, note))),
    );
  }

  // --- the tree, and which one

  private chosen(): { tree: Tree | null; about: string } {
    const { data } = this;
    if (this.mode === "front" && data.front) {
      const points = data.front.points;
      if (this.size < 0) this.size = points.length - 1;
      const point = points[this.size]!;
      const about = `Least ${data.front.cost} of all trees with at most ${many(point.size, "node")}: ${short(point.error)}.`;
      return { tree: point.tree, about };
    }
    if (this.mode === "top" && data.posterior) {
      const top = data.posterior.top[this.rank];
      if (top) return { tree: top.tree, about: `Posterior probability ${percent(top.probability)}.` };
    }
    return { tree: data.tree, about: data.treeAbout };
  }

  private drawTree(): void {
    const { tree, about } = this.chosen();
    const part = this.parts["tree"]!;
    const text = this.data.text;
    this.view.element.hidden = tree === null;
    part.hidden = tree === null && text === null && this.data.live === undefined;
    let plain = part.querySelector<HTMLElement>(".model-text");
    if (tree === null && text !== null && plain === null) {
      plain = h("pre", { class: "as-text model-text", tabindex: 0, role: "region", "aria-label": "The model as text" }, text);
      part.append(plain);
    }
    const own = this.mode === "model" || tree === this.data.tree;
    const { held_out, front, treeHeld, answer } = this.data;
    const judged = this.mode === "front" && !own ? (front?.held?.[this.size] ?? null) : own ? (treeHeld ?? null) : null;
    const held = beside(held_out, judged, own && (answer === "tree" || this.panel !== null));
    const n = tree === null ? 0 : sum(tree.nodes[0]!.n);
    part.querySelector(".about")?.replaceChildren(
      about +
        (tree
          ? ` ${leaves(tree.leaves)}, depth ${tree.depth}, ${many(tree.error, "training error")}${n > 0 ? ` (${percent(tree.error / n)})` : ""}. ${held} ${smoothing(tree, this.data.classes.length)}`
          : ""),
    );
    this.choices();
    if (tree !== this.tree) {
      this.tree = tree;
      this.node.hide();
      this.view.show(tree);
    }
    const edits = this.panel?.edits() ?? [];
    this.view.setEdits(new Map(own ? edits.map(([path, , kept]) => [path, !kept]) : []));
  }

  // The nodes that the reader has chosen, each with a way to undo it.
  private choices(): void {
    const box = this.parts["tree"]!.querySelector(".choices")!;
    const chosen = (this.panel?.edits() ?? []).filter(([, , kept]) => !kept);
    if (chosen.length === 0 || this.mode !== "model") {
      box.replaceChildren();
      return;
    }
    const words = (path: string, test: number | null) => {
      const where = path === "" ? "the root" : `the node at ${[...path].map((step) => (step === "1" ? "yes" : "no")).join(", ")}`;
      if (test === null) return `${where} is a leaf`;
      const asked = this.data.tests.find((each) => each?.raw === test)?.name;
      return `${where} asks ${this.nodeWords(path) ?? asked ?? "what you chose"}`;
    };
    const items = chosen.map(([path, test]) => {
      const undo = h("button", { type: "button", class: "undo", "aria-label": `Undo: ${words(path, test)}` }, "✕");
      on(undo, "click", () => this.panel!.undo(path));
      return h("li", {}, name(words(path, test)), undo);
    });
    const all = h("button", { type: "button" }, "Undo all");
    on(all, "click", () => this.panel!.edit([]));
    box.replaceChildren(h("ul", { class: "chips", "aria-label": "Your choices" }, ...items), ...(chosen.length > 1 ? [all] : []));
  }

  private nodeWords(path: string): string | null {
    const tree = this.data.tree;
    let k = 0;
    for (const step of path) {
      const next = tree?.nodes[k]?.k?.[step === "1" ? 0 : 1];
      if (next === undefined) return null;
      k = next;
    }
    const test = tree?.nodes[k]?.t;
    return test === undefined ? null : this.data.tests[test]!.name;
  }

  private chooser(): void {
    const { data } = this;
    const box = this.parts["tree"]!.querySelector(".chooser")!;
    const modes: [Mode, string][] = [];
    if (data.tree !== null) modes.push(["model", data.live ? "Best tree" : "This model"]);
    if (data.front) modes.push(["front", "Best of each size"]);
    if (data.posterior?.top.length) modes.push(["top", "Most probable trees"]);
    if (!modes.some(([mode]) => mode === this.mode) && data.live === undefined) this.mode = modes[0]?.[0] ?? "model";
    const state = JSON.stringify([modes, this.mode]);
    if (box.getAttribute("data-state") !== state || this.mode !== "model") {
      box.setAttribute("data-state", state);
      box.replaceChildren(...this.tabs(modes), ...this.picker(), h("p", { class: "about quiet" }));
    }
  }

  private tabs(modes: [Mode, string][]): HTMLElement[] {
    if (modes.length < 2) return [];
    const group = h("div", { class: "segments", role: "radiogroup", "aria-label": "Which tree" });
    for (const [mode, label] of modes) {
      const input = h("input", { type: "radio", name: "mode", id: `mode-${mode}`, value: mode });
      input.checked = mode === this.mode;
      on(input, "change", () => {
        this.mode = mode;
        this.refresh(false);
        document.getElementById(`mode-${mode}`)?.focus();
      });
      group.append(h("span", { class: "segment" }, input, h("label", { for: input.id }, label)));
    }
    return [group];
  }

  private picker(): HTMLElement[] {
    const { data } = this;
    if (this.mode === "front" && data.front) {
      const { points, cost } = data.front;
      if (this.size < 0 || this.size >= points.length) this.size = points.length - 1;
      const words = () => `${many(points[this.size]!.size, "node")}, ${cost} ${short(points[this.size]!.error)}`;
      const slider = h("input", {
        type: "range", id: "front-size", min: 0, max: points.length - 1, step: 1, value: this.size,
        "aria-valuetext": words(),
      });
      const shown = h("output", { for: "front-size" }, words());
      const chart = h("div", {}, frontChart(points, this.size, cost));
      on(slider, "input", () => {
        this.size = Number(slider.value);
        slider.setAttribute("aria-valuetext", words());
        shown.textContent = words();
        chart.replaceChildren(frontChart(points, this.size, cost));
        this.drawTree();
        this.facts();
        this.row.update();
      });
      const label = h("label", { for: "front-size" }, "Size of the tree ");
      return [h("div", { class: "front" }, h("div", { class: "slider" }, label, slider, shown), chart)];
    }
    if (this.mode === "top" && data.posterior) {
      const { top, share } = data.posterior;
      const list = h("div", { class: "ranks", role: "radiogroup", "aria-label": "The most probable trees" });
      top.forEach((each, k) => {
        const input = h("input", { type: "radio", name: "rank", id: `rank-${k}`, value: k });
        input.checked = k === this.rank;
        on(input, "change", () => {
          this.rank = k;
          this.drawTree();
          this.facts();
          this.row.update();
        });
        const bar = h("span", { class: "fill" });
        bar.style.setProperty("width", `${(100 * each.probability) / Math.max(...top.map((t) => t.probability))}%`);
        list.append(
          h(
            "span",
            { class: "rank" },
            input,
            h(
              "label",
              { for: input.id },
              `${k + 1}. ${percent(each.probability)}`,
              h("span", { class: "track", "aria-hidden": "true" }, bar),
            ),
          ),
        );
      });
      return [list, h("p", { class: "quiet" }, `Together they are ${percent(share)} of the posterior. ${data.posterior.about}`)];
    }
    return [];
  }

  // --- the other parts

  private rowSection(): void {
    const part = this.parts["row"]!;
    const { data } = this;
    part.hidden = (data.tree === null && data.posterior === null && data.live === undefined) || data.columns.length === 0;
    if (part.hidden) return;
    part.replaceChildren(
      h("h2", { id: "row-title" }, "One row"),
      h("p", { class: "quiet" }, "Type values or pick a row: the page computes the answer and marks its way through the tree."),
      this.row.element,
    );
    this.parts["more"]!.replaceChildren(this.row.more);
  }

  private posterior(): void {
    const part = this.parts["posterior"]!;
    const found = this.data.posterior;
    part.hidden = found === null || found.inclusion.length === 0;
    if (found !== null && !part.hidden) part.replaceChildren(...posteriorPart(this.data, found));
  }

  private heldOut(): void {
    const part = this.parts["heldout"]!;
    const found = this.data.held_out ?? null;
    part.hidden = found === null || found.lines.length === 0;
    if (found !== null && !part.hidden) part.replaceChildren(...heldOutPart(found));
  }

  private calibration(): void {
    const part = this.parts["calibration"]!;
    const found = this.data.calibration;
    part.hidden = found === null;
    if (found !== null && !part.hasChildNodes()) part.replaceChildren(...calibrationPart(this.data, found));
  }

  // The explorer's claims are about one tree: the one in sight.
  private claims(): { title: string; rows: [string, string][] }[] {
    const { data, tree } = this;
    if (data.live === undefined || tree === null) return [];
    const errors: [string, string] = ["training errors", short(tree.error)];
    const point = this.mode === "front" ? data.front?.points[this.size] : undefined;
    if (point !== undefined) {
      const rows: [string, string][] = [[data.front!.cost, short(point.error)]];
      if (data.front!.cost !== "training errors") rows.push(errors);
      rows.push([`proved best of at most ${many(point.size, "node")}`, "yes"]);
      return [{ title: "The tree shown", rows }];
    }
    const top = this.mode === "top" ? data.posterior?.top[this.rank] : undefined;
    if (top !== undefined) {
      return [{ title: "The tree shown", rows: [["posterior probability", percent(top.probability)], errors] }];
    }
    return [{ title: "The tree shown", rows: data.claims }];
  }

  private facts(): void {
    const part = this.parts["facts"]!;
    part.hidden = this.data.facts.length === 0;
    part.replaceChildren(...factsPart([...this.claims(), ...this.data.facts]));
  }
}

function leaves(n: number): string {
  return n === 1 ? "1 leaf" : `${n.toLocaleString("en")} leaves`;
}

const root = document.getElementById("everytree");
if (root !== null) {
  try {
    new Page(readData(), root);
  } catch (error) {
    root.replaceChildren(h("p", { class: "problem" }, `The page cannot be shown: ${String(error)}`));
    throw error;
  }
}
