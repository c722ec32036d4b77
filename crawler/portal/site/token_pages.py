"""Tokens of programs, and the sessions of a user."""

from __future__ import annotations

from time import time

from flask import Response, redirect, request

from ..rendering import render
from ..store.tokens import SCOPES
from .visitor import COOKIE, Route, Visitors, session


class TokenPages:
    def __init__(self, visitors: Visitors) -> None:
        self._tokens, self._sessions = visitors.tokens, visitors.sessions

    def routes(self) -> list[Route]:
        return [
            Route("/tokens", "GET", self.page, "viewer"),
            Route("/tokens", "POST", self.add, "viewer"),
            Route("/tokens/<int:token>/remove", "POST", self.remove, "viewer"),
            Route("/sessions/end", "POST", self.end_sessions, "viewer"),
        ]

    def page(self, problem: str = "", new: str = "") -> str:
        user = session().user
        return render(
            "site/tokens.html",
            tokens=[
                one for one in self._tokens.all() if user.may("admin") or one.user == user.name
            ],
            scopes=[scope for scope, role in SCOPES.items() if user.may(role)],
            sessions=self._sessions.of_user(user),
            problem=problem,
            new=new,
            session=session(),
        )

    def add(self) -> str:
        """Add a token, and show it this once."""
        form = request.form
        try:
            token = self._tokens.add(
                session().user,
                str(form.get("name", "")),
                str(form.get("scope", "")),
                days=form.get("days", 0, int),
                now=time(),
            )
        except ValueError as error:
            return self.page(str(error))
        return self.page(new=token)

    def end_sessions(self) -> Response:
        """End the sessions of the user in other browsers."""
        self._sessions.close_others(session().user, request.cookies.get(COOKIE, ""), time())
        return redirect("/tokens", 303)

    def remove(self, token: int) -> Response:
        self._tokens.remove(token, who=session().user, now=time())
        return redirect("/tokens", 303)
