"""Both clients against a running service: CLAIMCHECK_URL, CLAIMCHECK_KEY, and CLAIMCHECK_TEST_ACTION name it."""

import asyncio
import json
import os
import threading
import time
import unittest
from datetime import datetime, timedelta, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from claimcheck import (
    AsyncClient,
    Client,
    ConnectionFailed,
    InvalidRequest,
    NotAuthorized,
    NotFound,
    RateLimited,
    Unavailable,
    WaitTimeout,
    check_receipt,
    parse_keys,
)

ACTION = os.environ.get("CLAIMCHECK_TEST_ACTION")
NO_SERVICE = "CLAIMCHECK_URL, CLAIMCHECK_KEY and CLAIMCHECK_TEST_ACTION name no service"


def collect(values):
    async def all_of():
        return [value async for value in values]

    return asyncio.run(all_of())


@unittest.skipUnless(ACTION and "CLAIMCHECK_URL" in os.environ, NO_SERVICE)
class Service(unittest.TestCase):
    def setUp(self):
        self.client = Client(agent_id="python")

    def test_from_a_claim_to_a_checked_receipt(self):
        claim = self.client.wait(self.client.submit(ACTION, "place", {"see": "present"}))
        self.assertTrue(claim.is_decided and claim.is_verified)
        report = self.client.verify(claim.receipt_id)
        self.assertTrue(report.valid, report.problems)
        self.assertEqual(report.verdict, "verified")
        self.assertEqual(report.document["body"]["agent"]["id"], "python")
        digest = report.document["body"]["claim"]["claim_digest"]
        self.assertEqual(json.loads(self.client.evidence(claim.receipt_id))["claim"]["claim_digest"], digest)
        # By keys that somebody kept, and not when a byte is another.
        keys = self.client.keys()
        self.assertTrue(self.client.verify(claim.receipt_id, keys).valid)
        changed = self.client.receipt(claim.receipt_id).replace("place", "plaza")
        self.assertEqual(check_receipt(changed, parse_keys(keys)).problems[0], "signature")

    def test_the_same_id_makes_one_claim(self):
        first = self.client.submit(ACTION, "once", {"see": "present"}, client_claim_id="python-once")
        again = self.client.submit(ACTION, "once", {"see": "present"}, client_claim_id="python-once")
        self.assertEqual((first.claim_id, first.raw["created"], again.raw["created"]), (again.claim_id, True, False))
        other = self.client.submit(ACTION, "once", {"see": "present"})
        self.assertNotEqual(other.claim_id, first.claim_id)

    def test_waiting(self):
        until = datetime.now(timezone.utc) + timedelta(hours=1)
        waiting = self.client.submit(ACTION, "absent", {"see": "absent"}, deadline_at=until)
        self.assertFalse(waiting.is_decided)
        with self.assertRaisesRegex(WaitTimeout, "is checked until its deadline"):
            self.client.wait(waiting, timeout=0.3)
        later = int(time.time() * 1000) + 700
        claim = self.client.submit(ACTION, "soon", {"see": "absent", "later": {"at": later, "see": "present"}})
        self.assertEqual(self.client.wait(claim, timeout=60).verdict, "verified")

    def test_lists(self):
        ids = {self.client.submit(ACTION, f"one of {n}", {"see": "present"}, agent_id="lister").claim_id for n in range(5)}
        self.assertEqual({claim.claim_id for claim in self.client.claims(agent_id="lister", page_size=2)}, ids)
        asynchronous = collect(AsyncClient(agent_id="python").claims(agent_id="lister", page_size=3))
        self.assertEqual({claim.claim_id for claim in asynchronous}, ids)
        self.assertEqual(list(self.client.claims(agent_id="nobody")), [])

    def test_errors_name_the_field(self):
        with self.assertRaises(InvalidRequest) as raised:
            self.client.submit(ACTION, "x", {"see": "nothing that it knows"})
        self.assertEqual(raised.exception.issues[0].field, "params.see")
        self.assertIn("params.see", str(raised.exception))
        with self.assertRaises(NotFound):
            self.client.claim("clm_00000000000000000000000000")
        with self.assertRaises(NotFound):
            self.client.verify("rcpt_00000000000000000000000000")
        with self.assertRaises(NotAuthorized):
            Client(key="svc_sk_wrong").whoami()
        self.assertEqual(self.client.whoami()["kind"], "key")
        self.assertIn("connections", self.client.connections())

    def test_work_that_is_claimed(self):
        @self.client.claiming(ACTION, lambda done: f"place of {done}", {"see": "present"}, wait=True)
        def work(name):
            return name.upper()

        result, claim = work("it")
        self.assertEqual((result, claim.target, claim.verdict), ("IT", "place of IT", "verified"))

        @self.client.claiming(ACTION, "never", {"see": "present"}, agent_id="breaker")
        def breaks():
            raise KeyError("broken")

        with self.assertRaises(KeyError):
            breaks()
        self.assertEqual(list(self.client.claims(agent_id="breaker")), [])

    def test_in_an_event_loop(self):
        client = AsyncClient(agent_id="python")

        @client.claiming(ACTION, "loop", {"see": "present"}, wait=True)
        async def work():
            await asyncio.sleep(0)
            return 1

        async def story():
            (_, one), two = await asyncio.gather(work(), client.submit(ACTION, "two", {"see": "present"}))
            reports = await asyncio.gather(*[client.verify(claim.receipt_id) for claim in (one, await client.wait(two))])
            evidence = await client.evidence(one.receipt_id)
            return reports, evidence

        reports, evidence = asyncio.run(story())
        self.assertTrue(all(report.valid for report in reports))
        self.assertIn(reports[0].document["body"]["claim"]["claim_digest"], evidence)


class Answers(BaseHTTPRequestHandler):
    """Answers what it is told to, one after the other, and notes what it is asked."""

    script = []
    asked = []

    def do_POST(self):
        self.answer(self.rfile.read(int(self.headers.get("content-length", 0))).decode())

    def do_GET(self):
        self.answer("")

    def answer(self, body):
        self.asked.append((self.path, body, self.headers.get("authorization")))
        status, headers, text = self.script.pop(0)
        if status is None:
            self.close_connection = True
            return
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_args):
        pass


class Failures(unittest.TestCase):
    """What the network and the service do wrong, by a server that does so."""

    def setUp(self):
        Answers.script, Answers.asked = [], []
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.client = Client(self.url, "svc_sk_x", agent_id="a", timeout=5)

    def tearDown(self):
        self.server.shutdown()
        self.server.server_close()

    def test_a_submission_is_tried_again_under_one_id(self):
        done = json.dumps({"claim_id": "clm_1", "state": "queued"})
        Answers.script = [(503, {}, "away"), (None, {}, ""), (429, {"retry-after": "0"}, "{}"), (202, {}, done)]
        self.assertEqual(self.client.submit("a.b.c", "t").claim_id, "clm_1")
        ids = {json.loads(body)["client_claim_id"] for _, body, _ in Answers.asked}
        self.assertEqual((len(Answers.asked), len(ids)), (4, 1))

    def test_what_does_not_pass_is_told_at_once(self):
        Answers.script = [(422, {}, '{"detail": [{"loc": ["body", "target"], "msg": "too long", "type": "x"}]}')]
        with self.assertRaisesRegex(InvalidRequest, "target: too long"):
            self.client.submit("a.b.c", "t")
        self.assertEqual(len(Answers.asked), 1)

    def test_retries_end(self):
        Answers.script = [(503, {}, '{"detail": "away"}')] * 3
        with self.assertRaisesRegex(Unavailable, "503: away"):
            Client(self.url, "k", retries=2).whoami()
        Answers.script = [(429, {"retry-after": "3600"}, '{"detail": "slow down"}')]
        with self.assertRaises(RateLimited) as raised:
            self.client.whoami()
        self.assertEqual(raised.exception.retry_after, 3600)

    def test_redirects_are_not_followed(self):
        Answers.script = [(302, {"location": f"{self.url}/elsewhere"}, "")]
        with self.assertRaisesRegex(Exception, "302"):
            self.client.whoami()
        self.assertEqual([path for path, _, _ in Answers.asked], ["/v1/whoami"])

    def test_answers_that_are_no_answers(self):
        for script in [[(200, {}, "<html>")], [(200, {"content-encoding": "x"}, "not json")]]:
            Answers.script = script
            with self.assertRaisesRegex(ConnectionFailed, "is not JSON"):
                self.client.whoami()
        self.server.shutdown()
        self.server.server_close()
        with self.assertRaises(ConnectionFailed):
            Client(self.url, "k", retries=0).whoami()
        with self.assertRaises(ConnectionFailed):
            asyncio.run(AsyncClient(self.url, "k", retries=0).whoami())

    def test_settings(self):
        for wrong in ["ftp://a", "localhost:8080", "http://u:p@a", "http://a/?q=1", "http://"]:
            with self.subTest(wrong), self.assertRaises(ValueError):
                Client(wrong)
        with self.assertRaisesRegex(ValueError, "agent_id is missing"):
            Client(self.url, "k").submit("a.b.c", "t")
        with self.assertRaisesRegex(ValueError, "needs its zone"):
            self.client.submit("a.b.c", "t", claimed_at=datetime(2026, 1, 1))
        self.assertEqual(Answers.asked, [])


if __name__ == "__main__":
    unittest.main()
