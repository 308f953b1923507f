// The tree as a picture one can walk: zoom, collapse, arrow keys, and the path of a row.
//
// It is a `tree` of ARIA: one item has the focus, arrows move it, Enter folds a subtree.

import { addedAt, addedWords, smoothing } from "./added.ts";
import type { Node, PageData, Tree } from "./data.ts";
import { chance, clip, colour, h, largest, many, on, percent, s, sum } from "./dom.ts";
import { place } from "./layout.ts";

const CHAR = 7.2; // about the width of a letter at 14 px
const WIDE = 20; // letters on a line of a box
const GAP_X = 18;
const GAP_Y = 46;
const LEAST_FIT = 0.62; // below this the words are too small to read; the frame scrolls instead
const MOVED = 0.05; // a probability so far from the share of the examples says in its box why
const LEAF_ROOM = 62; // px: of a tree with more leaves than the frame has room for only the top is unfolded at first

interface Text {
  title: string[];
  detail: string[];
  full: string;
  says: number | null; // a class, at a leaf
}

export class TreeView {
  readonly element: HTMLElement;
  private readonly frame = h("div", { class: "tree-frame" });
  private readonly say = h("p", { class: "hidden", "aria-live": "polite" });
  private readonly text = h("pre", { class: "as-text", tabindex: 0, "aria-label": "The tree as text" });
  private tree: Tree | null = null;
  private folded = new Set<number>();
  private passed = new Set<number>();
  private zoom = 1;
  private free = true; // no zoom was chosen: the picture fits its frame
  private focus = 0;
  private size = { width: 1, height: 1 };
  private rootAt = 0;

  constructor(private readonly data: PageData) {
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
    this.folded.clear();
    if (tree !== null) {
      let depth = 1;
      const levels = depths(tree);
      const open = (d: number) =>
        tree.nodes.filter((node, k) => levels[k] === d || (levels[k]! < d && !node.k)).length;
      const room = Math.max(6, Math.floor((this.frame.clientWidth || 1200) / LEAF_ROOM));
      while (depth < tree.depth && open(depth + 1) <= room) depth++;
      tree.nodes.forEach((node, k) => node.k && levels[k]! >= depth && this.folded.add(k));
      const how = smoothing(tree, this.data.classes.length);
      this.text.textContent = this.asText(tree) + (how ? `\n\n${how}` : "");
    }
    this.free = true;
    this.draw();
    this.fit();
  }

  // The nodes that a row passes are marked.
  mark(passed: number[]): void {
    this.passed = new Set(passed);
    this.draw();
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
    this.scale(Math.min(1.1, Math.max(LEAST_FIT, room / this.size.width)), true);
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

  private words(node: Node, k: number, depth: number): Text {
    const { data } = this;
    const n = sum(node.n);
    const says = node.s ?? largest(node.p);
    const label = data.classes[says] ?? String(says);
    const counts = data.classes
      .map((c, i) => [c, node.n[i] ?? 0] as const)
      .filter(([, count]) => count > 0)
      .sort((a, b) => b[1] - a[1]);
    const few = counts.slice(0, 5).map(([c, count]) => `${c} ${round(count)}`);
    if (counts.length > 5) few.push("…");
    const listed = few.join(", ") || "no examples";
    const sure = `p = ${chance(node.p[says] ?? 0)}`;
    const range = node.i ? ` (95 % interval ${chance(node.i[0])} to ${chance(node.i[1])})` : "";
    if (node.k && !this.folded.has(k)) {
      const ask = this.question(node);
      return {
        title: wrapped(`${ask}?`),
        detail: [many(round(n), "example")],
        full: `${ask}? ${listed}`,
        says: null,
      };
    }
    const detail = [sure];
    if (node.i) detail.push(`${chance(node.i[0])} – ${chance(node.i[1])}`);
    detail.push(n > 0 ? `${round(node.n[says] ?? 0)} of ${round(n)}` : "no examples");
    const a = addedAt(this.tree!.a, depth);
    const more = a === null ? "" : `, ${addedWords(a, data.classes.length)}`;
    if (a !== null && (n === 0 || Math.abs((node.p[says] ?? 0) - (node.n[says] ?? 0) / n) > MOVED)) {
      const per = typeof a === "number" ? "per class" : "in all";
      detail.push(`plus ${Number((typeof a === "number" ? a : sum(a)).toPrecision(3))} ${per}`);
    }
    if (node.k) detail.push(`▸ ${many(leavesBelow(this.tree!, k), "leaf").replace(/leafs$/, "leaves")} below`);
    const ask = node.k ? ` Folded: ${this.question(node)}?` : "";
    return { title: wrapped(label), detail, full: `${label}, ${sure}${range}; ${listed}${more}.${ask}`, says };
  }

  private question(node: Node): string {
    return node.t !== undefined ? this.data.tests[node.t]!.name : (node.q ?? "");
  }

  private draw(): void {
    const { tree } = this;
    if (tree === null) {
      this.text.textContent = "";
      this.frame.replaceChildren(h("p", { class: "quiet" }, "No tree."));
      return;
    }
    const hadFocus = this.frame.contains(document.activeElement);
    const open = (k: number) => (this.folded.has(k) ? [] : (tree.nodes[k]!.k ?? []));
    const order: number[] = [];
    const parent = new Map<number, number>();
    const level = new Map<number, number>([[0, 0]]);
    const waiting = [0];
    while (waiting.length > 0) {
      const k = waiting.pop()!;
      order.push(k);
      const below = open(k);
      for (const child of below) {
        parent.set(child, k);
        level.set(child, level.get(k)! + 1);
      }
      waiting.push(...[...below].reverse());
    }
    if (!order.includes(this.focus)) this.focus = 0;
    const texts = new Map(order.map((k) => [k, this.words(tree.nodes[k]!, k, level.get(k)!)]));
    const box = (k: number) => {
      const { title, detail } = texts.get(k)!;
      const letters = Math.max(...title.map((t) => wide(t) * 1.1), ...detail.map((t) => wide(t) * 0.92));
      return { width: Math.max(92, letters * CHAR + 24), height: 18 * title.length + 16 * detail.length + 31 };
    };
    const placed = place(order, open, (k) => level.get(k)!, box, GAP_X, GAP_Y);
    const margin = 10;
    this.size = { width: placed.width + 2 * margin, height: placed.height + 2 * margin };
    this.rootAt = placed.x.get(0)! + margin;
    const total = Math.max(1, sum(tree.nodes[0]!.n));

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
          class: this.passed.has(child) && this.passed.has(k) ? "branch passed" : "branch",
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
      const passed = this.passed.has(k) ? " passed" : "";
      const at = `translate(${x - width / 2 + margin} ${y + margin})`;
      const picture = s("g", { class: `drawn ${says === null ? "split" : "leaf"}${passed}`, transform: at });
      const item = s(
        "g",
        {
          role: "treeitem",
          class: `node${node.k ? " folds" : ""}${passed}`,
          transform: at,
          tabindex: k === this.focus ? 0 : -1,
          "data-node": k,
          "aria-level": level.get(k)! + 1,
          "aria-posinset": beside.indexOf(k) + 1,
          "aria-setsize": beside.length,
          "aria-expanded": node.k ? String(!this.folded.has(k)) : null,
          "aria-selected": this.passed.size > 0 ? String(this.passed.has(k)) : null,
          "aria-label": how + full,
        },
        s("title", {}, how + full),
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
      for (const words of title) picture.append(s("text", { class: "title", x: width / 2, y: (line += 18) - 4 }, words));
      for (const words of detail) picture.append(s("text", { class: "detail", x: width / 2, y: (line += 16) - 4 }, words));
      picture.append(this.bar(node, 12, line + 5, width - 24));
      drawn.append(picture);
      if (node.k) {
        on(item, "click", () => {
          if (this.dragged) return;
          this.focus = k;
          this.toggle(k);
        });
      }
      items.append(item);
    }
    branches.setAttribute("transform", `translate(${margin} ${margin})`);
    const svg = s(
      "svg",
      {
        role: "tree",
        "aria-label": `Decision tree with ${tree.leaves} leaves and depth ${tree.depth}. Arrow keys move, Enter folds.`,
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
    } else if ((event.key === "Enter" || event.key === " ") && node.k) {
      event.preventDefault();
      this.toggle(this.focus);
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
      const n = `${round(node.n[says] ?? 0)} of ${round(sum(node.n))}`;
      lines.push(
        before +
          (node.k ? `${this.question(node)}?` : `${this.data.classes[says]}  ${percent(node.p[says] ?? 0)}  (${n})`),
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

function leavesBelow(tree: Tree, k: number): number {
  let leaves = 0;
  const waiting = [k];
  while (waiting.length > 0) {
    const below = tree.nodes[waiting.pop()!]!.k;
    if (below) waiting.push(...below);
    else leaves++;
  }
  return leaves;
}

// The words of a branch of a question on a whole column, without the name that the question has said already.
function short(node: Node, at: number): string {
  const words = node.b?.[at] ?? "";
  if (!node.q) return words;
  if (words.startsWith(`${node.q} `)) return words.slice(node.q.length + 1).replace(/^==? /, "");
  return words.replace(` < ${node.q} <= `, " – ");
}

function round(n: number): number {
  return Math.round(n * 100) / 100;
}

// About how many letters wide a text is: wide scripts and emoji count double.
function wide(text: string): number {
  let width = 0;
  for (const letter of text) width += letter.codePointAt(0)! > 0x2e80 ? 2 : "mwMW@%&".includes(letter) ? 1.4 : 1;
  return width;
}

// At most three lines of about WIDE letters.
export function wrapped(text: string): string[] {
  const lines: string[] = [];
  let line = "";
  const words = clip(text, 5 * WIDE).replace(/ (<=|==|>|!=|=) /g, " $1\u00a0").split(" ");
  for (const word of words.flatMap(pieces)) {
    if (line && wide(line) + 1 + wide(word) > WIDE) {
      lines.push(line);
      line = word;
    } else line = line ? `${line} ${word}` : word;
  }
  lines.push(line);
  if (lines.length > 3) return [...lines.slice(0, 2), clip(lines.slice(2).join(" "), WIDE)];
  return lines;
}

function pieces(word: string): string[] {
  const letters = Array.from(word);
  const parts: string[] = [];
  for (let at = 0; at < letters.length; at += WIDE) parts.push(letters.slice(at, at + WIDE).join(""));
  return parts.length > 0 ? parts : [""];
}
