/**
 * Receipts whose structure is changed at random, and that are signed and proven again: a checker has to find what is wrong behind a
 * signature that is good.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { canonicalBytes, DOMAINS, type Domain, digestOf, entryText, toBase64url } from '@claimcheck/core/receipts'
import { SHA256_TREE } from '@claimcheck/server/features/log/log-rows'
import { type Draft, signerA } from '../../scripts/vectors/world.ts'
import { type Random, seededRandom } from '../crash/random.ts'

const VECTORS = 'test/vectors'

const NUMBERS = [0, 1, -1, 2, 3, 4, 5, 1.5, 1e21, 2 ** 53, 2 ** 53 - 1, -(2 ** 53)]
const WORDS = [
  '',
  ' ',
  'verified',
  'late',
  'absent',
  'eas',
  'poaw/0.1',
  'poaw/0.2',
  'poaw/0.3',
  '__proto__',
  'x'.repeat(300),
]
const LETTERS = ['é', 'e\u0301', '\u0000', '\ufeff', '\ud83d\ude00', 'https://x/\n']
const HASHES = [
  'A'.repeat(43),
  `${'A'.repeat(42)}B`,
  `${'A'.repeat(43)}=`,
  `sha256:${'A'.repeat(43)}`,
  `0x${'AB'.repeat(32)}`,
]
const TIMES = [
  ...['2026-02-30T00:00:00.000Z', '2026-01-01T00:00:00Z', '2026-01-01T24:00:00.000Z', '2026-01-01T00:00:60.000Z'],
  ...[
    '9999-12-31T23:59:59.999Z',
    '0000-01-01T00:00:00.000Z',
    '2026-01-01T00:00:00.000+00:00',
    '\u0662026-01-01T00:00:00.000Z',
  ],
]
const NESTED = ['[]', '{}', '[1]', '[[]]', '["a","b"]', '{"a":1}', '{"":1}', '{"__proto__":1}'].map((text) =>
  JSON.parse(text),
)
const VALUES: readonly unknown[] = [null, true, false, ...NUMBERS, ...WORDS, ...LETTERS, ...HASHES, ...TIMES, ...NESTED]

const NAMES = [
  ...[
    'bound',
    'appeared',
    'source',
    'evidence_digest',
    'package',
    'code_hash',
    'name',
    'reason_code',
    'policy',
    'anchor',
  ],
  ...[
    'entry_kind',
    'not_before',
    'listed',
    'base_url',
    'source_id',
    'attestation',
    'trust_level',
    '__proto__',
    'constructor',
  ],
]

/** Other ways to write the same JSON, and JSON that is read in two ways or in none. */
const REWRITINGS: readonly ((text: string) => string)[] = [
  (text) => ` \n${text}\t`,
  (text) => `\ufeff${text}`,
  (text) => text.replace(/"(\w)/, (_match, letter: string) => `"\\u00${letter.charCodeAt(0).toString(16)}`),
  (text) => text.replace(/:(\d+)/, ':$1.0'),
  (text) => text.replace(/:(\d+)/, ':$1e0'),
  (text) => text.replace('{', '{"body":1,'),
]

/** @returns the texts, some of which are valid all the same */
export async function changedReceipts(seed: number, count: number): Promise<string[]> {
  const random = seededRandom(seed)
  const valid = readdirSync(VECTORS).filter((name) => /^valid-.*\.json$/.test(name))
  const texts = valid.map((name) => readFileSync(`${VECTORS}/${name}`, 'utf8'))
  return Promise.all(Array.from({ length: count }, () => changed(random, JSON.parse(random.pick(texts)))))
}

async function changed(random: Random, receipt: Draft): Promise<string> {
  for (let changes = random.between(1, 2); changes > 0; changes--) change(random, receipt)
  if (random.chance(0.75)) await signAgain(random, receipt)
  const text = JSON.stringify(receipt)
  return random.chance(0.2) ? random.pick(REWRITINGS)(text) : text
}

/** Replaces a part, removes one, adds one, or puts another in its place. */
function change(random: Random, receipt: Draft): void {
  const { holder, name } = random.pick(partsOf(receipt))
  const how = random.below(4)
  if (how === 0) holder[name] = structuredClone(random.pick(VALUES))
  else if (how === 1 && Array.isArray(holder)) holder.splice(Number(name), 1)
  else if (how === 1) delete holder[name]
  else if (how === 2) setOwn(holder, random.pick(NAMES), structuredClone(random.pick(VALUES)))
  else {
    const other = random.pick(partsOf(receipt))
    holder[name] = structuredClone(other.holder[other.name])
  }
}

interface Part {
  readonly holder: Draft
  readonly name: string
}

function partsOf(holder: Draft): Part[] {
  if (typeof holder !== 'object' || holder === null) return []
  return Object.keys(holder).flatMap((name) => [{ holder, name }, ...partsOf(holder[name])])
}

function setOwn(holder: Draft, name: string, value: unknown): void {
  Object.defineProperty(holder, name, { value, enumerable: true, configurable: true, writable: true })
}

/** What can no longer be signed stays as it is. */
async function signAgain(random: Random, receipt: Draft): Promise<void> {
  try {
    const { body } = receipt
    if (random.chance(0.8)) {
      const { claim_digest, ...claim } = body.claim
      body.claim.claim_digest = digestOf(claim)
    }
    const domain: Domain = body.entry_kind === 'change' ? DOMAINS.change : DOMAINS.receipt
    receipt.signature = await signerA.sign(domain, canonicalBytes(body))
    if (receipt.proof === undefined) return
    const leaf = SHA256_TREE.leaf(Buffer.from(entryText(receipt)))
    Object.assign(receipt.proof, { leaf_index: 0, tree_size: 1, root_hash: toBase64url(leaf), inclusion: [] })
  } catch {
    // It is a receipt that is wrong in one more way.
  }
}
