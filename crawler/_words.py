"""Numbers with their nouns, in every message."""

_PLURAL = {"": "", "is": " are", "was": " were"}


def counted(number: int, noun: str, verb: str = "") -> str:
    """Return *number* with the *noun*, and the *verb* if one is given: "1 page is", "2 pages are"."""
    if number == 1:
        return f"1 {noun} {verb}".rstrip()
    return f"{number} {noun}s{_PLURAL[verb]}"
