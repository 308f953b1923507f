// What stands between the counts of a leaf and its probabilities, in words.
//
//   p_c = (n_c + a_c) / Σ (n + a)

import type { Added, Tree } from "./data.ts";
import { sum } from "./dom.ts";

function digits(x: number): string {
  return String(Number(x.toPrecision(3)));
}

// What is added at a depth; null where nothing is.
export function addedAt(a: Added[] | undefined, depth: number): Added | null {
  if (a === undefined || a.length === 0) return null;
  return a[Math.min(depth, a.length - 1)]!;
}

// "plus 1 for each of the 24 classes"
export function addedWords(a: Added, classes: number): string {
  if (typeof a === "number") return `plus ${digits(a)} for each of the ${classes} classes`;
  const least = digits(Math.min(...a));
  return `plus ${least} to ${digits(Math.max(...a))} by class, ${digits(sum(a))} in all`;
}

// One sentence for a whole tree; none where its probabilities are the shares of the examples.
export function smoothing(tree: Tree, classes: number): string {
  if (tree.path) return "Probabilities are averaged along the path, so they differ from the shares in a leaf.";
  if (tree.a === undefined || tree.a.length === 0) return "";
  const first = tree.a[0]!;
  const last = tree.a[Math.min(tree.depth, tree.a.length - 1)]!;
  const words = addedWords(first, classes);
  if (JSON.stringify(first) === JSON.stringify(last)) return `Probabilities count the examples, ${words}.`;
  return `Probabilities count the examples, ${words} at the root and ${addedWords(last, classes)} at depth ${tree.depth}.`;
}
