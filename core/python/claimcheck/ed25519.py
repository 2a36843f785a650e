"""Strict Ed25519 verification (RFC 8032, without the cofactor): canonical encodings only, no points of small order."""

from __future__ import annotations

import hashlib
from typing import Optional, Tuple

_P = 2**255 - 19
_ORDER = 2**252 + 27742317777372353535851937790883648493
_D = -121665 * pow(121666, _P - 2, _P) % _P
_SQRT_M1 = pow(2, (_P - 1) // 4, _P)

# Extended coordinates (X, Y, Z, T) with x = X/Z, y = Y/Z, x*y = T/Z.
_Point = Tuple[int, int, int, int]
_NEUTRAL: _Point = (0, 1, 1, 0)


def verify(signature: bytes, message: bytes, public_key: bytes) -> bool:
    """Whether the signature is of this message under this key. Never raises."""
    if len(signature) != 64 or len(public_key) != 32:
        return False
    encoded_r = signature[:32]
    a, r = _decode(public_key), _decode(encoded_r)
    s = int.from_bytes(signature[32:], "little")
    if a is None or r is None or s >= _ORDER:
        return False
    k = int.from_bytes(hashlib.sha512(encoded_r + public_key + message).digest(), "little") % _ORDER
    return _equal(_multiply(_BASE, s), _add(r, _multiply(a, k)))


def _add(p: _Point, q: _Point) -> _Point:
    a = (p[1] - p[0]) * (q[1] - q[0]) % _P
    b = (p[1] + p[0]) * (q[1] + q[0]) % _P
    c = 2 * p[3] * q[3] * _D % _P
    d = 2 * p[2] * q[2] % _P
    e, f, g, h = b - a, d - c, d + c, b + a
    return (e * f % _P, g * h % _P, f * g % _P, e * h % _P)


def _multiply(point: _Point, factor: int) -> _Point:
    result = _NEUTRAL
    while factor > 0:
        if factor & 1:
            result = _add(result, point)
        point = _add(point, point)
        factor >>= 1
    return result


def _equal(p: _Point, q: _Point) -> bool:
    return (p[0] * q[2] - q[0] * p[2]) % _P == 0 and (p[1] * q[2] - q[1] * p[2]) % _P == 0


def _decode(encoded: bytes) -> Optional[_Point]:
    number = int.from_bytes(encoded, "little")
    sign, y = number >> 255, number & ((1 << 255) - 1)
    # Another encoding of the same point would make two texts of one signature.
    if y >= _P:
        return None
    x = _x_of(y, sign)
    if x is None:
        return None
    point = (x, y, 1, x * y % _P)
    return None if _equal(_multiply(point, 8), _NEUTRAL) else point


def _x_of(y: int, sign: int) -> Optional[int]:
    square = (y * y - 1) * pow(_D * y * y + 1, _P - 2, _P) % _P
    if square == 0:
        return None if sign else 0
    x = pow(square, (_P + 3) // 8, _P)
    if (x * x - square) % _P != 0:
        x = x * _SQRT_M1 % _P
    if (x * x - square) % _P != 0:
        return None
    return _P - x if x & 1 != sign else x


def _base() -> _Point:
    y = 4 * pow(5, _P - 2, _P) % _P
    x = _x_of(y, 0)
    assert x is not None
    return (x, y, 1, x * y % _P)


_BASE = _base()
