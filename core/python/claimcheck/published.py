"""The rules of profiles as a service publishes them, against which those of evidence are held."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Mapping, Optional, Tuple

from .canonical import parse_strict
from .comparators import COMPARATORS
from .consistency import Expected
from .shapes import SAFE, Shape, either, integer, list_of, obj, one_of, text

_whole = integer(-SAFE)
_role = one_of("target", "content")
_any_text = text(0)
_plain = either(_any_text, _whole, lambda value: isinstance(value, bool))
_shown = either(
    _plain, list_of(_plain), obj({"atLeast": _whole}, closed=True), obj({"not": _plain}, closed=True)
)
_told = {"tells": one_of("same", "other"), "default": _plain}
_comparison = either(
    one_of("none"),
    obj({"fact": _any_text, "as": one_of(*(name for name in COMPARATORS if name != "none"))}, _told, closed=True),
    obj({"facts": list_of(_any_text), "are": _plain}, _told, closed=True),
)

_RULES = ("rules_version", "tolerance_ms", "age_ms", "removed_within_ms", "fresh_ms", "closing_ms", "grace_ms")


@dataclass(frozen=True)
class PublishedProfile:
    #: By their names in evidence.
    rules: Mapping[str, Any]
    max_deadline_ms: int
    #: What reads are held to.
    expected: Expected
    #: Other rules by which the service judged claims of this profile.
    others: Tuple["PublishedProfile", ...] = ()


def find_profile(profiles: Optional[str], action: str, version: str) -> Optional[PublishedProfile]:
    """The rules in the answer of ``/v1/profiles``. None where it does not have them, or they are no rules."""
    try:
        document = parse_strict(profiles or "").value
    except ValueError:
        return None
    current = _named(document, "profiles", action, version)[:1]
    found = [_rules_of(one) for one in current + _named(document, "settings", action, version)]
    known = [one for one in found if one is not None]
    return replace(known[0], others=tuple(known[1:])) if known else None


def _named(document: Any, member: str, action: str, version: str) -> list:
    listed = document.get(member) if isinstance(document, dict) else None
    profiles = listed if isinstance(listed, list) else []
    return [one for one in profiles if isinstance(one, dict) and (one.get("action"), one.get("version")) == (action, version)]


def _rules_of(profile: Mapping[str, Any]) -> Optional[PublishedProfile]:
    required, compared, past = (profile.get(name) for name in ("required", "compared", "past"))
    numbers = {name: profile.get(name) for name in (*_RULES, "max_deadline_ms")}
    if not all(map(_whole, numbers.values())):
        return None
    if not isinstance(required, dict) or not all(map(_role, required.values())):
        return None
    max_deadline_ms = numbers.pop("max_deadline_ms")
    return PublishedProfile(
        rules={
            "required": required,
            "never_late": profile.get("never_late") is True,
            **numbers,
        },
        max_deadline_ms=max_deadline_ms,
        expected=Expected(
            required=required,
            shows=_members(profile.get("shows"), _shown),
            compared=_members(compared, _comparison) if isinstance(compared, dict) else None,
            past=[name for name in past if isinstance(name, str)] if isinstance(past, list) else [],
            found=_members(_object(profile.get("words")).get("found"), _any_text),
        ),
    )


def _members(value: Any, shape: Shape) -> Mapping[str, Any]:
    """Those that are of the form: a service may publish more, which is not understood."""
    return {name: member for name, member in _object(value).items() if shape(member)}


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
