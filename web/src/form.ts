// The values of one row: a field for each column, with a slider where it holds numbers. Columns that the tree in sight
// asks come first, in its order; then what matters to the average; the rest is folded away.

import type { Column, PageData, Tree } from "./data.ts";
import { h, many, name, on } from "./dom.ts";
import type { Cell, Row } from "./route.ts";

const MOST_FIELDS = 400; // more fields than this make no form; a row can still be picked
const OTHERS = 6; // columns that only the average asks, shown unfolded
const LONG = 12; // letters of a value that half of the width cannot show

export class RowForm {
  readonly element = h("form", { class: "row-form", "aria-label": "The values of one row", novalidate: true });
  readonly problems = new Map<number, string>();
  row: Row;
  asked: number[] = []; // the columns that stand first
  picked: number | null = null; // the row of the page that is shown as it is
  private readonly boxes: HTMLElement[] = [];
  private readonly setters: ((cell: Cell) => void)[] = [];
  private readonly first = h("div", { class: "fields", "data-part": "asked" });
  private readonly rest = h("div", { class: "fields" });
  private readonly fold = h("details", {}, h("summary", {}), this.rest);
  private order = "";

  constructor(
    private readonly data: PageData,
    private readonly changed: () => void,
  ) {
    this.row = data.columns.map((column) => column.start ?? null);
    on(this.element, "submit", (event) => event.preventDefault());
    if (data.rows.length > 0) this.element.append(this.picker());
    data.columns.slice(0, MOST_FIELDS).forEach((column, j) => this.boxes.push(this.field(column, j)));
    this.element.append(this.first, this.fold);
    this.arrange(data.tree);
    if (data.rows.length > 0) this.pick(0);
  }

  // Put the columns that a tree asks first; nothing moves while it is typed in.
  arrange(tree: Tree | null): void {
    const { data } = this;
    if (this.element.contains(document.activeElement) && this.order !== "") return;
    const asked: number[] = [];
    const add = (j: number | undefined) => j !== undefined && j < this.boxes.length && !asked.includes(j) && asked.push(j);
    const level = [0];
    while (level.length > 0 && tree !== null) {
      const node = tree.nodes[level.shift()!]!;
      if (!node.k) continue;
      add(node.t !== undefined ? data.tests[node.t]?.column : node.col);
      level.push(...node.k);
    }
    const chance = new Map((data.posterior?.inclusion ?? []).map((each) => [each.name, each.p]));
    const others = data.columns.map((_, j) => j).filter((j) => j < this.boxes.length && !asked.includes(j));
    const weight = (j: number) => chance.get(data.columns[j]!.name) ?? 0;
    if (data.answer === "average") {
      const more = [...others].filter((j) => data.columns[j]!.used && weight(j) > 0.02).sort((a, b) => weight(b) - weight(a));
      asked.push(...more.slice(0, Math.max(0, OTHERS - asked.length)));
    }
    if (asked.length === 0) asked.push(...others.filter((j) => data.columns[j]!.used).slice(0, OTHERS));
    const left = others.filter((j) => !asked.includes(j));
    const order = JSON.stringify([asked, left]);
    if (order === this.order) return;
    this.order = order;
    this.asked = asked;
    this.first.replaceChildren(...asked.map((j) => this.boxes[j]!));
    this.rest.replaceChildren(...left.map((j) => this.boxes[j]!));
    this.fold.hidden = left.length === 0;
    const matter = data.answer === "average" ? "that matter less" : "that this tree does not ask";
    this.fold.firstElementChild!.textContent = `${many(left.length, "column")} ${left.length === 1 ? matter.replace("matter less", "matters less") : matter}`;
  }

  set(cells: Row, picked: number | null = null): void {
    this.problems.clear();
    this.picked = picked;
    this.row = this.data.columns.map((_, j) => cells[j] ?? null);
    this.row.forEach((cell, j) => this.setters[j]?.(cell));
  }

  private picker(): HTMLElement {
    const { data } = this;
    const select = h("select", { id: "pick", "data-pick": true });
    data.rows.forEach((row, k) => {
      const label = row.label === null ? "" : ` (${data.classes[row.label]})`;
      select.append(h("option", { value: k }, row.name + label));
    });
    on(select, "change", () => {
      this.pick(Number(select.value));
      this.changed();
    });
    return h("p", { class: "pick" }, h("label", { for: "pick" }, "Begin with "), select);
  }

  private pick(k: number): void {
    this.set(this.data.rows[k]!.cells, k);
  }

  private field(column: Column, j: number): HTMLElement {
    const id = `field-${j}`;
    const set = (cell: Cell, problem = "") => {
      this.row[j] = cell;
      this.picked = null;
      if (problem) this.problems.set(j, problem);
      else this.problems.delete(j);
      this.changed();
    };
    const label = h("label", { for: id }, name(column.name));
    if (column.kind === "numeric") {
      const input = h("input", { id, type: "text", inputmode: "decimal", autocomplete: "off", placeholder: "missing" });
      const slider = this.slider(column, j, (cell) => {
        input.value = String(cell);
        input.setAttribute("aria-invalid", "false");
        set(cell);
      });
      on(input, "input", () => {
        const text = input.value.trim().replace(/^−/, "-");
        const value = Number(text);
        const bad = text !== "" && !Number.isFinite(value);
        input.setAttribute("aria-invalid", String(bad));
        if (text !== "" && !bad && slider) slider.value = String(value);
        slider?.classList.toggle("unset", text === "" || bad);
        set(text === "" || bad ? null : value, bad ? `${column.name} wants a number` : "");
      });
      this.setters[j] = (cell) => {
        input.value = cell === null ? "" : String(cell);
        input.setAttribute("aria-invalid", "false");
        if (slider && cell !== null) slider.value = String(cell);
        slider?.classList.toggle("unset", cell === null);
      };
      this.setters[j]!(this.row[j] ?? null);
      return h("div", { class: "field" }, label, input, slider);
    }
    const select = h("select", { id });
    const values = column.values ?? (column.kind === "binary" ? ["0", "1"] : []);
    values.forEach((value, k) => select.append(h("option", { value: k }, value)));
    if (column.kind !== "binary") select.append(h("option", { value: -1 }, "(another value)"));
    select.append(h("option", { value: "" }, "(missing)"));
    on(select, "change", () => set(select.value === "" ? null : Number(select.value)));
    this.setters[j] = (cell) => (select.value = cell === null ? "" : String(cell));
    this.setters[j]!(this.row[j] ?? null);
    const wide = values.some((value) => value.length > LONG);
    return h("div", { class: wide ? "field wide" : "field" }, label, select);
  }

  private slider(column: Column, j: number, moved: (cell: number) => void): HTMLInputElement | null {
    const range = column.range;
    if (range === undefined || !(range[0] < range[1])) return null;
    const step = column.whole ? 1 : nice((range[1] - range[0]) / 100);
    const low = Math.floor(range[0] / step) * step;
    const slider = h("input", {
      type: "range", id: `slide-${j}`, min: trim(low), max: trim(Math.ceil(range[1] / step) * step), step,
      "aria-label": `${column.name}, by a slider`, tabindex: -1,
    });
    on(slider, "input", () => {
      slider.classList.remove("unset");
      moved(trim(Number(slider.value)));
    });
    return slider;
  }
}

// A step of one digit: 1, 2 or 5 times a power of ten.
function nice(x: number): number {
  const power = 10 ** Math.floor(Math.log10(x));
  const digit = x / power;
  return trim((digit < 2 ? 1 : digit < 5 ? 2 : 5) * power);
}

function trim(x: number): number {
  return Number(x.toPrecision(10));
}
