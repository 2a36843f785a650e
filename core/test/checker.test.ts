/** The checker with changed, edited and arbitrary texts, and with anchors. Threat O7 of `security.md`. */
import { readFileSync } from 'node:fs'
import type { AnchorChecker, AnchorReading } from '@claimcheck/core/plugin'
import { checkReceipt, fromBase64url, parseKeySet, parseStrictJson } from '@claimcheck/core/receipts'
import { isUnknownAnchor } from '@claimcheck/core/words/checks'
import fc from 'fast-check'
import t from 'tap'
import { IS_THOROUGH, runs } from '../../test/support/extent.ts'

const read = (file: string) => readFileSync(`test/vectors/${file}`, 'utf8')
const keys = parseKeySet(read('keys.json'))
const PLAIN = JSON.stringify(JSON.parse(read('valid-verified.json')))
const PROVEN = JSON.stringify(JSON.parse(read('valid-included-middle-leaf.json')))
const CHANGE = JSON.stringify(JSON.parse(read('valid-included-change.json')))
const ANCHORED = read('valid-included-anchor-offline.json')

/**
 * The content of a receipt; `undefined` for a text that is not strict JSON. A proof's log_id and tree_size are left out: only an anchor or a
 * signed tree head proves them.
 */
function meaning(text: string): string | undefined {
  try {
    const { value, integersOnly } = parseStrictJson(text)
    if (!integersOnly) return undefined
    const { proof, ...rest } = value as { proof?: Record<string, unknown> }
    const proven = proof && [proof.leaf_index, proof.root_hash, proof.inclusion]
    return JSON.stringify([rest, proven], (_, member) => (isObject(member) ? Object.entries(member).sort() : member))
  } catch {
    return undefined
  }
}

/** Odd, so that the changed bit differs from one to the next. */
const BYTE_STEP = IS_THOROUGH ? 1 : 3

t.test('a receipt with any byte changed is invalid or has the same meaning', async (t) => {
  for (const original of [PLAIN, PROVEN, CHANGE]) {
    const bytes = Buffer.from(original)
    const changed: string[] = []
    for (let index = 0; index < bytes.length; index += BYTE_STEP) {
      const byte = bytes[index]!
      bytes[index] = byte ^ (1 << (index % 8))
      const text = bytes.toString()
      if (meaning(text) !== meaning(original) && (await isValid(text))) changed.push(text)
      bytes[index] = byte
    }
    t.strictSame(changed, [])
    t.ok(await isValid(bytes.toString()))
  }
})

t.test('no edited receipt is valid with another meaning', async (t) => {
  const originals = fc.constantFrom(PLAIN, PROVEN, CHANGE)
  const syntax = fc.constantFrom(...'{}[]",:0123456789.e-\\ \n', 'null', '"a":1,', '\\u0061')
  const pieces = fc.oneof(syntax, fc.string({ maxLength: 3 }))
  const property = fc.asyncProperty(
    originals,
    fc.nat(),
    fc.nat({ max: 3 }),
    pieces,
    async (original, at, length, piece) => {
      const start = at % original.length
      const text = original.slice(0, start) + piece + original.slice(start + length)
      return meaning(text) === meaning(original) || !(await isValid(text))
    },
  )
  await t.resolves(fc.assert(property, runs(2000)))
})

t.test('any text gives a report, and an invalid one has level 0 and no verdict', async (t) => {
  const texts = fc.oneof(fc.string(), fc.json(), fc.jsonValue().chain(misshapen))
  const pipelines = fc.option(fc.string(), { nil: undefined })
  const property = fc.asyncProperty(texts, pipelines, async (text, pipeline) => {
    const report = await checkReceipt(text, pipeline === undefined ? { keys } : { keys, pipeline })
    return !report.valid && report.achieved_trust_level === 0 && report.verdict === null
  })
  await t.resolves(fc.assert(property, runs(3000)))
})

const { proof } = JSON.parse(ANCHORED)
const STATED = {
  logId: fromBase64url(proof.log_id)!,
  treeSize: proof.tree_size,
  rootHash: fromBase64url(proof.root_hash)!,
  provenBy: Date.UTC(2026, 8, 26),
}
const OTHER_KIND: AnchorChecker = {
  knows: () => false,
  read: () => {
    throw new Error('asked about an anchor of another kind')
  },
}

function reading(found: AnchorReading): AnchorChecker {
  return { knows: () => true, read: async () => found }
}

t.test('a valid anchor gives level 2 and the time by which the receipt existed', async (t) => {
  const report = await checkReceipt(ANCHORED, { keys, anchorCheckers: [OTHER_KIND, reading(STATED)] })
  t.match(report, { valid: true, achieved_trust_level: 2, proven_by: '2026-09-26T00:00:00.000Z' })
  t.equal(report.checks.anchor, 'anchored')
})

t.test('the level is never higher than the one that the receipt states', async (t) => {
  const stated1 = await checkReceipt(read('valid-attested.json'), { keys, anchorCheckers: [reading(STATED)] })
  t.equal(stated1.achieved_trust_level, 1)
})

const problems: [what: string, reading: AnchorReading, problem: string][] = [
  ['that its checker refuses', { problem: 'attestation_revoked' }, 'attestation_revoked'],
  ['of another log', { ...STATED, logId: new Uint8Array(32) }, 'log_or_size_mismatch'],
  ['of another size', { ...STATED, treeSize: 1 }, 'log_or_size_mismatch'],
  ['of another root', { ...STATED, rootHash: new Uint8Array(32) }, 'root_mismatch'],
]

for (const [what, found, problem] of problems) {
  t.test(`an anchor ${what} lowers the level, and the receipt stays valid`, async (t) => {
    const report = await checkReceipt(ANCHORED, { keys, anchorCheckers: [reading(found)] })
    t.match(report, { valid: true, achieved_trust_level: 1, checks: { anchor: problem } })
    t.notOk('proven_by' in report)
  })
}

t.test('an anchor of a kind that no checker knows is not checked', async (t) => {
  const report = await checkReceipt(ANCHORED, { keys, anchorCheckers: [OTHER_KIND] })
  t.match(report, { valid: true, achieved_trust_level: 1, checks: { anchor: 'unknown_scheme' } })
  t.ok(isUnknownAnchor('unknown_scheme'))
})

t.test('the anchor of an invalid receipt is not checked', async (t) => {
  const tampered = ANCHORED.replace('"agent-1"', '"agent-2"')
  const report = await checkReceipt(tampered, { keys, anchorCheckers: [OTHER_KIND] })
  t.match(report, { valid: false, achieved_trust_level: 0, checks: { anchor: 'not_checked_offline' } })
})

t.test('a policy is refused when the pipeline document is not strict JSON with integers only', async (t) => {
  const receipt = read('valid-policy-checked.json')
  const pipeline = read('pipeline.json')
  t.equal((await checkReceipt(receipt, { keys, pipeline })).checks.policy, true)
  for (const bad of [
    '',
    '[]',
    pipeline.replace('"version": 2', '"version": 2.0'),
    pipeline.replace('{', '{"id":"a",'),
  ]) {
    const report = await checkReceipt(receipt, { keys, pipeline: bad })
    t.equal(report.checks.policy, false)
    t.equal(report.valid, false)
  }
})

async function isValid(text: string): Promise<boolean> {
  return (await checkReceipt(text, { keys })).valid
}

/** A valid receipt with one of its values replaced. */
function misshapen(value: unknown): fc.Arbitrary<string> {
  return fc.nat().map((pick) => {
    const receipt = JSON.parse(PROVEN)
    const places: [Record<string, unknown>, string][] = []
    const visit = (node: unknown): void => {
      if (typeof node !== 'object' || node === null) return
      for (const [name, child] of Object.entries(node)) {
        // Nothing in the receipt proves these two.
        if (name === 'log_id' || name === 'tree_size') continue
        places.push([node as Record<string, unknown>, name])
        visit(child)
      }
    }
    visit(receipt)
    const [parent, name] = places[pick % places.length]!
    const same = JSON.stringify(parent[name]) === JSON.stringify(value)
    parent[name] = same ? 'something else' : value
    return JSON.stringify(receipt)
  })
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
