"""JSON as receipts need it: read strictly (RFC 7493), and written in one form only (JCS, RFC 8785)."""

from __future__ import annotations

import json
import math
import re
from typing import Any, List, NamedTuple, Tuple

_MOST_DEPTH = 64
_SAFE = 2**53 - 1
_SURROGATE = re.compile("[\ud800-\udfff]")


class Strict(NamedTuple):
    """A document, and whether each of its numbers is written as an integer within 2^53 - 1."""

    value: Any
    integers_only: bool


def parse_strict(text: str) -> Strict:
    """Reads I-JSON, and refuses what two readers could understand differently.

    Raises ValueError for text that is not JSON, for a member name given twice, for a lone surrogate, for a number outside the range of a
    double, and for objects and arrays more than 64 deep.
    """
    others: List[str] = []

    def integer(token: str) -> Any:
        # Long texts of digits are slow to read as integers.
        return int(token) if len(token) <= 17 and abs(int(token)) <= _SAFE else number(token)

    def number(token: str) -> float:
        others.append(token)
        value = float(token)
        if not math.isfinite(value):
            raise ValueError("a number is outside the range of a double")
        return value

    def constant(token: str) -> Any:
        raise ValueError(f"{token} is not JSON")

    def members(pairs: List[Tuple[str, Any]]) -> dict:
        found = dict(pairs)
        if len(found) != len(pairs):
            raise ValueError("a member is given twice")
        return found

    try:
        value = json.loads(
            text, parse_int=integer, parse_float=number, parse_constant=constant, object_pairs_hook=members
        )
    except RecursionError:
        raise ValueError("the document is too deep") from None
    _refuse(value, 0)
    return Strict(value, not others)


def _refuse(value: Any, depth: int) -> None:
    if isinstance(value, str):
        if _SURROGATE.search(value):
            raise ValueError("a text has a lone surrogate")
        return
    if not isinstance(value, (dict, list)):
        return
    if depth >= _MOST_DEPTH:
        raise ValueError("the document is too deep")
    for item in value if isinstance(value, list) else value.values():
        _refuse(item, depth + 1)
    if isinstance(value, dict):
        for name in value:
            _refuse(name, depth)


def canonicalize(value: Any) -> str:
    """The canonical text of a value. Raises ValueError for a number that is not finite, and UnicodeError for a lone surrogate."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, int):
        return _number(float(value)) if abs(value) > _SAFE else str(value)
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(canonicalize(item) for item in value) + "]"
    if isinstance(value, dict):
        # By UTF-16 code units, as ECMAScript sorts.
        names = sorted(value, key=lambda name: name.encode("utf-16-be"))
        return "{" + ",".join(f"{_text(name)}:{canonicalize(value[name])}" for name in names) + "}"
    raise ValueError(f"{type(value).__name__} has no form in JSON")


def _text(text: str) -> str:
    # Raises for a lone surrogate.
    text.encode("utf-8")
    return json.dumps(text, ensure_ascii=False)


def _number(value: float) -> str:
    """As ECMAScript writes numbers: the fewest digits that read back as the same double."""
    if not math.isfinite(value):
        raise ValueError("a number that is not finite has no canonical form")
    if value == 0:
        return "0"
    sign = "-" if value < 0 else ""
    mantissa, _, exponent = repr(abs(value)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + ("" if fraction == "0" else fraction)).lstrip("0")
    # The value is 0.DIGITS times ten to the power of `point`.
    zeros = len(fraction) - len(fraction.lstrip("0"))
    point = int(exponent or 0) + (len(whole) if whole != "0" else -zeros)
    digits = digits.rstrip("0")
    if 0 < point <= 21:
        if len(digits) <= point:
            return sign + digits + "0" * (point - len(digits))
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    power = point - 1
    rest = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{rest}e{'+' if power > 0 else '-'}{abs(power)}"
