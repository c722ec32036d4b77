"""First start, sign in, sign out, and the users."""

from __future__ import annotations

from time import time

from flask import Response, abort, redirect, request

from ..rendering import render
from ..store.database import Database
from ..store.users import ROLES
from .visitor import PUBLIC, Route, Visitors, session


class UserPages:
    def __init__(self, visitors: Visitors, database: Database) -> None:
        self._visitors = visitors
        self._users = visitors.users
        self._database = database

    def routes(self) -> list[Route]:
        return [
            Route("/setup/<secret>", "GET", self.setup_form, PUBLIC),
            Route("/setup/<secret>", "POST", self.setup, PUBLIC),
            Route("/login", "GET", self.login_form, PUBLIC),
            Route("/login", "POST", self.login, PUBLIC),
            Route("/logout", "POST", self.logout, "viewer"),
            Route("/users", "GET", self.page, "admin"),
            Route("/users", "POST", self.add, "admin"),
            Route("/users/<int:user>/remove", "POST", self.remove, "admin"),
        ]

    def setup_form(self, secret: str, problem: str = "") -> str:
        if not self._visitors.may_set_up(secret):
            abort(403, "This link was used, or is older than 15 minutes: start the portal again.")
        return render("site/setup.html", problem=problem, session=None)

    def setup(self, secret: str) -> Response | str:
        if not self._visitors.may_set_up(secret):
            abort(403, "This link was used, or is older than 15 minutes: start the portal again.")
        try:
            user = self._users.add(
                _field("name"), _field("password"), "admin", now=time(), who=_field("name")
            )
        except ValueError as error:
            return self.setup_form(secret, str(error))
        return self._visitors.sign_in(user)

    def login_form(self, problem: str = "") -> str:
        is_new = not len(self._users)
        return render("site/login.html", problem=problem, is_new=is_new, session=None)

    def login(self) -> Response:
        address = request.remote_addr or ""
        user = self._users.check(_field("name"), _field("password"), time(), address)
        if user is None:
            problem = "Wrong name or password. After five failures a name is locked for a while."
            return Response(self.login_form(problem), 401)
        self._database.audit(time(), user.name, "signed in")
        return self._visitors.sign_in(user)

    def logout(self) -> Response:
        return self._visitors.sign_out()

    def page(self, problem: str = "") -> str:
        return render(
            "site/users.html",
            users=self._users.all(),
            roles=ROLES,
            problem=problem,
            audit=self._database.rows("SELECT * FROM audit ORDER BY rowid DESC LIMIT 50"),
            session=session(),
        )

    def add(self) -> Response | str:
        try:
            self._users.add(
                *(_field(name) for name in ("name", "password", "role")),
                now=time(),
                who=session().user.name,
            )
        except ValueError as error:
            return self.page(str(error))
        return redirect("/users", 303)

    def remove(self, user: int) -> Response | str:
        try:
            self._users.remove(user, now=time(), who=session().user.name)
        except ValueError as error:
            return self.page(str(error))
        return redirect("/users", 303)


def _field(name: str) -> str:
    return str(request.form.get(name, ""))
