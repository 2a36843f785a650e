"""The checker against the vectors, and its parts against what the standards publish."""

import json
import unittest
from pathlib import Path

from claimcheck import KeyDocumentError, bind_to_head, check_consistency, check_receipt, check_tree_head, parse_keys
from claimcheck.canonical import canonicalize, parse_strict
from claimcheck.checker import from_base64url
from claimcheck.ed25519 import verify

ROOT = Path(__file__).resolve().parents[3]
OWN = ROOT / "test/vectors"
PUBLISHED = ROOT / "test/conformance"


class Vectors(unittest.TestCase):
    def hold(self, folder, least):
        manifest = json.loads((folder / "manifest.json").read_text())
        self.assertGreaterEqual(len(manifest["vectors"]), least)
        for vector in manifest["vectors"]:
            with self.subTest(vector["file"]):
                keys = parse_keys((folder / vector.get("keyset", manifest["keyset"])).read_text())
                pipeline = (folder / vector["pipeline"]).read_text() if "pipeline" in vector else None
                document = (folder / vector["file"]).read_bytes().decode(errors="surrogateescape")
                report = check_receipt(document, keys, pipeline)
                expected = vector["expected"]
                self.assertEqual(report.valid, expected["valid"])
                self.assertEqual(dict(report.checks), expected["checks"])
                self.assertEqual(report.achieved_trust_level, expected["achieved_trust_level"])
                self.assertEqual(report.verdict, expected["verdict"])
                self.assertEqual(report.valid, report.document is not None)

    def test_own(self):
        self.hold(OWN, 150)

    def test_documents_of_the_log(self):
        manifest = json.loads((OWN / "manifest.json").read_text())
        heads, proofs = manifest["tree_head_vectors"], manifest["consistency_vectors"]
        self.assertGreater(min(len(heads), len(proofs)), 10)
        for vector in heads:
            with self.subTest(vector["file"]):
                keys = parse_keys((OWN / vector.get("keyset", manifest["keyset"])).read_text())
                found = check_tree_head((OWN / vector["file"]).read_text(), keys)
                self.assertEqual(found, vector["expected"]["valid"])
        for vector in proofs:
            with self.subTest(vector["file"]):
                self.assertEqual(check_consistency((OWN / vector["file"]).read_text()), vector["expected"]["valid"])

    def test_the_root_of_a_proof_is_held_against_a_signed_head(self):
        keys = parse_keys((OWN / "keys.json").read_text())
        head = (OWN / "tree-head-valid-first.json").read_text()
        signed = json.loads(head)["body"]
        consistency = (OWN / "consistency-valid-3-7.json").read_text()
        earlier = json.loads(consistency)["first_root"]
        rows = [
            ("holds", signed, head, None),
            ("holds", {**signed, "tree_size": 3, "root_hash": earlier}, head, consistency),
            ("consistency_proof_required", {**signed, "tree_size": 3, "root_hash": earlier}, head, None),
            ("other_root", {**signed, "tree_size": 3}, head, consistency),
            ("other_root", {**signed, "tree_size": 3, "root_hash": earlier}, head, "{}"),
            ("other_root", {**signed, "root_hash": earlier}, head, None),
            ("smaller_than_proof", {**signed, "tree_size": 8}, head, None),
            ("other_log", {**signed, "log_id": earlier}, head, None),
            ("not_signed", signed, head.replace(signed["root_hash"], earlier), None),
            ("not_signed", signed, "no JSON", None),
        ]
        for expected, proof, text, path in rows:
            with self.subTest(expected, proof=proof):
                self.assertEqual(bind_to_head(proof, text, keys, path), expected)
        self.assertEqual(bind_to_head(signed, json.dumps({"tree_head": json.loads(head), "anchor": None}), keys, None), "holds")

    def test_published(self):
        self.hold(PUBLISHED / "poaw", 30)


class Parts(unittest.TestCase):
    def test_key_documents(self):
        for text in ["", "[]", "{}", '{"keys": {}}']:
            with self.subTest(text), self.assertRaises(KeyDocumentError):
                parse_keys(text)
        self.assertEqual(parse_keys('{"keys": [1, {}, {"key_id": "ed25519:x", "public_key": "AA"}]}'), {})

    def test_base64url_has_one_text(self):
        self.assertEqual(from_base64url("AA"), b"\0")
        for text in ["AB", "A", "A=", "A+", "AAé", 1, None]:
            self.assertIsNone(from_base64url(text))

    def test_strict_json(self):
        refused = ['{"a":1,"a":2}', '"\\ud800"', "[1,]", "01", "1e999", "NaN", "\ufeff1", "[" * 65 + "]" * 65, "1 2", "'a'", ""]
        for text in refused:
            with self.subTest(text[:20]), self.assertRaises(ValueError):
                parse_strict(text)
        self.assertEqual(parse_strict("[" * 64 + "]" * 64).integers_only, True)
        for text in ["1.0", "1e3", "9007199254740992"]:
            self.assertFalse(parse_strict(text).integers_only)

    def test_canonical_numbers(self):
        written = {
            1e21: "1e+21", 1e20: "100000000000000000000", 1e-6: "0.000001", 1e-7: "1e-7", 0.1: "0.1",
            5e-324: "5e-324", -0.0: "0", 4.5: "4.5", 333333333.33333329: "333333333.3333333", 2**53: "9007199254740992",
        }
        for value, text in written.items():
            self.assertEqual(canonicalize(value), text)
        self.assertEqual(canonicalize({"\U0001f600": 1, "\ufb33": 2, "a": None}), '{"a":null,"\U0001f600":1,"\ufb33":2}')
        for value in [float("inf"), b"bytes", "\ud800"]:
            with self.assertRaises(ValueError):
                canonicalize(value)

    def test_published_canonical_forms(self):
        inputs = sorted((PUBLISHED / "jcs/input").glob("*.json"))
        self.assertGreater(len(inputs), 3)
        for path in inputs:
            with self.subTest(path.name):
                expected = (PUBLISHED / "jcs/output" / path.name).read_text(encoding="utf-8")
                self.assertEqual(canonicalize(parse_strict(path.read_text(encoding="utf-8")).value), expected)

    def test_published_signatures(self):
        (path,) = (PUBLISHED / "ed25519").glob("*[wW]ycheproof*.json") or [None]
        tests = 0
        for group in json.loads(path.read_text())["testGroups"]:
            key = bytes.fromhex(group["publicKey"]["pk"])
            for test in group["tests"]:
                tests += 1
                with self.subTest(test["tcId"]):
                    held = verify(bytes.fromhex(test["sig"]), bytes.fromhex(test["msg"]), key)
                    self.assertEqual(held, test["result"] == "valid")
        self.assertGreater(tests, 100)


if __name__ == "__main__":
    unittest.main()
