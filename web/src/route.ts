// From a raw row to outcomes of tests, and down a tree: the same laws as in training.
//
//   threshold   x <= value          equals     x is the value at this position
//   identity    x > 0.5             missing    there is no value
//
// A missing value fails every comparison, unless the model fills it in first (``filled``).

import type { Node, PageData, Test, Tree } from "./data.ts";

export type Cell = number | null; // a number, or the position of a value (−1: none of them); null is missing
export type Row = Cell[];

export function outcome(test: Test, cell: Cell): 0 | 1 {
  if (test.kind === "missing") return cell === null ? 1 : 0;
  if (cell === null) return 0;
  if (test.kind === "threshold") return cell <= (test.value ?? 0) ? 1 : 0;
  if (test.kind === "identity") return cell > 0.5 ? 1 : 0;
  return cell === test.value ? 1 : 0;
}

export function outcomes(data: PageData, row: Row): (0 | 1)[] {
  return data.tests.map((test) => outcome(test, row[test.column] ?? null));
}

// The child that a row takes, or null where its value has no branch.
export function branch(node: Node, bits: (0 | 1)[], row: Row): number | null {
  const children = node.k!;
  if (node.t !== undefined) return children[bits[node.t] === 1 ? 0 : 1]!;
  const cell = row[node.col!] ?? null;
  if (cell === null) return node.m !== undefined ? (children[node.m] ?? null) : null;
  const slot = branchOf(node, cell);
  return children[node.at ? (node.at[slot] ?? -1) : slot] ?? null;
}

function branchOf(node: Node, cell: number): number {
  if (node.known) return 0;
  if (node.code !== undefined) return cell === node.code ? 0 : 1;
  if (node.cut === undefined) return cell;
  const at = node.cut.findIndex((cut) => cell <= cut);
  return at < 0 ? node.cut.length : at;
}

// The nodes that a row passes, from the root down.
export function path(tree: Tree, bits: (0 | 1)[], row: Row): number[] {
  const passed = [0];
  for (let k = 0; tree.nodes[k]!.k !== undefined; ) {
    const next = branch(tree.nodes[k]!, bits, row);
    if (next === null) break;
    passed.push(next);
    k = next;
  }
  return passed;
}

// What the tree says of a row: the probabilities where it ends; the mixture along the path, where the tree is averaged
// with its prunings; and where a missing value spreads it over all branches, their mean by the training examples.
export function says(tree: Tree, bits: (0 | 1)[], row: Row, from = 0): number[] {
  const node = tree.nodes[from]!;
  if (node.k === undefined) return node.p;
  const next = branch(node, bits, row);
  let below = node.p;
  if (next !== null) {
    below = says(tree, bits, row, next);
  } else if (tree.spread && node.col !== undefined && (row[node.col] ?? null) === null) {
    const shares = node.k.map((child) => total(tree.nodes[child]!.n));
    const parts = node.k.map((child, i) => (shares[i]! > 0 ? says(tree, bits, row, child) : node.p));
    below = node.p.map((_, c) => total(parts.map((p, i) => (p[c]! * shares[i]!) / total(shares))));
  }
  const w = node.w ?? 0;
  return w === 0 ? below : node.p.map((p, c) => w * p + (1 - w) * below[c]!);
}

function total(values: number[]): number {
  return values.reduce((a, b) => a + b, 0);
}

// Missing values with what the model puts in their place.
export function filled(data: PageData, row: Row): Row {
  return row.map((cell, j) => cell ?? data.columns[j]?.fill ?? null);
}

// The words on the branch from a node to one of its children.
export function branchWords(data: PageData, node: Node, child: number): string {
  const at = node.k!.indexOf(child);
  if (node.t === undefined) return node.b?.[at] ?? "";
  const test = data.tests[node.t]!;
  return at === 0 ? test.name : test.no;
}
