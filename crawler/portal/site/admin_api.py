"""Users, tokens and the audit for programs."""

from __future__ import annotations

from flask import Response

from ..store.database import Database
from .answers import AuditAnswer, AuditRow, TokenAnswer, TokensAnswer, UserAnswer, UsersAnswer, iso
from .api_input import answer, number_in_query
from .visitor import Route, Visitors

_MOST = 1000


class AdminApi:
    def __init__(self, visitors: Visitors, database: Database) -> None:
        self._users, self._tokens = visitors.users, visitors.tokens
        self._database = database

    def routes(self) -> list[Route]:
        last = "What was done, the last first."
        return [
            Route("/api/v1/users", "GET", self.users, "admin", "All users.", UsersAnswer),
            Route("/api/v1/tokens", "GET", self.tokens, "admin", "All tokens.", TokensAnswer),
            Route("/api/v1/audit", "GET", self.audit, "admin", last, AuditAnswer, ("most",)),
        ]

    def users(self) -> Response:
        found = self._users.all()
        return answer(UsersAnswer([UserAnswer(one.id, one.name, one.role) for one in found]))

    def tokens(self) -> Response:
        found = [
            TokenAnswer(
                one.id, one.name, one.user, one.scope, iso(one.expires) or "", iso(one.used)
            )
            for one in self._tokens.all()
        ]
        return answer(TokensAnswer(found))

    def audit(self) -> Response:
        most = max(1, number_in_query("most", 100, _MOST))
        rows = self._database.rows("SELECT * FROM audit ORDER BY rowid DESC LIMIT ?", most)
        found = [AuditRow(iso(row["at"]) or "", row["who"], row["what"]) for row in rows]
        return answer(AuditAnswer(found))
