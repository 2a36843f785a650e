/** Making receipts from decided claims: bodies, digests and fingerprints. */

import {
  canonicalBytes,
  canonicalize,
  claimDigest,
  createNobleSigner,
  type DecidedClaim,
  DOMAINS,
  digestOf,
  entryText,
  isReceipt,
  receiptBody,
  textFingerprint,
} from '@claimcheck/core/receipts'
import { type PluginName, parseInstant } from '@claimcheck/core/rules'
import t from 'tap'

const signer = createNobleSigner(new Uint8Array(32).fill(1))
const at = (time: string) => parseInstant(`2026-09-25T${time}Z`)!

const CLAIM = {
  action: 'github.commit.push',
  target: 'acme/widgets',
  params: { sha: 'a'.repeat(40), branch: 'main' },
  claimedAt: at('14:01:58.123'),
  clientClaimId: 'claim-1',
}

const DECIDED: DecidedClaim = {
  receiptId: 'rcpt_01K5ZQ6T3V8XJ2M4N7P9R0S1T2',
  issuedAt: at('14:02:12.000'),
  issuer: { keyId: signer.keyId },
  agentId: 'agent-1',
  claim: { ...CLAIM, claimDigest: claimDigest(CLAIM) },
  observation: {
    verifier: { id: 'codehost.commit.push', version: '1' },
    observedAt: at('14:02:11.000'),
    deadlineAt: at('14:16:58.123'),
    attempts: 2,
    facts: { on_branch: true },
    appeared: { notBefore: at('14:01:00.000'), notAfter: at('14:01:50.000'), source: 'observation' },
  },
  verdict: { value: 'late', reasonCode: 'observed_after_tolerance' },
}

t.test('a receipt has everything that was decided, under the names of the wire format', async (t) => {
  t.strictSame(receiptBody(DECIDED), {
    spec_version: 'poaw/0.1',
    receipt_id: 'rcpt_01K5ZQ6T3V8XJ2M4N7P9R0S1T2',
    issued_at: '2026-09-25T14:02:12.000Z',
    issuer: { key_id: signer.keyId },
    agent: { id: 'agent-1' },
    claim: {
      action: 'github.commit.push',
      target: 'acme/widgets',
      params: { sha: 'a'.repeat(40), branch: 'main' },
      claimed_at: '2026-09-25T14:01:58.123Z',
      client_claim_id: 'claim-1',
      claim_digest: claimDigest(DECIDED.claim),
    },
    observation: {
      verifier: { id: 'codehost.commit.push', version: '1' },
      observed_at: '2026-09-25T14:02:11.000Z',
      deadline_at: '2026-09-25T14:16:58.123Z',
      attempts: 2,
      facts: { on_branch: true },
      appeared: {
        not_before: '2026-09-25T14:01:00.000Z',
        not_after: '2026-09-25T14:01:50.000Z',
        source: 'observation',
      },
    },
    verdict: { value: 'late', reason_code: 'observed_after_tolerance' },
    trust_level: 2,
  })
})

t.test('a member that is not known is absent, never null', async (t) => {
  const { appeared: _, ...observation } = DECIDED.observation
  const body = receiptBody({ ...DECIDED, observation, verdict: { value: 'verified' } })
  t.notOk('appeared' in body.observation)
  t.strictSame(body.verdict, { value: 'verified' })
  const open = { notAfter: at('14:01:50.000'), source: 'destination' } as const
  const { appeared } = receiptBody({ ...DECIDED, observation: { ...observation, appeared: open } }).observation
  t.strictSame(appeared, { not_after: '2026-09-25T14:01:50.000Z', source: 'destination' })
})

t.test('a receipt says that the agent is bound where the claim came through a key of that agent', async (t) => {
  t.strictSame(receiptBody({ ...DECIDED, agentBound: true }).agent, { id: 'agent-1', bound: true })
  t.strictSame(receiptBody({ ...DECIDED, agentBound: false }).agent, { id: 'agent-1' })
  const agentNames = { pseudonym: `${'p'.repeat(42)}A`, domain: 'acme.com' }
  const named = receiptBody({ ...DECIDED, agentBound: true, agentNames }).agent
  t.strictSame(named, { id: 'agent-1', bound: true, ...agentNames })
  t.equal(JSON.stringify(named), canonicalize(named), 'in canonical order')
  t.strictSame(receiptBody({ ...DECIDED, agentBound: false, agentNames }).agent, { id: 'agent-1' })
})

t.test('a receipt names the package, the version and the digest of the plugin, as far as they are known', async (t) => {
  const named = (plugin: PluginName | undefined) => {
    const verifier = { ...DECIDED.observation.verifier, ...(plugin ? { plugin } : {}) }
    return receiptBody({ ...DECIDED, observation: { ...DECIDED.observation, verifier } }).observation.verifier
  }
  const codeHash = `sha256:${'A'.repeat(43)}`
  const rules = { id: 'codehost.commit.push', version: '1' }
  t.strictSame(named(undefined), rules)
  t.strictSame(named({ package: 'alone' }), { ...rules, package: 'alone' })
  t.strictSame(named({ package: '@acme/plugin', version: '2.0.1', codeHash }), {
    ...rules,
    package: '@acme/plugin',
    package_version: '2.0.1',
    code_hash: codeHash,
  })
})

t.test('a signed body is a receipt', async (t) => {
  const body = receiptBody({ ...DECIDED, issuer: { keyId: signer.keyId, name: 'Acme' } })
  const signature = await signer.sign(DOMAINS.receipt, canonicalBytes(body))
  t.ok(isReceipt({ body, signature }))
})

t.test('the claim digest covers the claim as it is written in the receipt, and nothing else', async (t) => {
  const { claim_digest, ...claim } = receiptBody(DECIDED).claim
  t.equal(claim_digest, digestOf(claim))
  t.equal(claimDigest({ ...DECIDED.claim, deadlineAt: 0 } as never), claim_digest)
  t.not(claimDigest({ ...DECIDED.claim, clientClaimId: 'claim-2' }), claim_digest)
})

t.test('a leaf is the canonical text of body and signature, without the proof', async (t) => {
  const body = receiptBody(DECIDED)
  const signature = await signer.sign(DOMAINS.receipt, canonicalBytes(body))
  const receipt = { signature, proof: {} as never, body }
  t.match(entryText(receipt), /^\{"body":\{"agent":.*\},"signature":\{"alg":"Ed25519",.*\}\}$/)
  t.equal(entryText(receipt), entryText({ body, signature }))
})

t.test('texts that differ only in spaces, line ends or Unicode normalization have the same fingerprint', async (t) => {
  const same = [
    'caf\u00e9\n\n  two',
    'cafe\u0301\n\n  two',
    'caf\u00e9\r\n\r\n  two\r\n',
    'caf\u00e9\r\r  two',
    '\n \t\ncaf\u00e9 \t\n  \n  two  \n\n',
  ]
  for (const text of same) t.equal(textFingerprint(text), textFingerprint(same[0]!), JSON.stringify(text))
  const others = ['cafe\n\n  two', 'caf\u00e9\n  two', 'caf\u00e9\n\ntwo', '  caf\u00e9\n\n  two']
  for (const text of others) t.not(textFingerprint(text), textFingerprint(same[0]!), JSON.stringify(text))
  t.equal(textFingerprint(''), 'sha256:47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU')
  t.equal(textFingerprint(' \n\n'), textFingerprint(''))
})
