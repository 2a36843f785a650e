// Test run: end-to-end, every-node
/** `claimcheck verify` over every kind of document, held against the vectors, and what it tells a person. */
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { paintFor } from '@claimcheck/cli/verify/style'
import { treeHasher } from '@claimcheck/core/log'
import { toBase64url, utf8 } from '@claimcheck/core/receipts'
import { bundleText, kindOf, notADocument } from '@claimcheck/core/words/document'
import { textOfFile } from '@claimcheck/core/words/file-text'
import { visible } from '@claimcheck/core/words/plain-text'
import t, { type Test } from 'tap'
import { CONFORMANCE_DIR } from '../core/test/conformance.ts'
import { type ListedVector, readManifest } from '../core/test/vector-suite.ts'
import { type Outcome, runClaimcheck } from './support/command.ts'
import { ENCODINGS } from './support/encodings.ts'

const ESCAPE = '\u001b'
const VECTORS = resolve('test/vectors')
const KEYS = ['--keys', join(VECTORS, 'keys.json')]

function verify(t: Test, file: string, ...args: readonly string[]): Promise<Outcome> {
  return runClaimcheck(t.testdir(), ['verify', join(VECTORS, file), ...KEYS, ...args])
}

async function verifyText(t: Test, text: string | Buffer, ...args: readonly string[]): Promise<Outcome> {
  return runClaimcheck(t.testdir({ 'document.json': text }), ['verify', 'document.json', ...KEYS, ...args])
}

function vector(file: string): string {
  return readFileSync(join(VECTORS, file), 'utf8')
}

const ENCODED = 'refused-text-byte-order-mark.json'

/** With the exit code and the report that the manifest expects; a file that holds no document has none. */
async function holds(t: Test, folder: string, vectors: readonly ListedVector[]): Promise<void> {
  const path = (file: string) => resolve(folder, file)
  const { keyset } = readManifest(folder)
  const emptyFolder = t.testdir()
  for (const { file, pipeline, expected, description } of vectors) {
    const more = pipeline === undefined ? [] : ['--pipeline', path(pipeline)]
    // No key signs a consistency document, so that nothing vouches for one that holds.
    const isSigned = kindOf(readFileSync(path(file), 'utf8')) !== 'consistency'
    const keys = isSigned ? ['--keys', path(keyset)] : []
    const { code, stdout, stderr } = await runClaimcheck(emptyFolder, [
      'verify',
      path(file),
      ...keys,
      '--json',
      ...more,
    ])
    const other = notADocument(textOfFile(readFileSync(path(file))))
    if (other !== undefined) {
      t.equal(code, 2, `${file}: ${description}`)
      t.ok(`${stdout}${stderr}`.includes(other), file)
      continue
    }
    if (file === ENCODED) {
      t.equal(code, 0, 'the command reads the encoding of a file, and no checker that of a text')
      continue
    }
    const good = isSigned ? 0 : 2
    t.strictSame({ code, stderr }, { code: expected.valid ? good : 1, stderr: '' }, `${file}: ${description}`)
    const { vouched_by: voucher, issuer_anchors: _, ...found } = JSON.parse(stdout)
    t.strictSame(found, expected, file)
    if ('checks' in found && 'signature' in found.checks && 'inclusion' in found.checks) t.equal(voucher, 'keys')
  }
}

for (const group of ['vectors', 'tree_head_vectors', 'consistency_vectors'] as const) {
  t.test(`each of our ${group} gets its outcome on the command line`, async (t) => {
    await holds(t, VECTORS, readManifest(VECTORS)[group])
  })

  t.test(`each of the published ${group} gets its outcome on the command line`, async (t) => {
    const folder = join(CONFORMANCE_DIR, 'poaw')
    await holds(t, folder, readManifest(folder)[group])
  })
}

t.test('a valid receipt is told with who claimed what, the verdict in a sentence, and the times', async (t) => {
  const { stdout } = await verify(t, 'valid-failed-not-found.json')
  t.match(stdout, /^Valid receipt with the verdict failed\. The outcome was not there by the deadline\.\n/)
  const { body } = JSON.parse(vector('valid-failed-not-found.json'))
  for (const text of [
    body.agent.id,
    body.claim.action,
    body.claim.target,
    body.claim.claimed_at,
    body.observation.observed_at,
    body.observation.deadline_at,
    body.issued_at,
    body.receipt_id,
    'not_found',
  ]) {
    t.ok(stdout.includes(text), text)
  }
})

t.test('the trust level that is missing is explained', async (t) => {
  const rows = [
    ['valid-failed-not-found.json', /Trust level 1 of 2: signed, but without a proof.*Fetch it again/],
    ['valid-included-first-leaf.json', /Trust level 1 of 2: signed, but not anchored: .* none will follow/],
    ['valid-attested-beside.json', /Trust level 1 of 2: .* It states level 3: this command checks no attestation/],
    ['valid-included-anchor-offline.json', /Trust level 1 of 2: signed, but its anchor was not checked. Pass --rpc/],
  ] as const
  for (const [file, expected] of rows) t.match((await verify(t, file)).stdout, expected, file)

  const anchoring = JSON.stringify({ ...JSON.parse(vector('keys.json')), anchor_addresses: ['0x1'] })
  const folder = t.testdir({ 'keys.json': anchoring, 'receipt.json': vector('valid-included-first-leaf.json') })
  const { stdout } = await runClaimcheck(folder, ['verify', 'receipt.json', '--keys', 'keys.json'])
  t.match(stdout, /Trust level 1 of 2: signed, but not anchored yet.*Fetch it again/)
})

t.test('what does not hold is named first, and nothing that the document says is repeated', async (t) => {
  const { code, stdout } = await verify(t, 'refused-signature-tampered.json')
  t.equal(code, 1)
  t.match(stdout, /^NOT valid: the signature does not fit the content and the key\.\n/)
  t.match(stdout, /signature +DOES NOT HOLD/)
  t.notMatch(stdout, JSON.parse(vector('refused-signature-tampered.json')).body.agent.id)
})

t.test(
  'a file that holds no document says nothing of whether one is valid: exit 2, and why, with its place',
  async (t) => {
    const whole = vector('valid-failed-not-found.json')
    const rows: [text: string | Buffer, problem: RegExp][] = [
      [whole.slice(0, 400), /: this is not JSON: the text is cut off, at line \d+, column \d+\.\n$/],
      ['<!doctype html>', /: this is not JSON, at line 1, column 1\.\n$/],
      ['', /: this is not JSON, at line 1, column 1\.\n$/],
      ['\ufeff\ufeff{}', /: this is not JSON, at line 1, column 1\.\n$/],
      [
        '[]',
        /: this is not a receipt, a change entry, a tree head, an inclusion or consistency document, or the file in which a log contradicts itself\.\n$/,
      ],
      ['{"detail":"Not Found"}', /: this is not a receipt/],
      [vector('keys.json'), /: this is not a receipt/],
      [bundleText({ receipt: '' }), /: this is not JSON/],
      [Buffer.from([0x7b, 0xff, 0x7d]), / could not be read: this is not text in UTF-8 or UTF-16\.?\n$/],
      [Buffer.from([0xff, 0xfe, 0x7b]), / could not be read: this is not text in UTF-8 or UTF-16\.?\n$/],
    ]
    for (const [text, problem] of rows) {
      const found = await verifyText(t, text)
      t.match(found, { code: 2, stdout: '', stderr: problem }, String(text))
      t.match(found.stderr, /^Could not check: /)
    }
    const twice = await verifyText(t, '{\n "body": 1,\n "body": 2\n}')
    const problem = /^NOT valid: two members of one object have the same name, at line 3, column \d+\.\n$/
    t.match(
      twice,
      { code: 1, stdout: problem },
      'a document that two readers could understand differently is not valid',
    )
  },
)

t.test('a document is read in each encoding that editors and shells write', async (t) => {
  for (const [name, encode] of Object.entries(ENCODINGS)) {
    const folder = t.testdir({
      'receipt.json': encode(vector('valid-failed-not-found.json')),
      'tampered.json': encode(vector('refused-signature-tampered.json')),
      'keys.json': encode(vector('keys.json')),
    })
    const check = (file: string) => runClaimcheck(folder, ['verify', file, '--keys', 'keys.json'])
    t.match(await check('receipt.json'), { code: 0, stdout: /^Valid receipt/ }, name)
    t.match(await check('tampered.json'), { code: 1, stdout: /^NOT valid: the signature/ }, name)
  }
})

t.test('a pipeline document is held against the policy that a receipt names', async (t) => {
  const named = 'valid-policy-checked.json'
  const pipeline = join(VECTORS, 'pipeline.json')
  t.match(await verify(t, named), { code: 0, stdout: /policy +not checked: pass --pipeline/ })
  t.match(await verify(t, named, '--pipeline', pipeline), { code: 0, stdout: /policy +holds/ })
  const other = join(VECTORS, 'keys.json')
  t.match(await verify(t, named, '--pipeline', other), { code: 1, stdout: /^NOT valid: the pipeline document/ })
  t.match(await verify(t, 'valid-failed-not-found.json', '--pipeline', pipeline), { code: 0, stdout: /was not used/ })
  for (const file of ['missing.json', join(VECTORS, 'refused-text-no-json.json')]) {
    t.match(await verify(t, named, '--pipeline', file), { code: 2, stdout: '', stderr: /\w/ }, file)
  }
})

t.test('a tree head is recognised, also as /v1/log/head answers with it', async (t) => {
  const head = vector('tree-head-valid-first.json')
  const expected = { code: 0, stdout: /^Valid tree head: .* with 7 entries\.\n.*root +\S{43}\n/s }
  t.match(await verify(t, 'tree-head-valid-first.json'), expected)
  const answer = (text: string) => `{ "tree_head": ${text}, "anchor": null }`
  t.match(await verifyText(t, answer(head)), expected)
  t.match(await verifyText(t, answer(head.replace('7', '7.0'))), { code: 1, stdout: /^NOT valid, as a tree head/ })
})

t.test('a consistency document needs no keys, and is told to be unsigned', async (t) => {
  const { code, stdout } = await runClaimcheck(t.testdir(), ['verify', join(VECTORS, 'consistency-valid-3-7.json')])
  t.equal(code, 2)
  t.match(stdout, /^Holds, and nothing signs it: the tree with 7 entries begins with the tree with 3 entries/)
})

t.test('an inclusion document holds and vouches for nothing, and one that was changed does not hold', async (t) => {
  // The second of two leaves, as the answer of /v1/log/proof has it.
  const hasher = treeHasher()
  const [first, second] = ['a', 'b'].map((text) => hasher.leaf(utf8(text))) as [Uint8Array, Uint8Array]
  const document = {
    log_id: toBase64url(first),
    leaf_index: 1,
    tree_size: 2,
    leaf_hash: toBase64url(second),
    root_hash: toBase64url(hasher.node(first, second)),
    inclusion: [toBase64url(first)],
  }
  const verified = (text: string) => runClaimcheck(t.testdir({ 'document.json': text }), ['verify', 'document.json'])
  t.match(await verified(JSON.stringify(document)), {
    code: 2,
    stdout: /^Holds, and nothing signs it: leaf 1 is in the tree with 2 entries\..*\n.*signed tree head/,
  })
  // Anyone makes such a document: a script that asks for a receipt of the issuer's does not take it for one.
  t.match(await verifyText(t, JSON.stringify(document)), { code: 2, stderr: /--keys could check/ })
  for (const change of [
    { leaf_index: 0 },
    { leaf_index: 2 },
    { inclusion: [] },
    { root_hash: document.leaf_hash },
    { log_id: 1 },
  ])
    t.match(await verified(JSON.stringify({ ...document, ...change })), {
      code: 1,
      stdout: /^NOT valid, as an inclusion document/,
    })
})

t.test('a change entry is told as that', async (t) => {
  t.match(await verify(t, 'valid-change.json'), {
    code: 0,
    stdout: /^Valid change entry.*event +codehost.commit.push/s,
  })
})

t.test('colour is for terminals that show it, and not for files', async (t) => {
  const coloured = paintFor({ isTTY: true, hasColors: () => true })('good', 'Valid')
  t.ok(coloured.includes(`${ESCAPE}[`))
  for (const stream of [{ isTTY: true, hasColors: () => false }, { isTTY: true }, {}]) {
    t.equal(paintFor(stream)('good', 'Valid'), 'Valid')
  }
  t.notMatch((await verify(t, 'valid-failed-not-found.json')).stdout, ESCAPE)
})

t.test('what an issuer wrote cannot command the terminal', async (t) => {
  t.equal(visible('a\u001b[2Jb\n\u202ec é 日本'), 'a<U+001B>[2Jb<U+000A><U+202E>c é 日本')
})
