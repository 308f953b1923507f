// Conditions in plain words, one for each column: "30 < age ≤ 50", "thal is neither fixed nor normal".
//
// A missing value fails every comparison, so "age > 50" alone would promise too much where values may be missing.

import type { PageData, Test } from "./data.ts";

export type Item = [number, number]; // test, outcome

export function number(x: number): string {
  return Number.isInteger(x) && Math.abs(x) < 1e16 ? String(x) : String(x);
}

// What the items say together, in the order in which their columns first occur.
export function said(data: PageData, items: Item[]): string[] {
  const byColumn = new Map<number, { test: Test; outcome: number }[]>();
  for (const [k, outcome] of items) {
    const test = data.tests[k]!;
    const list = byColumn.get(test.column) ?? [];
    list.push({ test, outcome });
    byColumn.set(test.column, list);
  }
  return [...byColumn.entries()].flatMap(([j, list]) => ofColumn(data.columns[j]!.name, data.columns[j]!.values ?? [], list));
}

function ofColumn(column: string, values: string[], list: { test: Test; outcome: number }[]): string[] {
  const yes = list.filter((each) => each.outcome).map((each) => each.test);
  const no = list.filter((each) => !each.outcome).map((each) => each.test);
  if (list.length === 1) return [yes.length > 0 ? yes[0]!.name : no[0]!.no];
  if (yes.some((test) => test.kind === "missing")) return [`${column} is missing`];
  const there = no.some((test) => test.kind === "missing");
  const equal = yes.find((test) => test.kind === "equals");
  if (equal !== undefined) return [equal.name];
  const not = no.filter((test) => test.kind === "equals").map((test) => values[test.value ?? -1] ?? "?");
  if (not.length > 0) {
    const last = not.pop()!;
    const words = not.length === 0 ? `${column} is not ${last}` : `${column} is neither ${not.join(", ")} nor ${last}`;
    return there ? [words, `${column} is not missing`] : [words];
  }
  const cuts = (tests: Test[]) => tests.filter((test) => test.kind === "threshold").map((test) => test.value!);
  const [below, above] = [cuts(yes), cuts(no)];
  if (below.length > 0) {
    const high = Math.min(...below);
    return [above.length > 0 ? `${number(Math.max(...above))} < ${column} ≤ ${number(high)}` : `${column} ≤ ${number(high)}`];
  }
  if (above.length > 0) {
    const least = no.reduce((a, b) => (b.kind === "threshold" && (a.kind !== "threshold" || b.value! > a.value!) ? b : a));
    return [there ? `${column} > ${number(least.value!)}` : least.no];
  }
  return list.map(({ test, outcome }) => (outcome ? test.name : test.no));
}
