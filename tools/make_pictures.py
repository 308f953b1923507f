"""Make the pictures of the site: run the pages that draw, and draw the diagram of methods and the picture of the page.

    python tools/make_pictures.py            all of them, into docs/images
    python tools/make_pictures.py which      only the diagram

A picture of a page is what a block of code on that page writes, so that a reader who runs the code gets the same.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from html import escape
from pathlib import Path

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
PAGES = ("tutorial", "gallery")
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)

# Questions from top to bottom: yes goes right to a method, no goes down.
QUESTIONS = (
    ("Must people read it as one tree?", "OptimalTreeClassifier", "the best tree, proved"),
    ("Do you want to choose prior and depth?", "BayesOptimalClassifier", "the average over every tree"),
    ("Is it more than memory holds?", "Table.from_frame + fit_table", "counted where the data are"),
    ("Must learning take milliseconds?", "SmoothedTreeClassifier", "one greedy tree, averaged"),
)
ELSE = ("EveryTreeClassifier", "nothing to choose: start here")


def which() -> str:
    """The diagram of methods, as SVG."""
    width, step, left, box = 760, 92, 24, 330
    lines = []

    def rect(x: int, y: int, w: int, h: int, kind: str) -> None:
        lines.append(f'<rect x="{x}" y="{y}" width="{w}" height="{h}" rx="9" class="{kind}"/>')

    def text(x: float, y: float, words: str, kind: str, anchor: str = "middle") -> None:
        lines.append(f'<text x="{x}" y="{y}" class="{kind}" text-anchor="{anchor}">{escape(words)}</text>')

    def arrow(x1: int, y1: int, x2: int, y2: int) -> None:
        lines.append(f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" class="way" marker-end="url(#end)"/>')

    for k, (question, method, about) in enumerate(QUESTIONS):
        y = 16 + k * step
        rect(left, y, box, 54, "ask")
        text(left + box / 2, y + 32, question, "question")
        arrow(left + box, y + 27, left + box + 74, y + 27)
        text(left + box + 34, y + 19, "yes", "small")
        rect(left + box + 80, y, width - left - box - 104, 54, "method")
        middle = left + box + 80 + (width - left - box - 104) / 2
        text(middle, y + 24, method, "name")
        text(middle, y + 43, about, "small")
        arrow(left + box // 2, y + 54, left + box // 2, y + step - 6)
        text(left + box // 2 + 16, y + 76, "no", "small")
    y = 16 + len(QUESTIONS) * step
    rect(left, y, box, 58, "start")
    text(left + box / 2, y + 25, ELSE[0], "name")
    text(left + box / 2, y + 45, ELSE[1], "small")
    style = (
        "text{font-family:system-ui,sans-serif;fill:#1d2733}.question{font-size:15px}.name{font-size:15px;"
        "font-weight:600}.small{font-size:12.5px;fill:#4a5866}.ask{fill:#f3f6f9;stroke:#9fb0c0}"
        ".method{fill:#e7f1fb;stroke:#4f86b8}.start{fill:#e3f4e7;stroke:#3f8f58;stroke-width:2}"
        ".way{stroke:#6b7b8a;stroke-width:1.5}"
    )
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {y + 74}" role="img" '
        f'aria-label="Which method to use"><style>{style}</style>'
        '<defs><marker id="end" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
        '<path d="M0 0L8 4L0 8z" fill="#6b7b8a"/></marker></defs>'
        f'<rect width="{width}" height="{y + 74}" fill="#ffffff"/>'
    )
    return head + "".join(lines) + "</svg>\n"


def run_page(name: str, folder: Path) -> list[Path]:
    """Run the Python of a page in a folder, and return the pictures that it wrote."""
    text = (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
    program = "\n".join(BLOCK.findall(text))
    head = "import matplotlib\nmatplotlib.rcParams['svg.hashsalt'] = 'everytree'\nmatplotlib.use('Agg')\n"
    env = {**os.environ, "SOURCE_DATE_EPOCH": "0"}
    subprocess.run(
        [sys.executable, "-c", head + program], cwd=folder, check=True, env=env, stdout=subprocess.DEVNULL
    )
    return sorted(folder.glob("*.svg"))


PAGE = """
import everytree as et
from everytree.report import write_report
from sklearn.datasets import load_breast_cancer

data = load_breast_cancer(as_frame=True)
X, y = data.data, data.target.map({0: "malignant", 1: "benign"})
model = et.BayesOptimalClassifier(max_depth=3, min_leaf=5).fit(X, y)
write_report(model, "page.html", (X, y), title="Breast cancer")
"""


def page_picture(folder: Path) -> Path | None:
    """The report of a model as a browser shows it; None where there is no Chromium."""
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if browser is None:
        print("there is no Chromium: docs/images/page.png stays as it is")
        return None
    subprocess.run([sys.executable, "-c", PAGE], cwd=folder, check=True)
    options = [
        "--headless",
        "--no-sandbox",
        "--hide-scrollbars",
        "--window-size=1200,1000",
        "--virtual-time-budget=4000",
    ]
    picture = folder / "page.png"
    subprocess.run(
        [browser, *options, f"--screenshot={picture}", (folder / "page.html").as_uri()],
        check=True,
        capture_output=True,
    )
    return picture


def main(wanted: list[str]) -> None:
    IMAGES.mkdir(parents=True, exist_ok=True)
    if not wanted or "which" in wanted:
        (IMAGES / "which.svg").write_text(which(), encoding="utf-8")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for page in PAGES:
            if not wanted or page in wanted:
                for picture in run_page(page, folder):
                    shutil.copy(picture, IMAGES / picture.name)
        if not wanted or "page" in wanted:
            picture = page_picture(folder)
            if picture is not None:
                shutil.copy(picture, IMAGES / "page.png")


if __name__ == "__main__":
    main(sys.argv[1:])
