"""Files as editors and shells write them, and files that hold no receipt."""

import codecs
import json
import unittest
from pathlib import Path

from claimcheck import KeyDocumentError, NotADocument, check_bundle, check_receipt, parse_keys

VECTORS = Path(__file__).resolve().parents[3] / "test/vectors"
RECEIPT = (VECTORS / "valid-failed-not-found.json").read_text("utf-8")
KEYS = (VECTORS / "keys.json").read_text("utf-8")

ENCODINGS = {
    "UTF-8": lambda text: text.encode(),
    "UTF-8 with a byte order mark": lambda text: codecs.BOM_UTF8 + text.encode(),
    "UTF-16, little end first": lambda text: text.encode("utf-16-le"),
    "UTF-16, big end first": lambda text: text.encode("utf-16-be"),
    "the same with a byte order mark, little end": lambda text: codecs.BOM_UTF16_LE + text.encode("utf-16-le"),
    "the same with a byte order mark, big end": lambda text: codecs.BOM_UTF16_BE + text.encode("utf-16-be"),
}


class Files(unittest.TestCase):
    def test_every_encoding_gives_the_report_of_the_text(self):
        expected = check_receipt(RECEIPT, parse_keys(KEYS))
        self.assertTrue(expected.valid)
        tampered = RECEIPT.replace("failed", "verified")
        bundle = json.dumps({"bundle": "claimcheck/1", "receipt": RECEIPT, "keys": KEYS})
        for name, encoded in ENCODINGS.items():
            with self.subTest(name):
                keys = parse_keys(encoded(KEYS))
                self.assertEqual(check_receipt(encoded(RECEIPT), keys), expected)
                self.assertFalse(check_receipt(encoded(tampered), keys).valid)
                self.assertTrue(check_bundle(encoded(bundle), encoded(KEYS)).valid)

    def test_what_is_no_document_has_no_report(self):
        rows = [
            (b"\x7b\xff\x7d", r"^this is not text in UTF-8 or UTF-16$"),
            (b"\xff\xfe\x00", r"^this is not text in UTF-8 or UTF-16$"),
            (b"", r"^this is not JSON, at line 1, column 1$"),
            (b"<!doctype html>", r"^this is not JSON, at line 1, column 1$"),
            (RECEIPT[:400].encode("utf-16"), r"^this is not JSON: the text is cut off, at line \d+, column \d+$"),
            (b'{"detail":"Not Found"}', r"^this is not a receipt, a change entry, a tree head"),
            (b"[]", r"^this is not a receipt, a change entry, a tree head"),
        ]
        for data, problem in rows:
            with self.subTest(data[:20]), self.assertRaisesRegex(NotADocument, problem):
                check_receipt(data, parse_keys(KEYS))
        with self.assertRaises(NotADocument):
            check_bundle(b"\xff\xff")
        with self.assertRaises(KeyDocumentError):
            parse_keys(RECEIPT.encode())

    def test_what_two_readers_could_understand_differently_is_not_valid(self):
        twice = RECEIPT.replace("{", '{"body": {}, ', 1)
        self.assertFalse(check_receipt(twice.encode(), parse_keys(KEYS)).valid)
        self.assertFalse(check_receipt(b"[" * 100_000, parse_keys(KEYS)).valid)


if __name__ == "__main__":
    unittest.main()
