"""Recipes: how the cells of a column of a real file become numbers, truth values, parts of dates or classes.

    forms.py       numbers as people write them: $1,014.39, 12.5%, 1.234,56, 1 234
    dates.py       dates and times as people write them
    recipe.py      the recipes, one small class each, and how they are applied
    json_form.py   recipes in model files
    recognise.py   which recipe a column needs, or why it is left out
    spellings.py   texts that differ only in the case of their letters: one word, or codes
    target.py      the column to predict: guessed, joined, cut, or refused

A fitted classifier keeps the recipes of its columns, so that new files are read as the first one was.
"""
