// Test run: end-to-end, slow, alone
/** The Python package, by its own tests: its checker over the vectors and what random changes of receipts do, its clients against a service. */
import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isDeepStrictEqual, promisify } from 'node:util'
import { compareHeads } from '@claimcheck/core/checker'
import { checkContradiction, signTreeHead } from '@claimcheck/core/log'
import {
  checkEvidence,
  checkReceipt,
  createNobleSigner,
  fromBase64url,
  parseKeySet,
  publishedRules,
  toBase64url,
} from '@claimcheck/core/receipts'
import { type JsonObject, VERDICTS } from '@claimcheck/core/rules'
import { bundleText, readBundle } from '@claimcheck/core/words/document'
import t, { type Test } from 'tap'
import { commitSeed } from '../scripts/commit-seed.ts'
import { seededRandom } from './crash/random.ts'
import { changedEvidence } from './support/changed-evidence.ts'
import { changedReceipts } from './support/changed-receipts.ts'
import { tries } from './support/extent.ts'
import { forgedBundle } from './support/forged-bundle.ts'
import { Installation } from './support/installation.ts'

const execute = promisify(execFile)
const FOLDER = 'core/python'
const MUTATIONS = 150

async function python(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<string> {
  const options = {
    cwd: FOLDER,
    env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1', PYTHONPATH: '.', ...env },
    maxBuffer: 1 << 24,
  }
  const { stdout, stderr } = await execute('python3', [...args], options).catch((error) => {
    throw new Error(`${error.stdout}${error.stderr}`)
  })
  return stdout + stderr
}

t.test('its tests pass, also against a running service', async (t) => {
  const installation = await Installation.during(t)
  const { key } = await installation.client('python')
  const env = { CLAIMCHECK_URL: installation.url, CLAIMCHECK_KEY: key, CLAIMCHECK_TEST_ACTION: 'test.outcome.reach' }
  const said = await python(['-m', 'unittest', 'discover', '-s', 'tests'], env)
  t.match(said, /^Ran [2-9]\d tests in .*^OK( \(skipped=\d+\))?$/ms)
  const skipped = /skipped=(\d+)/.exec(said)
  if (skipped) t.comment(`${skipped[1]} tests of it were skipped: the published test data is not there`)

  const client = await installation.client('mutations')
  const { claim_id } = (await client.submit()).body
  const { receipt_id } = await client.decided(claim_id)
  const texts = await Promise.all(
    [`/v1/receipts/${receipt_id}`, '/.well-known/poaw-keys.json'].map(async (path) =>
      (await fetch(installation.url + path)).text(),
    ),
  )
  const [receipt, keys] = texts as [string, string]
  const changed = [receipt, ...Array.from({ length: MUTATIONS }, (_, number) => changedAt(receipt, number))]
  const expected = await agreedReports(t, keys, changed, 'both checkers say the same of each change')
  t.equal(expected.filter(({ valid }) => valid).length, 1)
})

t.test('both checkers say the same of receipts that are changed and signed again', async (t) => {
  const seed = commitSeed()
  const keys = await readFile('test/vectors/keys.json', 'utf8')
  const reports = await agreedReports(t, keys, await changedReceipts(seed, tries(2000)), `seed ${seed}`)
  t.ok(
    reports.filter(({ valid }) => valid).length > reports.length / 20,
    "changes that are none of a checker's business",
  )
  t.ok(
    reports.filter(({ valid, checks }) => !valid && checks.signature).length > reports.length / 20,
    'and that a signature hides',
  )
})

t.test('both checkers find the same in evidence of random lives, honest and changed', async (t) => {
  const seed = commitSeed()
  const profiles = await readFile('test/vectors/profiles.json', 'utf8')
  const given = changedEvidence(seededRandom(seed), tries(12_000))
  const file = join(t.testdir(), 'evidence.json')
  await writeFile(file, JSON.stringify({ profiles, given }))
  const others = JSON.parse(await python(['-c', FINDINGS, file]))
  const findings = given.map(({ body, evidence }) => checkEvidence(body, evidence, publishedRules(profiles)))
  const differing = findings.findIndex((finding, index) => !isDeepStrictEqual(others[index], finding))
  t.strictSame(others[differing], findings[differing], `seed ${seed}: ${JSON.stringify(given[differing])}`)
  t.equal(others.length, given.length)
  const verdictOf = ({ verdict }: JsonObject) => (verdict as JsonObject).value
  const followed = given.filter((_, index) => findings[index]!.evidence === 'follows')
  t.strictSame([...new Set(followed.map(({ body }) => verdictOf(body)))].sort(), [...VERDICTS].sort())
  t.strictSame(
    new Set(findings.map(({ evidence }) => evidence)),
    new Set(['follows', 'does_not_follow', 'not_checked']),
  )
})

const FINDINGS = `
import json, sys
from claimcheck import check_evidence
file = json.load(open(sys.argv[1]))
def finding(one):
    found = check_evidence(one["body"], one["evidence"], file["profiles"])
    differs = {"differs": list(found.differs)} if found.evidence == "does_not_follow" else {}
    return {"evidence": found.evidence, **differs, **({"rules": found.rules} if found.rules else {})}
print(json.dumps([finding(one) for one in file["given"]]))
`

t.test('both checkers find the same in the heads of a log that may contradict itself', async (t) => {
  const signer = createNobleSigner(new Uint8Array(32).fill(5))
  const [key, root] = [toBase64url(signer.publicKey), (fill: number) => new Uint8Array(32).fill(fill)]
  const published = { key_id: signer.keyId, public_key: key, valid_from: '2026-01-01T00:00:00.000Z', revoked_at: null }
  const others = { issuer: 'Example', log_id: 'A'.repeat(43), anchor_addresses: [], anchor_schemas: [] }
  const keys = JSON.stringify({ ...others, keys: [published] })
  const proof = JSON.parse(await readFile('test/vectors/consistency-valid-3-7.json', 'utf8'))
  const head = (treeSize: number, rootHash: Uint8Array, at: number, logId = 'A'.repeat(43)) =>
    signTreeHead(signer, { logId, treeSize, rootHash, issuedAt: Date.UTC(2026, 1, at) })
  const [first, second] = [proof.first_root, proof.second_root].map((hash) => fromBase64url(hash)!)
  const log = await head(7, second!, 2)
  const cases: [what: string, client: object, log: object, consistency: object | undefined][] = [
    ['in the log', await head(3, first!, 1), log, proof],
    ['another root', await head(3, root(1), 1), log, proof],
    ['no proof', await head(3, root(1), 1), log, undefined],
    ['a proof of other sizes', await head(4, root(1), 1), log, proof],
    ['a proof that fails', await head(3, root(1), 1), log, { ...proof, proof: [] }],
    ['of that size', await head(7, root(1), 3), log, undefined],
    ['twice', log, log, undefined],
    ['shrank', await head(9, root(1), 1), log, undefined],
    ['open', await head(9, root(1), 3), log, undefined],
    ['another log', await head(7, root(1), 1, `B${'A'.repeat(42)}`), log, undefined],
    ['unsigned', { ...(await head(7, root(1), 1)), body: log.body, signature: {} }, log, undefined],
  ]
  const now = Date.UTC(2026, 1, 3) + 1000
  const given = cases.map(([, tree_head_of_client, tree_head_of_log, consistency]) => {
    const document = { tree_head_of_client, tree_head_of_log, consistency }
    return [JSON.stringify(document), JSON.stringify(tree_head_of_client), JSON.stringify(consistency)]
  })
  const file = join(t.testdir(), 'heads.json')
  await writeFile(file, JSON.stringify({ keys, given, newest: JSON.stringify(log), now }))
  const set = parseKeySet(keys)
  const expected = given.map(([document, client, consistency]) => [
    checkContradiction(document!, set),
    compareHeads(client!, JSON.stringify(log), set, consistency, now),
  ])
  t.strictSame(JSON.parse(await python(['-c', HEADS, file])), expected)
  const found = expected.map(([contradiction], index) => `${cases[index]![0]}: ${contradiction}`)
  t.strictSame(found, [
    'in the log: none',
    'another root: other_root',
    'no proof: none',
    'a proof of other sizes: none',
    'a proof that fails: none',
    'of that size: other_root',
    'twice: none',
    'shrank: shrank',
    'open: open',
    'another log: none',
    'unsigned: none',
  ])
})

const HEADS = `
import json, sys
from claimcheck import check_contradiction, compare_heads, parse_keys
file = json.load(open(sys.argv[1]))
keys = parse_keys(file["keys"])
print(json.dumps([
    [check_contradiction(document, keys), compare_heads(client, file["newest"], keys, consistency, file["now"])]
    for document, client, consistency in file["given"]
]))
`

t.test('a bundle that a stranger signed in the name of the issuer is not valid', async (t) => {
  const installation = await Installation.during(t)
  const client = await installation.client('forged')
  const { receipt_id: id } = await client.decided((await client.submit()).body.claim_id)
  const real = await (await fetch(`${installation.url}/r/${id}.json`)).text()
  const bundle = readBundle(real)!
  const pin = JSON.parse(bundle.receipt).signature.key_id
  const forged = bundleText(await forgedBundle(bundle))
  const broken = bundleText({ ...bundle, receipt: bundle.receipt.replace('"attempts":1', '"attempts":2') })
  const file = join(t.testdir(), 'given.json')
  await writeFile(file, JSON.stringify({ real, forged, broken, keys: bundle.keys, pin }))
  const unvouched = [false, 'nothing', null, []]
  t.strictSame(JSON.parse(await python(['-c', BUNDLES, file])), {
    'real alone': unvouched,
    'real keys': [true, 'keys', 'verified', []],
    'real pin': [true, 'pin', 'verified', []],
    'forged alone': unvouched,
    'forged keys': [false, 'keys', null, ['key', 'signature']],
    'forged pin': unvouched,
    'broken alone': [false, 'nothing', null, ['signature', 'inclusion']],
    'broken keys': [false, 'keys', null, ['signature', 'inclusion']],
    'broken pin': [false, 'nothing', null, ['signature', 'inclusion']],
    further: ['holds', 'follows', 'published', false],
    refused: 5,
  })
})

const BUNDLES = `
import json, sys
from claimcheck import check_bundle
given = json.load(open(sys.argv[1]))
vouchers = {"alone": {}, "keys": {"keys": given["keys"]}, "pin": {"pin": given["pin"]}}
found = {}
for name in ("real", "forged", "broken"):
    for how, more in vouchers.items():
        report = check_bundle(given[name], **more)
        found[name + " " + how] = [report.valid, report.vouched_by, report.verdict, report.problems]
report = check_bundle(given["real"], pin=given["pin"])
found["further"] = [report.tree_head, report.evidence.evidence, report.evidence.rules, report.issuer_anchors]
refused = 0
for text in ("", "[]", "{}", '{"bundle": "claimcheck/1"}', '{"bundle": "claimcheck/1", "receipt": "{}"}'):
    try:
        check_bundle(text)
    except ValueError:
        refused += 1
found["refused"] = refused
print(json.dumps(found))
`

/** What this checker says of each text, which is what the Python package says, too. */
async function agreedReports(t: Test, keys: string, texts: readonly string[], what: string) {
  const published = parseKeySet(keys)
  const reports = await Promise.all(
    texts.map(async (text) => {
      const { valid, checks, achieved_trust_level: level, verdict } = await checkReceipt(text, { keys: published })
      return { valid, checks: { ...checks }, level, verdict }
    }),
  )
  const file = join(t.testdir(), 'receipts.json')
  await writeFile(file, JSON.stringify({ keys, receipts: texts }))
  const others = JSON.parse(await python(['-c', REPORTS, file]))
  const differing = texts.find((_, index) => !isDeepStrictEqual(others[index], reports[index]))
  t.equal(differing, undefined, what)
  t.equal(others.length, texts.length)
  return reports
}

const REPORTS = `
import json, sys
from claimcheck import check_receipt, parse_keys
given = json.load(open(sys.argv[1]))
keys = parse_keys(given["keys"])
reports = [check_receipt(text, keys) for text in given["receipts"]]
print(json.dumps([{"valid": r.valid, "checks": dict(r.checks), "level": r.achieved_trust_level, "verdict": r.verdict} for r in reports]))
`

/** One character within body or signature is another: each time another place, and another character. */
function changedAt(text: string, number: number): string {
  const end = text.indexOf('"proof"')
  const at = 1 + ((number * 7919) % ((end < 0 ? text.length : end) - 3))
  const others = '"{}[]:,0919aZ-.\\_eé'.split('').filter((other) => other !== text[at])
  return text.slice(0, at) + others[number % others.length] + text.slice(at + 1)
}
