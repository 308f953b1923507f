// What the page would say about each of its rows, as JSON: the test of Python compares it with the classifier.
// `node check.mjs < data.json`
import { build } from "esbuild";
import { readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const here = path.dirname(fileURLToPath(import.meta.url));
const entry = `export * from "./src/route.ts"; export * from "./src/predict.ts"; export * from "./src/drawn.ts"; export { place } from "./src/layout.ts";`;
const made = await build({
  stdin: { contents: entry, resolveDir: here, loader: "ts" },
  bundle: true,
  format: "esm",
  write: false,
});
const code = Buffer.from(made.outputFiles[0].contents).toString("base64");
const { outcomes, says, filled, average, place, meanOf, intervalOf, poolOf } = await import(`data:text/javascript;base64,${code}`);

const data = JSON.parse(readFileSync(0, "utf-8"));
const found = data.rows.map((given) => {
  const cells = filled(data, given.cells);
  const bits = outcomes(data, cells);
  const leaf = data.tree ? says(data.tree, bits, cells) : null;
  const sum = data.posterior?.sum ?? null;
  const { drawn = null, pool = null, shares } = data.posterior ?? {};
  return {
    bits,
    leaf,
    average: sum && average(sum, bits),
    mean: drawn && meanOf(drawn, bits),
    intervals: drawn && data.classes.map((_, c) => intervalOf(drawn, bits, c)),
    pool: pool && poolOf(pool, shares, bits),
  };
});

// Boxes of the tree must not overlap, and a parent stands above its children.
const boxes = [];
if (data.tree) {
  const { nodes } = data.tree;
  const level = nodes.map(() => 0);
  nodes.forEach((node, k) => node.k?.forEach((child) => (level[child] = level[k] + 1)));
  const order = [];
  const waiting = [0];
  while (waiting.length) {
    const k = waiting.pop();
    order.push(k);
    waiting.push(...[...(nodes[k].k ?? [])].reverse());
  }
  const size = (k) => ({ width: 60 + ((k * 37) % 90), height: 30 + ((k * 17) % 40) });
  const placed = place(order, (k) => nodes[k].k ?? [], (k) => level[k], size, 10, 20);
  for (const k of order) {
    const { width, height } = size(k);
    boxes.push([placed.x.get(k) - width / 2, placed.y.get(k), width, height]);
  }
  boxes.push([0, 0, placed.width, placed.height]);
}
process.stdout.write(JSON.stringify({ rows: found, boxes }));
