// What would change the answer: the nearest row that is answered otherwise.
//
//   nearest     fewest columns changed; of these the least sum of moves, a number by its column's range, a text by 1
//   a tree      every leaf that says another class wants some cells: per column the nearest cell that goes its way
//   an average  it is constant between the cuts of a column, so one cell of each piece is enough: all single columns,
//               then all pairs. p(a, b) = p(a) + p(b) − p + what rules on both columns add
//
// Both are exact, the average's within two columns.

import type { PageData, Sum, Tree } from "./data.ts";
import { decided, largest } from "./dom.ts";
import { lifted } from "./predict.ts";
import { branch, filled, outcome, outcomes, says, type Cell, type Row } from "./route.ts";

export interface Move {
  column: number;
  to: Cell;
  above?: number; // the cell stands for "just above this"
}

export interface Change {
  moves: Move[];
  says: number;
  p: number[];
}

interface Candidate extends Move {
  distance: number;
}

// One cell for each piece of a column between the cuts, the nearest of it.
export function candidates(data: PageData, j: number, from: Cell, cuts: number[], values: number[]): Candidate[] {
  const column = data.columns[j]!;
  const found: Candidate[] = [];
  if (column.kind === "numeric") {
    const range = Math.max(1e-12, (column.range?.[1] ?? 1) - (column.range?.[0] ?? 0));
    const sorted = [...new Set(cuts)].sort((a, b) => a - b);
    const away = (to: number) => (from === null ? 1 : Math.abs(to - from) / range);
    sorted.forEach((cut, k) => {
      const low = column.whole ? Math.floor(cut) : cut;
      const before = sorted[k - 1];
      if (from === null || from > cut) {
        if (before === undefined || low > before) found.push({ column: j, to: low, distance: away(low) });
      }
      const over = column.whole ? Math.floor(cut) + 1 : cut + Math.max(range * 1e-9, Math.abs(cut) * 1e-12);
      const next = sorted[k + 1];
      if (from === null || from <= cut) {
        if (next === undefined || over <= next) {
          found.push({ column: j, to: over, distance: away(over), ...(column.whole ? {} : { above: cut }) });
        }
      }
    });
  } else {
    const n = column.kind === "binary" ? 2 : (column.values?.length ?? 0);
    const asked = new Set(values);
    let other = true; // one of the values that no test asks for is enough
    for (let value = 0; value < n; value++) {
      if (value === from) continue;
      if (column.kind !== "binary" && !asked.has(value)) {
        if (!other) continue;
        other = false;
      }
      found.push({ column: j, to: value, distance: 1 });
    }
  }
  return found.sort((a, b) => a.distance - b.distance);
}

// The cuts and values that some tests, or a tree on whole columns, ask of each column.
function asked(data: PageData, tree: Tree | null, tests: Iterable<number>): Map<number, { cuts: number[]; values: number[] }> {
  const found = new Map<number, { cuts: number[]; values: number[] }>();
  const at = (j: number) => found.get(j) ?? (found.set(j, { cuts: [], values: [] }), found.get(j)!);
  const add = (k: number) => {
    const test = data.tests[k]!;
    const here = at(test.column);
    if (test.kind === "threshold") here.cuts.push(test.value!);
    else if (test.kind === "equals") here.values.push(test.value!);
  };
  for (const k of tests) add(k);
  for (const node of tree?.nodes ?? []) {
    if (node.k === undefined) continue;
    if (node.t !== undefined) add(node.t);
    else {
      const here = at(node.col!);
      here.cuts.push(...(node.cut ?? []));
      const every = (data.columns[node.col!]!.values ?? []).map((_, value) => value);
      here.values.push(...(node.code !== undefined ? [node.code] : every));
    }
  }
  return found;
}

// Whether every leaf of a tree alone decides, and no mixture along the path or over branches does.
export function plain(tree: Tree): boolean {
  return !tree.path && !tree.spread && tree.nodes.every((node) => !node.w);
}

export function changeInTree(data: PageData, tree: Tree, row: Row): Change | null {
  const whole = filled(data, row);
  const bits = outcomes(data, whole);
  const here = (p: number[], s: number | undefined) => s ?? largest(p);
  let at = 0;
  while (tree.nodes[at]!.k) {
    const next = branch(tree.nodes[at]!, bits, whole);
    if (next === null) break;
    at = next;
  }
  const now = here(tree.nodes[at]!.p, tree.nodes[at]!.s);
  const pieces = asked(data, tree, []);
  let best: { rank: [number, number]; change: Change } | null = null;
  const waiting: { k: number; steps: { node: number; child: number }[] }[] = [{ k: 0, steps: [] }];
  while (waiting.length > 0) {
    const { k, steps } = waiting.pop()!;
    const node = tree.nodes[k]!;
    if (node.k) {
      for (const child of node.k) waiting.push({ k: child, steps: [...steps, { node: k, child }] });
      continue;
    }
    const other = here(node.p, node.s);
    if (other === now) continue;
    const moves: Candidate[] = [];
    const columns = new Set(steps.map((step) => columnOf(data, tree, step.node)));
    let possible = true;
    for (const j of columns) {
      const own = steps.filter((step) => columnOf(data, tree, step.node) === j);
      const goes = (cell: Cell) => own.every((step) => childOf(data, tree, step.node, cell, whole) === step.child);
      if (goes(whole[j] ?? null)) continue;
      const { cuts, values } = pieces.get(j)!;
      const move = candidates(data, j, whole[j] ?? null, cuts, values).find((each) => goes(each.to));
      if (move === undefined) {
        possible = false;
        break;
      }
      moves.push(move);
    }
    if (!possible) continue;
    const rank: [number, number] = [moves.length, moves.reduce((a, b) => a + b.distance, 0)];
    if (best === null || rank[0] < best.rank[0] || (rank[0] === best.rank[0] && rank[1] < best.rank[1])) {
      best = { rank, change: { moves, says: other, p: node.p } };
    }
  }
  return best?.change ?? null;
}

function columnOf(data: PageData, tree: Tree, k: number): number {
  const node = tree.nodes[k]!;
  return node.t !== undefined ? data.tests[node.t]!.column : node.col!;
}

function childOf(data: PageData, tree: Tree, k: number, cell: Cell, row: Row): number | null {
  const node = tree.nodes[k]!;
  if (node.t !== undefined) return node.k![outcome(data.tests[node.t]!, cell) === 1 ? 0 : 1]!;
  const changed = row.slice();
  changed[node.col!] = cell;
  return branch(node, [], changed);
}

// A tree that mixes along the path: all single columns, then all pairs, each by what the tree says of the whole row.
export function changeInMixture(data: PageData, tree: Tree, row: Row): Change | null {
  const whole = filled(data, row);
  const answer = (cells: Row) => says(tree, outcomes(data, cells), cells);
  const now = decided(answer(whole), data.costs);
  const all = [...asked(data, tree, [])].map(([j, { cuts, values }]) => candidates(data, j, whole[j] ?? null, cuts, values));
  const tried = (moves: Candidate[]): Change | null => {
    const cells = whole.slice();
    for (const move of moves) cells[move.column] = move.to;
    const p = answer(cells);
    const other = decided(p, data.costs);
    return other === now ? null : { moves, says: other, p };
  };
  return firstOf(all, (moves) => tried(moves));
}

// The average as a sum of rules.
export function changeInSum(data: PageData, rules: Sum, row: Row): Change | null {
  const whole = filled(data, row);
  const bits = outcomes(data, whole);
  const columns = rules.items.map((items) => [...new Set(items.map((code) => data.tests[code >> 1]!.column))]);
  const touching = new Map<number, number[]>();
  columns.forEach((list, k) => list.forEach((j) => touching.set(j, [...(touching.get(j) ?? []), k])));
  const holds = (k: number, cells: Map<number, Cell>) =>
    rules.items[k]!.every((code) => {
      const test = data.tests[code >> 1]!;
      const bit = cells.has(test.column) ? outcome(test, cells.get(test.column)!) : bits[code >> 1]!;
      return bit === (code & 1);
    });
  const none = new Map<number, Cell>();
  const before = rules.items.map((_, k) => holds(k, none));
  const base = rules.base.slice();
  before.forEach((hold, k) => hold && rules.moves[k]!.forEach((move, c) => (base[c]! += move)));
  const now = decided(lifted(base, rules.floor), data.costs);
  const tests = new Set(rules.items.flat().map((code) => code >> 1));
  const all = [...asked(data, null, tests)].map(([j, { cuts, values }]) => candidates(data, j, whole[j] ?? null, cuts, values));

  const alone = new Map<Candidate, { p: number[]; holds: Map<number, boolean> }>();
  for (const each of all.flat()) {
    const cells = new Map([[each.column, each.to]]);
    const p = base.slice();
    const now = new Map<number, boolean>();
    for (const k of touching.get(each.column) ?? []) {
      const hold = holds(k, cells);
      now.set(k, hold);
      if (hold !== before[k]) rules.moves[k]!.forEach((move, c) => (p[c]! += hold ? move : -move));
    }
    alone.set(each, { p, holds: now });
  }
  const answer = (moves: Candidate[]): number[] => {
    const [a, b] = [alone.get(moves[0]!)!, moves[1] && alone.get(moves[1])];
    if (!b) return a.p;
    const p = a.p.map((x, c) => x + b.p[c]! - base[c]!);
    const cells = new Map(moves.map((move) => [move.column, move.to] as [number, Cell]));
    for (const k of touching.get(moves[0]!.column) ?? []) {
      if (!columns[k]!.includes(moves[1]!.column)) continue;
      const more = Number(holds(k, cells)) - Number(a.holds.get(k)) - Number(b.holds.get(k)) + Number(before[k]);
      if (more !== 0) rules.moves[k]!.forEach((move, c) => (p[c]! += more * move));
    }
    return p;
  };
  return firstOf(all, (moves) => {
    const p = lifted(answer(moves), rules.floor);
    const other = decided(p, data.costs);
    return other === now ? null : { moves, says: other, p };
  });
}

// The nearest of all single moves that change the answer; if there is none, of all pairs.
function firstOf(all: Candidate[][], tried: (moves: Candidate[]) => Change | null): Change | null {
  const single = all.flat().sort((a, b) => a.distance - b.distance);
  for (const move of single) {
    const found = tried([move]);
    if (found !== null) return found;
  }
  const pairs: [number, Candidate, Candidate][] = [];
  for (let i = 0; i < single.length; i++) {
    for (let k = i + 1; k < single.length; k++) {
      const [a, b] = [single[i]!, single[k]!];
      if (a.column !== b.column) pairs.push([a.distance + b.distance, a, b]);
    }
  }
  pairs.sort((x, y) => x[0] - y[0]);
  for (const [, a, b] of pairs) {
    const found = tried([a, b]);
    if (found !== null) return found;
  }
  return null;
}
