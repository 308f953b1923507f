"""Every public call that can take long, asked under limits: `registry.CALLS`, filled by the modules named here."""

from . import calls, commands, files, parts  # noqa: F401
