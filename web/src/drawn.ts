// Trees drawn from an average over every tree: what they say of any row, how far that may be off, and how sure it is.
//
// A row reaches one leaf of every draw. There the probability of class c has the distribution Beta(b_c, Σb − b_c), so that
// over all trees it has the mixture of these, and the interval is between two of its quantiles, as in Python.
//
//   pooled averages   P(c) ∝ share_c · Π_k (p_k(c) / share_c)^w_kc, p_k the mean of what the draws of average k say

import type { Calibration, Drawn, Pool } from "./data.ts";
import { sum } from "./dom.ts";

export interface Estimate {
  p: number[];
  error: number[]; // standard errors, because the trees were drawn
}

type Bits = (0 | 1)[];

// The leaves that a row reaches, each with its share of the draws.
function reached(drawn: Drawn, bits: Bits): { k: number; share: number }[] {
  const found: { k: number; share: number }[] = [];
  drawn.items.forEach((items, k) => {
    if (items.every((code) => bits[code >> 1] === (code & 1))) found.push({ k, share: drawn.w[k]! / drawn.draws });
  });
  return found;
}

function means(drawn: Drawn, k: number): number[] {
  if (drawn.p) return drawn.p[k]!;
  const b = drawn.b![k]!;
  const total = sum(b);
  return b.map((x) => x / total);
}

export function meanOf(drawn: Drawn, bits: Bits): Estimate {
  const here = reached(drawn, bits).map(({ k, share }) => ({ share, p: means(drawn, k) }));
  const p = here[0]!.p.map((_, c) => sum(here.map((leaf) => leaf.share * leaf.p[c]!)));
  const error = p.map((mean, c) =>
    Math.sqrt(sum(here.map((leaf) => leaf.share * (leaf.p[c]! - mean) ** 2)) / Math.max(1, drawn.draws - 1)),
  );
  return { p, error };
}

// The central interval that holds the probability of a class with probability 0.95.
export function intervalOf(drawn: Drawn, bits: Bits, c: number): [number, number] {
  const parts = new Map<string, [number, number, number]>(); // share, and the two parameters
  for (const { k, share } of reached(drawn, bits)) {
    const b = drawn.b![k]!;
    const [one, other] = [b[c]!, sum(b.filter((_, each) => each !== c))];
    const key = `${one} ${other}`;
    parts.set(key, [(parts.get(key)?.[0] ?? 0) + share, one, other]);
  }
  return betweenQuantiles([...parts.values()]);
}

// What pooled averages say of a row; ``evidence`` is w · log(p / share), by average and class.
export function poolOf(pool: Pool, shares: number[], bits: Bits): Estimate & { evidence: number[][] } {
  const leaves = pool.members.map((each) => reached(each, bits).map(({ k, share }) => ({ share, p: each.p![k]! })));
  const said = leaves.map((here) => shares.map((_, c) => sum(here.map((leaf) => leaf.share * leaf.p[c]!))));
  const evidence = said.map((p, k) => p.map((x, c) => pool.weights[k]![c]! * Math.log(x / shares[c]!)));
  const logs = shares.map((share, c) => Math.log(share) + sum(evidence.map((each) => each[c]!)));
  const top = Math.max(...logs);
  const powers = logs.map((x) => Math.exp(x - top));
  const q = powers.map((x) => x / sum(powers));
  // To first order p_c moves by q_c Σ_j (δ_cj − q_j) w_kj Δp_k(j) / p_k(j); the draws of the averages are independent.
  const error = q.map((qc, c) => {
    const variance = leaves.map((here, k) => {
      const value = (p: number[]) =>
        qc * sum(p.map((x, j) => (((j === c ? 1 : 0) - q[j]!) * pool.weights[k]![j]! * x) / said[k]![j]!));
      const mean = sum(here.map((leaf) => leaf.share * value(leaf.p)));
      const spread = sum(here.map((leaf) => leaf.share * (value(leaf.p) - mean) ** 2));
      return spread / Math.max(1, pool.members[k]!.draws - 1);
    });
    return Math.sqrt(sum(variance));
  });
  return { p: q.map((x, c) => (1 - pool.kept) * x + pool.kept * shares[c]!), error, evidence };
}

// --- how often such a probability came true

export interface Seen {
  range: [number, number]; // the 95 % interval of the share
  rows: number;
  hits: number;
  from: number; // of these probabilities, in hundredths
  to: number;
}

const ENOUGH = 100; // rows
const WIDEST = 10; // hundredths to either side
const FEWEST = 20;

// The rows that judge the model and had nearly this probability of a class: how many of them are of the class.
export function seenAt(found: Calibration | null, c: number, p: number): Seen | null {
  const grid = found?.unseen ? found.grid?.[c] : undefined;
  if (grid === undefined) return null;
  const last = grid[0]!.length - 1;
  const at = Math.min(last, Math.max(0, Math.floor(p * 100 + 1e-9)));
  for (let wide = 0; wide <= WIDEST; wide++) {
    const [from, to] = [Math.max(0, at - wide), Math.min(last, at + wide)];
    const count = (row: number[]) => sum(row.slice(from, to + 1));
    const rows = sum(grid.map(count));
    if (rows < ENOUGH && wide < WIDEST) continue;
    if (rows < FEWEST) return null;
    const hits = count(grid[c]!);
    const range = betweenQuantiles([[1, hits + 0.5, rows - hits + 0.5]]); // Jeffreys' interval
    return { range: [hits === 0 ? 0 : range[0], hits === rows ? 1 : range[1]], rows, hits, from, to: Math.min(100, to + 1) };
  }
  return null;
}

// --- the beta distribution

function betweenQuantiles(parts: [number, number, number][]): [number, number] {
  const cdf = (t: number) => sum(parts.map(([share, one, other]) => share * betaCdf(t, one, other)));
  return [quantile(cdf, 0.025), quantile(cdf, 0.975)];
}

function quantile(cdf: (t: number) => number, p: number): number {
  let [low, high] = [0, 1];
  for (let round = 0; round < 26; round++) {
    const t = (low + high) / 2;
    if (cdf(t) < p) low = t;
    else high = t;
  }
  return (low + high) / 2;
}

// P(θ <= t) for θ of Beta(a, b): the continued fraction of the incomplete beta function, on the side where it is short.
export function betaCdf(t: number, a: number, b: number): number {
  if (a <= 0 || t >= 1) return 1;
  if (b <= 0 || t <= 0) return 0;
  if (t > (a + 1) / (a + b + 2)) return 1 - betaCdf(1 - t, b, a);
  const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(t) + b * Math.log1p(-t)) / a;
  const tiny = 1e-300;
  let c = 1;
  let d = 1 / nonzero(1 - ((a + b) * t) / (a + 1), tiny);
  let value = d;
  for (let m = 1; m < 20000; m++) {
    for (const step of [
      (m * (b - m) * t) / ((a + 2 * m - 1) * (a + 2 * m)),
      (-(a + m) * (a + b + m) * t) / ((a + 2 * m) * (a + 2 * m + 1)),
    ]) {
      d = 1 / nonzero(1 + step * d, tiny);
      c = nonzero(1 + step / c, tiny);
      value *= c * d;
    }
    if (Math.abs(c * d - 1) < 1e-12) break;
  }
  return Math.min(1, front * value);
}

function nonzero(x: number, tiny: number): number {
  return Math.abs(x) < tiny ? tiny : x;
}

// Stirling's series, after x has been raised to where it is exact.
export function logGamma(x: number): number {
  let shift = 0;
  while (x < 12) shift -= Math.log(x++);
  const z = 1 / (x * x);
  const series = (1 / 12 - z * (1 / 360 - z * (1 / 1260 - z * (1 / 1680 - z / 1188)))) / x;
  return shift + (x - 0.5) * Math.log(x) - x + 0.5 * Math.log(2 * Math.PI) + series;
}
