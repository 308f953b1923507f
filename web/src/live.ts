// The explorer's controls: a query in the address, an answer as soon as there is one, and a way to stop.

import type { Edit, Live, PageData, Query, Test } from "./data.ts";
import { h, name, on } from "./dom.ts";
import { edited, supported, type Asker, type NodeFacts } from "./node.ts";

const WAIT = 60; // ms between two looks at a running query
const PAUSE = 120; // ms of silence before typing counts as a question

export interface Answer {
  done: boolean;
  id: number;
  error?: string;
  status: string;
  seconds: number;
  part: Omit<Partial<PageData>, "tests"> & { tests?: Record<string, Test>; least?: number | null }; // what is known so far; tests by number
}

// The program has answered, and the answer is no.
class Refused extends Error {}

function newName(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export class LivePanel {
  readonly element: HTMLElement;
  private readonly status = h("p", { class: "status", role: "status" });
  private readonly stop = h("button", { type: "button", hidden: true }, "Stop");
  private readonly form = h("form", { class: "query", "aria-label": "The question" });
  private query: Query;
  private turn = 0;
  private readonly client = newName(); // this tab's own: questions of other tabs are not touched
  private timer = 0;
  private best: number | null = null; // the objective of the best tree of the question, without the reader's nodes

  constructor(
    private readonly live: Live,
    private readonly show: (answer: Answer) => void,
    private readonly moved: () => void, // the reader's own nodes have changed
  ) {
    this.query = { ...live.query, ...fromAddress(live) };
    on(this.form, "submit", (event) => event.preventDefault());
    on(this.stop, "click", () => void this.post("cancel", {}));
    this.build();
    this.element = h(
      "section",
      { class: "card live", "aria-labelledby": "live-title" },
      h("h2", { id: "live-title" }, "Ask"),
      this.form,
      h("div", { class: "status-line" }, this.status, this.stop),
    );
    // Who leaves the page no longer waits for its answer.
    window.addEventListener("pagehide", () => void this.post("cancel", {}, {}, true).catch(() => undefined));
    window.addEventListener("hashchange", () => {
      const now = { ...this.live.query, ...fromAddress(live) };
      if (JSON.stringify(now) === JSON.stringify(this.query)) return;
      if (JSON.stringify(now.edits) !== JSON.stringify(this.query.edits)) this.moved();
      this.query = now;
      this.build();
      this.ask(false);
    });
  }

  private build(): void {
    const { query, live } = this;
    const number = (key: "max_depth" | "min_leaf" | "max_size", label: string, least: number, most: number) => {
      const input = h("input", {
        id: `query-${key}`, type: "number", min: least, max: most, step: 1, inputmode: "numeric",
        value: query[key] ?? "", placeholder: "any",
      });
      on(input, "input", () => {
        const value = input.value === "" ? null : Number(input.value);
        if (value === null ? key !== "max_size" : !Number.isInteger(value) || value < least || value > most) {
          this.tell(`${label}: expected a whole number from ${least} to ${most}.`, true);
          return;
        }
        query[key] = value as never;
        this.later();
      });
      return h("div", { class: "field" }, h("label", { for: input.id }, label), input);
    };
    const choice = (key: "objective" | "prior", label: string) => {
      const select = h("select", { id: `query-${key}` });
      for (const [value, words, about] of live.choices[key]) {
        select.append(h("option", { value, title: about, selected: value === query[key] }, words));
      }
      on(select, "change", () => {
        query[key] = select.value;
        this.ask();
      });
      return h("div", { class: "field" }, h("label", { for: select.id }, label), select);
    };
    const attributes = h("div", { class: "attributes" });
    live.attributes.forEach((label, k) => {
      const key = live.names[k]!;
      const select = h("select", { id: `use-${k}`, class: "use" });
      const now = query.require.includes(key) ? "must" : query.forbid.includes(key) ? "not" : "";
      for (const [value, words] of [["", "may"], ["must", "must"], ["not", "must not"]]) {
        select.append(h("option", { value: value!, selected: value === now }, words!));
      }
      on(select, "change", () => {
        query.require = query.require.filter((each) => each !== key);
        query.forbid = query.forbid.filter((each) => each !== key);
        if (select.value === "must") query.require.push(key);
        if (select.value === "not") query.forbid.push(key);
        this.ask();
      });
      attributes.append(h("div", { class: "attribute" }, h("label", { for: select.id }, name(label)), select));
    });
    const target = h("select", { id: "query-target" });
    live.targets.forEach((label, k) =>
      target.append(h("option", { value: k, selected: label === live.target }, label)),
    );
    on(target, "change", () => void this.change("target", { position: Number(target.value) }));
    const file = h("input", { id: "query-file", type: "file", accept: ".csv,.tsv,.arff,.parquet,.gz" });
    on(file, "change", () => {
      const given = file.files?.[0];
      if (given) void this.change("open", given, given.name);
    });
    const open = query.require.length + query.forbid.length > 0;
    this.form.replaceChildren(
      h(
        "div",
        { class: "fields" },
        number("max_depth", "Most tests on a path", 0, 20),
        number("min_leaf", "Fewest examples in a leaf", 1, 1e9),
        number("max_size", "Most nodes", 1, 1e6),
        choice("objective", "The best tree has least"),
        choice("prior", "Trees that weigh more"),
        h("div", { class: "field" }, h("label", { for: "query-target" }, "Predict"), target),
      ),
      h(
        "details",
        { open },
        h("summary", {}, `Columns the tree may use (${live.attributes.length})`),
        attributes,
      ),
      h(
        "details",
        {},
        h("summary", {}, "Another file"),
        h(
          "p",
          {},
          h("label", { for: "query-file" }, "A file of this machine; it goes to the local program and nowhere else. "),
          file,
        ),
      ),
    );
  }

  // --- the reader's own nodes

  edits(): Edit[] {
    return this.query.edits;
  }

  edit(edits: Edit[]): void {
    this.query.edits = edits;
    this.moved();
    this.ask();
  }

  undo(path: string): void {
    this.edit(edited(this.query.edits, { path, steps: [] }, (test) => test, undefined));
  }

  asker(claims: () => [string, string][]): Asker {
    return {
      node: (steps) => this.post("node", { query: { ...this.query, edits: [] }, steps }) as Promise<NodeFacts>,
      prices: async (steps, tests) => {
        const found = (await this.post("node", { query: { ...this.query, edits: [] }, steps, tests })) as { prices: [number, number | null][] };
        return found.prices;
      },
      edits: () => this.edits(),
      edit: (edits) => this.edit(edits),
      objective: () => ({ words: claims()[0]?.[0] ?? "", best: this.best }),
      depth: () => this.query.max_depth,
    };
  }

  private later(): void {
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.ask(), PAUSE);
  }

  // Ask the question as it stands; each one is a step of the browser's history, so that Back undoes it.
  ask(push = true): void {
    clearTimeout(this.timer);
    const deepest = this.query.max_depth;
    this.query.edits = supported(this.query.edits.filter(([path, test]) => path.length < deepest || (test === null && path.length === deepest)));
    const address = `#${toAddress(this.query, this.live.query)}`;
    const same = (location.hash || "#") === address;
    if (push && this.turn > 0 && !same) history.pushState(null, "", address);
    else history.replaceState(null, "", address);
    void this.run(++this.turn);
  }

  private async run(turn: number): Promise<void> {
    const begun = performance.now();
    let first = 0;
    let answer: Answer = { done: false, id: 0, status: "", seconds: 0, part: {} };
    this.element.setAttribute("aria-busy", "true");
    try {
      this.show(answer); // what is in sight belongs to the question before, and says so
      answer = (await this.post("ask", this.query)) as Answer;
      for (;;) {
        if (turn !== this.turn) return;
        if (answer.part.tree && first === 0) first = performance.now() - begun;
        this.best = answer.part.least ?? null;
        this.show(answer);
        const ms = first > 0 ? ` Tree after ${first.toFixed(0)} ms.` : "";
        this.tell((answer.error ?? answer.status) + (answer.done && !answer.error ? ms : ""), !!answer.error);
        this.stop.hidden = answer.done;
        if (answer.done) {
          this.element.setAttribute("aria-busy", "false");
          return;
        }
        await new Promise((wake) => setTimeout(wake, WAIT));
        if (turn !== this.turn) return;
        answer = (await this.post("look", { id: answer.id })) as Answer;
      }
    } catch (error) {
      if (turn !== this.turn) return;
      const words = error instanceof Refused ? error.message : `The local program does not answer: ${String(error)}`;
      this.show({ ...answer, done: true, error: words }); // of an unanswered question nothing is claimed
      this.tell(words, true);
      this.stop.hidden = true;
      this.element.setAttribute("aria-busy", "false");
    }
  }

  private tell(words: string, bad: boolean): void {
    this.status.textContent = words;
    this.status.classList.toggle("problem", bad);
  }

  private async post(what: string, body: unknown, more: Record<string, string> = {}, last = false): Promise<unknown> {
    const isFile = body instanceof Blob;
    const response = await fetch(`api/${what}`, {
      method: "POST",
      headers: {
        "X-Everytree-Token": this.live.token,
        "X-Everytree-Client": this.client,
        "X-Everytree-Data": String(this.live.data),
        "Content-Type": isFile ? "application/octet-stream" : "application/json",
        ...more,
      },
      body: isFile ? body : JSON.stringify(body),
      keepalive: last,
    });
    const found = (await response.json()) as { error?: string };
    if (!response.ok) throw new Refused(found.error ?? response.statusText);
    return found;
  }

  // Another target or another file: the server learns it, then the page starts anew.
  private async change(what: string, body: unknown, fileName = ""): Promise<void> {
    this.turn++;
    this.tell("reading …", false);
    try {
      await this.post(what, body, fileName ? { "X-Everytree-Name": encodeURIComponent(fileName) } : {});
      history.replaceState(null, "", "#");
      location.reload();
    } catch (error) {
      this.tell(String(error instanceof Error ? error.message : error), true);
    }
  }
}

// --- the query in the address: what differs from the usual, after the #

export function toAddress(query: Query, usual: Query): string {
  const parts = new URLSearchParams();
  for (const key of ["max_depth", "min_leaf", "max_size", "objective", "prior"] as const) {
    if (query[key] !== usual[key] && query[key] !== null) parts.set(key, String(query[key]));
  }
  for (const key of ["require", "forbid"] as const) for (const each of query[key]) parts.append(key, each);
  for (const [path, test, kept] of query.edits) parts.append("node", `${path}:${test ?? "leaf"}${kept ? ":kept" : ""}`);
  return parts.toString();
}

function fromAddress(live: Live): Partial<Query> {
  const parts = new URLSearchParams(location.hash.slice(1));
  const found: Partial<Query> = {};
  for (const key of ["max_depth", "min_leaf", "max_size"] as const) {
    const value = Number(parts.get(key) ?? "");
    if (parts.has(key) && Number.isInteger(value)) found[key] = value;
  }
  for (const key of ["objective", "prior"] as const) {
    const value = parts.get(key);
    if (live.choices[key].some(([each]) => each === value)) found[key] = value!;
  }
  const names = new Set(live.names);
  found.require = parts.getAll("require").filter((each) => names.has(each));
  found.forbid = parts.getAll("forbid").filter((each) => names.has(each) && !found.require!.includes(each));
  found.edits = parts.getAll("node").flatMap((each): Edit[] => {
    const match = /^([01]{0,20}):(leaf|\d{1,9})(:kept)?$/.exec(each);
    return match === null ? [] : [[match[1]!, match[2] === "leaf" ? null : Number(match[2]), match[3] ? 1 : 0]];
  });
  return found;
}

