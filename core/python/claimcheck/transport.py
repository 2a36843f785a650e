"""One HTTP request and its answer, by the standard library."""

from __future__ import annotations

import http.client
import urllib.error
import urllib.request
from typing import Mapping
from urllib.parse import urlsplit

from .errors import ConnectionFailed
from .operations import Request, Response

_MOST_BYTES = 32 * 1024 * 1024


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A redirect is an answer: the key must not follow it to another host."""

    def redirect_request(self, *_args, **_kwargs):
        return None


_opener = urllib.request.build_opener(_NoRedirects)


def base_of(url: str) -> str:
    """Raises ValueError for what is no http or https address, or has a user or a query."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc or parts.query or parts.fragment:
        raise ValueError("base_url must be an http or https address without user, query or fragment")
    return url.rstrip("/")


def send(base: str, headers: Mapping[str, str], request: Request, timeout: float) -> Response:
    """Raises ConnectionFailed. ``timeout`` is in seconds, of each wait for the network."""
    body = None if request.body is None else request.body.encode()
    typed = {**headers, **({} if body is None else {"content-type": "application/json"})}
    asked = urllib.request.Request(base + request.path, data=body, headers=typed, method=request.method)
    try:
        try:
            answer = _opener.open(asked, timeout=timeout)
        except urllib.error.HTTPError as error:
            answer = error
        with answer:
            data = answer.read(_MOST_BYTES + 1)
            if len(data) > _MOST_BYTES:
                raise ConnectionFailed(f"{request.method} {request.path}: the answer is too large")
            named = {name.lower(): value for name, value in answer.headers.items()}
            return Response(answer.status, named, data.decode("utf-8"))
    except (OSError, http.client.HTTPException, UnicodeDecodeError) as error:
        reason = getattr(error, "reason", error)
        raise ConnectionFailed(f"{request.method} {base}{request.path}: {reason}") from error
