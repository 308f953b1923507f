// What would change the answer for each row of a page, as JSON: the test of Python tries every change itself.
// `node changes.mjs < data.json`
import { build } from "esbuild";
import { readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const here = path.dirname(fileURLToPath(import.meta.url));
const made = await build({
  stdin: { contents: `export * from "./src/change.ts"; export * from "./src/words.ts";`, resolveDir: here, loader: "ts" },
  bundle: true,
  format: "esm",
  write: false,
});
const code = Buffer.from(made.outputFiles[0].contents).toString("base64");
const { changeInMixture, changeInSum, changeInTree, plain, said } = await import(`data:text/javascript;base64,${code}`);

const data = JSON.parse(readFileSync(0, "utf-8"));
const rows = data.rows.map(({ cells }) => ({
  tree: data.tree && (plain(data.tree) ? changeInTree(data, data.tree, cells) : changeInMixture(data, data.tree, cells)),
  slow: data.tree && changeInMixture(data, data.tree, cells),
  sum: data.posterior?.sum ? changeInSum(data, data.posterior.sum, cells) : null,
}));
const words = (data.posterior?.rules ?? []).map((rule) => said(data, rule.items));
process.stdout.write(JSON.stringify({ rows, words }));
