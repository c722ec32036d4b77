"""Visitor: who sends a request, and whether the page that is asked for is for them."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable
from time import time
from typing import Any, NamedTuple

from flask import Flask, Response, abort, g, has_request_context, redirect, request
from werkzeug.exceptions import NotFound, Unauthorized

from ..access import HEADERS, is_same_origin
from ..exposure import Exposure
from ..store.database import Database
from ..store.grants import NOTHING_HIDDEN, Grants, Hidden
from ..store.sessions import Session, Sessions
from ..store.tokens import Tokens, covers
from ..store.users import User, Users

COOKIE = "crawler_portal"
#: Who may see a page: nobody needs to be signed in, or the least role.
PUBLIC = ""
#: Seconds that the link of the first start is valid.
_SETUP = 900.0


#: The scope that a token needs for the pages of a role.
_SCOPE_OF = {PUBLIC: "read", "viewer": "read", "operator": "run", "admin": "admin"}


class Route(NamedTuple):
    """A page, and the least role that it is for."""

    rule: str
    method: str
    page: Callable[..., Any]
    role: str
    #: What the description of the API says: what it does, the class of its answer, its parameters.
    summary: str = ""
    answer: Any = None
    query: tuple[str, ...] = ()
    #: The class of the body that is sent, and the least scope of a token; by the role if empty.
    body: Any = None
    scope: str = ""
    #: The status and the type of a good answer; whether an Idempotency-Key is looked at.
    status: int = 200
    media: str = "application/json"
    is_once: bool = False

    @property
    def least_scope(self) -> str:
        return self.scope or _SCOPE_OF[self.role]


class Visitors:
    """
    Lets a request reach a page only with the role that the page was added with.

    A page that was added without a role is for nobody. Every POST needs the token of its session.
    """

    def __init__(self, database: Database, exposure: Exposure) -> None:
        self.users, self.sessions = Users(database), Sessions(database)
        self.tokens, self._grants = Tokens(database), Grants(database)
        self._exposure = exposure
        #: By endpoint, the least role and the least scope of a token.
        self.roles: dict[str, str] = {}
        self.scopes: dict[str, str] = {}
        #: The secret of the one-time link while there is no user.
        self.setup_secret = secrets.token_urlsafe(32)
        self._setup_ends = time() + _SETUP

    def watch(self, app: Flask) -> None:
        app.before_request(self._check)
        app.after_request(_with_headers)

    def may_set_up(self, secret: str) -> bool:
        is_right = hmac.compare_digest(secret.encode(), self.setup_secret.encode())
        return is_right and not len(self.users) and time() < self._setup_ends

    def sign_in(self, user: User) -> Response:
        """Return an answer that begins a new session and leads to the first page."""
        response = redirect("/", 303)
        cookie = self.sessions.open(user, time())
        response.set_cookie(
            COOKIE, cookie, httponly=True, secure=request.is_secure, samesite="Lax", path="/"
        )
        return response

    def sign_out(self) -> Response:
        self.sessions.close(request.cookies.get(COOKIE, ""))
        response = redirect("/login", 303)
        response.delete_cookie(COOKIE)
        return response

    def _check(self) -> Response | None:
        host = request.environ.get("HTTP_HOST", "")
        if not self._exposure.knows(host):
            abort(403, f"This portal has not the name {host:.100}: start it with --allow-host.")
        bearer, scope = self._bearer()
        g.session = bearer or self.sessions.find(request.cookies.get(COOKIE, ""), time())
        role = self.roles.get(request.endpoint or "")
        is_change = request.method not in {"GET", "HEAD"}
        if is_change and not is_same_origin(request.environ):
            abort(403, "This request comes from another site.")
        if role == PUBLIC:
            return None
        if g.session is None:
            is_page = not is_change and not is_program()
            return redirect("/login", 303) if is_page else abort(401, "Sign in first.")
        if role is None:
            raise NotFound("There is no such page.")
        if not g.session.user.may(role):
            abort(403, "Your role does not allow this.")
        if bearer and not covers(scope, self.scopes[request.endpoint or ""]):
            abort(403, f"A token of the scope {scope} does not allow this.")
        if is_change and bearer is None and not self._has_csrf(g.session):
            abort(403, "The form is too old: reload the page.")
        g.hidden = self._grants.hidden(g.session.user)
        return None

    def _bearer(self) -> tuple[Session | None, str]:
        """Return the session of the token in the request, if any, and its scope."""
        kind, _, token = request.headers.get("Authorization", "").partition(" ")
        if kind.lower() != "bearer" or not is_program():
            return None, ""
        found = self.tokens.find(token.strip(), time())
        if found is None:
            raise Unauthorized("The token is wrong or has expired.")
        user, scope = found
        return Session(user, ""), scope

    def _has_csrf(self, found: Session) -> bool:
        given: str = request.form.get("csrf", "") or request.headers.get("X-CSRF-Token", "")
        return hmac.compare_digest(given.encode(), found.csrf.encode())


def is_program() -> bool:
    """Return whether the request is one of a program."""
    return str(request.path).startswith(("/api/", "/metrics"))


def session() -> Session:
    """Return the session of the request; only pages with a role may ask."""
    found: Session = g.session
    return found


def hidden() -> Hidden:
    """
    Return the projects that the user of the request may not see.

    There are none outside of requests: a stream of events was looked at when it began.
    """
    found: Hidden = g.get("hidden", NOTHING_HIDDEN) if has_request_context() else NOTHING_HIDDEN
    return found


def _with_headers(response: Response) -> Response:
    response.headers.update(HEADERS)
    return response
