"""Whether verdicts follow from their evidence, by the vectors, and what the vectors leave open."""

import json
import time
import unittest
from pathlib import Path
from unittest.mock import patch

from claimcheck import EvidenceFinding, check_evidence, check_receipt, parse_keys
from claimcheck.canonical import canonicalize
from claimcheck.checker import sha256, to_base64url
from claimcheck.comparators import is_same_by
from claimcheck.rules import VERSIONS, Decision
from claimcheck.times import format_instant, parse_instant

VECTORS = Path(__file__).resolve().parents[3] / "test/vectors"
PROFILES = (VECTORS / "profiles.json").read_text()
FORM = EvidenceFinding("does_not_follow", ("form",))
NOT_CHECKED = EvidenceFinding("not_checked")


def read(name):
    """The body of the receipt, and its evidence."""
    body = json.loads((VECTORS / f"evidence-{name}-receipt.json").read_text())["body"]
    return body, json.loads((VECTORS / f"evidence-{name}.json").read_text())


def check(body, evidence, profiles=PROFILES):
    """As if the issuer had signed this."""
    text = evidence if isinstance(evidence, str) else canonicalize(evidence)
    signed = to_base64url(sha256(text.encode(errors="replace")))
    return check_evidence({**body, "observation": {**body["observation"], "evidence_digest": signed}}, text, profiles)


class Evidence(unittest.TestCase):
    def test_vectors(self):
        manifest = json.loads((VECTORS / "manifest.json").read_text())
        keys = parse_keys((VECTORS / manifest["keyset"]).read_text())
        profiles = (VECTORS / manifest["profiles"]).read_text()
        seen = set()
        for vector in manifest["evidence_vectors"]:
            with self.subTest(vector["evidence"]):
                report = check_receipt((VECTORS / vector["file"]).read_text(), keys)
                self.assertTrue(report.valid)
                found = check_evidence(report.document["body"], (VECTORS / vector["evidence"]).read_text(), profiles)
                expected = vector["expected"]
                self.assertEqual(
                    (found.evidence, list(found.differs), found.rules),
                    (expected["evidence"], expected.get("differs", []), expected.get("rules")),
                )
                seen.add((found.evidence, found.rules))
        findings = {("follows", rules) for rules in ("published", "unknown", "differs")}
        findings |= {(finding, None) for finding in ("does_not_follow", "digest_differs", "not_checked", "absent")}
        self.assertEqual(seen, findings)
        self.assertGreater(len(manifest["evidence_vectors"]), 60)

    def test_what_is_not_there_is_not_checked(self):
        body, evidence = read("follows-verified")
        self.assertEqual(check_evidence(body, None, PROFILES), NOT_CHECKED)
        for version in [3, 2**53 - 1]:
            self.assertEqual(check(body, {**evidence, "rules_version": version}), NOT_CHECKED)
        for version in [0, -1, True, "1", None, 2]:
            self.assertEqual(check(body, {**evidence, "rules_version": version}), FORM)

    def test_a_version_stands_beside_another(self):
        class Kinder(VERSIONS[1]):
            def decision(self):
                return super().decision() and Decision("verified", None, self.last)

        body, evidence = read("follows-failed")
        claim = {**evidence["claim"], "fresh": True, "fresh_by": "claimed_at"}
        by_3 = {**evidence, "evidence_version": 2, "rules_version": 3, "claim": claim}
        with patch.dict(VERSIONS, {3: Kinder}):
            self.assertEqual(check(body, evidence), EvidenceFinding("follows", rules="published"))
            self.assertEqual(check(body, by_3).differs, ("verdict.value", "verdict.reason_code"))
            self.assertEqual(check({**body, "verdict": {"value": "verified"}}, by_3), EvidenceFinding("follows", rules="differs"))
            self.assertEqual(check(body, {**by_3, "evidence_version": 1}), FORM)
        self.assertEqual(check(body, by_3), NOT_CHECKED)

    def test_null_is_not_absent(self):
        body, evidence = read("follows-failed")
        self.assertEqual(check(body, evidence).evidence, "follows")
        body["observation"]["appeared"] = None
        self.assertEqual(check(body, evidence), EvidenceFinding("does_not_follow", ("observation.appeared",)))
        body["observation"]["evidence_digest"] = None
        self.assertEqual(check_evidence(body, "{}").evidence, "digest_differs")

    def test_true_is_not_1(self):
        body, evidence = read("follows-verified")
        evidence["checks"][1]["facts"]["on_branch"] = 1
        self.assertEqual(check(body, evidence, None), EvidenceFinding("does_not_follow", ("observation.facts",)))
        for name in ["age_ms", "clock_offset_ms"]:
            body, evidence = read("follows-verified")
            evidence["checks"][0][name] = False
            self.assertEqual(check(body, evidence), FORM)

    def test_text_that_is_no_evidence(self):
        body, evidence = read("follows-verified")
        text = canonicalize(evidence)
        self.assertEqual(check(body, text).evidence, "follows")
        texts = ["", "null", "[]", "{}", "[" * 100_000, text[:-1], text + "\ufeff", text.replace("0", "0.0", 1)]
        texts += [text + " " * 256 * 1024, text.replace("github", "\\ud800"), text.replace('"dated":true', '"dated":NaN')]
        for no_evidence in texts:
            with self.subTest(no_evidence[:40]):
                self.assertEqual(check(body, no_evidence), FORM)
        # A string of JSON may hold what no file can.
        self.assertEqual(check_evidence({**body, "observation": {"evidence_digest": "x"}}, "\ud800").evidence, "digest_differs")

    def test_lengths_that_lead_out_of_time(self):
        body, evidence = read("follows-verified")
        evidence["checks"][0]["age_ms"] = 2**53 - 1
        self.assertEqual(check(body, evidence), FORM)
        body, evidence = read("follows-verified")
        evidence["rules"].update(dict.fromkeys(("tolerance_ms", "closing_ms", "grace_ms"), 2**53 - 1))
        self.assertEqual(check(body, evidence).rules, "differs")

    def test_rules_that_are_not_published(self):
        body, evidence = read("follows-verified")
        profiles = json.loads(PROFILES)
        profile, _ = profiles["profiles"]
        self.assertEqual(check(body, evidence).rules, "published")
        unknown = [None, "", "null", "[]", "{}", '{"profiles": {}}', '{"profiles": [1]}', "[" * 100_000]
        broken = [("required", None), ("required", {"sha": "x"}), ("tolerance_ms", "1"), ("age_ms", None), ("fresh_ms", 0.5)]
        broken += [(name, None) for name in ("closing_ms", "grace_ms", "max_deadline_ms")]
        unknown += [json.dumps({"profiles": [{**profile, name: value}]}) for name, value in broken]
        for text in unknown:
            with self.subTest(text):
                self.assertEqual(check(body, evidence, text), EvidenceFinding("follows", rules="unknown"))
        # Another service publishes less, and more that is not understood.
        less = {name: profile[name] for name in profile if name not in ("shows", "words")}
        for other in [less, {**less, "words": [], "shows": 1}, {**less, "words": {"found": {"sha": 1}}}]:
            self.assertEqual(check(body, evidence, json.dumps({"profiles": [other]})).rules, "published")
        for name in ["rules_version", "age_ms", "removed_within_ms", "fresh_ms", "closing_ms", "grace_ms"]:
            other = {**profile, name: profile[name] + 1}
            self.assertEqual(check(body, evidence, json.dumps({"profiles": [other]})).rules, "differs", name)

    def test_the_largest_evidence_is_soon_checked(self):
        body, evidence = read("follows-verified")
        absent, present = evidence["checks"]
        # Each check is asked whether it decided already: the last one does.
        undated = {name: absent[name] for name in absent if name != "source"}
        evidence["checks"] = [{**undated, "dated": False}] * 1800 + [present]
        self.assertGreater(len(canonicalize(evidence)), 250_000)
        started = time.process_time()
        self.assertEqual(check(body, evidence).differs, ("observation.attempts",))
        # It takes some 3 s.
        self.assertLess(time.process_time() - started, 30)


class Documents(unittest.TestCase):
    def test_evidence_of_each_action(self):
        given = json.loads((VECTORS / "evidence-documents.json").read_text())
        profiles = json.dumps(given["profiles"])
        for document in given["documents"]:
            with self.subTest(document["name"]):
                found = check_evidence(document["body"], document["evidence"], profiles)
                expected = document["expected"]
                self.assertEqual(
                    (found.evidence, list(found.differs), found.rules),
                    (expected["evidence"], expected.get("differs", []), expected.get("rules")),
                )
        self.assertGreater(len(given["documents"]), 200)

    def test_comparators(self):
        digest = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        same = {
            "exact": [(1, 1), ({"a": [True]}, {"a": [True]})],
            "case": [("ABCdef0", "abcdef0")],
            "digest": [
                (digest, "SHA256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="),
                (f"sha256:{digest.upper()}", "sha256:47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU"),
            ],
            "address": [
                ("https://Example.com", "HTTPS://example.com:443/#top"),
                ("https://example.com/%7ea%2fb?q=%41", "https://example.com/~a%2Fb/?q=A"),
                ("constructor://example.com:/a", "constructor://example.com/a"),
            ],
            "package": [("pypi:Flask_SQLAlchemy", "pypi:flask.-sqlalchemy"), ("cargo:Serde_json", "cargo:serde-json")],
        }
        other = {
            "exact": [(1, True), (1, "1"), ("a", "A")],
            "case": [("a", "b"), ("\u212a", "k"), (["A"], ["a"]), (["a"], ["a"])],
            "digest": [(digest, digest[2:]), (f"sha512:{digest}", digest), ("sha256-AAAA", "sha256-AAAB"), ("x\n", "X\n")],
            "address": [("https://example.com/a", "https://example.com/A"), ("https://example.com:444", "https://example.com")],
            "package": [("npm:JSONStream", "npm:jsonstream"), ("pypi:a", "cargo:a")],
        }
        for comparator, pairs in same.items():
            for one, two in pairs:
                self.assertTrue(is_same_by(comparator, one, two), (comparator, one, two))
        for comparator, pairs in other.items():
            for one, two in pairs:
                self.assertFalse(is_same_by(comparator, one, two), (comparator, one, two))

    def test_profiles_that_can_be_read_in_two_ways(self):
        body, evidence = read("follows-verified")
        text = json.dumps(json.loads(PROFILES))
        self.assertEqual(check(body, evidence, text).rules, "published")
        for other in ['"age_ms": 0, "age_ms": 0', '"age_ms": 0, "more": 1e999', '"age_ms": 0, "more": "\\ud800"']:
            self.assertEqual(check(body, evidence, text.replace('"age_ms": 0', other)).rules, "unknown", other)


class Times(unittest.TestCase):
    def test_each_moment_has_one_text(self):
        moments = {
            "0000-01-01T00:00:00.000Z": -62_167_219_200_000,
            "0000-02-29T00:00:00.000Z": -62_162_121_600_000,
            "0000-12-31T23:59:59.999Z": -62_135_596_800_001,
            "0001-01-01T00:00:00.000Z": -62_135_596_800_000,
            "1969-12-31T23:59:59.999Z": -1,
            "1970-01-01T00:00:00.000Z": 0,
            "2000-02-29T12:34:56.789Z": 951_827_696_789,
            "9999-12-31T23:59:59.999Z": 253_402_300_799_999,
        }
        for text, instant in moments.items():
            self.assertEqual((parse_instant(text), format_instant(instant)), (instant, text))
        for instant in [-62_167_219_200_001, 253_402_300_800_000, -(2**60), 2**60]:
            with self.assertRaises(OverflowError):
                format_instant(instant)

    def test_what_is_no_moment(self):
        days = ["2026-02-29", "1900-02-29", "2026-04-31", "2026-13-01", "2026-00-01", "2026-01-00", "10000-01-01", "-001-01-01"]
        texts = [f"{day}T00:00:00.000Z" for day in days]
        texts += [f"2026-01-01T{clock}" for clock in ["24:00:00.000Z", "23:60:00.000Z", "23:59:60.000Z", "00:00:00Z", "00:00:00.00Z"]]
        texts += ["2026-01-01T00:00:00.000+00:00", "2026-01-01t00:00:00.000z", " 2026-01-01T00:00:00.000Z", "2026-01-01T00:00:00.000Z\n"]
        for text in [*texts, "\u0662026-01-01T00:00:00.000Z", "", None, 0]:
            with self.subTest(text):
                self.assertIsNone(parse_instant(text))


if __name__ == "__main__":
    unittest.main()
