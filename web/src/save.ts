// The picture as a file of its own: SVG with its colours written out, or PNG drawn from that.

const SCALE = 2; // dots of the PNG for a dot of the picture
const PARTS = ["fill", "fill-opacity", "stroke", "stroke-width", "opacity", "font-size", "font-weight", "text-anchor"];

// "color(srgb 0.1 0.2 0.3)", which drawing programs do not read, as "rgb(26, 51, 77)".
export function plainColour(value: string): string {
  const parts = /^color\(srgb ([\d.e+-]+) ([\d.e+-]+) ([\d.e+-]+)(?: \/ ([\d.e+-]+))?\)$/.exec(value);
  if (parts === null) return value;
  const [r, g, b] = parts.slice(1, 4).map((x) => Math.round(255 * Math.min(1, Math.max(0, Number(x)))));
  return parts[4] === undefined || Number(parts[4]) === 1 ? `rgb(${r}, ${g}, ${b})` : `rgba(${r}, ${g}, ${b}, ${parts[4]})`;
}

// A copy of a picture that needs no style sheet.
export function standalone(picture: SVGSVGElement, title: string): string {
  const copy = picture.cloneNode(true) as SVGSVGElement;
  const from = picture.querySelectorAll<SVGElement>("*");
  const to = copy.querySelectorAll<SVGElement>("*");
  to.forEach((element, k) => {
    const style = getComputedStyle(from[k]!);
    if (element.closest("[role=presentation], [role=treeitem]")) return;
    for (const part of PARTS) {
      const value = style.getPropertyValue(part);
      if (value) element.setAttribute(part, part === "fill" || part === "stroke" ? plainColour(value) : value);
    }
    element.removeAttribute("class");
    element.removeAttribute("style");
  });
  copy.querySelector("[role=presentation]")?.remove(); // what only a reader with a keyboard needs
  const { width, height } = picture.viewBox.baseVal;
  for (const name of [...copy.getAttributeNames()]) if (!["viewBox"].includes(name)) copy.removeAttribute(name);
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("width", String(Math.ceil(width)));
  copy.setAttribute("height", String(Math.ceil(height)));
  copy.setAttribute("font-family", "system-ui, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif");
  const ground = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  ground.setAttribute("width", "100%");
  ground.setAttribute("height", "100%");
  ground.setAttribute("fill", plainColour(getComputedStyle(document.documentElement).getPropertyValue("--paper").trim() || "#fff"));
  const name = document.createElementNS("http://www.w3.org/2000/svg", "title");
  name.textContent = title;
  copy.prepend(name, ground);
  return new XMLSerializer().serializeToString(copy);
}

export function fileName(title: string, ending: string): string {
  const name = title.normalize("NFKD").replace(/[^A-Za-z0-9]+/g, "-").replace(/^-+|-+$/g, "").slice(0, 60).toLowerCase();
  return `${name || "tree"}.${ending}`;
}

export function saveSvg(picture: SVGSVGElement, title: string): void {
  download(new Blob([standalone(picture, title)], { type: "image/svg+xml" }), fileName(title, "svg"));
}

export async function savePng(picture: SVGSVGElement, title: string): Promise<void> {
  const { width, height } = picture.viewBox.baseVal;
  const image = new Image();
  const drawn = new Promise((done, failed) => {
    image.onload = done;
    image.onerror = failed;
  });
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(standalone(picture, title))}`;
  await drawn;
  const canvas = document.createElement("canvas");
  const scale = Math.min(SCALE, 16000 / Math.max(width, height)); // browsers refuse larger ones
  canvas.width = Math.ceil(width * scale);
  canvas.height = Math.ceil(height * scale);
  canvas.getContext("2d")!.drawImage(image, 0, 0, canvas.width, canvas.height);
  const blob = await new Promise<Blob | null>((done) => canvas.toBlob(done, "image/png"));
  if (blob !== null) download(blob, fileName(title, "png"));
}

function download(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
