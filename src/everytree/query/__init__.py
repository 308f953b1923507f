"""What tree is wanted, and how it is found: queries, their text, plans, searches, reasons why there is none."""
