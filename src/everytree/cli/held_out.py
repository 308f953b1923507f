"""Show honest figures beside every training error: what is expected on new rows, and what baselines would do there.

--held-out       judge by rows that are held out, however long it takes
--no-held-out    do not
neither          as many parts of a cross-validation as take about ``QUICK`` seconds, or twice the fit
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from everytree.cli.data import Examples
from everytree.cli.show import console
from everytree.cli.watch import at_work, counted
from everytree.common.arguments import refused
from everytree.data.readers.cells import parse_numbers
from everytree.errors import LimitReached, QueryError
from everytree.estimators.honest import honest_figures

__all__ = ["checked_positive", "figure_cells", "judged", "parsed_costs", "show_figures", "why_not"]

QUICK = 10.0  # seconds
NOT_ASKED, TOO_LONG = "not asked for", "it would take too long; --held-out judges it anyway"


def parsed_costs(text: str | None, positive: str | None) -> tuple[float, float] | None:
    """Read MISS:ALARM, such as 5:1.

    >>> parsed_costs("5:1", "Yes")
    (5.0, 1.0)
    """
    if text is None:
        return None
    found = parse_numbers([each.strip() for each in text.split(":")])
    if len(found) != 2 or None in found or any(each is None or each <= 0 for each in found):
        raise refused(QueryError, "costs", text, "MISS:ALARM, two numbers above 0, such as --costs 5:1")
    if positive is None:
        raise QueryError(
            "--costs are of one class: name it with --positive", code="parameter", parameter="costs"
        )
    return float(found[0] or 0), float(found[1] or 0)


def checked_positive(positive: str | None, examples: Examples | None) -> None:
    """Refuse a class that no row has, before anything is learned."""
    if positive is None or examples is None:
        return
    labels = sorted({str(label) for label in examples.y.tolist()})
    if positive not in labels:
        raise refused(QueryError, "positive", positive, f"one of the classes {', '.join(labels[:10])}")


def judged(
    model: Any,
    examples: Examples,
    wanted: bool | None,
    learned_in: float,
    positive: str | None = None,
    costs: tuple[float, float] | None = None,
) -> dict[str, Any]:
    """Return the honest figures of a fitted classifier; a reason instead where they are not wanted or take too long."""
    if wanted is False:
        return why_not(NOT_ASKED)
    if (
        getattr(model, "stop_reason_", None) == "stopped"
    ):  # who stopped it will not wait for it five times more
        return why_not("learning was stopped")
    seconds = None if wanted else max(QUICK, 2 * learned_in)
    if seconds is not None and learned_in > seconds / 2 and getattr(model, "loo_proba_", None) is None:
        return why_not(TOO_LONG)

    def bar(parts: Iterable[Any], total: int) -> Iterable[Any]:
        return counted(parts, total, "cross-validating")

    try:
        with at_work():
            found = honest_figures(
                model, examples.features, examples.y, examples.weights,
                positive=positive, costs=costs, seconds=seconds, counted=bar,
            )  # fmt: skip
    except LimitReached:
        return why_not("stopped")
    if found["how"] is None and not found["words"]:
        found["words"] = "too few rows to hold some out"
    return found


def why_not(reason: str) -> dict[str, Any]:
    """Return figures that are not there, and why."""
    return {
        "how": None,
        "rows": 0,
        "figures": [],
        "ranks": False,
        "words": f"not judged on held-out rows: {reason}",
        "positive": None,
    }


def figure_cells(figures: dict[str, Any]) -> tuple[str, ...]:
    """Return accuracy, log-loss, Brier score and AUC as cells of a table."""
    return tuple(
        "" if figures[name] is None else f"{figures[name]:.4f}"
        for name in ("accuracy", "log_loss", "brier", "auc")
    )


def show_figures(found: dict[str, Any]) -> None:
    """Print the figures of a model and the baselines, and what they mean in words."""
    screen = console()
    if not found["figures"]:
        screen.print(f"\n{found['words']}")
        return
    wide = max(20, *(len(each["name"]) for each in found["figures"]))
    widths = (15, 15, 6, 6)
    heads = (f"{'accuracy':<14}", f"{'log-loss':<14}", "Brier", "AUC")
    head = "".join(f"  {word:>{w}}" for word, w in zip(heads, widths, strict=True))
    screen.print(f"\n{'On held-out rows':<{wide}}{head}   {found['how']}; ± standard error")
    for each in found["figures"]:
        cells = list(figure_cells(each))
        for k, measure in enumerate(("accuracy", "log_loss")):
            error = each.get(f"{measure}_error")
            cells[k] += " ±" + (f"{error:.4f}" if error is not None else "–     ")
        line = "".join(f"  {cell:>{w}}" for cell, w in zip(cells, widths, strict=True))
        screen.print(f"{each['name']:<{wide}}{line}")
    screen.print(found["words"])
    if found["positive"] is None and found["ranks"]:
        screen.print("--positive CLASS shows what a lower threshold finds")
    if found["positive"] is not None:
        _show_positive(found["positive"])


def _show_positive(told: dict[str, Any]) -> None:
    screen, label = console(), told["class"]
    screen.print(
        f"\n{f'The class {label}':<40}  {'found':>7}  {'missed':>7}  {'in vain':>7}  precision  recall     F1"
    )

    def line(name: str, at: dict[str, Any], more: str = "") -> None:
        rates = [("   –" if at[key] is None else f"{at[key]:6.1%}") for key in ("precision", "recall", "f1")]
        screen.print(
            f"{name:<40}  {at['hits']:>7}  {at['misses']:>7}  {at['alarms']:>7}  {rates[0]:>9}  {rates[1]:>6}  "
            f"{rates[2]:>6}{more}"
        )

    line("as the model decides", told["decided"])
    if told["recall_90"] is not None:
        line(f"said from P = {told['recall_90']['threshold']:.3f} on (90% found)", told["recall_90"])
    if told["costs"] is not None:
        costs = told["costs"]
        at, least = costs["threshold"], costs["least"]
        line(f"said from P = {at['threshold']:.3f} on (by the costs)", at, f"   costs {at['cost']:g}")
        line(
            f"said from P = {least['threshold']:.3f} on (least cost here)",
            least,
            f"   costs {least['cost']:g}",
        )
        screen.print(
            f"never {label} costs {costs['never']:g}, always {label} {costs['always']:g}; "
            f"a miss {costs['miss']:g}, a false alarm {costs['alarm']:g}"
        )
