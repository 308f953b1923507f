// The tree as a picture one can walk: zoom, fold, choose a node, arrow keys, and the way of a row.
//
// It is a `tree` of ARIA: one item has the focus, arrows move it, Enter chooses a node, the space bar folds a subtree.

import { smoothing } from "./added.ts";
import { boxSize, boxWords, CHAR, question, short, wide, type Text } from "./box.ts";
import type { Node, PageData, Tree } from "./data.ts";
import { clip, colour, examples, h, largest, on, percent, s, sum } from "./dom.ts";
import { place, type Placed } from "./layout.ts";
import { wayTo } from "./node.ts";
import { savePng, saveSvg } from "./save.ts";

const GAP_X = 18;
const GAP_Y = 46;
const MARGIN = 10;
const LEAST_FIT = 0.55; // below this the words are too small to read: deeper levels are folded, or the frame scrolls
const MOST_FIT = 1.1;

interface Plan {
  order: number[]; // the nodes in sight, in preorder
  parent: Map<number, number>;
  level: Map<number, number>;
  texts: Map<number, Text>;
  placed: Placed;
}

export class TreeView {
  readonly element: HTMLElement;
  private readonly frame = h("div", { class: "tree-frame" });
  private readonly say = h("p", { class: "hidden", "aria-live": "polite" });
  private readonly text = h("pre", { class: "as-text", tabindex: 0, "aria-label": "The tree as text" });
  private tree: Tree | null = null;
  private folded = new Set<number>();
  private passed = new Set<number>();
  private beside = new Set<number>(); // the way of a second row
  private chosen: number | null = null;
  private edits: ReadonlyMap<string, boolean> = new Map(); // by path: whether the reader chose it, or it only stays
  private zoom = 1;
  private free = true; // no zoom was chosen: the picture fits its frame
  private focus = 0;
  private size = { width: 1, height: 1 };
  private rootAt = 0;

  constructor(
    private readonly data: PageData,
    private readonly choose: (node: number | null) => void,
  ) {
    const button = (label: string, title: string, action: () => void) => {
      const made = h("button", { type: "button", title, "aria-label": title }, label);
      on(made, "click", action);
      return made;
    };
    const tools = h(
      "div",
      { class: "tools", role: "group", "aria-label": "Picture" },
      button("−", "Smaller", () => this.scale(this.zoom / 1.25)),
      button("+", "Larger", () => this.scale(this.zoom * 1.25)),
      button("Fit", "Fit the picture to the page", () => this.fit()),
      button("Unfold", "Unfold every node", () => this.fold(() => false)),
      button("Fold", "Fold all but the first two levels", () => this.fold((_, depth) => depth >= 2)),
      button("SVG", "Save the picture as SVG", () => this.save(false)),
      button("PNG", "Save the picture as PNG", () => this.save(true)),
    );
    const words = h("details", {}, h("summary", {}, "The same as text"), this.text);
    this.element = h("div", { class: "tree" }, tools, this.frame, this.say, words);
    on(this.frame, "keydown", (event) => this.key(event));
    this.drag();
    new ResizeObserver(() => this.free && this.fit()).observe(this.frame);
  }

  show(tree: Tree | null): void {
    this.tree = tree;
    this.focus = 0;
    this.chosen = null;
    this.folded.clear();
    if (tree !== null) {
      this.unfoldWhatFits(tree);
      const how = smoothing(tree, this.data.classes.length);
      this.text.textContent = this.asText(tree) + (how ? `\n\n${how}` : "");
    }
    this.free = true;
    this.draw();
    this.fit();
  }

  // As many levels as the frame has room for, without letters too small to read.
  private unfoldWhatFits(tree: Tree): void {
    const levels = depths(tree);
    const room = (this.frame.clientWidth || 1100) - 4;
    for (let depth = tree.depth; depth >= 1; depth--) {
      this.folded.clear();
      tree.nodes.forEach((node, k) => node.k && levels[k]! >= depth && this.folded.add(k));
      if (tree.nodes.length > 3000 && depth > 3) continue;
      if ((this.plan(tree).placed.width + 2 * MARGIN) * LEAST_FIT <= room) return;
    }
  }

  // The nodes that the reader has chosen have a mark.
  setEdits(edits: ReadonlyMap<string, boolean>): void {
    this.edits = edits;
    this.draw();
  }

  setChosen(node: number | null): void {
    this.chosen = node;
    this.draw();
  }

  private save(png: boolean): void {
    const picture = this.frame.querySelector<SVGSVGElement>("svg[role=tree]");
    if (picture === null) return;
    if (!png) saveSvg(picture, this.data.title);
    else void savePng(picture, this.data.title).catch(() => (this.say.textContent = "The picture could not be saved."));
  }

  // The nodes that a row passes are marked.
  mark(passed: number[], beside: number[] = []): void {
    const same = (a: Set<number>, b: number[]) => a.size === b.length && b.every((k) => a.has(k));
    if (same(this.passed, passed) && same(this.beside, beside)) return;
    this.passed = new Set(passed);
    this.beside = new Set(beside);
    this.draw();
    this.reveal(passed[passed.length - 1]);
  }

  // Where the picture is wider than its frame, scroll to the end of a row's way.
  private reveal(node: number | undefined): void {
    const item = node === undefined ? null : this.item(node);
    if (item === null || this.size.width * this.zoom <= this.frame.clientWidth) return;
    const [box, frame] = [item.getBoundingClientRect(), this.frame.getBoundingClientRect()];
    if (box.left < frame.left || box.right > frame.right) {
      this.frame.scrollTo(this.frame.scrollLeft + (box.left + box.right - frame.left - frame.right) / 2, this.frame.scrollTop);
    }
  }

  private fold(wanted: (node: number, depth: number) => boolean): void {
    if (this.tree === null) return;
    const levels = depths(this.tree);
    this.folded.clear();
    this.tree.nodes.forEach((node, k) => node.k && wanted(k, levels[k]!) && this.folded.add(k));
    this.draw();
    if (this.free) this.fit();
  }

  private fit(): void {
    this.free = true;
    const room = this.frame.clientWidth - 4;
    if (room <= 0) return;
    this.scale(Math.min(MOST_FIT, Math.max(LEAST_FIT, room / this.size.width)), true);
    // Where the picture is wider than its frame, the root is in the middle.
    this.frame.scrollTo(this.rootAt * this.zoom - this.frame.clientWidth / 2, this.frame.scrollTop);
  }

  private scale(zoom: number, free = false): void {
    this.zoom = Math.min(4, Math.max(0.1, zoom));
    this.free = free;
    const svg = this.frame.firstElementChild;
    if (svg instanceof SVGElement) {
      svg.setAttribute("width", String(this.size.width * this.zoom));
      svg.setAttribute("height", String(this.size.height * this.zoom));
    }
  }

  private open(tree: Tree, k: number): number[] {
    return this.folded.has(k) ? [] : (tree.nodes[k]!.k ?? []);
  }

  // The nodes in sight, their words and their places.
  private plan(tree: Tree): Plan {
    const order: number[] = [];
    const parent = new Map<number, number>();
    const level = new Map<number, number>([[0, 0]]);
    const waiting = [0];
    while (waiting.length > 0) {
      const k = waiting.pop()!;
      order.push(k);
      const below = this.open(tree, k);
      for (const child of below) {
        parent.set(child, k);
        level.set(child, level.get(k)! + 1);
      }
      waiting.push(...[...below].reverse());
    }
    const texts = new Map(order.map((k) => [k, boxWords(this.data, tree, k, level.get(k)!, this.folded.has(k))]));
    const placed = place(order, (k) => this.open(tree, k), (k) => level.get(k)!, (k) => boxSize(texts.get(k)!), GAP_X, GAP_Y);
    return { order, parent, level, texts, placed };
  }

  private draw(): void {
    const { tree } = this;
    if (tree === null) {
      this.text.textContent = "";
      this.frame.replaceChildren(h("p", { class: "quiet" }, "No tree."));
      return;
    }
    const hadFocus = this.frame.contains(document.activeElement);
    const { order, parent, level, texts, placed } = this.plan(tree);
    const open = (k: number) => this.open(tree, k);
    const box = (k: number) => boxSize(texts.get(k)!);
    if (!order.includes(this.focus)) this.focus = 0;
    const margin = MARGIN;
    this.size = { width: placed.width + 2 * margin, height: placed.height + 2 * margin };
    this.rootAt = placed.x.get(0)! + margin;
    const total = Math.max(1, sum(tree.nodes[0]!.n));
    const edited = this.edits.size > 0;

    // The drawing is hidden from screen readers; above it lies one item for each node, with all its words as a label.
    const branches = s("g", {});
    const drawn = s("g", {});
    const items = s("g", { role: "presentation" });
    for (const k of order) {
      const node = tree.nodes[k]!;
      const { width, height } = box(k);
      const x = placed.x.get(k)!;
      const y = placed.y.get(k)!;
      open(k).forEach((child, at) => {
        const x1 = placed.x.get(child)!;
        const y1 = placed.y.get(child)!;
        const y0 = y + height;
        const bend = y1 - GAP_Y / 2;
        const share = sum(tree.nodes[child]!.n) / total;
        const line = s("path", {
          d: `M${x} ${y0}V${bend - GAP_Y / 2}C${x} ${bend + 8} ${x1} ${bend - 12} ${x1} ${y1}`,
          class: `branch${this.passed.has(child) && this.passed.has(k) ? " passed" : ""}${this.beside.has(child) && this.beside.has(k) ? " beside" : ""}`,
          "stroke-width": (1.2 + 7 * share).toFixed(2),
        });
        const word = node.t !== undefined ? (at === 0 ? "yes" : "no") : clip(short(node, at), 18);
        const w = wide(word) * CHAR * 0.9 + 14;
        branches.append(
          line,
          s("rect", { class: "chip", x: x1 - w / 2, y: y1 - 27, width: w, height: 18, rx: 9 }),
          s("text", { class: "chip-text", x: x1, y: y1 - 14 }, word),
        );
      });

      const { title, detail, full, says } = texts.get(k)!;
      const up = parent.get(k);
      const beside = up === undefined ? [k] : open(up);
      const how = up === undefined ? "" : `${this.branchWord(tree.nodes[up]!, beside.indexOf(k))}: `;
      const passed = (this.passed.has(k) ? " passed" : "") + (this.beside.has(k) ? " beside" : "") + (this.chosen === k ? " chosen" : "");
      const own = edited ? this.edits.get(wayTo(tree, k).path) : undefined;
      const words = how + full + (own === undefined ? "" : own ? " You chose this." : " It stays as it was, above your choice.");
      const at = `translate(${x - width / 2 + margin} ${y + margin})`;
      const picture = s("g", { class: `drawn ${says === null ? "split" : "leaf"}${passed}`, transform: at });
      const item = s(
        "g",
        {
          role: "treeitem",
          class: `node${passed}`,
          transform: at,
          tabindex: k === this.focus ? 0 : -1,
          "data-node": k,
          "aria-level": level.get(k)! + 1,
          "aria-posinset": beside.indexOf(k) + 1,
          "aria-setsize": beside.length,
          "aria-expanded": node.k ? String(!this.folded.has(k)) : null,
          "aria-selected": this.passed.size > 0 ? String(this.passed.has(k)) : null,
          "aria-label": words,
        },
        s("title", {}, words),
        s("rect", { class: "hit", width, height, rx: 8 }),
      );
      if (says !== null) {
        colour(picture, says);
        const guess = 1 / this.data.classes.length;
        const sure = Math.max(0, ((node.p[says] ?? 0) - guess) / Math.max(1e-9, 1 - guess));
        picture.style.setProperty("--tint", `${Math.round(12 + 26 * sure)}%`);
      }
      picture.append(s("rect", { class: "box", width, height, rx: 8 }));
      let line = 10;
      for (const each of title) picture.append(s("text", { class: "title", x: width / 2, y: (line += 18) - 4 }, each));
      for (const each of detail) picture.append(s("text", { class: "detail", x: width / 2, y: (line += 16) - 4 }, each));
      picture.append(this.bar(node, 12, line + 5, width - 24));
      if (own !== undefined) {
        picture.append(
          s("circle", { class: own ? "pin own" : "pin", cx: 4, cy: 4, r: own ? 9 : 6 }),
          s("text", { class: "pin-text", x: 4, y: 8 }, own ? "✎" : ""),
        );
      }
      drawn.append(picture);
      on(item, "click", () => {
        if (this.dragged) return;
        this.focus = k;
        this.pick(k);
      });
      if (node.k) {
        // A small handle under the box folds what lies below.
        const handle = s("g", { class: "handle", transform: `translate(${width / 2} ${height})` });
        handle.append(s("circle", { r: 9 }), s("path", { d: this.folded.has(k) ? "M-4 0H4M0 -4V4" : "M-4 0H4" }));
        on(handle, "click", (event) => {
          event.stopPropagation();
          if (this.dragged) return;
          this.focus = k;
          this.toggle(k);
        });
        item.append(handle);
      }
      items.append(item);
    }
    branches.setAttribute("transform", `translate(${margin} ${margin})`);
    const svg = s(
      "svg",
      {
        role: "tree",
        "aria-label": `Decision tree with ${tree.leaves} leaves and depth ${tree.depth}. Arrow keys move, Enter chooses a node, the space bar folds.`,
        viewBox: `0 0 ${this.size.width} ${this.size.height}`,
        width: this.size.width * this.zoom,
        height: this.size.height * this.zoom,
      },
      s("g", { "aria-hidden": "true" }, branches, drawn),
      items,
    );
    this.frame.replaceChildren(svg);
    if (hadFocus) this.item(this.focus)?.focus();
  }

  // The class probabilities side by side; of many classes only the one that is said.
  private bar(node: Node, x: number, y: number, width: number): SVGElement {
    const bar = s("g", {}, s("rect", { class: "bar-back", x, y, width, height: 6 }));
    const all = this.data.classes.length <= 10;
    for (const c of all ? node.p.keys() : [largest(node.p)]) {
      const part = (node.p[c] ?? 0) * width;
      const piece = s("rect", { class: "bar", x, y, width: Math.max(0, part), height: 6 });
      colour(piece, c);
      bar.append(piece);
      x += part;
    }
    return bar;
  }

  private branchWord(node: Node, at: number): string {
    return node.t !== undefined ? (at === 0 ? "yes" : "no") : short(node, at);
  }

  private item(k: number): SVGElement | null {
    return this.frame.querySelector<SVGElement>(`[data-node="${k}"]`);
  }

  private pick(k: number): void {
    this.chosen = this.chosen === k ? null : k;
    this.choose(this.chosen);
    this.draw();
    this.item(k)?.focus();
  }

  private toggle(k: number): void {
    if (!this.folded.delete(k)) this.folded.add(k);
    this.draw();
    if (this.free) this.fit();
    this.item(k)?.focus();
    this.say.textContent = this.folded.has(k) ? "folded" : "unfolded";
  }

  private key(event: KeyboardEvent): void {
    const { tree } = this;
    if (tree === null || event.ctrlKey || event.metaKey || event.altKey) return;
    const node = tree.nodes[this.focus]!;
    const up = tree.nodes.findIndex((other) => other.k?.includes(this.focus));
    const beside = up < 0 ? [] : tree.nodes[up]!.k!;
    const open = node.k && !this.folded.has(this.focus) ? node.k : [];
    const go: Record<string, () => number | undefined> = {
      ArrowDown: () => open[0],
      ArrowUp: () => (up < 0 ? undefined : up),
      ArrowRight: () => beside[beside.indexOf(this.focus) + 1] ?? (beside.length ? undefined : open[0]),
      ArrowLeft: () => beside[beside.indexOf(this.focus) - 1],
      Home: () => 0,
    };
    const zoom: Record<string, () => void> = {
      "+": () => this.scale(this.zoom * 1.25),
      "-": () => this.scale(this.zoom / 1.25),
      "0": () => this.fit(),
    };
    if (go[event.key]) {
      const next = go[event.key]!();
      event.preventDefault();
      if (next === undefined) return;
      this.item(this.focus)?.setAttribute("tabindex", "-1");
      this.focus = next;
      const item = this.item(next);
      item?.setAttribute("tabindex", "0");
      item?.focus();
    } else if (event.key === "Enter") {
      event.preventDefault();
      this.pick(this.focus);
    } else if (event.key === " ") {
      event.preventDefault();
      if (node.k) this.toggle(this.focus);
    } else if (event.key === "Escape" && this.chosen !== null) {
      this.pick(this.chosen);
    } else if (zoom[event.key]) {
      event.preventDefault();
      zoom[event.key]!();
    }
  }

  private dragged = false;

  // A mouse pulls the picture; fingers scroll it anyway.
  private drag(): void {
    let from: { x: number; y: number; left: number; top: number } | null = null;
    on(this.frame, "pointerdown", (event) => {
      this.dragged = false;
      if (event.pointerType !== "mouse" || event.button !== 0) return;
      from = { x: event.clientX, y: event.clientY, left: this.frame.scrollLeft, top: this.frame.scrollTop };
    });
    on(this.frame, "pointermove", (event) => {
      if (from === null) return;
      if (Math.hypot(event.clientX - from.x, event.clientY - from.y) > 4) this.dragged = true;
      this.frame.scrollTo(from.left - event.clientX + from.x, from.top - event.clientY + from.y);
    });
    for (const end of ["pointerup", "pointerleave"] as const) on(this.frame, end, () => (from = null));
  }

  private asText(tree: Tree): string {
    const lines: string[] = [];
    const waiting: [number, string, string][] = [[0, "", ""]];
    while (waiting.length > 0 && lines.length < 4000) {
      const [k, before, indent] = waiting.pop()!;
      const node = tree.nodes[k]!;
      const says = node.s ?? largest(node.p);
      const n = `${examples(node.n[says] ?? 0)} of ${examples(sum(node.n))}`;
      lines.push(
        before +
          (node.k ? `${question(this.data, node)}?` : `${this.data.classes[says]}  ${percent(node.p[says] ?? 0)}  (${n})`),
      );
      const below = node.k ?? [];
      for (let at = below.length - 1; at >= 0; at--) {
        const last = at === below.length - 1;
        const word = `${indent}${last ? "└─" : "├─"} ${this.branchWord(node, at)}: `;
        waiting.push([below[at]!, word, indent + (last ? "   " : "│  ")]);
      }
    }
    return lines.join("\n");
  }
}

function depths(tree: Tree): number[] {
  const levels = tree.nodes.map(() => 0);
  tree.nodes.forEach((node, k) => node.k?.forEach((child) => (levels[child] = levels[k]! + 1)));
  return levels;
}
