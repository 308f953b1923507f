// What Python puts in the page (report/page_data.py writes it, version 1). Names arrive cleaned: one printable line each.

export interface Column {
  name: string;
  kind: "numeric" | "nominal" | "binary" | "empty";
  values?: string[]; // of a nominal column, in order; no and yes of a column of truth values
  fill?: number | null; // what stands for a missing value: a number, or the position of a value
  start?: number | null; // the value a form begins with
  used?: boolean; // some test asks about it
  range?: [number, number]; // the least and the greatest number in the data
  whole?: boolean; // all numbers are whole
}

// The bins of a column: one for each listed value and perhaps one for all others, or by edges; missing values come last.
export interface Shape {
  bins: number;
  at?: number[];
  edges?: number[];
}

export interface Test {
  column: number;
  kind: "threshold" | "equals" | "identity" | "missing";
  value: number | null; // a cut, or the position of a value
  name: string;
  no: string; // the words for its other outcome
  raw?: number; // its number in the model, by which the explorer knows it
}

// A node: counts, probabilities, and either a test (children: yes, no) or a question on a whole column.
export interface Node {
  n: number[];
  p: number[];
  i?: [number, number]; // 95 % interval of the probability of what the node says
  s?: number; // the class it says, where that is not the most probable one
  w?: number; // the probability that the tree ends here: then p counts so much, and what lies below the rest
  t?: number; // test
  k?: number[]; // children
  q?: string; // the question, where it is on a whole column
  b?: string[]; // the words on its branches
  col?: number;
  cut?: number[]; // a numeric column: child c holds the values up to cut[c], the last one the rest
  code?: number; // child 0 holds the value with this position, child 1 all others
  known?: boolean; // child 0 holds every value that is not missing
  at?: number[]; // which child a branch leads to, where some branches have none (−1)
  m?: number; // the child of a missing value
}

export type Added = number | number[]; // to every class the same, or one number for each

export interface Tree {
  nodes: Node[];
  leaves: number;
  depth: number;
  error: number;
  a?: Added[]; // what the probabilities add to the counts, by depth; the last one holds below
  path?: boolean; // probabilities are averaged along the path
  spread?: boolean; // a row without a value goes down every branch, in shares by their examples
}

export interface Point {
  size: number;
  error: number;
  tree: Tree;
}

export interface Rule {
  items: [number, number][]; // test, outcome
  weight: number;
  n: number[];
  p: number[];
  i: [number, number];
}

// base + the moves of all rules that hold, within `bound` of the average over every tree
export interface Sum {
  bound: number;
  base: number[];
  floor: number[];
  items: number[][]; // codes 2 · test + outcome
  moves: number[][];
}

// The leaves of trees drawn from an average; a row reaches one of every draw.
export interface Drawn {
  draws: number;
  items: number[][]; // codes 2 · test + outcome, all of which hold
  w: number[]; // the number of draws with this leaf
  b?: number[][]; // examples of each class, and what is added to them
  p?: number[][]; // or only the probabilities
}

// Several averages whose evidence is added up, as drawn trees.
export interface Pool {
  members: Drawn[];
  weights: number[][]; // [average][class]
  kept: number; // what the shares of the classes keep of every answer
}

export interface Posterior {
  about: string;
  top: { probability: number; tree: Tree }[];
  share: number;
  inclusion: { name: string; p: number }[];
  tests: { t: number; p: number }[]; // none where every node has its own cuts
  leaves: number[];
  rules: Rule[];
  a?: Added[]; // what the leaves of rules add to the counts, by the number of tests
  sum: Sum | null;
  averages?: number[][] | null; // over every tree, for each of the page's rows: where no sum of rules computes them
  intervals?: [number, number][][] | null; // 95 % intervals of the classes, for each of the page's rows
  raw?: number[][] | null; // the averages before they were calibrated
  shares?: number[]; // of the classes, where the evidence of several averages moves them
  members?: string[][]; // the columns of each of these averages
  drawn?: Drawn | null; // for rows typed in: intervals, and the mean where there is no sum of rules
  pool?: Pool | null; // the same, where the evidence of several averages is added up
  evidence?: number[][][] | null; // [row][average][class]: weight · log(p / share), which is added up
}

export interface Reliability {
  rows: number[];
  confidence: number[];
  hits: number[];
}

export interface Calibration extends Reliability {
  about: string;
  scores: [string, string][];
  classes?: Reliability[]; // of the probability of each class
  grid?: number[][][]; // [class][true class][hundredth of its probability]: rows
  confusion?: number[][]; // [true class][said class]: rows
  unseen?: boolean; // the rows are known not to have been learned from
}

export interface Figures {
  name: string;
  accuracy: number;
  log_loss: number;
  accuracy_error?: number | null; // standard errors; pages of older versions have none
  log_loss_error?: number | null;
  brier: number;
  auc: number | null;
  own?: boolean; // of the tree or the model in sight
  base?: boolean; // always the largest class
}

export interface HeldOut {
  lines: Figures[];
  about: string;
  verdict: string;
  poor: boolean; // hardly better than always the largest class
}

export interface PageData {
  format: string;
  version: number;
  title: string;
  summary: string;
  answer: "tree" | "average" | "text";
  classes: string[];
  columns: Column[];
  tests: Test[]; // all of the model; where every node has its own cuts, those that trees and rules ask
  missing: "error" | "category" | "impute" | "branch";
  costs?: number[][] | null; // of predicting k when c is true, [c][k]: by these a model decides that is no single tree
  tree: Tree | null;
  treeAbout: string;
  treeHeld?: number | null; // how often the tree is right about examples not seen, where it is not the model itself
  claims: [string, string][]; // what is claimed of the tree, by the explorer
  text: string | null;
  front: { cost: string; points: Point[]; about: string; held?: number[] | null } | null; // held: right, of examples not seen
  posterior: Posterior | null;
  calibration: Calibration | null;
  held_out?: HeldOut | null;
  distributions?: { shapes: Shape[]; nodes: Record<string, number[][]> } | null; // by node of the model's tree
  rows: { name: string; cells: (number | null)[]; label: number | null }[];
  facts: { title: string; rows: [string, string][] }[];
  notes: string[];
  cite: { text: string; bibtex: string };
  live?: Live;
}

export interface Query {
  max_depth: number;
  min_leaf: number;
  objective: string;
  prior: string;
  max_size: number | null;
  require: string[];
  forbid: string[];
  edits: Edit[];
}

// The way to a node (1 yes, 0 no), its test (null cuts the branch off), and 1 where the reader did not choose it: it
// stands above a chosen node, and stays as it was.
export type Edit = [string, number | null, 0 | 1];

export type Choice = [string, string, string]; // as the server knows it, in words, and a line about it

export interface Live {
  token: string;
  data: number; // of the data set that the page is about
  file: string;
  target: string;
  targets: string[];
  attributes: string[];
  names: string[]; // the attributes as the server knows them, at the same positions
  choices: Record<"objective" | "prior", Choice[]>;
  query: Query;
}

// The page holds its data in a block of JSON; it is text to the browser, and never becomes markup.
export function readData(): PageData {
  const text = document.getElementById("everytree-data")?.textContent ?? "null";
  const data = JSON.parse(text) as PageData | null;
  if (data === null || data.format !== "everytree.page" || data.version !== 1) {
    throw new Error("this page holds no data of everytree.page version 1");
  }
  return data;
}
