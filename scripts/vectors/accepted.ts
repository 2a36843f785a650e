/** Entries that a checker must accept. */
import { createHash } from 'node:crypto'
import { DOMAINS, entryText } from '@claimcheck/core/receipts'
import { REASONS, VERDICTS } from '@claimcheck/core/rules'
import { smallLog } from './small-log.ts'
import {
  ANCHOR,
  accepted,
  change,
  changeAccepted,
  goodBody,
  POLICY,
  receipt,
  sevenReceipts,
  sign,
  signerB,
  toText,
  type Vector,
} from './world.ts'

export async function acceptedVectors(): Promise<Vector[]> {
  return [...(await verdicts()), ...(await forms()), ...(await included())]
}

/** Every verdict with every reason that it may have. */
async function verdicts(): Promise<Vector[]> {
  const vectors: Vector[] = []
  for (const value of VERDICTS) {
    for (const reasonCode of value === 'verified' ? [undefined] : REASONS[value]) {
      const name = [value, reasonCode].filter(Boolean).join('-').replaceAll('_', '-')
      const body = goodBody(reasonCode === undefined ? { value } : { value, reasonCode })
      const reason = reasonCode === undefined ? '' : ` for the reason ${reasonCode}`
      const document = await sign(body, { domain: DOMAINS.receipt })
      vectors.push(valid(name, `The verdict ${value}${reason}.`, document, accepted(value)))
    }
  }
  return vectors
}

/** @param document JSON, or the text itself */
function valid(name: string, description: string, document: unknown, expected: object = accepted('verified')): Vector {
  return {
    name: `valid-${name}`,
    rule: 'valid',
    description,
    text: typeof document === 'string' ? document : toText(document),
    expected,
  }
}

async function forms(): Promise<Vector[]> {
  const plain = await receipt()
  const { MAX_SAFE_INTEGER: most, MIN_SAFE_INTEGER: least } = Number
  return [
    valid('canonical', 'The text is the canonical one.', entryText(plain)),
    valid(
      'escaped',
      'Escapes and blanks that change no value change no result.',
      `\t\r\n${toText(plain).replace('"agent-1"', '"\\u0061gent\\u002d1"')} `,
    ),
    valid(
      'unicode',
      'Text beyond ASCII, composed and not, and beyond the basic plane.',
      await receipt((body) => (body.claim.params.branch = 'a\u030a/\u00e5/\u{1f600}')),
    ),
    valid(
      'prototype-member',
      'A member named __proto__ is a member like any other.',
      await receipt((body) => (body.observation.facts = JSON.parse('{"__proto__":{"on_branch":true}}'))),
    ),
    valid(
      'extra-members',
      'Members that the format does not know are signed like the rest.',
      await receipt((body) => Object.assign(body, { note: 'kept', supersedes: 'rcpt_1', operator: 'acme' })),
    ),
    valid(
      'largest-integer',
      'The largest integers that every reader holds exactly.',
      await receipt((body) => (body.observation.facts = { most, least })),
    ),
    valid(
      'retired-key',
      'Issued just before its key was revoked.',
      await receipt((body) => (body.issued_at = '2026-05-31T23:59:59.999Z'), { signer: signerB }),
    ),
    valid(
      'first-moment-of-key',
      'Issued at the very moment from which its key is valid.',
      await receipt((body) => (body.issued_at = '2026-01-01T00:00:00.000Z')),
    ),
    ...(await attested()),
    ...(await withPolicies()),
  ]
}

/** Receipts that state level 3 or 4: what is achieved is what was checked, level 1. */
async function attested(): Promise<Vector[]> {
  const stating = (trust_level: number, attestation: object, code_hash: string) =>
    receipt((body) => {
      Object.assign(body, { trust_level, attestation: { type: 'example', ...attestation } })
      body.observation.verifier.code_hash = code_hash
    })
  const document_sha256 = createHash('sha256')
    .update(Uint8Array.of(0, 0, 0))
    .digest('base64url')
  const sha256 = `sha256:${'A'.repeat(43)}`
  return [
    valid(
      'attested',
      'States level 3 with all that this asks for: what is achieved is level 1.',
      await stating(3, { document: 'AAAA' }, sha256),
    ),
    valid(
      'attested-beside',
      'States level 3. The document of its attestation stands beside the body, which signs its digest; the code is named by SHA-384.',
      { ...(await stating(3, { document_sha256 }, `sha384:${'A'.repeat(64)}`)), attestation_document: 'AAAA' },
    ),
    valid(
      'attested-elsewhere',
      'States level 4, and names the document of its attestation, which is not here, in hexadecimal: this changes nothing.',
      await stating(4, { document_sha256: `sha256:${'0'.repeat(64)}` }, `sha384:${'0'.repeat(96)}`),
    ),
    valid(
      'attested-by-another-document',
      'What an attestation says is not checked, nor whether the document beside the body is its own: the level stays what was checked.',
      { ...(await stating(3, { document_sha256 }, sha256)), attestation_document: 'BBBB' },
    ),
  ]
}

async function withPolicies(): Promise<Vector[]> {
  const document = await receipt((body) => Object.assign(body, { spec_version: 'poaw/0.2', policy: POLICY }))
  return [
    valid(
      'policy-not-checked',
      'The pipeline document is not at hand.',
      document,
      accepted('verified', { policy: 'not_checked' }),
    ),
    valid('change', 'A change that nobody claimed.', await change(), changeAccepted()),
    {
      ...valid(
        'policy-checked',
        'The policy names the pipeline document at hand.',
        document,
        accepted('verified', { policy: true }),
      ),
      withPipeline: true,
    },
  ]
}

async function included(): Promise<Vector[]> {
  const entries = await sevenReceipts()
  const alone = smallLog([entries[0]])
  const log = smallLog(entries)
  const changes = smallLog([await change(), ...entries])
  const anchored = await log.proven(3)
  anchored.proof.anchor = ANCHOR
  const proven = accepted('verified', { inclusion: true })
  return [
    valid('included-only-leaf', 'The only leaf of its log: the proof is empty.', await alone.proven(0), proven),
    valid('included-first-leaf', 'Leaf 0 of 7.', await log.proven(0), proven),
    valid('included-middle-leaf', 'Leaf 3 of 7.', await log.proven(3), proven),
    valid('included-last-leaf', 'Leaf 6 of 7, which has no sibling in its row.', await log.proven(6), proven),
    valid(
      'included-change',
      'A change entry among receipts.',
      await changes.proven(0),
      changeAccepted({ inclusion: true }),
    ),
    valid(
      'included-anchor-offline',
      'An anchor that is not looked up adds nothing.',
      anchored,
      accepted('verified', { inclusion: true, anchor: 'not_checked_offline' }),
    ),
  ]
}
