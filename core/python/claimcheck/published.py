"""The rules of profiles as a service publishes them, against which those of evidence are held."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Mapping, Optional, Tuple

from .canonical import canonicalize, parse_strict
from .shapes import SAFE, integer, one_of

_whole = integer(-SAFE)
_role = one_of("target", "content")

_RULES = ("rules_version", "tolerance_ms", "age_ms", "removed_within_ms", "fresh_ms", "closing_ms", "grace_ms")


@dataclass(frozen=True)
class PublishedProfile:
    #: By their names in evidence.
    rules: Mapping[str, Any]
    max_deadline_ms: int
    #: Facts that every read has which shows the outcome, where it has the fact at all.
    shows: Mapping[str, Any]
    #: The fact that shows what was found for a param, where it has another name.
    found: Mapping[str, str]
    #: Other rules by which the service judged claims of this profile.
    others: Tuple["PublishedProfile", ...] = ()

    def is_contradicted(self, claim: Mapping[str, Any], facts: Mapping[str, Any]) -> bool:
        """The facts of a read that shows the outcome say otherwise."""
        params = claim["params"]
        expected = [*self.shows.items()]
        # What was found for the target is compared by verifiers alone: names are written in several ways.
        expected += [(fact, params[param]) for param, fact in self.found.items() if param in params and param != "target"]
        return any(fact in facts and canonicalize(facts[fact]) != canonicalize(value) for fact, value in expected)


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
    required, words = profile.get("required"), _object(profile.get("words"))
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
        shows=_object(profile.get("shows")),
        found={param: fact for param, fact in _object(words.get("found")).items() if isinstance(fact, str)},
    )


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
