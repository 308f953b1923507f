"""``everytree demo``: prints what ``everytree.cli.demonstration`` found, and says where the pictures are."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from everytree.cli.demonstration import check_folder, run_demo, write_pictures
from everytree.cli.show import print_json
from everytree.estimators.optimal import PRICE

__all__ = ["show_demo"]


def show_demo(out: Path, max_depth: int, min_leaf: int, seed: int, as_json: bool = False) -> None:
    """Run the demo, print the tree and the scores, write the pictures into ``out``."""
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False, soft_wrap=True)
    check_folder(out)
    result = run_demo(max_depth, min_leaf, seed)
    picture, page = write_pictures(result, out)

    if as_json:
        print_json(
            {
                "rows": result.n_train, "held_out": result.n_held_out, "tests": result.n_tests,
                "trees": result.n_trees, "tree": result.tree.to_dict(), "error": result.tree.error,
                "likely_tests": dict(result.likely_tests),
                "scores": [asdict(score) for score in result.scores], "left_out": list(result.left_out),
                "pictures": [str(picture), str(page)],
            }
        )  # fmt: skip
        return
    console.print("[bold]Breast cancer[/bold]: 569 tumours, 30 measurements each")
    console.print(f"{result.n_train} rows to learn from, {result.n_held_out} held out")
    table = Table(title=f"\nOn the {result.n_held_out} rows that no method has seen", title_justify="left")
    table.add_column("method")
    for column in ("accuracy", "log-loss", "time"):
        table.add_column(column, justify="right")
    for score in result.scores:
        table.add_row(
            score.method, f"{score.accuracy:.3f}", f"{score.log_loss:.3f}", f"{score.seconds:.2f} s"
        )
    console.print(table)
    loss, error = result.left_out
    console.print(
        "What the first says of itself, by leaving out each row that it learned from: log-loss "
        f"{loss:.3f} ± {error:.3f}"
    )

    in_a_leaf = f", with at least {result.min_leaf} rows in a leaf," if result.min_leaf > 1 else ""
    console.print(
        f"\n[bold]The best tree of depth {result.max_depth}[/bold]: {result.tree.error} training errors with "
        f"{result.tree.n_leaves} leaves, where a leaf costs as much as {PRICE:g} errors.\nNone of the "
        f"{result.n_trees:,} trees over {result.n_tests} tests{in_a_leaf} is better."
    )
    console.print(result.tree.to_text(), markup=False)
    console.print(
        f"It asks for at most {result.max_depth} measurements of a tumour, and a person can check it; "
        "logistic regression and the forest weigh all 30."
    )
    console.print("\n[bold]The tests that probably matter[/bold] (probability that a tree uses the test)")
    for name, probability in result.likely_tests:
        console.print(f"  {probability:.3f}  {name}", markup=False)
    console.print(f"\nThe tree as a picture: {picture}\nThe whole page:        {page}", markup=False)
