"""How what a claim says is compared with the fact that shows it: a closed list, which other checkers have, too."""

from __future__ import annotations

import re
from typing import Any, Callable, Mapping, Optional

from .canonical import canonicalize
from .checker import from_base64url, to_base64url

_BYTES = {"sha1": 20, "sha256": 32, "sha384": 48, "sha512": 64}
_DIGEST = re.compile(r"(?:(sha1|sha256|sha384|sha512)[:-])?([A-Za-z0-9+/_-]+)={0,2}", re.IGNORECASE | re.ASCII)
_HEX = re.compile(r"(?:[0-9a-fA-F]{2})+")
_ADDRESS = re.compile(r"([a-z][a-z0-9+.-]*)://([^/?#]*)([^?#]*)(\?[^#]*)?(?:#.*)?", re.IGNORECASE | re.ASCII | re.DOTALL)
_USUAL_PORTS = {"https": r":(?:443)?\Z", "http": r":(?:80)?\Z"}
_ESCAPE = re.compile(r"%([0-9a-fA-F]{2})")
_UNRESERVED = re.compile(r"[A-Za-z0-9._~-]")
_LOWER = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz")


def is_same_by(comparator: str, claimed: Any, seen: Any) -> bool:
    is_whole = comparator == "exact" or not isinstance(claimed, (dict, list))
    if is_whole and canonicalize(claimed) == canonicalize(seen):
        return True
    if comparator == "exact" or not isinstance(claimed, str) or not isinstance(seen, str):
        return False
    form = _FORMS[comparator]
    one = form(claimed)
    return one is not None and one == form(seen)


def _lower(text: str) -> str:
    """ASCII alone: other letters have other rules in other languages."""
    return text.translate(_LOWER)


def _digest_form(text: str) -> Optional[str]:
    """None for what is no digest. Hexadecimal names its algorithm by its length."""
    match = _DIGEST.fullmatch(text)
    if match is None:
        return None
    named, digits = match.groups()
    is_hex = _HEX.fullmatch(digits) is not None
    by_length = (name for name, length in _BYTES.items() if is_hex and len(digits) == 2 * length)
    algorithm = _lower(named) if named else next(by_length, None)
    if algorithm is None:
        return None
    length = _BYTES[algorithm]
    if is_hex and len(digits) == 2 * length:
        return f"{algorithm}-{to_base64url(bytes.fromhex(digits))}"
    base64url = digits.replace("+", "-").replace("/", "_")
    return None if from_base64url(base64url, length) is None else f"{algorithm}-{base64url}"


def _address_form(text: str) -> Optional[str]:
    """RFC 3986 6.2.2 and 6.2.3, without what needs tables of names. None for what is no address."""
    match = _ADDRESS.fullmatch(text)
    if match is None:
        return None
    scheme, host, path, query = match.groups(default="")
    scheme = _lower(scheme)
    place = re.sub(_USUAL_PORTS.get(scheme, r":\Z"), "", _lower(host))
    path = _unescaped(path)
    return f"{scheme}://{place}{path[:-1] if path.endswith('/') else path}{_unescaped(query)}"


def _unescaped(text: str) -> str:
    """Escapes that stand for what needs none are that, and all others are in upper case."""

    def written(match: "re.Match[str]") -> str:
        letter = chr(int(match.group(1), 16))
        return letter if _UNRESERVED.fullmatch(letter) else match.group().upper()

    return _ESCAPE.sub(written, text)


def _package_form(text: str) -> str:
    registry, _, name = text.partition(":")
    if registry == "pypi":
        return "pypi:" + re.sub(r"[-_.]+", "-", _lower(name))
    if registry == "cargo":
        return "cargo:" + _lower(name).replace("_", "-")
    return text


_FORMS: Mapping[str, Callable[[str], Optional[str]]] = {
    "case": _lower,
    "digest": _digest_form,
    "address": _address_form,
    "package": _package_form,
}

COMPARATORS = ("exact", *_FORMS, "none")
