"""Write the library's arguments and next steps in the words of a command: ``max_depth=3`` is ``--max-depth 3``.

An error of the library knows the argument that is wrong, and a text of it knows which of its parts are arguments and
next steps (``everytree.errors``). The names of the options are those that the command itself has; nothing here looks
into the prose.

    parameter of the library    option of the same name, or by ``CALLED``; else --set NAME=VALUE, if it was given so
    next step                   by ``STEPS``
    neither                     in the words of the library
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any

import typer
from typer.core import TyperCommand, TyperOption

from everytree.cli.refusal import Refusal
from everytree.errors import Argument, EverytreeError, Step, with_spelling

__all__ = ["CALLED", "Spoken", "Words", "in_options", "refusal_of", "spoken"]

# parameter of the library → parameter of a command, where the names differ
CALLED = {
    "max_depth": "depth",
    "method": "methods",
    "random_state": "seed",
    "n_jobs": "jobs",
    "weight": "weights",
    "types": "nominal",
    "text": "where",
}
# code of a next step → how a command says it; {about} is what the step is done to, {option} the option of that name
STEPS = {
    "column-types": "named by --nominal",
    "cut-target": "--target-cut {about}",
    "delimiter": "give another --delimiter",
    "fewer-columns": "Leave columns out with --drop",
    "go-on": "a larger {option} may prove it",
    "leave-out": "leave it out with --drop",
    "missing-cells": "name them with --na",
    "name-target": "name the column to predict with --target",
    "no-header": "give --no-header",
    "nominal": "give --nominal {about}",
    "this-target": "--target {about} ",
    "reader": "Give --delimiter to read it as CSV",
}


class Words:
    """Writes an argument or a next step as one command, called with the parameters ``given``, would say it."""

    def __init__(self, command: TyperCommand, given: Mapping[str, Any]) -> None:
        options = [each for each in command.params if isinstance(each, TyperOption)]
        self._options = {str(each.name): each.opts[0] for each in options}
        self._flags = {str(each.name) for each in options if each.is_flag}
        self._settings = [str(text).partition("=")[0].strip() for text in given.get("settings") or ()]

    def option(self, parameter: str | None) -> str | None:
        """Return the option that gives a parameter of the library, as it is typed; None if there is none."""
        name = self._name(parameter)
        if name is not None:
            return self._options[name]
        return f"--set {parameter}" if parameter in self._settings else None

    def __call__(self, part: Argument | Step) -> str | None:
        if isinstance(part, Step):
            said, larger = STEPS.get(part.code), self.option(part.about) or "--time-limit"
            return None if said is None else said.format(about=shlex.quote(part.about), option=larger)
        option = self.option(part.parameter)
        if option is None or part.plain is None or self._name(part.parameter) in self._flags:
            return option
        if option.startswith("--set "):
            return f"--set {shlex.quote(f'{part.parameter}={part.plain}')}"
        return f"{option} {shlex.quote(part.plain)}"

    def error(self, error: EverytreeError) -> str:
        """Return the message of an error; it names the option that is wrong, if it is one."""
        text, option = error.message_for(self), self.option(error.parameter)
        return text if option is None or option in text else f"{option}: {text}"

    def _name(self, parameter: str | None) -> str | None:
        for name in (parameter, CALLED.get(parameter or "")):
            if name is not None and name in self._options:
                return name
        return None


_here: ContextVar[Words | None] = ContextVar("words of the command that runs", default=None)


def refusal_of(error: EverytreeError) -> dict[str, str | None]:
    """Return, for programs, what the running command says of an error, its code, and the option that is wrong."""
    words = _here.get()
    if words is None:
        return {"error": str(error), "code": error.code, "option": None}
    return {"error": words.error(error), "code": error.code, "option": words.option(error.parameter)}


def in_options(text: str) -> str:
    """Write a text of the library in the words of the running command; outside of a command it stays as it is."""
    words = _here.get()
    return str(text) if words is None else with_spelling(text, words)


class Spoken(TyperCommand):
    """A command that reports errors of the library in its own words."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        before = _here.set(Words(self, ctx.params))
        try:
            return super().invoke(ctx)
        except EverytreeError as error:
            raise Refusal(error, refusal_of(error)) from error
        finally:
            _here.reset(before)


def spoken(app: typer.Typer) -> None:
    """Make every command of an app report errors in its own words."""
    for command in app.registered_commands:
        command.cls = Spoken
