// The words in the box of a node, and how much room they take.

import { addedAt, addedWords } from "./added.ts";
import type { Node, PageData, Tree } from "./data.ts";
import { chance, clip, examples, largest, many, sum } from "./dom.ts";

export const CHAR = 7.2; // about the width of a letter at 14 px
const WIDE = 20; // letters on a line of a box
const MOVED = 0.05; // a probability so far from the share of the examples says in its box why

export interface Text {
  title: string[];
  detail: string[];
  full: string;
  says: number | null; // a class, at a leaf
}

export function question(data: PageData, node: Node): string {
  return node.t !== undefined ? data.tests[node.t]!.name : (node.q ?? "");
}

// What the box of a node says; ``folded`` where all below it is hidden.
export function boxWords(data: PageData, tree: Tree, k: number, depth: number, folded: boolean): Text {
  const node = tree.nodes[k]!;
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
  const ask = question(data, node);
  if (node.k && !folded) {
    return { title: wrapped(`${ask}?`), detail: [many(round(n), "example")], full: `${ask}? ${listed}`, says: null };
  }
  const detail = [sure];
  if (node.i) detail.push(`${chance(node.i[0])} – ${chance(node.i[1])}`);
  detail.push(n > 0 ? `${examples(node.n[says] ?? 0)} of ${examples(n)}` : "no examples");
  const a = addedAt(tree.a, depth);
  const more = a === null ? "" : `, ${addedWords(a, data.classes.length)}`;
  if (a !== null && (n === 0 || Math.abs((node.p[says] ?? 0) - (node.n[says] ?? 0) / n) > MOVED)) {
    const per = typeof a === "number" ? "per class" : "in all";
    detail.push(`plus ${Number((typeof a === "number" ? a : sum(a)).toPrecision(3))} ${per}`);
  }
  if (node.k) detail.push(`▸ ${many(leavesBelow(tree, k), "leaf").replace(/leafs$/, "leaves")} below`);
  const rest = node.k ? ` Folded: ${ask}?` : "";
  return { title: wrapped(label), detail, full: `${label}, ${sure}${range}; ${listed}${more}.${rest}`, says };
}

export function boxSize({ title, detail }: Text): { width: number; height: number } {
  const letters = Math.max(...title.map((t) => wide(t) * 1.1), ...detail.map((t) => wide(t) * 0.92));
  return { width: Math.max(92, letters * CHAR + 24), height: 18 * title.length + 16 * detail.length + 31 };
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
export function short(node: Node, at: number): string {
  const words = node.b?.[at] ?? "";
  if (!node.q) return words;
  if (words.startsWith(`${node.q} `)) return words.slice(node.q.length + 1).replace(/^==? /, "");
  return words.replace(` < ${node.q} <= `, " – ");
}

function round(n: number): number {
  return Math.round(n * 100) / 100;
}

// About how many letters wide a text is: wide scripts and emoji count double.
export function wide(text: string): number {
  let width = 0;
  for (const letter of text) width += letter.codePointAt(0)! > 0x2e80 ? 2 : "mwMW@%&".includes(letter) ? 1.4 : 1;
  return width;
}

// At most three lines of about WIDE letters.
export function wrapped(text: string): string[] {
  const lines: string[] = [];
  let line = "";
  const words = clip(text, 5 * WIDE).replace(/ (<=|==|>|!=|=|≤|is not|is) /g, " $1\u00a0").split(" ");
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
