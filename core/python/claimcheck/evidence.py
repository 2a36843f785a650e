"""Whether a receipt's verdict follows from its evidence. It shows that the two are consistent; it cannot show that no check was left out."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from .appearance import Interval
from .canonical import canonicalize, parse_strict
from .checker import sha256, to_base64url
from .consistency import contradiction_of
from .published import PublishedProfile, find_profile
from .records import Check, Failure, Read, Stay
from .rules import FAILURE_REASONS, Decision, Rules, Times, could_be_fresh_by, decide, knows_rules
from .shapes import SAFE, either, integer, is_action, is_hash, is_object, is_timestamp, is_version, list_of, obj, one_of, text
from .times import format_instant, parse_instant

#: Larger evidence is not published. Bytes.
_LARGEST_BYTES = 256 * 1024
#: A claim can be dated so long after its submission, because the clock of a client may be ahead. Milliseconds.
_CLOCK_SKEW_MS = 5 * 60_000
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class EvidenceFinding:
    """What a receipt's evidence shows.

    ``evidence`` is ``follows`` where the rules give the signed verdict from it, and all that the receipt signs of the checks; ``does_not_follow``
    where they do not; ``digest_differs`` where it is not the file that the receipt signs; ``absent`` where the receipt signs none; ``not_checked``
    where there is none to look at, or its rules are of a version that this package does not know.
    """

    evidence: str
    #: With ``does_not_follow``: the members of the signed body that the evidence says otherwise, or ``form`` where it is no evidence document.
    differs: Sequence[str] = ()
    #: With ``follows``: whether the issuer publishes these rules: ``published``, ``differs``, or ``unknown`` where it publishes none.
    rules: Optional[str] = None


def check_evidence(body: Mapping[str, Any], evidence: Optional[str], profiles: Optional[str] = None) -> EvidenceFinding:
    """Decides a claim again by its evidence, and compares what follows with the body of its receipt, which is checked already.

    ``evidence`` is the text of the file, ``profiles`` that of ``/v1/profiles``: the rules are compared with those that it has. Any texts give a
    finding.
    """
    observation = body["observation"]
    if "evidence_digest" not in observation:
        return EvidenceFinding("absent")
    if evidence is None:
        return EvidenceFinding("not_checked")
    # A file has no lone surrogate, and a string of a bundle may have one.
    data = _SURROGATE.sub("\ufffd", evidence).encode()
    if observation["evidence_digest"] != to_base64url(sha256(data)):
        return EvidenceFinding("digest_differs")
    document = _read(evidence) if len(data) <= _LARGEST_BYTES else None
    # Asked before the form is, which another version may change.
    if _is_versioned(document) and not (document["evidence_version"] in _DOCUMENTS and knows_rules(document["rules_version"])):
        return EvidenceFinding("not_checked")
    if not any(is_document(document) for is_document in _DOCUMENTS.values()):
        return EvidenceFinding("does_not_follow", ("form",))
    published = _those_of(document, find_profile(profiles, document["profile"]["action"], document["profile"]["version"]))
    try:
        differs = _differences(body, document, published)
    except OverflowError:
        # Lengths of time in a hostile document lead to moments that no timestamp expresses.
        differs = ["form"]
    if differs:
        return EvidenceFinding("does_not_follow", tuple(differs))
    return EvidenceFinding("follows", rules=_compared(document, published))


def _read(evidence: str) -> Any:
    """None for what cannot be evidence, whatever its version."""
    try:
        value, integers_only = parse_strict(evidence)
    except ValueError:
        return None
    return value if integers_only else None


class _Case(NamedTuple):
    """What a verdict was decided from."""

    rules: Rules
    claim: Times
    checks: List[Check]
    decided_at: int


#: A member that is not there, which is another thing than one that is null.
_NOTHING = object()


def _differences(body: Mapping[str, Any], document: Mapping[str, Any], published: Optional[PublishedProfile]) -> List[str]:
    """The members of the signed body that the evidence says otherwise, and what no honest host writes."""
    case = _case_of(document)
    decision = decide(*case)
    if decision is None:
        return ["verdict"]
    reads = [check for check in case.checks if isinstance(check, Read)]
    facts, source = _signed_of(decision, reads)
    places = {canonicalize(read.source) for read in reads if read.source is not None}
    # Answers are counted of a source, so that a read with some names it.
    is_placed = len(places) <= 1 and not any(read.source is None for read in reads if read.answers is not None)
    claim, observation, verdict = body["claim"], body["observation"], body["verdict"]
    said: Dict[str, Tuple[Any, Any]] = {
        "claim.claim_digest": (claim["claim_digest"], document["claim"]["claim_digest"]),
        "claim.claimed_at": (claim["claimed_at"], document["claim"]["claimed_at"]),
        "observation.deadline_at": (observation["deadline_at"], document["claim"]["deadline_at"]),
        "observation.verifier.id": (observation["verifier"]["id"], document["profile"]["action"]),
        "observation.verifier.version": (observation["verifier"]["version"], document["profile"]["version"]),
        "observation.attempts": (observation["attempts"], len(case.checks)),
        "observation.observed_at": (observation["observed_at"], format_instant(decision.basis.answered_at)),
        "observation.facts": (observation["facts"], facts),
        "observation.source": (observation.get("source", _NOTHING), source),
        "observation.appeared": (observation.get("appeared", _NOTHING), _to_wire(decision.appeared)),
        "verdict.value": (verdict["value"], decision.verdict),
        "verdict.reason_code": (verdict.get("reason_code", _NOTHING), decision.reason_code or _NOTHING),
    }
    if case.rules.version > 1:
        gap = _NOTHING if decision.largest_gap_ms is None else decision.largest_gap_ms
        said["observation.largest_gap_ms"] = (observation.get("largest_gap_ms", _NOTHING), gap)
    # A read at another place must not carry the verdict of one that is signed as read here.
    differs = [
        name
        for name, (signed, shown) in said.items()
        if not _is_same(signed, shown) or (name == "observation.source" and not is_placed)
    ]
    # A decision follows the last check at once: waiting until the time is over would be another decision.
    is_decided_at_once = case.checks[-1].answered_at == case.decided_at <= parse_instant(body["issued_at"])
    if not (is_decided_at_once and _is_ordered(case)):
        differs.append("order")
    if _goes_on(case, decision):
        differs.append("checks")
    # No host takes an answer for younger than the profile says.
    if any(read.age_ms < case.rules.age_ms for read in reads):
        differs.append("age_ms")
    differs += _time_differences(case)
    if published is not None and case.claim.deadline_at - case.claim.claimed_at > published.max_deadline_ms:
        differs.append("observation.deadline_at")
    # Settings change lengths of time. What is compared, and whether an outcome can be late, are the action's own.
    if published is not None and case.rules.version > 1:
        own = {"required": case.rules.required, "never_late": case.rules.never_late}
        if any(not _is_same(published.rules[name], value) for name, value in own.items()):
            differs.append("rules")
    return differs + _contradictions(claim, case, decision, document, published)


def _is_ordered(case: _Case) -> bool:
    earliest = case.claim.submitted_at
    for check in case.checks:
        if not earliest <= check.sent_at <= check.answered_at:
            return False
        earliest = check.sent_at
    return True


def _time_differences(case: _Case) -> List[str]:
    """The times of a claim that no intake takes, or of which it says otherwise."""
    rules, claim = case.rules, case.claim
    if rules.version == 1:
        return []
    ahead_ms = claim.claimed_at - claim.submitted_at
    found = {
        "claim.claimed_at": ahead_ms > _CLOCK_SKEW_MS,
        "observation.deadline_at": claim.deadline_at <= claim.claimed_at + rules.tolerance_ms,
        "claim.fresh": not could_be_fresh_by(rules, claim),
    }
    return [name for name, is_wrong in found.items() if is_wrong]


def _goes_on(case: _Case, decision: Decision) -> bool:
    """An earlier check decided: what a host that goes on until it likes the verdict would write. Up to version 1 of the rules a host looked
    again where it could not sign. A time to wait that is configured shorter later may have ended before a look that was made."""
    rules, claim, checks, _ = case
    is_strict = rules.version > 1
    waiting = replace(rules, grace_ms=SAFE) if is_strict else rules
    said = decision.verdict, decision.reason_code
    earlier = (decide(waiting, claim, checks[:end], checks[end - 1].answered_at) for end in range(1, len(checks)))
    return any(one is not None and (is_strict or (one.verdict, one.reason_code) != said) for one in earlier)


def _contradictions(
    claim: Mapping[str, Any],
    case: _Case,
    decision: Decision,
    document: Mapping[str, Any],
    published: Optional[PublishedProfile],
) -> List[str]:
    """What reads contradict: each that has its facts, and the two that must have them."""
    version, expected = case.rules.version, None if published is None else published.expected
    last_read = next((check for check in reversed(case.checks) if isinstance(check, Read)), None)
    found: List[str] = []
    for check, told in zip(case.checks, document["checks"]):
        if not isinstance(check, Read):
            continue
        has_facts = check is decision.basis or check is last_read or "facts" in told
        contradicted = contradiction_of(check, claim, expected, version, check.facts if has_facts else None)
        is_named = version == 1 or all(name in case.rules.required for name in check.differs or ())
        found += [] if contradicted is None else [contradicted]
        found += [] if is_named else ["differs"]
    return list(dict.fromkeys(found))


def _signed_of(decision: Decision, reads: Sequence[Read]) -> Tuple[Mapping[str, Any], Any]:
    """The facts and the source of the check that the verdict rests on; where that one failed, of the last one that did not, with the failure."""
    basis = decision.basis
    seen = basis if isinstance(basis, Read) else reads[-1] if reads else None
    source = _NOTHING if seen is None or seen.source is None else seen.source
    facts = {} if seen is None else seen.facts
    if isinstance(basis, Failure):
        status = {} if basis.status is None else {"status": basis.status}
        removed = {"connection_removed": True} if basis.connection_removed else {}
        facts = {**facts, **removed, "error": basis.code, **status}
    return facts, source


def _to_wire(interval: Optional[Interval]) -> Any:
    if interval is None:
        return _NOTHING
    since = {} if interval.not_before == -math.inf else {"not_before": format_instant(interval.not_before)}
    return {"not_after": format_instant(interval.not_after), "source": interval.source, **since}


def _is_same(one: Any, other: Any) -> bool:
    if one is _NOTHING or other is _NOTHING:
        return one is other
    # Python takes 1 and True for equal.
    return canonicalize(one) == canonicalize(other)


def _those_of(document: Mapping[str, Any], published: Optional[PublishedProfile]) -> Optional[PublishedProfile]:
    """Of the rules that are published, those that the evidence names."""
    if published is None:
        return None
    return next((one for one in (published, *published.others) if _compared(document, one) == "published"), published)


def _compared(document: Mapping[str, Any], published: Optional[PublishedProfile]) -> str:
    if published is None:
        return "unknown"
    rules = {"never_late": False, **document["rules"], "rules_version": document["rules_version"]}
    return "published" if all(_is_same(rules[name], value) for name, value in published.rules.items()) else "differs"


def _case_of(document: Mapping[str, Any]) -> _Case:
    rules, claim = document["rules"], document["claim"]
    return _Case(
        Rules(version=document["rules_version"], **{"never_late": False, **rules}),
        Times(*(_instant(claim[name]) for name in ("claimed_at", "deadline_at", "submitted_at")), claim.get("fresh", False), claim.get("fresh_by")),
        [_check_of(check) for check in document["checks"]],
        _instant(document["decided_at"]),
    )


def _check_of(check: Mapping[str, Any]) -> Check:
    times = _instant(check["sent_at"]), _instant(check["answered_at"])
    if "failure" in check:
        failure = check["failure"]
        retry_at = _instant(failure["retry_at"]) if "retry_at" in failure else 0
        return Failure(*times, failure["code"], failure.get("status"), retry_at, failure.get("connection_removed", False))
    return Read(
        *times,
        clock_offset_ms=check["clock_offset_ms"],
        dated=check["dated"],
        age_ms=check["age_ms"],
        source=check.get("source"),
        differs=check.get("differs"),
        mark=check.get("mark"),
        stays=[_stay_of(stay) for stay in check["stays"]] if "stays" in check else None,
        facts=check.get("facts", {}),
        answers=check.get("answers"),
        clock_ahead_ms=check.get("clock_ahead_ms"),
        clock_set_ms=check.get("clock_set_ms", 0),
    )


def _stay_of(stay: Mapping[str, Any]) -> Stay:
    removed = _bounds_of(stay["removed"]) if "removed" in stay else (math.inf, math.inf)
    return Stay(*_bounds_of(stay["appeared"]), *removed, stay.get("removed_whole", False))


def _bounds_of(time: Mapping[str, str]):
    return _instant(time["not_before"]) if "not_before" in time else -math.inf, _instant(time["not_after"])


def _instant(text: str) -> int:
    instant = parse_instant(text)
    assert instant is not None, "the form was checked"
    return instant


def _closed(required: Mapping[str, Any], optional: Mapping[str, Any] = {}):
    return obj(required, optional, closed=True)


def _boolean(value: Any) -> bool:
    return isinstance(value, bool)


_name = text(1, 128)
_length = integer(0)
_log_time = _closed({"not_after": is_timestamp}, {"not_before": is_timestamp})
_stay = _closed({"appeared": _log_time}, {"removed": _log_time, "removed_whole": _boolean})
_source = either(
    _closed({"provider": _name, "listed": _boolean, "base_url": text(1, 16_384)}),
    _closed({"provider": _name, "listed": lambda value: value is False, "source_id": is_hash}),
)
_times = {"sent_at": is_timestamp, "answered_at": is_timestamp}
_read_required = {**_times, "clock_offset_ms": _length, "dated": _boolean, "age_ms": _length}
_read_optional = {
    "source": _source,
    "mark": one_of("final", "never_before", "may_have_been", "unsettled"),
    "stays": list_of(_stay),
    "facts": is_object,
}
_failure_optional = {"status": _length, "retry_at": is_timestamp}
_failure = _closed({"code": one_of(*FAILURE_REASONS)}, _failure_optional)
_failure_2 = either(
    _failure, _closed({"code": one_of("no_connection"), "connection_removed": lambda value: value is True}, _failure_optional)
)
_claim = {"claim_digest": is_hash, "claimed_at": is_timestamp, "deadline_at": is_timestamp, "submitted_at": is_timestamp}
#: The reasons by which a claim is fresh, or is not.
_FRESH = {"claimed_at": True, "claimed_ago": True, "too_old": False, "claimed_ahead": False, "clock_ahead": False}
_is_claim_2 = _closed({**_claim, "fresh": _boolean, "fresh_by": one_of(*_FRESH)})
_is_versioned = obj({"evidence_version": integer(1), "rules_version": integer(1)})


def _document(version: int, is_claim: Any, is_failure: Any, read_optional: Mapping[str, Any]):
    is_check = either(
        # Without `differs` a read would count as one that shows the outcome as claimed.
        _closed({**_read_required, "kind": one_of("present"), "differs": list_of(_name)}, read_optional),
        _closed({**_read_required, "kind": one_of("absent")}, read_optional),
        _closed({**_times, "failure": is_failure}),
    )
    return _closed(
        {
            "evidence_version": integer(version, version),
            # The rules say which version: those of version 2 need to know whether the claim was fresh.
            "rules_version": integer(1, 1) if version == 1 else integer(2),
            "profile": _closed({"action": is_action, "version": is_version}),
            "rules": _closed(
                {
                    "required": lambda value: isinstance(value, dict) and all(map(one_of("target", "content"), value.values())),
                    **dict.fromkeys(("tolerance_ms", "age_ms", "removed_within_ms", "fresh_ms", "closing_ms", "grace_ms"), _length),
                },
                {"never_late": lambda value: value is True},
            ),
            "claim": is_claim,
            "decided_at": is_timestamp,
            "checks": lambda value: list_of(is_check)(value) and len(value) > 0,
        }
    )


#: Documents of a version that was published stay readable as they are: what is stricter belongs to the next version.
_DOCUMENTS = {
    1: _document(1, _closed(_claim), _failure, _read_optional),
    2: _document(
        2,
        lambda value: _is_claim_2(value) and _FRESH[value["fresh_by"]] is value["fresh"],
        _failure_2,
        {**_read_optional, "answers": integer(1), "clock_ahead_ms": integer(-SAFE), "clock_set_ms": integer(1)},
    ),
}
