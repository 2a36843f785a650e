"""The text in a file that a person gives: editors and shells write UTF-16, and byte order marks."""

from __future__ import annotations

import json
from typing import Union

#: A document as text, or as the bytes of its file.
Document = Union[str, bytes]


class NotADocument(ValueError):
    """A file holds no document, or a part of one. That says nothing of whether a receipt is valid."""


def text_of(document: Document) -> str:
    """The text, without a byte order mark where bytes are given. Raises NotADocument for bytes that are no text."""
    if isinstance(document, str):
        return document
    try:
        text = document.decode(_encoding_of(document))
    except UnicodeDecodeError:
        raise NotADocument("this is not text in UTF-8 or UTF-16") from None
    return text[1:] if text.startswith("\ufeff") else text


def _encoding_of(data: bytes) -> str:
    """By the byte order mark; without one, by where the zeros are: every JSON document begins with a character of ASCII."""
    first, second = [*data[:2], 1, 1][:2]
    if data[:2] == b"\xff\xfe" or (first != 0 and second == 0):
        return "utf-16-le"
    if data[:2] == b"\xfe\xff" or (first == 0 and second != 0):
        return "utf-16-be"
    return "utf-8"


def entry_in(data: bytes) -> str:
    """The text of a receipt or a change entry, valid or not. Raises NotADocument for anything else."""
    text = text_of(data)
    try:
        # Integers of any length are read, as text.
        value = json.loads(text, parse_int=str, parse_constant=_refuse_constant)
    except RecursionError:
        return text
    except json.JSONDecodeError as error:
        raise NotADocument(_not_json(text, error)) from None
    if not isinstance(value, dict) or "body" not in value:
        raise NotADocument(
            "this is not a receipt, a change entry, a tree head, an inclusion or consistency document, "
            "or the file in which a log contradicts itself"
        )
    return text


def _refuse_constant(name: str) -> None:
    """Python reads NaN and Infinity, which JSON does not have."""
    raise NotADocument(f"this is not JSON: it has {name}")


def _not_json(text: str, error: json.JSONDecodeError) -> str:
    is_cut_off = text.strip() != "" and (error.pos >= len(text) or error.msg.startswith("Unterminated string"))
    at = len(text) if is_cut_off else error.pos
    place = f"line {text.count(chr(10), 0, at) + 1}, column {at - text.rfind(chr(10), 0, at)}"
    return f"this is not JSON{': the text is cut off' if is_cut_off else ''}, at {place}"
