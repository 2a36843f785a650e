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
      vectors.push({
        name: `valid-${name}`,
        rule: 'valid',
        description: `The verdict ${value}${reasonCode === undefined ? '' : ` for the reason ${reasonCode}`}.`,
        text: toText(await sign(body, { domain: DOMAINS.receipt })),
        expected: accepted(value),
      })
    }
  }
  return vectors
}

async function forms(): Promise<Vector[]> {
  const plain = await receipt()
  const withPolicy = toText(
    await receipt((body) => {
      body.spec_version = 'poaw/0.2'
      body.policy = POLICY
    }),
  )
  const rows: [string, string, string, object][] = [
    ['canonical', 'The text is the canonical one.', entryText(plain), accepted('verified')],
    [
      'escaped',
      'Escapes and blanks that change no value change no result.',
      `\t\r\n${toText(plain).replace('"agent-1"', '"\\u0061gent\\u002d1"')} `,
      accepted('verified'),
    ],
    [
      'unicode',
      'Text beyond ASCII, composed and not, and beyond the basic plane.',
      toText(await receipt((body) => (body.claim.params.branch = 'a\u030a/\u00e5/\u{1f600}'))),
      accepted('verified'),
    ],
    [
      'prototype-member',
      'A member named __proto__ is a member like any other.',
      toText(await receipt((body) => (body.observation.facts = JSON.parse('{"__proto__":{"on_branch":true}}')))),
      accepted('verified'),
    ],
    [
      'extra-members',
      'Members that the format does not know are signed like the rest.',
      toText(await receipt((body) => Object.assign(body, { note: 'kept', supersedes: 'rcpt_1', operator: 'acme' }))),
      accepted('verified'),
    ],
    [
      'largest-integer',
      'The largest integers that every reader holds exactly.',
      toText(
        await receipt((body) => {
          body.observation.facts = { most: Number.MAX_SAFE_INTEGER, least: Number.MIN_SAFE_INTEGER }
        }),
      ),
      accepted('verified'),
    ],
    [
      'retired-key',
      'Issued just before its key was revoked.',
      toText(await receipt((body) => (body.issued_at = '2026-05-31T23:59:59.999Z'), { signer: signerB })),
      accepted('verified'),
    ],
    [
      'first-moment-of-key',
      'Issued at the very moment from which its key is valid.',
      toText(await receipt((body) => (body.issued_at = '2026-01-01T00:00:00.000Z'))),
      accepted('verified'),
    ],
    [
      'attested',
      'States level 3 with all that this asks for: what is achieved is level 1.',
      toText(
        await receipt((body) => {
          body.trust_level = 3
          body.attestation = { type: 'example', document: 'AAAA' }
          body.observation.verifier.code_hash = `sha256:${'A'.repeat(43)}`
        }),
      ),
      accepted('verified'),
    ],
    [
      'attested-beside',
      'States level 3. The document of its attestation stands beside the body, which signs its digest; the code is named by SHA-384.',
      toText({
        ...(await receipt((body) => {
          body.trust_level = 3
          body.attestation = { type: 'example', document_sha256: digestOfBytes([0, 0, 0]) }
          body.observation.verifier.code_hash = `sha384:${'A'.repeat(64)}`
        })),
        attestation_document: 'AAAA',
      }),
      accepted('verified'),
    ],
    [
      'attested-elsewhere',
      'States level 4, and names the document of its attestation, which is not here, in hexadecimal: this changes nothing.',
      toText(
        await receipt((body) => {
          body.trust_level = 4
          body.attestation = { type: 'example', document_sha256: `sha256:${'0'.repeat(64)}` }
          body.observation.verifier.code_hash = `sha384:${'0'.repeat(96)}`
        }),
      ),
      accepted('verified'),
    ],
    [
      'attested-by-another-document',
      'What an attestation says is not checked, nor whether the document beside the body is its own: the level stays what was checked.',
      toText({
        ...(await receipt((body) => {
          body.trust_level = 3
          body.attestation = { type: 'example', document_sha256: digestOfBytes([0, 0, 0]) }
          body.observation.verifier.code_hash = `sha256:${'A'.repeat(43)}`
        })),
        attestation_document: 'BBBB',
      }),
      accepted('verified'),
    ],
    [
      'policy-not-checked',
      'The pipeline document is not at hand.',
      withPolicy,
      accepted('verified', { policy: 'not_checked' }),
    ],
    ['change', 'A change that nobody claimed.', toText(await change()), changeAccepted()],
  ]
  return [
    ...rows.map(([name, description, text, expected]) => ({
      name: `valid-${name}`,
      rule: 'valid',
      description,
      text,
      expected,
    })),
    {
      name: 'valid-policy-checked',
      rule: 'valid',
      description: 'The policy names the pipeline document at hand.',
      text: withPolicy,
      withPipeline: true,
      expected: accepted('verified', { policy: true }),
    },
  ]
}

async function included(): Promise<Vector[]> {
  const entries = await Promise.all(
    Array.from({ length: 7 }, (_, index) => receipt((body) => (body.receipt_id += index))),
  )
  const alone = smallLog([entries[0]])
  const log = smallLog(entries)
  const changes = smallLog([await change(), ...entries])
  const anchored = await log.proven(3)
  anchored.proof.anchor = ANCHOR
  const proven = accepted('verified', { inclusion: true })
  const rows: [string, string, unknown, object][] = [
    ['only-leaf', 'The only leaf of its log: the proof is empty.', await alone.proven(0), proven],
    ['first-leaf', 'Leaf 0 of 7.', await log.proven(0), proven],
    ['middle-leaf', 'Leaf 3 of 7.', await log.proven(3), proven],
    ['last-leaf', 'Leaf 6 of 7, which has no sibling in its row.', await log.proven(6), proven],
    ['change', 'A change entry among receipts.', await changes.proven(0), changeAccepted({ inclusion: true })],
    [
      'anchor-offline',
      'An anchor that is not looked up adds nothing.',
      anchored,
      accepted('verified', { inclusion: true, anchor: 'not_checked_offline' }),
    ],
  ]
  return rows.map(([name, description, document, expected]) => ({
    name: `valid-included-${name}`,
    rule: 'valid',
    description,
    text: toText(document),
    expected,
  }))
}

function digestOfBytes(bytes: readonly number[]): string {
  return createHash('sha256').update(Uint8Array.from(bytes)).digest('base64url')
}
