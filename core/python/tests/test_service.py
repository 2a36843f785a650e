"""Both clients against a running service: CLAIMCHECK_URL, CLAIMCHECK_KEY, and CLAIMCHECK_TEST_ACTION name it."""

import asyncio
import json
import os
import subprocess
import sys
import threading
import time
import unittest
import urllib.request
from datetime import datetime, timedelta, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from claimcheck import (
    AsyncClient,
    Client,
    ConnectionFailed,
    Forbidden,
    Gone,
    InvalidRequest,
    NotAuthorized,
    NotClaimed,
    NotFound,
    RateLimited,
    Unavailable,
    UnexpectedAnswer,
    WaitTimeout,
    check_receipt,
    claims,
    operations,
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
        self.assertEqual((report.verdict, report.tree_head), ("verified", "holds"))
        self.assertEqual((report.evidence.evidence, report.evidence.rules), ("follows", "published"))
        self.assertEqual(report.document["body"]["agent"]["id"], "python")
        digest = report.document["body"]["claim"]["claim_digest"]
        self.assertEqual(json.loads(self.client.evidence(claim.receipt_id))["claim"]["claim_digest"], digest)
        with urllib.request.urlopen(os.environ["CLAIMCHECK_URL"] + "/v1/log/head") as answer:
            head = answer.read().decode()
        # By keys that somebody kept, and not when a byte is another.
        keys = self.client.keys()
        self.assertTrue(self.client.verify(claim.receipt_id, keys).valid)
        bundle = json.dumps({"bundle": "claimcheck/1", "receipt": "", "tree_head": head})
        self.assertEqual(self.client.compare_bundle(bundle, keys), "continues")
        self.assertEqual(self.client.compare_bundle(bundle.replace("root_hash", "root")), "unknown")
        self.client.wait(self.client.submit(ACTION, "place", {"see": "present"}))
        self.assertEqual(self.client.compare_bundle(bundle), "continues")
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
        with self.assertRaisesRegex(WaitTimeout, "is checked until its deadline") as raised:
            self.client.wait(waiting, timeout=0.3)
        self.assertEqual((raised.exception.claim.claim_id, raised.exception.claim.state), (waiting.claim_id, "queued"))
        later = int(time.time() * 1000) + 700
        claim = self.client.submit(ACTION, "soon", {"see": "absent", "later": {"at": later, "see": "present"}})
        self.assertEqual(self.client.wait(claim, timeout=60).verdict, "verified")

    def test_watching(self):
        later = int(time.time() * 1000) + 700
        decided = self.client.submit(ACTION, "watched", {"see": "present"})
        waiting = self.client.submit(ACTION, "watched", {"see": "absent", "later": {"at": later, "see": "present"}})
        seen = list(self.client.watch(decided, waiting.claim_id))
        self.assertEqual([claim.claim_id for claim in seen].count(decided.claim_id), 1)
        changes = [claim for claim in seen if claim.claim_id == waiting.claim_id]
        self.assertEqual((changes[0].state, changes[-1].state, changes[-1].verdict), ("queued", "decided", "verified"))
        self.assertTrue(all(one != other for one, other in zip(changes, changes[1:])))
        self.assertEqual([claim.verdict for claim in collect(AsyncClient(agent_id="python").watch(waiting))], ["verified"])
        self.assertEqual(list(self.client.watch()), [])

    def test_lists(self):
        ids = {self.client.submit(ACTION, f"one of {n}", {"see": "present"}, agent_id="lister").claim_id for n in range(5)}
        self.assertEqual({claim.claim_id for claim in self.client.list(agent_id="lister", page_size=2)}, ids)
        asynchronous = collect(AsyncClient(agent_id="python").list(agent_id="lister", page_size=3))
        self.assertEqual({claim.claim_id for claim in asynchronous}, ids)
        self.assertEqual(list(self.client.list(agent_id="nobody")), [])

    def test_events(self):
        claim = self.client.submit(ACTION, "told", {"see": "present"}, agent_id="told")
        event = next(self.client.events(after="0", agent_id="told", type="claim.decided"))
        self.assertEqual((event.type, event.data["claim_id"], event.data["verdict"]), ("claim.decided", claim.claim_id, "verified"))
        later = self.client.submit(ACTION, "told", {"see": "present"}, agent_id="told")
        self.assertEqual(next(self.client.events(after=event.id, agent_id="told")).data["claim_id"], later.claim_id)
        with self.assertRaises(NotAuthorized):
            next(Client(key="svc_sk_wrong").events())

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
        self.assertEqual([profile["action"] for profile in self.client.profiles()["profiles"]], [ACTION])
        self.assertIsNone(self.client.evidence("rcpt_00000000000000000000000000"))

    def test_work_that_is_claimed(self):
        ended = []

        @claims(self.client, action=ACTION, target=lambda done: f"place of {done}", params={"see": "present"}, wait=True)
        def work(name):
            ended.append(datetime.now(timezone.utc))
            return name.upper()

        result, claim = work("it")
        self.assertEqual((result, claim.target, claim.verdict), ("IT", "place of IT", "verified"))
        self.assertGreaterEqual(claim.claimed_at, ended[0].strftime("%Y-%m-%dT%H:%M:%S"))

        @claims(self.client, action=ACTION, target="twice", params=lambda _: {"see": "present"}, client_claim_id=lambda sha: sha)
        def push():
            return "the same commit"

        self.assertEqual((push().claim.raw["created"], push().claim.raw["created"]), (True, False))

        with claims(self.client, action=ACTION, target="block", agent_id="blocks") as block:
            block.params = {"see": "present"}
        self.assertEqual((block.claim.agent_id, block.claim.verdict), ("blocks", "verified"))

    def test_work_is_claimed_when_it_is_done(self):
        done = []

        async def work():
            await asyncio.sleep(0.05)
            done.append(datetime.now(timezone.utc))
            return "done"

        def decorated(*args):
            return work(*args)

        # Nothing tells before it is called that it is awaited.
        later = claims(self.client, action=ACTION, target="later", params={"see": "present"})(decorated)
        result, claim = asyncio.run(later())
        self.assertEqual((result, claim.verdict), ("done", "verified"))
        self.assertGreaterEqual(claim.claimed_at, done[0].strftime("%Y-%m-%dT%H:%M:%S"))

        def yields():
            yield 1

        async def yields_later():
            yield 1

        for work in [yields, yields_later]:
            with self.assertRaisesRegex(TypeError, "a generator works after it was called"):
                claims(self.client, action=ACTION, target="never")(work)

    def test_work_that_raises_is_not_claimed(self):
        claimed = claims(self.client, action=ACTION, target="never", params={"see": "present"}, agent_id="breaker")

        @claimed
        def breaks():
            raise KeyError("broken")

        @claimed
        async def breaks_later():
            raise KeyError("broken")

        with self.assertRaises(KeyError):
            breaks()
        with self.assertRaises(KeyError):
            asyncio.run(breaks_later())
        with self.assertRaises(KeyError), claimed:
            raise KeyError("broken")
        self.assertEqual(list(self.client.list(agent_id="breaker")), [])

    def test_work_that_is_done_is_not_lost_when_it_cannot_be_claimed(self):
        away = Client("http://127.0.0.1:1", retry_for=0, agent_id="later")

        @claims(away, action=ACTION, target="kept", params={"see": "present"})
        def work():
            return "done"

        with self.assertRaises(NotClaimed) as raised:
            work()
        self.assertEqual(raised.exception.result, "done")
        claim = self.client.submit(**raised.exception.claim)
        self.assertEqual((claim.agent_id, claim.verdict, claim.raw["created"]), ("later", "verified", True))
        self.assertFalse(self.client.submit(**raised.exception.claim).raw["created"])

    def test_in_an_event_loop(self):
        client = AsyncClient(agent_id="python")

        @claims(client, action=ACTION, target="loop", params={"see": "present"}, wait=True)
        async def work():
            await asyncio.sleep(0)
            return 1

        @claims(self.client, action=ACTION, target="loop", params={"see": "present"})
        async def with_blocking_client():
            return 2

        @claims(client, action=ACTION, target="loop", params={"see": "present"})
        def plain():
            return 3

        async def story():
            (_, one), two = await asyncio.gather(work(), client.submit(ACTION, "two", {"see": "present"}))
            reports = await asyncio.gather(*[client.verify(claim.receipt_id) for claim in (one, await client.wait(two))])
            evidence = await client.evidence(one.receipt_id)
            others = [await with_blocking_client(), await plain()]
            async with claims(client, action=ACTION, target="block", params={"see": "present"}) as block:
                pass
            with self.assertRaisesRegex(TypeError, "async with"), claims(client, action=ACTION, target="block"):
                pass
            return reports, evidence, others, block.claim

        reports, evidence, others, claim = asyncio.run(story())
        self.assertTrue(all(report.valid and report.tree_head == "holds" for report in reports))
        self.assertEqual([report.evidence.evidence for report in reports], ["follows", "follows"])
        self.assertIn(reports[0].document["body"]["claim"]["claim_digest"], evidence)
        self.assertEqual([(result, one.verdict) for result, one in others], [(2, "verified"), (3, "verified")])
        self.assertEqual(claim.verdict, "verified")


#: As the service's OpenAPI describes it.
CLAIM = {
    "claim_id": "clm_1",
    "client_claim_id": "c",
    "agent_id": "a",
    "action": "a.b.c",
    "target": "t",
    "claim_digest": "sha256:" + 43 * "A",
    "claimed_at": "2026-01-01T00:00:00.000Z",
    "submitted_at": "2026-01-01T00:00:00.000Z",
    "deadline_at": "2100-01-01T00:00:00.000Z",
    "state": "queued",
    "attempts": 1,
    "next_check_at": None,
    "last_check": None,
    "receipt_id": None,
    "verdict": None,
    "reason_code": None,
}


class Answers(BaseHTTPRequestHandler):
    """Answers what it is told to, one after the other, and notes what it is asked."""

    script = []
    asked = []
    heads = []

    def do_POST(self):
        self.answer(self.rfile.read(int(self.headers.get("content-length", 0))).decode())

    def do_GET(self):
        self.answer("")

    def answer(self, body):
        self.asked.append((self.path, body, self.headers.get("authorization")))
        self.heads.append(self.headers.get("poaw-tree-head"))
        status, headers, text = self.script.pop(0)
        if status is None:
            self.close_connection = True
            return
        self.send_response_only(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if "content-length" not in headers:
            self.send_header("content-length", str(len(text if isinstance(text, bytes) else text.encode())))
        self.end_headers()
        self.wfile.write(text if isinstance(text, bytes) else text.encode())
        self.close_connection = True

    def log_message(self, *_args):
        pass


class Closing(unittest.TestCase):
    """An event loop's client, against a server that answers when it may."""

    def setUp(self):
        self.may_answer, self.asked = threading.Event(), threading.Event()
        closing = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                closing.asked.set()
                closing.may_answer.wait(10)
                self.send_response(200)
                self.send_header("content-length", "2")
                self.end_headers()
                self.wfile.write(b"{}")

            def log_message(self, *_args):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def threads(self):
        return [thread for thread in threading.enumerate() if thread.name.startswith("claimcheck")]

    def test_it_closes_what_it_opened_and_asks_no_more(self):
        async def work():
            async with AsyncClient(self.url, "k") as client:
                asking = asyncio.ensure_future(client.whoami())
                await asyncio.to_thread(self.asked.wait, 10)
                self.assertEqual(len(self.threads()), 1)
                asyncio.get_running_loop().call_later(0.2, self.may_answer.set)
            self.assertTrue(self.may_answer.is_set(), "it waits for the request that is open")
            self.assertEqual((await asking, self.threads()), ({}, []))
            with self.assertRaisesRegex(RuntimeError, "the client is closed"):
                await client.whoami()
            await client.aclose()

        asyncio.run(work())

    def test_what_the_block_raises_is_raised(self):
        async def work():
            async with AsyncClient(self.url, "k"):
                raise KeyError("work")

        with self.assertRaisesRegex(KeyError, "work"):
            asyncio.run(work())


class Streams(unittest.TestCase):
    """Streams that break off, end, and say what nobody expects."""

    def listen(self, *answers):
        asked = []

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                asked.append((self.path, self.headers.get("last-event-id"), self.headers.get("authorization")))
                status, kind, text = answers[min(len(asked), len(answers)) - 1]
                self.send_response(status)
                self.send_header("content-type", kind)
                self.end_headers()
                self.wfile.write(text.encode())

            def log_message(self, *_args):
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return Client(f"http://127.0.0.1:{server.server_port}", "k", retry_for=1), asked

    def test_it_goes_on_where_a_stream_ended(self):
        kind = "text/event-stream; charset=utf-8"
        one = 'id: 7\nevent: a\ndata: {"id":"7","type":"a","timestamp":"t","data":{"n":1}}\n\n'
        gap = 'id: 41\nevent: gap\ndata: {"from":"18",\ndata: "to":"41"}\n\n'
        half = 'id: 42\nevent: a\ndata: {"id":"42"'
        client, asked = self.listen(
            (200, kind, "retry: 10\nid: 5\n:\n\n" + one + "id: 9\n:\n\n" + half),
            (503, "text/plain", "away"),
            (200, kind, gap),
            (401, "application/json", "{}"),
        )
        events = client.events(after="3", agent_id="x y")
        first, second = next(events), next(events)
        self.assertEqual((first.id, first.type, first.timestamp, first.data), ("7", "a", "t", {"n": 1}))
        self.assertEqual((second.id, second.type, second.data), ("41", "gap", {"from": "18", "to": "41"}))
        with self.assertRaises(NotAuthorized):
            next(events)
        self.assertEqual([last for _, last, _ in asked], ["3", "9", "9", "41"])
        self.assertEqual(asked[0], ("/v1/events?agent_id=x+y", "3", "Bearer k"))

    def test_what_is_no_stream_is_refused(self):
        for kind, text in (("text/html", "<p>"), ("text/event-stream", "event: a\ndata: [1]\n\n"), ("text/event-stream", "data: {\n\n")):
            client, _ = self.listen((200, kind, text))
            with self.assertRaises(UnexpectedAnswer, msg=text):
                next(client.events())
        client, asked = self.listen((503, "text/plain", "away"))
        with self.assertRaises(Unavailable):
            next(client.events())
        self.assertGreater(len(asked), 1)


class Failures(unittest.TestCase):
    """What the network and the service do wrong, by a server that does so."""

    def setUp(self):
        Answers.script, Answers.asked, Answers.heads = [], [], []
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
        threading.Thread(target=self.server.serve_forever, args=[0.02], daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.client = Client(self.url, "svc_sk_x", agent_id="a", timeout=5)

    def tearDown(self):
        self.server.shutdown()
        self.server.server_close()

    def test_a_submission_is_tried_again_under_one_id(self):
        done = json.dumps({**CLAIM, "created": True})
        cut = (202, {"content-length": "500"}, done)
        # A proxy answers in an encoding of its own.
        proxy = (502, {}, b"\xe9\xff")
        Answers.script = [(503, {}, "away"), (None, {}, ""), cut, (429, {"retry-after": "0"}, "{}"), proxy, (202, {}, done)]
        self.assertEqual(self.client.submit("a.b.c", "t").claim_id, "clm_1")
        bodies = [json.loads(body) for _, body, _ in Answers.asked]
        # Each try says anew how long ago it was done.
        ago = [body.pop("claimed_ago_ms") for body in bodies]
        self.assertEqual((len(bodies), [body for body in bodies if body != bodies[0]]), (6, []))
        self.assertTrue(ago[0] >= 0 and ago == sorted(ago) and ago[-1] > ago[0])

    def test_the_newest_head_goes_along(self):
        def head(size, log="L", at="2026-09-25T12:00:00.000Z"):
            return (
                f'log_id="{log * 43}", tree_size={size}, root_hash="{"R" * 43}", issued_at="{at}",'
                f' key_id="ed25519:{"K" * 43}", signature="{"S" * 86}"'
            )

        next_log = head(0, "N", "2026-09-25T13:00:00.000Z")
        answered = [head(3), head(2), "nonsense", None, head(4), next_log, head(9)]
        Answers.script = [(200, {} if given is None else {"poaw-tree-head": given}, "{}") for given in answered]
        Answers.script[3] = (401, {}, "{}")
        for given in answered:
            try:
                self.client.whoami()
            except NotAuthorized:
                self.assertIsNone(given)
        sent = [None, head(3), head(3), head(3), head(3), head(4), next_log]
        self.assertEqual(Answers.heads, sent)
        Answers.script = [(200, {}, "{}")]
        self.client.keys()
        self.assertIsNone(Answers.heads[-1], "nobody without a key is a witness")

    def test_what_was_not_measured_is_not_said(self):
        done = (202, {}, json.dumps({**CLAIM, "created": True}))
        Answers.script = [done]
        self.client.submit("a.b.c", "t", claimed_at=datetime.now(timezone.utc))
        self.assertNotIn("claimed_ago_ms", json.loads(Answers.asked[-1][1]))

    def test_what_was_done_before_a_sleep_is_so_long_ago(self):
        Answers.script = [(202, {}, json.dumps({**CLAIM, "created": True}))]
        hour_ago = datetime.now(timezone.utc) - timedelta(hours=1)
        body = operations.prepare("a.b.c", "t", None, "a", hour_ago, None, None)
        self.client._run(operations.submit(1.0, body, time.monotonic()))
        self.assertGreaterEqual(json.loads(Answers.asked[-1][1])["claimed_ago_ms"], 3_600_000)

    def test_it_waits_as_long_as_the_service_asks(self):
        until = {"date": "Tue, 01 Jan 2030 00:00:00 GMT", "retry-after": "Tue, 01 Jan 2030 00:00:01 GMT"}
        Answers.script = [(429, {"retry-after": "1"}, ""), (503, until, ""), (200, {}, "{}")]
        started = time.monotonic()
        self.client.whoami()
        self.assertTrue(2 <= time.monotonic() - started < 5)

    def test_the_key_goes_where_it_is_needed(self):
        Answers.script = [(200, {}, "{}")] * 4
        self.client.receipt("rcpt_/..")
        self.client.whoami()
        tokens = iter(["one", "two"])
        renewed = Client(self.url, lambda: next(tokens))
        renewed.whoami()
        renewed.whoami()
        self.assertEqual(
            [(path, key) for path, _, key in Answers.asked],
            [("/v1/receipts/rcpt_%2F..", None), ("/v1/whoami", "Bearer svc_sk_x")]
            + [("/v1/whoami", "Bearer one"), ("/v1/whoami", "Bearer two")],
        )
        for wrong in ["svc_sk_x\n", "svc_sk_x y", "svc_sk_é", ""]:
            with self.assertRaisesRegex(ValueError, "^(?!.*svc_sk)"):
                Client(self.url, wrong)

    def test_each_status_has_its_error(self):
        erased = json.dumps({"detail": "erased", "erased": {"rule": "court_order"}})
        rows = [(400, InvalidRequest), (401, NotAuthorized), (403, Forbidden), (404, NotFound), (410, Gone)]
        rows += [(413, InvalidRequest), (415, InvalidRequest), (422, InvalidRequest), (429, RateLimited), (500, Unavailable)]
        Answers.script = [(status, {}, erased) for status, _ in rows]
        client = Client(self.url, "k", retry_for=0)
        for status, kind in rows:
            with self.subTest(status), self.assertRaises(kind) as raised:
                client.whoami()
            self.assertEqual((raised.exception.status, raised.exception.message), (status, "erased"))
            self.assertEqual(raised.exception.erased, {"rule": "court_order"})
        bodies = ["", "null", "[]", '{"detail": null}', '{"detail": [null, {}, {"loc": 7, "msg": {}}]}', "[" * 5000]
        Answers.script = [(422, {}, body) for body in bodies]
        for body in bodies:
            with self.subTest(body[:20]), self.assertRaises(InvalidRequest):
                client.whoami()

    def test_what_does_not_pass_is_told_at_once(self):
        Answers.script = [(422, {}, '{"detail": [{"loc": ["body", "target"], "msg": "too long", "type": "x"}]}')]
        with self.assertRaisesRegex(InvalidRequest, "target: too long"):
            self.client.submit("a.b.c", "t")
        self.assertEqual(len(Answers.asked), 1)

    def test_retries_end(self):
        Answers.script = [(503, {}, '{"detail": "away"}')] * 9
        with self.assertRaisesRegex(Unavailable, "503: away"):
            Client(self.url, "k", retry_for=0.7).whoami()
        self.assertTrue(2 <= len(Answers.asked) <= 4)
        Answers.script = [(429, {"retry-after": "3600"}, '{"detail": "slow down"}')]
        with self.assertRaises(RateLimited) as raised:
            self.client.whoami()
        self.assertEqual(raised.exception.retry_after, 3600)

    def test_redirects_are_not_followed(self):
        Answers.script = [(302, {"location": f"{self.url}/elsewhere"}, "")]
        with self.assertRaisesRegex(UnexpectedAnswer, "leads to another address"):
            self.client.whoami()
        self.assertEqual([path for path, _, _ in Answers.asked], ["/v1/whoami"])

    def test_answers_that_are_no_answers(self):
        for script in [[(200, {}, "<html>")], [(200, {"content-encoding": "x"}, "not json")]]:
            Answers.script = script
            with self.assertRaisesRegex(UnexpectedAnswer, "is not JSON"):
                self.client.whoami()
        Answers.script = [(200, {}, b'"\xff"')]
        with self.assertRaisesRegex(UnexpectedAnswer, "is not text"):
            self.client.whoami()
        self.server.shutdown()
        self.server.server_close()
        with self.assertRaises(ConnectionFailed):
            Client(self.url, "k", retry_for=0).whoami()
        with self.assertRaises(ConnectionFailed):
            asyncio.run(AsyncClient(self.url, "k", retry_for=0).whoami())

    def test_answers_that_are_no_claims(self):
        wrong = [{}, [], None, "queued", [CLAIM], {**CLAIM, "state": "soon"}, {**CLAIM, "claim_id": "clm_2"}]
        wrong += [{**CLAIM, "state": "decided"}, {**CLAIM, "verdict": "verified"}, {**CLAIM, "attempts": "1"}]
        wrong += [{**CLAIM, "deadline_at": "soon"}, {name: CLAIM[name] for name in CLAIM if name != "target"}]
        for answer in wrong:
            Answers.script = [(200, {}, json.dumps(answer))] * 3
            with self.subTest(answer), self.assertRaisesRegex(UnexpectedAnswer, "is this the address of the service"):
                list(self.client.watch("clm_1"))
            with self.subTest(answer), self.assertRaises(UnexpectedAnswer):
                self.client.wait("clm_1", timeout=5)
            with self.subTest(answer), self.assertRaises(UnexpectedAnswer):
                collect(AsyncClient(self.url, "k").watch("clm_1"))
        Answers.script = [(200, {}, "{}")]
        with self.assertRaises(UnexpectedAnswer):
            self.client.submit("a.b.c", "t")
        on = json.dumps({"claims": [CLAIM], "next_cursor": "a"})
        empty = [json.dumps({"claims": [], "next_cursor": str(n)}) for n in range(1010)]
        for pages in [["{}"], ["[]"], empty[:1] * 3, empty, ['{"claims": [{}], "next_cursor": null}'], [on] * 3]:
            Answers.script = [(200, {}, page) for page in pages]
            with self.subTest(pages), self.assertRaises(UnexpectedAnswer):
                list(self.client.list())
        last = json.dumps({"claims": [CLAIM], "next_cursor": None})
        Answers.script = [(200, {}, page) for page in [*empty[:3], last]]
        self.assertEqual([claim.claim_id for claim in self.client.list()], [CLAIM["claim_id"]])

    def test_waiting_ends_long_after_the_deadline(self):
        overdue = {**CLAIM, "deadline_at": "2026-01-01T00:00:00.000Z"}
        other = {**CLAIM, "claim_id": "clm_2"}
        decided = {**other, "state": "decided", "verdict": "verified", "receipt_id": "rcpt_1"}
        Answers.script = [(200, {}, json.dumps(answer)) for answer in [overdue, other, decided, overdue]]
        seen = []
        with self.assertRaisesRegex(WaitTimeout, "clm_1 is still queued, and its deadline was 2026-01-01") as raised:
            for claim in self.client.watch("clm_1", "clm_2"):
                seen.append(claim.state)
        self.assertEqual((seen, raised.exception.claim.claim_id), (["queued", "queued", "decided"], "clm_1"))
        with self.assertRaisesRegex(WaitTimeout, "still queued"):
            self.client.wait("clm_1")

    def test_no_proxy_is_asked_for_this_machine(self):
        Answers.script = [(200, {}, "{}")]
        # The opener reads the environment when it is made.
        code = "import sys; from claimcheck import Client; Client(sys.argv[1], 'svc_sk_x', retry_for=0).whoami()"
        proxied = {**os.environ, "http_proxy": "http://127.0.0.1:1", "no_proxy": "", "NO_PROXY": ""}
        subprocess.run([sys.executable, "-c", code, self.url], env=proxied, check=True)
        self.assertEqual([path for path, _, _ in Answers.asked], ["/v1/whoami"])

    def test_settings(self):
        for wrong in ["ftp://a", "localhost:8080", "http://u:p@a", "http://a/?q=1", "http://"]:
            with self.subTest(wrong), self.assertRaises(ValueError):
                Client(wrong, allow_http=True)
        for listened in ["http://a.example", "http://10.0.0.1", "http://localhost.example"]:
            with self.subTest(listened), self.assertRaisesRegex(ValueError, "could read the key"):
                Client(listened)
            Client(listened, allow_http=True)
        for local in ["https://a.example/", "http://localhost:1", "http://a.localhost", "http://127.0.0.2", "http://[::1]:1"]:
            Client(local)
        with self.assertRaisesRegex(ValueError, "agent_id is missing"):
            Client(self.url, "k").submit("a.b.c", "t")
        with self.assertRaisesRegex(ValueError, "needs its zone"):
            self.client.submit("a.b.c", "t", claimed_at=datetime(2026, 1, 1))
        self.assertEqual(Answers.asked, [])


if __name__ == "__main__":
    unittest.main()
