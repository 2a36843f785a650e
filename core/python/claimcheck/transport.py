"""One HTTP request and its answer, by the standard library."""

from __future__ import annotations

import http.client
import re
import urllib.error
import urllib.request
from typing import Any, Iterator, Optional
from urllib.parse import urlsplit

from .errors import ConnectionFailed, UnexpectedAnswer, error_of
from .operations import Request, Response, retry_after

#: Of a request, the newest signed head of the log that the client saw; of an answer, the newest of all.
TREE_HEAD = "poaw-tree-head"
_MOST_BYTES = 32 * 1024 * 1024
_MOST_LINE = 4 * 1024 * 1024
#: Seconds of silence after which a stream is dead: the service sends something every 15.
_SILENCE = 45.0
_LOOPBACK = re.compile(r"(?:.+\.)?localhost|127(?:\.\d+){3}|::1")


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A redirect is an answer: the key must not follow it to another host."""

    def redirect_request(self, *_args, **_kwargs):
        return None


_opener = urllib.request.build_opener(_NoRedirects)
#: No proxy knows this machine as itself, and the key would travel there without encryption.
_opener_on_this_machine = urllib.request.build_opener(_NoRedirects, urllib.request.ProxyHandler({}))


def base_of(url: str, allow_http: bool) -> str:
    """Raises ValueError for what is no address of a service, and for one that others on the way can read and change."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc or parts.query or parts.fragment:
        raise ValueError("base_url must be an https address without user, query or fragment")
    if parts.scheme == "http" and not allow_http and not _is_loopback(parts.hostname):
        raise ValueError(
            f"base_url must be https: others on the way to {parts.hostname} could read the key. "
            "In a network that you trust, pass allow_http=True"
        )
    return url.rstrip("/")


def _is_loopback(hostname: Optional[str]) -> bool:
    return hostname is not None and _LOOPBACK.fullmatch(hostname) is not None


def authorization(key: str) -> str:
    """Raises ValueError, which does not repeat the key, as that of http.client would."""
    if re.fullmatch(r"[\x21-\x7e]+", key) is None:
        raise ValueError("the key has characters that no key has")
    return f"Bearer {key}"


def _open(base: str, asked: urllib.request.Request, timeout: float) -> Any:
    """The answer, whatever its status. Raises OSError and http.client.HTTPException."""
    opener = _opener_on_this_machine if _is_loopback(urlsplit(base).hostname) else _opener
    try:
        return opener.open(asked, timeout=timeout)
    except urllib.error.HTTPError as error:
        return error


def send(base: str, key: Optional[str], request: Request, timeout: float, tree_head: Optional[str] = None) -> Response:
    """Raises ConnectionFailed. ``timeout`` is in seconds, of each wait for the network."""
    body = None if request.body is None else request.body.encode()
    typed = {"accept": "application/json"}
    if body is not None:
        typed["content-type"] = "application/json"
    if key is not None and request.needs_key:
        typed["authorization"] = authorization(key)
        if tree_head is not None:
            typed[TREE_HEAD] = tree_head
    asked = urllib.request.Request(base + request.path, data=body, headers=typed, method=request.method)
    try:
        with _open(base, asked, timeout) as answer:
            data = answer.read(_MOST_BYTES + 1)
            if len(data) > _MOST_BYTES:
                raise UnexpectedAnswer(f"{request.method} {request.path}: the answer is too large")
            if 300 <= answer.status < 400:
                raise UnexpectedAnswer(f"{base} leads to another address: pass the one at which the service answers")
            # Where a size is given, http.client takes less for the whole.
            promised = answer.headers.get("content-length", "")
            if promised.isdigit() and len(data) < int(promised):
                raise ConnectionFailed(f"{request.method} {base}{request.path}: the answer broke off")
            named = {name.lower(): value for name, value in answer.headers.items()}
            # An error may come from a proxy, with a page in any encoding.
            text = data.decode("utf-8", "replace" if answer.status >= 400 else "strict")
            return Response(answer.status, named, text)
    except UnicodeDecodeError as error:
        raise UnexpectedAnswer(f"{request.method} {request.path}: the answer is not text") from error
    except (OSError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", error)
        raise ConnectionFailed(f"{request.method} {base}{request.path}: {reason}") from error


def lines(base: str, key: Optional[str], path: str, last: Optional[str]) -> Iterator[str]:
    """The lines of a stream of events after the one with the id ``last``. Raises ConnectionFailed, and ApiError for a refusal."""
    typed = {"accept": "text/event-stream"}
    if key is not None:
        typed["authorization"] = authorization(key)
    if last is not None:
        typed["last-event-id"] = last
    asked = urllib.request.Request(base + path, headers=typed)
    try:
        with _open(base, asked, _SILENCE) as answer:
            if answer.status >= 400:
                named = {name.lower(): value for name, value in answer.headers.items()}
                raise error_of(answer.status, answer.read(_MOST_BYTES).decode("utf-8", "replace"), retry_after(named))
            if answer.status != 200 or answer.headers.get_content_type() != "text/event-stream":
                raise UnexpectedAnswer(f"GET {path}: the answer is no stream of events: is this the address of the service?")
            while True:
                line = answer.readline(_MOST_LINE)
                if not line.endswith(b"\n"):
                    if len(line) == _MOST_LINE:
                        raise UnexpectedAnswer(f"GET {path}: the stream has a line that is too long")
                    return
                yield line.decode("utf-8").rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise UnexpectedAnswer(f"GET {path}: the answer is not text") from error
    except (OSError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", error)
        raise ConnectionFailed(f"GET {base}{path}: {reason}") from error
