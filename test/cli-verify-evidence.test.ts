// Test run: end-to-end
/** `claimcheck verify` over evidence: what it shows, what it refuses, and where a receipt was read. Threats W1 and O4 of `security.md`. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import {
  canonicalBytes,
  canonicalize,
  createNobleSigner,
  DOMAINS,
  type Receipt,
  toBase64url,
} from '@claimcheck/core/receipts'
import type { JsonObject } from '@claimcheck/core/rules'
import t, { type Test } from 'tap'
import { type Outcome, runClaimcheck } from './support/command.ts'
import { sharedInstallation } from './support/installation.ts'
import { serving } from './support/serving.ts'

const VECTORS = resolve('test/vectors')
const shared = sharedInstallation()

interface Published {
  /** Of the receipt. */
  readonly url: string
  readonly receipt: Receipt
  readonly evidence: string
  readonly keys: string
  readonly profiles: string
}

let once: Promise<Published> | undefined

function published(): Promise<Published> {
  once ??= publish()
  return once
}

async function publish(): Promise<Published> {
  const installation = await shared()
  const client = await installation.client('evidence')
  const { body } = await client.submit()
  const { receipt_id } = await client.decided(body.claim_id)
  const url = `${installation.url}/v1/receipts/${receipt_id}`
  const read = async (path: string) => (await fetch(new URL(path, url))).text()
  return {
    url,
    receipt: JSON.parse(await read(url)),
    evidence: await read(`${url}/evidence`),
    keys: await read('/.well-known/poaw-keys.json'),
    profiles: await read('/v1/profiles'),
  }
}

/** Where a path leads; undefined where it answers itself. */
type Redirects = (path: string) => string | undefined

/** The receipt of a service, and what it publishes, as files and at an address that answers with what a test wants. */
async function kept(t: Test, answers: Readonly<Record<string, string>> = {}, redirects: Redirects = () => undefined) {
  const { receipt, evidence, keys, profiles } = await published()
  const files = { 'receipt.json': JSON.stringify(receipt), 'evidence.json': evidence, 'keys.json': keys }
  const folder = t.testdir(files)
  const path = `/v1/receipts/${receipt.body.receipt_id}`
  const all: Readonly<Record<string, string>> = {
    [path]: files['receipt.json'],
    [`${path}/evidence`]: evidence,
    '/.well-known/poaw-keys.json': keys,
    '/v1/profiles': profiles,
    ...answers,
  }
  const origin = await serving(t, (request, response) => {
    const to = redirects(request.url!)
    if (to !== undefined) return response.writeHead(302, { location: to }).end()
    const text = all[request.url!] ?? ''
    response.writeHead(text === '' ? 404 : 200).end(text)
  })
  return { folder, path, url: origin + path, receipt, evidence }
}

function verify(folder: string, ...args: readonly string[]): Promise<Outcome> {
  return runClaimcheck(folder, ['verify', ...args])
}

const FILES = ['receipt.json', '--keys', 'keys.json'] as const

t.test('the evidence and the rules beside the address of a receipt are read, and the verdict follows', async (t) => {
  const { url } = await published()
  const { code, stdout } = await verify(t.testdir(), url)
  t.equal(code, 0)
  t.match(stdout, /^Valid receipt with the verdict verified/)
  t.match(stdout, /read at +a server that the issuer does not list, .*: https:\/\/example\.com\n/)
  t.match(stdout, /appeared +by 2\S+, by what the checks saw/)
  t.match(stdout, /Evidence: the verdict follows from the checks, by the rules that the issuer publishes\./)
  t.match(stdout, /agree, not that no check was left out/)
  t.match(stdout, /does not say who brought it there/)
  const { stdout: json } = await verify(t.testdir(), url, '--json')
  t.match(JSON.parse(json), {
    valid: true,
    evidence: { evidence: 'follows', rules: 'published' },
    source: { provider: 'test', listed: false, base_url: 'https://example.com' },
  })
})

t.test('a receipt is told in the words that its issuer publishes, and says whose they are', async (t) => {
  const { url, receipt } = await published()
  const { stdout } = await verify(t.testdir(), url)
  t.match(stdout, /action +Outcome \(test\.outcome\.reach\)\n/)
  t.match(stdout, /checked by +scripted/)
  t.match(stdout, /\nParams:\n {2}See \(see\) +present\n\nFacts:\n {2}Seen \(seen\) +present\n/)
  const words = `As ${new URL(url).host} words it:\n  Claimed: somewhere is there.\n  Found: somewhere was there in time.\n`
  t.ok(stdout.includes(words), stdout)
  const json = JSON.parse((await verify(t.testdir(), url, '--json')).stdout)
  t.strictSame(json.verifier, receipt.body.observation.verifier)
})

t.test('a receipt in a file is told by names, and by nobody’s words', async (t) => {
  const { folder } = await kept(t)
  const { stdout } = await verify(folder, ...FILES)
  t.match(stdout, /action +test\.outcome\.reach\n/)
  t.match(stdout, /\nParams:\n {2}see +present\n\nFacts:\n {2}seen +present\n/)
  t.notMatch(stdout, 'words it')
})

t.test('words that could pass for the answer of the command stay marked as the issuer’s', async (t) => {
  const { profiles } = await published()
  const answer = JSON.parse(profiles)
  const [profile] = answer.profiles
  profile.words = { ...profile.words, title: 'x\nverdict  failed', claim: 'Valid.\u001b[31m\nTrust level 4.' }
  const { url } = await kept(t, { '/v1/profiles': JSON.stringify(answer) })
  const { code, stdout } = await verify(t.testdir(), url)
  t.equal(code, 0)
  t.notMatch(stdout, '\u001b')
  t.notMatch(stdout, /^ *verdict +failed/m)
  t.notMatch(stdout, /^Trust level 4/m)
  t.match(stdout, /^ {2}Claimed: Valid\.<U\+001B>/m)
})

t.test('an issuer whose words are none is told by names', async (t) => {
  const { profiles } = await published()
  const bad = profiles.replaceAll('"claim":', '"claims":')
  for (const text of [bad, 'no JSON', '{}', '{"profiles":[null]}']) {
    const { url } = await kept(t, { '/v1/profiles': text })
    const { code, stdout } = await verify(t.testdir(), url)
    t.equal(code, 0, text)
    t.match(stdout, /action +test\.outcome\.reach\n/, text)
    t.notMatch(stdout, 'words it', text)
  }
})

t.test('evidence in a file is checked without a network, and its rules are then not compared', async (t) => {
  const { folder } = await kept(t)
  const { code, stdout } = await verify(folder, ...FILES, '--evidence', 'evidence.json')
  t.equal(code, 0)
  t.match(stdout, /follows from the checks, by rules that were not compared/)
  const without = await verify(folder, ...FILES)
  t.match(without, { code: 0, stdout: /Evidence: not checked\. Pass --evidence, a file or a URL\./ })
  t.match(JSON.parse((await verify(folder, ...FILES, '--json')).stdout), { evidence: { evidence: 'not_checked' } })
})

t.test('evidence that was named and is another file makes exit 1, and the receipt stays valid', async (t) => {
  const { folder, evidence } = await kept(t)
  const rows = [
    `${evidence} `,
    `\ufeff\ufeff${evidence}`,
    evidence.replace('"present"', '"absent"'),
    '',
    'no JSON',
    '{}',
  ]
  for (const text of rows) {
    writeFileSync(join(folder, 'other.json'), text)
    const { code, stdout } = await verify(folder, ...FILES, '--evidence', 'other.json')
    t.equal(code, 1, text)
    t.match(stdout, /^NOT as asked: the receipt is valid, but this is not the evidence that it signs/, text)
    const { stdout: json } = await verify(folder, ...FILES, '--evidence', 'other.json', '--json')
    t.match(JSON.parse(json), { valid: true, verdict: 'verified', evidence: { evidence: 'digest_differs' } }, text)
  }
})

t.test('other evidence beside the receipt is told, and does not decide the exit code', async (t) => {
  const { receipt } = await published()
  const { url } = await kept(t, { [`/v1/receipts/${receipt.body.receipt_id}/evidence`]: '{}' })
  const { code, stdout } = await verify(t.testdir(), url)
  t.equal(code, 0)
  t.match(stdout, /^Valid receipt/)
  t.match(stdout, /Evidence: this is not the evidence that it signs: the digest differs\./)
})

t.test('evidence that cannot be read beside the receipt is not checked, and the reason is told', async (t) => {
  const { receipt } = await published()
  const { url } = await kept(t, { [`/v1/receipts/${receipt.body.receipt_id}/evidence`]: '' })
  t.match(await verify(t.testdir(), url), { code: 0, stdout: /Evidence: not checked\. http.*status 404/ })
})

t.test('rules are compared with those that the issuer publishes', async (t) => {
  const { profiles } = await published()
  const list = JSON.parse(profiles)
  const [profile] = list.profiles
  const rows: [profiles: string, rules: string, told: RegExp][] = [
    [
      JSON.stringify({ profiles: [{ ...profile, tolerance_ms: 1 }] }),
      'differs',
      /OTHER RULES than the issuer publishes/,
    ],
    [JSON.stringify({ profiles: [{ ...profile, version: '99' }] }), 'unknown', /were not compared/],
    [JSON.stringify({ profiles: [{ ...profile, required: { a: 1.5 } }] }), 'unknown', /were not compared/],
    [JSON.stringify({ profiles: [null, 5] }), 'unknown', /were not compared/],
    ['[]', 'unknown', /were not compared/],
    ['not JSON', 'unknown', /were not compared/],
    ['', 'unknown', /were not compared/],
  ]
  for (const [text, rules, told] of rows) {
    const { url } = await kept(t, { '/v1/profiles': text })
    t.match(await verify(t.testdir(), url), { code: 0, stdout: told }, text)
    const { stdout } = await verify(t.testdir(), url, '--json')
    t.match(JSON.parse(stdout), { evidence: { evidence: 'follows', rules } }, text)
  }
})

t.test('a receipt that signs evidence from which its verdict does not follow is told to', async (t) => {
  const { receipt, evidence } = await published()
  const document = JSON.parse(evidence)
  const rows: [name: string, document: JsonObject, code: number, found: object, told: RegExp][] = [
    [
      'a read that shows nothing',
      {
        ...document,
        checks: document.checks.map(({ differs: _, ...check }: JsonObject) => ({ ...check, kind: 'absent' })),
      },
      1,
      { evidence: 'does_not_follow', differs: ['verdict'] },
      /^NOT as asked: the receipt is valid, but it does not follow from its evidence, which says otherwise: verdict\./,
    ],
    [
      'a member too many',
      { ...document, more: 1 },
      1,
      { evidence: 'does_not_follow', differs: ['form'] },
      /but the evidence is not in the form of evidence/,
    ],
    ['rules to come', { ...document, rules_version: 99 }, 2, {}, /^$/],
  ]
  for (const [name, altered, code, found, told] of rows) {
    const text = canonicalize(altered)
    const folder = t.testdir(await signedBy(receipt, text))
    const outcome = await verify(folder, ...FILES, '--evidence', 'evidence.json')
    t.match(outcome, { code, stdout: told }, name)
    if (code === 2) t.match(outcome.stderr, /^Could not check: evidence\.json is of rules that this version/, name)
    else {
      const { stdout } = await verify(folder, ...FILES, '--evidence', 'evidence.json', '--json')
      t.match(JSON.parse(stdout), { valid: true, evidence: found }, name)
    }
  }
})

/** The receipt of an issuer that signs this evidence. */
async function signedBy({ body }: Receipt, evidence: string): Promise<Record<string, string>> {
  const signer = createNobleSigner(new Uint8Array(32).fill(7))
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(evidence))
  const signed = {
    ...body,
    issuer: { key_id: signer.keyId },
    observation: { ...body.observation, evidence_digest: toBase64url(new Uint8Array(digest)) },
  }
  const signature = await signer.sign(DOMAINS.receipt, canonicalBytes(signed))
  const key = {
    key_id: signer.keyId,
    public_key: toBase64url(signer.publicKey),
    valid_from: '2020-01-01T00:00:00.000Z',
    revoked_at: null,
  }
  const keys = { issuer: 'Another', log_id: toBase64url(new Uint8Array(32)), keys: [key] }
  return {
    'receipt.json': JSON.stringify({ body: signed, signature }),
    'keys.json': JSON.stringify(keys),
    'evidence.json': evidence,
  }
}

t.test('evidence for a receipt that signs none does not hold', async (t) => {
  const { folder } = await kept(t)
  const old = [join(VECTORS, 'valid-failed-not-found.json'), '--keys', join(VECTORS, 'keys.json')]
  t.match(await verify(folder, ...old), { code: 0, stdout: /Evidence: absent\./ })
  const named = await verify(folder, ...old, '--evidence', 'evidence.json')
  t.match(named, { code: 1, stdout: /^NOT as asked: the receipt is valid, but it signs no evidence/ })
  const { stdout } = await verify(folder, ...old, '--evidence', 'evidence.json', '--json')
  t.match(JSON.parse(stdout), { valid: true, evidence: { evidence: 'absent' } })
})

const places: [args: readonly string[], code: number, told: RegExp][] = [
  [['--expect-source', 'example.com'], 0, /^Valid receipt/],
  [['--expect-source', 'https://EXAMPLE.com/'], 0, /^Valid receipt/],
  [
    ['--expect-source', 'api.github.com'],
    1,
    /^NOT as asked: .* read at example\.com, and api\.github\.com was expected/,
  ],
  [['--expect-source', 'example.com/team'], 1, /read at example\.com, and example\.com\/team was expected/],
  [['--expect-source', 'com'], 1, /was expected/],
  [['--expect-source', 'http://example.com'], 1, /read at example\.com, and http:\/\/example\.com was expected/],
  [['--listed'], 1, /^NOT as asked: .* its issuer does not list the place where it was read/],
  [['--listed', '--expect-source', 'example.com'], 1, /does not list the place/],
]

for (const [args, code, told] of places) {
  t.test(`where it was read decides the exit code: ${args.join(' ')}`, async (t) => {
    const { folder } = await kept(t)
    t.match(await verify(folder, ...FILES, ...args), { code, stdout: told })
    const { stdout } = await verify(folder, ...FILES, ...args, '--json')
    t.match(JSON.parse(stdout), { valid: true, source_as_expected: code === 0 })
  })
}

t.test('a receipt that does not say where it was read is not from any expected place', async (t) => {
  const old = [join(VECTORS, 'valid-failed-not-found.json'), '--keys', join(VECTORS, 'keys.json')]
  for (const args of [['--listed'], ['--expect-source', 'github.com']]) {
    t.match(await verify(t.testdir(), ...old, ...args), { code: 1, stdout: /but it does not say where it was read/ })
  }
})

t.test('a withheld address is no expected place, and is told to be withheld', async (t) => {
  const { receipt, evidence } = await published()
  const source = { provider: 'git', listed: false as const, source_id: 'A'.repeat(43) }
  const body = { ...receipt.body, observation: { ...receipt.body.observation, source } }
  const folder = t.testdir(await signedBy({ ...receipt, body }, evidence))
  const told = /read at +a server that this workspace chose, address withheld\n/
  t.match(await verify(folder, ...FILES), { code: 0, stdout: told })
  const expecting = await verify(folder, ...FILES, '--expect-source', 'git.example')
  t.match(expecting, { code: 1, stdout: /it withholds the address where it was read, and git\.example was expected/ })
})

t.test('the plugin that checked it is as expected, by its package, its version and its digest', async (t) => {
  const { receipt, evidence } = await published()
  const verifier = {
    ...receipt.body.observation.verifier,
    ...{ package: '@acme/plugin', package_version: '1.2.0', code_hash: `sha256:${'A'.repeat(43)}` },
  }
  const body = { ...receipt.body, observation: { ...receipt.body.observation, verifier } }
  const folder = t.testdir(await signedBy({ ...receipt, body }, evidence))
  const expecting = (plugin: string, ...more: string[]) =>
    verify(folder, ...FILES, '--expect-verifier', plugin, ...more)
  const digest = `#sha256:${'A'.repeat(43)}`
  for (const plugin of ['@acme/plugin', '@acme/plugin@1.2.0', `@acme/plugin${digest}`, `@acme/plugin@1.2.0${digest}`]) {
    t.match(await expecting(plugin), { code: 0 }, plugin)
  }
  for (const plugin of ['plugin', '@acme/plugi', '@acme/plugin@1.2', `@acme/plugin${digest.replace('A', 'B')}`]) {
    t.match(await expecting(plugin), { code: 1, stdout: /^NOT as asked: .* it was checked by @acme\/plugin 1\.2\.0/ })
  }
  t.match(JSON.parse((await expecting('other', '--json')).stdout), { valid: true, verifier_as_expected: false })
  t.match(await expecting('@acme/plugin#sha256:abc'), { code: 2, stderr: /--expect-verifier takes the package/ })
  const old = [join(VECTORS, 'valid-failed-not-found.json'), '--keys', join(VECTORS, 'keys.json')]
  t.match(await verify(t.testdir(), ...old, '--expect-verifier', 'acme'), { code: 1, stdout: /it names no plugin/ })
})

t.test('a place that was read without TLS is expected by its scheme alone', async (t) => {
  const { receipt, evidence } = await published()
  for (const [base_url, secure, open] of [
    ['http://git.example:3000', 'git.example:3000', 'http://git.example:3000/'],
    ['tcp://mail.example:143', 'tls://mail.example:143', 'tcp://mail.example:143'],
  ] as const) {
    const source = { provider: 'git', listed: false as const, base_url }
    const body = { ...receipt.body, observation: { ...receipt.body.observation, source } }
    const folder = t.testdir(await signedBy({ ...receipt, body }, evidence))
    const expecting = (place: string) => verify(folder, ...FILES, '--expect-source', place)
    t.match(await expecting(secure), { code: 1, stdout: /^NOT as asked: .* was read at (?:http|tcp):\/\// }, secure)
    t.match(await expecting(open), { code: 0 }, open)
  }
})

t.test(
  'what cannot be checked is exit 2: evidence that is not there, no host, and options for receipts alone',
  async (t) => {
    const { folder } = await kept(t)
    const head = ['verify', join(VECTORS, 'tree-head-valid-first.json'), '--keys', join(VECTORS, 'keys.json')]
    const change = ['verify', join(VECTORS, 'valid-change.json'), '--keys', join(VECTORS, 'keys.json')]
    const rows: [args: readonly string[], told: RegExp][] = [
      [['verify', ...FILES, '--evidence', 'missing.json'], /missing\.json could not be read: there is no such file/],
      [['verify', ...FILES, '--expect-source', 'a b'], /--expect-source takes a host/],
      [['verify', ...FILES, '--expect-source', 'user@example.com'], /--expect-source takes a host/],
      [[...head, '--listed'], /has nothing that/],
      [[...head, '--evidence', 'evidence.json'], /has nothing that/],
      [[...change, '--expect-source', 'example.com'], /has nothing that/],
    ]
    for (const [args, told] of rows) t.match(await runClaimcheck(folder, args), { code: 2, stdout: '', stderr: told })
  },
)

t.test('the evidence of a receipt that is not valid is not looked at', async (t) => {
  const { folder } = await kept(t)
  const text = readFileSync(join(folder, 'receipt.json'), 'utf8').replace('"verified"', '"late"')
  writeFileSync(join(folder, 'receipt.json'), text)
  const { code, stdout } = await verify(folder, ...FILES, '--evidence', 'evidence.json')
  t.equal(code, 1)
  t.match(stdout, /^NOT valid: /)
  t.notMatch(stdout, 'Evidence')
})

t.test('redirects are followed within an origin, and elsewhere they are refused by name', async (t) => {
  const { receipt, url: elsewhere } = await kept(t)
  const path = `/v1/receipts/${receipt.body.receipt_id}`
  const chain = (length: number) => (asked: string) => {
    const step = Number(/^\/step\/(\d+)$/.exec(asked)?.[1] ?? Number.NaN)
    if (Number.isNaN(step)) return undefined
    return step === length ? path : `/step/${step + 1}`
  }
  const { folder, url } = await kept(t, {}, chain(4))
  const { origin } = new URL(url)
  const near = await verify(folder, `${origin}/step/0`, '--keys', 'keys.json')
  t.equal(near.code, 0, near.stderr)
  const far = await kept(t, {}, chain(5))
  const long = await verify(folder, `${new URL(far.url).origin}/step/0`, '--keys', 'keys.json')
  t.equal(long.code, 2)
  t.match(long.stderr, /it redirects more than 5 times/)

  for (const [to, place] of [
    [elsewhere, new URL(elsewhere).origin],
    ['//evil.example/receipt', 'http://evil.example'],
    ['https://localhost/receipt', 'https://localhost'],
    ['data:application/json,{}', 'something that is no web address'],
    ['http://[', 'something that is no web address'],
  ] as const) {
    const away = await kept(t, {}, (asked) => (asked === path ? to : undefined))
    const { code, stdout, stderr } = await verify(folder, away.url)
    t.equal(code, 2, to)
    t.equal(stdout, '')
    t.ok(
      stderr.includes(`it redirects to ${place}, and redirects are followed only within ${new URL(away.url).origin}`),
    )
    t.match(stderr, /If you trust the other address, name it/)
  }
  const keys = await kept(t, {}, (asked) => (asked.endsWith('poaw-keys.json') ? elsewhere : undefined))
  t.equal((await verify(folder, keys.url)).code, 2, 'nor are keys read where an issuer sends us')
})
