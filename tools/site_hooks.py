"""What MkDocs is told besides mkdocs.yml: pages of the site that lie elsewhere in the repository.

CONTRIBUTING.md, CHANGELOG.md, the tables of benchmarks and the reports of studies are pages too. Links in docs/ lead to
the files themselves, as they must in the repository, and are turned here into links to the pages.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[1]
SHOWN = (".md", ".svg", ".png", ".csv")

# What a link begins with in a file of the repository → what it begins with on the page, by the page's place.
LINKS = {
    "": (("](../README.md", "](index.md"), ("](../CONTRIBUTING.md", "](contributing.md"),
         ("](../benchmarks/results/", "](results/"), ("](../studies/", "](studies/"),
         ("](docs/", "]("), ("](CHANGELOG.md", "](changelog.md"), ("](CONTRIBUTING.md", "](contributing.md"),
         ("](LICENSE", "](index.md"), ("](CITATION.cff", "](index.md")),
    "results": (("](../benchmarks/results/", "](") ,),
}  # fmt: skip


def on_files(files: Files, config: Any, **_: Any) -> Files:
    """Add the pages that lie elsewhere."""
    pages = {"contributing.md": ROOT / "CONTRIBUTING.md", "changelog.md": ROOT / "CHANGELOG.md"}
    for place, folder in (("results", ROOT / "benchmarks" / "results"), ("studies", ROOT / "studies")):
        for path in sorted(folder.rglob("*")):
            if path.suffix in SHOWN and path.is_file():
                pages[f"{place}/{path.relative_to(folder).as_posix()}"] = path
    for name, path in pages.items():
        if files.get_file_from_path(name) is None:
            files.append(File.generated(config, name, abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Turn links to files into links to pages."""
    place = page.file.src_uri.rpartition("/")[0].partition("/")[0]
    for link, there in LINKS.get(place, ()):
        markdown = markdown.replace(link, there)
    return markdown
