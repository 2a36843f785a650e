/** Entries that are signed as they should be, and break one rule of structure. */
import { smallLog } from './small-log.ts'
import {
  ANCHOR,
  change,
  changeRefused,
  type Draft,
  edited,
  POLICY,
  receipt,
  refused,
  toText,
  type Vector,
} from './world.ts'

type Row = readonly [name: string, edit: (body: Draft) => void, checks?: object]

function attest(body: Draft, attestation: unknown, codeHash = `sha256:${'A'.repeat(43)}`): void {
  Object.assign(body, { trust_level: 3, attestation })
  body.observation.verifier.code_hash = codeHash
}

const BODY: readonly Row[] = [
  ['spec-version-unknown-minor', (body) => (body.spec_version = 'poaw/0.3')],
  ['receipt-id-without-prefix', (body) => (body.receipt_id = '01K5ZQ6T3V8XJ2M4N7P9R0S1T2')],
  ['receipt-id-too-long', (body) => (body.receipt_id = `rcpt_${'A'.repeat(60)}`)],
  ['issued-at-without-fraction', (body) => (body.claim.claimed_at = '2026-09-25T14:01:58Z')],
  ['two-fraction-digits', (body) => (body.claim.claimed_at = '2026-09-25T14:01:58.00Z')],
  ['six-fraction-digits', (body) => (body.observation.observed_at = '2026-09-25T14:02:11.000000Z')],
  ['offset-instead-of-z', (body) => (body.observation.deadline_at = '2026-09-25T14:16:58.000+00:00')],
  ['day-that-does-not-exist', (body) => (body.claim.claimed_at = '2026-02-30T14:01:58.000Z')],
  ['hour-24', (body) => (body.claim.claimed_at = '2026-09-25T24:00:00.000Z')],
  ['leap-second', (body) => (body.claim.claimed_at = '2026-12-31T23:59:60.000Z')],
  ['issuer-name-too-long', (body) => (body.issuer.name = 'n'.repeat(129))],
  ['agent-id-empty', (body) => (body.agent.id = '')],
  ['agent-id-too-long', (body) => (body.agent.id = 'a'.repeat(257))],
  ['agent-registry-malformed', (body) => (body.agent.erc8004 = { chain: 'base', registry: '0x', agent_id: '1' })],
  ['action-of-two-parts', (body) => (body.claim.action = 'commit.push')],
  ['action-in-upper-case', (body) => (body.claim.action = 'Codehost.commit.push')],
  ['target-empty', (body) => (body.claim.target = '')],
  ['target-too-long', (body) => (body.claim.target = 't'.repeat(513))],
  ['params-not-an-object', (body) => (body.claim.params = [])],
  ['client-claim-id-too-long', (body) => (body.claim.client_claim_id = 'c'.repeat(257))],
  ['verifier-version-not-digits', (body) => (body.observation.verifier.version = '1.0')],
  ['attempts-zero', (body) => (body.observation.attempts = 0)],
  ['attempts-text', (body) => (body.observation.attempts = '1')],
  ['facts-not-an-object', (body) => (body.observation.facts = null)],
  ['verdict-unknown', (body) => (body.verdict = { value: 'excellent' })],
  ['verdict-of-the-prototype', (body) => (body.verdict = { value: 'toString', reason_code: 'not_found' })],
  ['reason-unknown', (body) => (body.verdict = { value: 'failed', reason_code: 'no_idea' })],
  ['reason-of-another-verdict', (body) => (body.verdict = { value: 'failed', reason_code: 'rate_limited' })],
  ['reason-with-verified', (body) => (body.verdict = { value: 'verified', reason_code: 'not_found' })],
  ['unverifiable-without-reason', (body) => (body.verdict = { value: 'unverifiable' })],
  ['trust-level-zero', (body) => (body.trust_level = 0)],
  ['trust-level-five', (body) => (body.trust_level = 5)],
  ['level-3-without-attestation', (body) => (body.trust_level = 3)],
  [
    'level-3-without-code-hash',
    (body) => Object.assign(body, { trust_level: 3, attestation: { type: 'example', document: 'AAAA' } }),
  ],
  ['level-3-with-neither-document-nor-digest', (body) => attest(body, { type: 'example' })],
  ['level-3-without-type', (body) => attest(body, { document: 'AAAA' })],
  ['level-3-with-malformed-digest', (body) => attest(body, { type: 'example', document_sha256: 'AAAA' })],
  ['level-3-with-attestation-null', (body) => attest(body, null)],
  [
    'level-3-with-code-hash-of-another-length',
    (body) => attest(body, { type: 'example', document: 'AAAA' }, `sha384:${'A'.repeat(43)}`),
  ],
  [
    'level-3-with-code-hash-of-another-function',
    (body) => attest(body, { type: 'example', document: 'AAAA' }, `md5:${'0'.repeat(32)}`),
  ],
  ['operator-too-long', (body) => (body.operator = 'o'.repeat(257))],
  ['supersedes-not-text', (body) => (body.supersedes = 1)],
  ['entry-kind-unknown', (body) => (body.entry_kind = 'banana')],
  ['entry-kind-null', (body) => (body.entry_kind = null)],
  ['policy-on-0.1', (body) => (body.policy = POLICY), { policy: 'not_checked' }],
  [
    'policy-with-extra-member',
    (body) => Object.assign(body, { spec_version: 'poaw/0.2', policy: { ...POLICY, note: '' } }),
    { policy: 'not_checked' },
  ],
]

/** Members that a receipt can not do without, and the checks that fall with them. */
const REQUIRED: readonly (readonly [path: string, checks?: object])[] = [
  ['receipt_id'],
  ['agent'],
  ['agent.id'],
  ['claim', { claim_digest: false }],
  ['claim.action'],
  ['claim.target'],
  ['claim.params'],
  ['claim.claimed_at'],
  ['claim.claim_digest', { claim_digest: false }],
  ['observation'],
  ['observation.verifier'],
  ['observation.observed_at'],
  ['observation.deadline_at'],
  ['observation.attempts'],
  ['observation.facts'],
  ['verdict'],
  ['verdict.value'],
  ['trust_level'],
  ['issuer', { key: false, signature: false }],
  ['issued_at', { key: false, signature: false }],
  ['spec_version', { spec_version: false }],
]

const CHANGE: readonly Row[] = [
  ['without-policy', (body) => delete body.policy, { policy: undefined }],
  ['with-claim', (body) => (body.claim = {})],
  ['with-observation', (body) => (body.observation = {})],
  ['with-verdict', (body) => (body.verdict = { value: 'verified' })],
  ['on-0.1', (body) => (body.spec_version = 'poaw/0.1')],
  ['connector-in-upper-case', (body) => (body.connector = 'GitHub')],
  ['event-of-two-parts', (body) => (body.event = 'commit.push')],
  ['without-fingerprint', (body) => delete body.fingerprint],
  ['seen-at-without-fraction', (body) => (body.seen_at = '2026-09-25T14:30:04Z')],
  ['without-change-id', (body) => delete body.change_id],
  ['without-watcher', (body) => delete body.watcher],
  ['level-3-without-attestation', (body) => (body.trust_level = 3)],
]

/** The parts around the body are not signed: the rest stays in order. */
const AROUND: readonly Row[] = [
  ['extra-member', (document) => (document.note = '')],
  // No signed part names it.
  ['attestation-document-of-no-attestation', (document) => (document.attestation_document = 'AAAA')],
  ['signature-with-extra-member', (document) => (document.signature.note = '')],
  ['signature-of-another-algorithm', (document) => (document.signature.alg = 'EdDSA')],
  ['proof-null', (document) => (document.proof = null), { inclusion: false }],
  ['proof-empty', (document) => (document.proof = {}), { inclusion: false }],
]

const OFFLINE = { anchor: 'not_checked_offline' }

const ANCHORED: readonly Row[] = [
  ['anchor-null', ({ proof }) => (proof.anchor = null), OFFLINE],
  ['anchor-empty', ({ proof }) => (proof.anchor = {}), OFFLINE],
  ['anchor-of-another-scheme', ({ proof }) => (proof.anchor = { ...ANCHOR, scheme: 'ots' }), OFFLINE],
  ['anchor-with-malformed-uid', ({ proof }) => (proof.anchor = { ...ANCHOR, uid: 'ab' }), OFFLINE],
  ['anchor-of-the-empty-tree', ({ proof }) => (proof.anchor = { ...ANCHOR, tree_size: 0 }), OFFLINE],
]

export async function refusedStructures(): Promise<Vector[]> {
  const vectors: Vector[] = []
  const add = (name: string, document: Draft, checks: object, refuse = refused) =>
    vectors.push({
      name: `refused-schema-${name}`,
      rule: `schema/${name}`,
      description: `Structure: ${name.replaceAll('-', ' ')}.`,
      text: toText(document),
      expected: refuse({ schema: false, ...checks }),
    })

  for (const [name, edit, checks] of BODY) add(name, await receipt(edit), checks ?? {})
  for (const [path, checks] of REQUIRED) {
    const name = `without-${path.replaceAll(/[._]/g, '-')}`
    add(name, await receipt((body) => remove(body, path.split('.'))), checks ?? {})
  }
  for (const [name, edit, checks] of CHANGE) add(`change-${name}`, await change(edit), checks ?? {}, changeRefused)
  const good = await receipt()
  const proven = await smallLog([good]).proven(0)
  for (const [name, edit, checks] of AROUND) add(name, edited(good, edit), checks ?? {})
  for (const [name, edit, checks] of ANCHORED) add(name, edited(proven, edit), { inclusion: true, ...checks })
  add('without-signature', { body: good.body }, { key: false, signature: false })
  add('without-body', { signature: good.signature }, { ...NO_BODY })
  add('body-not-an-object', { body: [good.body], signature: good.signature }, NO_BODY)
  vectors.push({
    name: 'refused-spec-version-major',
    rule: 'spec_version/major',
    description: 'A major version that this checker does not know.',
    text: toText(await receipt((body) => (body.spec_version = 'poaw/1.0'))),
    expected: refused({ spec_version: false, schema: false }),
  })
  return vectors
}

const NO_BODY = { spec_version: false, key: false, signature: false, claim_digest: false }

function remove(object: Draft, [name, ...rest]: readonly string[]): void {
  if (rest.length > 0) remove(object[name!], rest)
  else delete object[name!]
}
