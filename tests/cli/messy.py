"""A file like a real export: customers with ids, names, dates in several forms, money, percentages, blanks and notes.

``write_messy(path)`` writes it. Who leaves depends on contract, tenure, charges, support calls and the month of signing
up, so that a forest finds an AUC of about 0.77; about 11 % leave. As a program, ``python messy.py messy.csv`` writes
5,000 rows.
"""

from __future__ import annotations

import csv
import datetime as dt
import math
import random
import sys
from pathlib import Path
from typing import Any

__all__ = ["COLUMNS", "messy_rows", "write_messy"]

COLUMNS = (
    "customer_id", "first_name", "last_name", "email", "signup_date", "birth_date", "last_contact", "contract",
    "tenure_months", "monthly_charges", "total_charges", "discount", "usage_gb", "distance_m", "support_calls",
    "paperless", "senior", "country", "currency", "note", "churned",
)  # fmt: skip
FIRST = [
    "Ada", "Ben", "Cleo", "Dora", "Emil", "Fay", "Gus", "Hana", "Ivo", "Jana", "Karl", "Lena", "Milo", "Nora",
    "Otto", "Pia", "Quin", "Rosa", "Sven", "Tara"
]  # fmt: skip
LAST = [
    "Abel", "Bohm", "Curie", "Dahl", "Ernst", "Faber", "Gauss", "Hertz", "Iqbal", "Jansen", "Kepler", "Laue",
    "Meyer", "Noether", "Ohm", "Planck"
]  # fmt: skip
WORDS = [
    "called", "about", "the", "bill", "asked", "for", "a", "refund", "wants", "faster", "line", "happy", "moved",
    "house", "paid", "late", "again", "new", "phone"
]  # fmt: skip
MONTHS = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"
]  # fmt: skip
TODAY = dt.date(2024, 6, 30)


def write_messy(path: Path, n_rows: int = 5000, seed: int = 7, target: bool = True) -> Path:
    """Write the file; without ``target``, as new rows to predict come."""
    names = COLUMNS if target else COLUMNS[:-1]
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        for row in messy_rows(n_rows, seed):
            writer.writerow([row[name] for name in names])
    return path


def messy_rows(n_rows: int, seed: int = 7) -> list[dict[str, str]]:
    """Return the rows as texts, by column."""
    random_ = random.Random(seed)
    return [_row(number, random_) for number in range(n_rows)]


def _row(number: int, draw: random.Random) -> dict[str, str]:
    first, last = draw.choice(FIRST), draw.choice(LAST)
    contract = draw.choices(["Month-to-month", "One year", "Two year"], [0.55, 0.25, 0.2])[0]
    tenure = min(72, int(draw.expovariate(1 / 24)))
    signed = TODAY - dt.timedelta(days=tenure * 30 + draw.randrange(30))
    monthly = round(draw.lognormvariate(4.0, 0.45), 2)
    calls = min(9, int(draw.expovariate(1 / 1.3)))
    discount = draw.choice([0.0, 0.0, 5.0, 7.5, 10.0, 12.5, 20.0])
    usage = draw.lognormvariate(5.5, 0.9)
    score = -2.85 + {"Month-to-month": 1.5, "One year": 0.2, "Two year": -0.9}[contract]
    score += 0.35 * calls - 0.025 * tenure + 0.012 * (monthly - 55) - 0.05 * discount
    score += 0.8 * (signed.month in (11, 12)) + draw.gauss(0, 0.3)
    leaves = draw.random() < 1 / (1 + math.exp(-score))
    birth = TODAY - dt.timedelta(days=int(draw.uniform(18, 85) * 365.25))
    contact = dt.datetime.combine(
        TODAY - dt.timedelta(days=draw.randrange(200)), dt.time(draw.randrange(8, 19), draw.randrange(60))
    )
    cells: dict[str, Any] = {
        "customer_id": f"C-{100000 + 7 * number}",
        "first_name": first,
        "last_name": f"{last}{draw.randrange(400)}",
        "email": f"{first}.{last}{number}@mail.example".lower(),
        "signup_date": f"{signed:%d/%m/%Y}",
        "birth_date": f"{birth.day} {MONTHS[birth.month - 1]} {birth.year}",
        "last_contact": f"{contact:%Y-%m-%d %H:%M}",
        "contract": contract,
        "tenure_months": str(tenure),
        "monthly_charges": f"${monthly:,.2f}",
        "total_charges": f"${monthly * (tenure + 1) * draw.uniform(0.95, 1.05):,.2f}",
        "discount": f"{discount:g}%",
        "usage_gb": f"{usage:,.2f}".translate(str.maketrans(",.", ".,")),
        "distance_m": f"{int(draw.lognormvariate(8, 1)):,}".replace(",", " "),
        "support_calls": str(calls),
        "paperless": draw.choice(["Yes", "No", "Y", "N", "TRUE", "FALSE"]),
        "senior": str(int(TODAY.year - birth.year > 65)),
        "country": "Utopia",
        "currency": draw.choice(["EUR", "USD", "EUR"]),
        "note": " ".join(draw.choices(WORDS, k=draw.randrange(3, 12))),
        "churned": "Yes" if leaves else "No",
    }
    for name in ("monthly_charges", "birth_date", "usage_gb", "support_calls", "paperless", "note"):
        if draw.random() < 0.04:
            cells[name] = draw.choice(["", "N/A", ""])
    return cells


if __name__ == "__main__":
    print(write_messy(Path(sys.argv[1] if len(sys.argv) > 1 else "messy.csv")))
