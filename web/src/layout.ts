// Where the boxes of a tree go: a node midway above its children, subtrees as close as their outlines allow, all boxes
// of a level on one top line. Linear in the number of nodes.

export interface Box {
  width: number;
  height: number;
}

export interface Placed {
  x: Map<number, number>; // centre
  y: Map<number, number>; // top
  width: number;
  height: number;
}

interface Outline {
  left: number[]; // per level, the deepest first
  right: number[];
  shift: number;
}

export function place(
  order: number[], // preorder
  children: (node: number) => number[],
  level: (node: number) => number,
  box: (node: number) => Box,
  gapX: number,
  gapY: number,
): Placed {
  const offset = new Map<number, number>();
  const outlines = new Map<number, Outline>();
  for (const node of [...order].reverse()) {
    const half = box(node).width / 2;
    const below = children(node);
    if (below.length === 0) {
      outlines.set(node, { left: [-half], right: [half], shift: 0 });
      continue;
    }
    const at: number[] = [0];
    let joined = outlines.get(below[0]!)!;
    for (const child of below.slice(1)) {
      const next = outlines.get(child)!;
      const shared = Math.min(joined.left.length, next.left.length);
      let distance = -Infinity;
      for (let i = 1; i <= shared; i++) {
        const right = joined.right[joined.right.length - i]! + joined.shift;
        const left = next.left[next.left.length - i]! + next.shift;
        distance = Math.max(distance, right - left + gapX);
      }
      next.shift += distance;
      at.push(distance);
      const [deep, shallow] = joined.left.length >= next.left.length ? [joined, next] : [next, joined];
      for (let i = 1; i <= shared; i++) {
        const a = deep.left.length - i;
        const b = shallow.left.length - i;
        deep.left[a] = Math.min(deep.left[a]!, shallow.left[b]! + shallow.shift - deep.shift);
        deep.right[a] = Math.max(deep.right[a]!, shallow.right[b]! + shallow.shift - deep.shift);
      }
      joined = deep;
    }
    const middle = at[at.length - 1]! / 2;
    below.forEach((child, k) => offset.set(child, at[k]! - middle));
    joined.shift -= middle;
    joined.left.push(-half - joined.shift);
    joined.right.push(half - joined.shift);
    outlines.set(node, joined);
  }

  const root = order[0]!;
  const whole = outlines.get(root)!;
  const left = Math.min(...whole.left) + whole.shift;
  const right = Math.max(...whole.right) + whole.shift;
  const tallest: number[] = [];
  for (const node of order) {
    const d = level(node);
    tallest[d] = Math.max(tallest[d] ?? 0, box(node).height);
  }
  const tops = [0];
  for (const height of tallest) tops.push(tops[tops.length - 1]! + height + gapY);
  const x = new Map<number, number>([[root, -left]]);
  const y = new Map<number, number>();
  for (const node of order) {
    y.set(node, tops[level(node)]!);
    for (const child of children(node)) x.set(child, x.get(node)! + offset.get(child)!);
  }
  return { x, y, width: right - left, height: tops[tops.length - 1]! - gapY };
}
