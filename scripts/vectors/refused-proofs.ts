/** Well-formed entries with a key, signature, digest, inclusion or policy that does not hold. */
import { DOMAINS, fromBase64url, toBase64url } from '@claimcheck/core/receipts'
import { smallLog } from './small-log.ts'
import {
  change,
  changeRefused,
  type Draft,
  edited,
  goodBody,
  MISNAMED_KEY_ID,
  PIPELINE,
  POLICY,
  REVOKED_AT,
  receipt,
  refused,
  sevenReceipts,
  sign,
  signerB,
  signerMisnamed,
  signerTwice,
  signerUnknown,
  toText,
  type Vector,
} from './world.ts'

type Row = readonly [name: string, description: string, document: Draft, checks?: object, refuse?: typeof refused]

export async function refusedProofs(): Promise<Vector[]> {
  return [
    ...toVectors('key', { key: false, signature: false }, await keys()),
    ...toVectors('signature', { signature: false }, await signatures()),
    ...toVectors('claim_digest', { claim_digest: false }, await digests()),
    ...toVectors('inclusion', { inclusion: false }, await inclusions()),
    ...toVectors('policy', { policy: false }, await policies()).map((vector) => ({ ...vector, withPipeline: true })),
  ]
}

function toVectors(check: string, failing: object, rows: readonly Row[]): Vector[] {
  return rows.map(([name, description, document, checks = {}, refuse = refused]) => ({
    name: `refused-${check.replace('_', '-')}-${name}`,
    rule: `${check}/${name}`,
    description,
    text: toText(document),
    expected: refuse({ ...failing, ...checks }),
  }))
}

async function keys(): Promise<Row[]> {
  const good = await receipt()
  const issued = (at: string, signer = signerB) => receipt((body) => (body.issued_at = at), { signer })
  const misnamed = await receipt((body) => (body.issuer.key_id = MISNAMED_KEY_ID), { signer: signerMisnamed })
  return [
    ['unknown', 'The key is not published.', await receipt(undefined, { signer: signerUnknown })],
    ['revoked', 'Issued long after the key was revoked.', await issued('2026-09-25T14:02:12.000Z')],
    ['revoked-now', 'Issued at the very moment of the revocation.', await issued(REVOKED_AT)],
    ['not-yet-valid', 'Issued before the key was valid.', await issued('2025-12-31T23:59:59.999Z')],
    [
      'misnamed',
      'The published id is not the hash of the published key.',
      edited(misnamed, ({ signature }) => (signature.key_id = MISNAMED_KEY_ID)),
    ],
    [
      'misnamed-by-its-hash',
      'The right id of a key that is published under another.',
      await receipt(undefined, { signer: signerMisnamed }),
    ],
    [
      'published-twice',
      'Two entries share the id. Here either would do, elsewhere they differ.',
      await issued('2026-03-01T00:00:00.000Z', signerTwice),
    ],
    [
      'other-than-issuer',
      'The signature names another key than the body.',
      edited(good, ({ signature }) => (signature.key_id = signerB.keyId)),
    ],
    [
      'issuer-other-than-signature',
      'The body names another key than the one that signed.',
      await receipt((body) => (body.issuer.key_id = signerB.keyId)),
    ],
  ]
}

async function signatures(): Promise<Row[]> {
  const good = await receipt()
  const otherSigner = await receipt((body) => (body.issuer.key_id = good.body.issuer.key_id), { signer: signerB })
  const value = (text: string) => edited(good, ({ signature }) => (signature.value = text))
  return [
    [
      'tampered',
      'The verdict was changed after signing.',
      edited(good, ({ body }) => (body.verdict = { value: 'late' })),
    ],
    ['tampered-extra', 'A member was added after signing.', edited(good, ({ body }) => (body.note = ''))],
    [
      'tampered-facts',
      'A fact was removed after signing.',
      edited(good, ({ body }) => delete body.observation.facts.tip),
    ],
    [
      'of-another-key',
      'Signed by another key than the one named.',
      edited(otherSigner, ({ signature }) => (signature.key_id = good.signature.key_id)),
    ],
    ['as-change', 'A receipt signed as a change entry.', await receipt(undefined, { domain: DOMAINS.change })],
    ['as-tree-head', 'A receipt signed as a tree head.', await receipt(undefined, { domain: DOMAINS.treeHead })],
    [
      'change-as-receipt',
      'A change entry signed as a receipt.',
      await change(undefined, { domain: DOMAINS.receipt }),
      {},
      changeRefused,
    ],
    ['malleated', 'S is S + L: the same signature to a lenient verifier.', value(malleated(good.signature.value))],
    ['zero', 'All bytes zero.', value('A'.repeat(86))],
    ['too-short', 'A byte is missing.', value(good.signature.value.slice(0, 84)), { schema: false }],
    ['padded', 'Padding.', value(`${good.signature.value}==`), { schema: false }],
    [
      'trailing-bits',
      'Another spelling of the same bytes.',
      value(good.signature.value.slice(0, 85) + nextLetter(good.signature.value[85])),
      { schema: false },
    ],
  ]
}

async function digests(): Promise<Row[]> {
  const body = goodBody()
  body.claim.client_claim_id = 'claim-2'
  return [['of-another-claim', 'The digest is that of another claim.', await sign(body, {})]]
}

async function inclusions(): Promise<Row[]> {
  const entries = await sevenReceipts()
  const log = smallLog(entries)
  const good = await log.proven(3)
  const other = await log.proven(2)
  const alone = await smallLog([entries[0]]).proven(0)
  const proof = (edit: (proof: Draft) => void) => edited(good, (document) => edit(document.proof))
  const changed = await smallLog([await change(), ...entries]).proven(0)
  return [
    ['altered-path', 'A hash of the path was altered.', proof(({ inclusion }) => (inclusion[1] = inclusion[0]))],
    ['altered-root', 'The root is another.', proof((proof) => (proof.root_hash = toBase64url(log.root(6))))],
    ['wrong-index', 'The right path for another leaf.', proof((proof) => (proof.leaf_index = 2))],
    ['index-beyond-size', 'The leaf is not in the tree.', proof((proof) => (proof.leaf_index = 7))],
    ['wrong-size', 'The path does not fit the size.', proof((proof) => (proof.tree_size = 4))],
    ['other-index-of-one', 'A log of one leaf has no leaf 1.', edited(alone, ({ proof }) => (proof.leaf_index = 1))],
    [
      'inner-node',
      'A path that ends at the root of the first four leaves.',
      proof((proof) =>
        Object.assign(proof, { root_hash: toBase64url(log.root(4)), inclusion: proof.inclusion.slice(0, 2) }),
      ),
    ],
    ['short-path', 'The path ends early.', proof(({ inclusion }) => inclusion.pop())],
    ['long-path', 'The path goes beyond the root.', proof(({ inclusion }) => inclusion.push(inclusion[0]))],
    ['of-another-leaf', 'The proof of another entry.', edited(good, (document) => (document.proof = other.proof))],
    [
      'trailing-bits',
      'Another spelling of a right hash.',
      proof(({ inclusion }) => (inclusion[0] = inclusion[0].slice(0, 42) + nextLetter(inclusion[0][42]))),
      { schema: false },
    ],
    ['size-text', 'A size that is not a number.', proof((proof) => (proof.tree_size = '7')), { schema: false }],
    [
      'change-altered-path',
      'A change entry with an altered path.',
      edited(changed, (document) => (document.proof.inclusion[0] = document.proof.inclusion[1])),
      {},
      changeRefused,
    ],
  ]
}

async function policies(): Promise<Row[]> {
  const withPolicy = (policy: object) =>
    receipt((body) => Object.assign(body, { spec_version: 'poaw/0.2', policy: { ...POLICY, ...policy } }))
  return [
    ['digest', 'The digest is that of another document.', await withPolicy({ digest: 'A'.repeat(43) })],
    ['version', 'Another version of the document.', await withPolicy({ pipeline_version: PIPELINE.version + 1 })],
    ['id', 'Another document.', await withPolicy({ pipeline_id: 'other-pushes' })],
    [
      'change',
      'A change entry with the digest of another document.',
      await change((body) => (body.policy = { ...POLICY, digest: 'A'.repeat(43) })),
      {},
      changeRefused,
    ],
  ]
}

/** The group's order, RFC 8032 5.1. */
const L = 2n ** 252n + 27742317777372353535851937790883648493n

function malleated(value: string): string {
  const bytes = fromBase64url(value, 64)!
  let s = L
  for (const [index, byte] of bytes.subarray(32).entries()) s += BigInt(byte) << BigInt(8 * index)
  for (let index = 32; index < 64; index++, s >>= 8n) bytes[index] = Number(s & 0xffn)
  return toBase64url(bytes)
}

/** The next letter of the alphabet: the same bytes, with a trailing bit set. */
function nextLetter(letter: string): string {
  return String.fromCharCode(letter.charCodeAt(0) + 1)
}
