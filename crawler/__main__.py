"""``python -m crawler``: monkey-patch, then the command line."""

from gevent import monkey


def main() -> None:
    monkey.patch_all()
    from .cli import cli  # noqa: PLC0415 - nothing may be imported before the patch

    cli(prog_name="crawler")


if __name__ == "__main__":
    main()
