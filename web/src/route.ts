// From a raw row to outcomes of tests, and down a tree: the same laws as in training.
//
//   threshold   x <= value          equals     x is the value at this position
//   identity    x > 0.5             missing    there is no value
//
// A missing value fails every comparison, unless the model fills it in first.

import type { Column, Node, PageData, Test, Tree } from "./data.ts";

export type Cell = number | null; // a number, or the position of a value (−1: none of them); null is missing
export type Row = Cell[];

export function outcome(test: Test, column: Column, cell: Cell): 0 | 1 {
  if (test.kind === "missing") return cell === null ? 1 : 0;
  const value = cell ?? column.fill ?? null;
  if (value === null) return 0;
  if (test.kind === "threshold") return value <= (test.value ?? 0) ? 1 : 0;
  if (test.kind === "identity") return value > 0.5 ? 1 : 0;
  return value === test.value ? 1 : 0;
}

export function outcomes(data: PageData, row: Row): (0 | 1)[] {
  return data.tests.map((test) => outcome(test, data.columns[test.column]!, row[test.column] ?? null));
}

// The child that a row takes, or null where its value has no branch.
export function branch(node: Node, bits: (0 | 1)[], row: Row): number | null {
  const children = node.k!;
  if (node.t !== undefined) return children[bits[node.t] === 1 ? 0 : 1]!;
  const cell = row[node.col!] ?? null;
  if (cell === null) return node.m !== undefined ? (children[node.m] ?? null) : null;
  if (node.known) return children[0]!;
  if (node.cut !== undefined) {
    const at = node.cut.findIndex((cut) => cell <= cut);
    return children[at < 0 ? node.cut.length : at] ?? null;
  }
  if (node.code !== undefined) return children[cell === node.code ? 0 : 1]!;
  return children[cell] ?? null;
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

// The words on the branch from a node to one of its children.
export function branchWords(data: PageData, node: Node, child: number): string {
  const at = node.k!.indexOf(child);
  if (node.t === undefined) return node.b?.[at] ?? "";
  const test = data.tests[node.t]!;
  return at === 0 ? test.name : test.no;
}
