"""Scripts: the steps of the protocol that Redis carries out as a whole."""

from __future__ import annotations

from hashlib import sha1
from importlib import resources
from typing import Any

_LIFE = "life"


class Scripts:
    """Calls the scripts by name; one that the server does not know is sent to it first."""

    def __init__(self) -> None:
        folder = resources.files(__package__) / "scripts"
        life = (folder / f"{_LIFE}.lua").read_text()
        self._texts = {
            file.name.removesuffix(".lua"): life + file.read_text()
            for file in folder.iterdir()
            if file.name != f"{_LIFE}.lua"
        }
        self._hashes = {
            name: sha1(text.encode(), usedforsecurity=False).hexdigest()
            for name, text in self._texts.items()
        }

    def call(self, client: Any, name: str, keys: list[str], *args: Any) -> Any:
        """Return the answer of a script; a failure of the connection is left to the caller."""
        missing = _no_script()
        try:
            return client.evalsha(self._hashes[name], len(keys), *keys, *args)
        except missing:
            return client.eval(self._texts[name], len(keys), *keys, *args)


def _no_script() -> type[Exception]:
    from redis.exceptions import NoScriptError  # noqa: PLC0415 - the extra is needed only here

    return NoScriptError


SCRIPTS = Scripts()
