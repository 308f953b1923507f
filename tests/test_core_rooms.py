"""The rooms of the C++ core include only rooms that docs/layout.md lists before them."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]


def rooms() -> list[str]:
    text = (ROOT / "docs" / "layout.md").read_text()
    block = text[text.index("\ncore/ ") : text.index("\nbindings/ ")]
    names = re.findall(r"^  (\w+)/ ", block, flags=re.MULTILINE)
    return [name for name in names if name not in ("tests", "fuzz")]


def test_every_room_is_listed() -> None:
    folders = {path.name for path in (ROOT / "core").iterdir() if path.is_dir()} - {"tests", "fuzz"}
    assert folders == set(rooms())


def test_rooms_include_only_rooms_before_them() -> None:
    order = {name: place for place, name in enumerate(rooms())}
    wrong = []
    for path in sorted((ROOT / "core").rglob("*.[ch]pp")):
        room = path.relative_to(ROOT / "core").parts[0]
        for other in re.findall(r'^#include "(\w+)/', path.read_text(), flags=re.MULTILINE):
            if room in order and order[other] > order[room]:
                wrong.append(f"{path.relative_to(ROOT)} includes {other}/")
    assert not wrong
