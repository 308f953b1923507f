// Builds the page's bundle: page.js and page.css, which the Python package ships. `node build.mjs [folder]`
import { build } from "esbuild";
import { fileURLToPath } from "node:url";
import path from "node:path";

const here = path.dirname(fileURLToPath(import.meta.url));
const out = path.resolve(process.argv[2] ?? path.join(here, "../src/everytree/report/bundle"));

await build({
  absWorkingDir: here,
  entryPoints: { page: "src/main.ts", style: "src/page.css" },
  outdir: out,
  entryNames: "[name]",
  bundle: true,
  minify: true,
  format: "iife",
  target: ["es2022"],
  charset: "utf8",
  legalComments: "none",
  logLevel: "warning",
});
