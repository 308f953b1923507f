// Small makers of elements. Text is always set as text: nothing here can turn a name into markup.

type Child = Node | string | null | undefined | false;
type Attributes = Record<string, string | number | boolean | null | undefined>;

function fill(element: Element, attributes: Attributes, children: Child[]): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children) if (child) element.append(child);
}

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  fill(element, attributes, children);
  return element;
}

export function s<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): SVGElementTagNameMap[K] {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  fill(element, attributes, children);
  return element;
}

// A name from somebody's data, kept apart from the direction of the text around it.
export function name(text: string): HTMLElement {
  return h("bdi", {}, text);
}

export function on<K extends keyof HTMLElementEventMap>(
  element: HTMLElement | SVGElement,
  event: K,
  action: (event: HTMLElementEventMap[K]) => void,
): void {
  element.addEventListener(event, action as EventListener);
}

export function colour(element: HTMLElement | SVGElement, c: number): void {
  element.style.setProperty("--hue", `var(--class-${c % 8})`);
}

// --- words

export function percent(p: number): string {
  const text = (100 * p).toFixed(p > 0.9995 || p < 0.0005 ? 2 : 1);
  if (p < 1 && Number(text) >= 100) return ">99.99\u202f%";
  if (p > 0 && Number(text) <= 0) return "<0.01\u202f%";
  return `${text}\u202f%`;
}

export function chance(p: number): string {
  const text = p.toFixed(3);
  if (text === "1.000" && p < 1) return ">0.999";
  if (text === "0.000" && p > 0) return "<0.001";
  return p === 0 || p === 1 ? String(p) : text; // three digits each, so that they can be read one below the other
}

// A number of examples, which weights may make a fraction.
export function examples(n: number): string {
  return n.toLocaleString("en", { maximumFractionDigits: 2 });
}

// A bound: two digits, never less than it is.
export function atMost(x: number): string {
  if (x <= 0) return "0";
  const step = 10 ** (Math.floor(Math.log10(x)) - 1);
  return String(Number((Math.ceil(x / step - 1e-9) * step).toPrecision(2)));
}

// "84.2–93.2 %"
export function percentRange([low, high]: [number, number]): string {
  return `${percent(low).replace("\u202f%", "")}–${percent(high)}`;
}

export function many(n: number, word: string): string {
  return `${n.toLocaleString("en")} ${word}${n === 1 ? "" : "s"}`;
}

export function sum(values: number[]): number {
  return values.reduce((a, b) => a + b, 0);
}

export function largest(values: number[]): number {
  return values.reduce((best, value, k) => (value > (values[best] ?? -Infinity) ? k : best), 0);
}

// The class of least expected cost, of several the most probable one; without costs the most probable class.
export function decided(p: number[], costs: number[][] | null | undefined): number {
  if (!costs) return largest(p);
  const expected = p.map((_, k) => sum(p.map((x, c) => x * costs[c]![k]!)));
  const slack = 1e-12 * Math.max(...costs.flat().map(Math.abs));
  const least = Math.min(...expected) + slack;
  return largest(p.map((x, k) => (expected[k]! <= least ? x : -1)));
}

export function clip(text: string, width: number): string {
  const letters = Array.from(text);
  return letters.length <= width ? text : letters.slice(0, width - 1).join("").trimEnd() + "…";
}
