// The average over every tree for one row: base + the moves of all rules that hold, brought back to probabilities.
//
// No class is less than its floor (no leaf gives it less): the nearest probabilities that keep it, as in Python.

import type { Sum } from "./data.ts";
import { sum } from "./dom.ts";

export function average(rules: Sum, bits: (0 | 1)[]): number[] {
  const p = rules.base.slice();
  rules.items.forEach((items, k) => {
    if (items.every((code) => bits[code >> 1] === (code & 1))) {
      rules.moves[k]!.forEach((move, c) => (p[c]! += move));
    }
  });
  return lifted(p, rules.floor);
}

// q_c = max(p_c − t, floor_c), with the t for which Σ q_c = 1.
export function lifted(p: number[], floor: number[]): number[] {
  let low = Math.min(...p.map((x, c) => x - Math.max(1, floor[c]!))) - 1;
  let high = Math.max(...p);
  for (let round = 0; round < 100; round++) {
    const t = (low + high) / 2;
    if (sum(p.map((x, c) => Math.max(x - t, floor[c]!))) > 1) low = t;
    else high = t;
  }
  const q = p.map((x, c) => Math.max(x - (low + high) / 2, floor[c]!));
  const total = sum(q);
  return q.map((x) => x / total);
}
