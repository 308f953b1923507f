// The value of a cell in words.

import type { PageData } from "./data.ts";
import { clip } from "./dom.ts";
import type { Cell } from "./route.ts";
import { number } from "./words.ts";

export function cellText(data: PageData, j: number, cell: Cell): string {
  if (cell === null) return "missing";
  const column = data.columns[j]!;
  if (column.values === undefined) return number(cell);
  return clip(column.values?.[cell] ?? "another value", 60);
}
