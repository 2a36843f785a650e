/** The material of all vectors: fixed keys, fixed times, one good receipt, and the ways to make others of it. */

import {
  canonicalBytes,
  claimDigest,
  createNobleSigner,
  DOMAINS,
  type Domain,
  digestOf,
  receiptBody,
  type Signer,
  toBase64url,
} from '@claimcheck/core/receipts'
import { type JsonObject, parseInstant, type Verdict } from '@claimcheck/core/rules'

/** A file, and the result that a checker must report. */
export interface Vector {
  readonly name: string
  /** The rule it holds to or breaks: the check's name, and what of it. */
  readonly rule: string
  readonly description: string
  readonly text: string
  /** The document is checked with the pipeline document at hand. */
  readonly withPipeline?: boolean
  readonly expected: object
}

/** JSON that is still being put together. */
// biome-ignore lint/suspicious/noExplicitAny: it is bent into shapes that no type should allow
export type Draft = any

export const signerA = createNobleSigner(new Uint8Array(32).fill(1))
/** Revoked. */
export const signerB = createNobleSigner(new Uint8Array(32).fill(2))
/** Published under an id that is not the hash of its key. */
export const signerMisnamed = createNobleSigner(new Uint8Array(32).fill(3))
/** Published twice, with different windows. */
export const signerTwice = createNobleSigner(new Uint8Array(32).fill(4))
/** A key that is not published. */
export const signerUnknown = createNobleSigner(new Uint8Array(32).fill(5))

export const MISNAMED_KEY_ID = `ed25519:${toBase64url(new Uint8Array(32).fill(3))}`
export const REVOKED_AT = '2026-06-01T00:00:00.000Z'

export const PIPELINE = {
  schema: 'pipeline/1',
  id: 'main-branch-pushes',
  version: 2,
  name: 'Every push to main',
  connector: { provider: 'github', target: 'acme/widgets' },
  trigger: { on: ['claim', 'watch'] },
  check: { profile: { id: 'codehost.commit.push', version: '1' } },
  outcomes: { receipt: 'always' },
}

export const POLICY = {
  pipeline_id: PIPELINE.id,
  pipeline_version: PIPELINE.version,
  digest: digestOf(PIPELINE),
}

export const ANCHOR = {
  chain: 'eip155:84532',
  scheme: 'eas',
  uid: `0x${'ab'.repeat(32)}`,
  tx_hash: `0x${'cd'.repeat(32)}`,
  tree_size: 7,
}

export function keyDocument(): JsonObject {
  const entry = (signer: Signer, revokedAt: string | null = null) => ({
    key_id: signer.keyId,
    public_key: toBase64url(signer.publicKey),
    valid_from: '2026-01-01T00:00:00.000Z',
    revoked_at: revokedAt,
  })
  return {
    issuer: 'Claimcheck test vectors',
    log_id: digestOf('claimcheck test vectors'),
    keys: [
      entry(signerA),
      entry(signerB, REVOKED_AT),
      { ...entry(signerMisnamed), key_id: MISNAMED_KEY_ID },
      entry(signerTwice),
      entry(signerTwice, REVOKED_AT),
    ],
    anchor_addresses: [],
    anchor_schemas: [],
  }
}

export function goodBody(verdict: Verdict = { value: 'verified' }): Draft {
  const claim = {
    action: 'codehost.commit.push',
    target: 'acme/widgets',
    params: { sha: '0123456789abcdef0123456789abcdef01234567', branch: 'main' },
    claimedAt: at('2026-09-25T14:01:58.000Z'),
    clientClaimId: 'claim-1',
  }
  const body = receiptBody({
    receiptId: 'rcpt_01K5ZQ6T3V8XJ2M4N7P9R0S1T2',
    issuedAt: at('2026-09-25T14:02:12.000Z'),
    issuer: { keyId: signerA.keyId, name: 'Claimcheck test vectors' },
    agentId: 'agent-1',
    claim: { ...claim, claimDigest: claimDigest(claim) },
    observation: {
      verifier: { id: 'codehost.commit.push', version: '1' },
      observedAt: at('2026-09-25T14:02:11.000Z'),
      deadlineAt: at('2026-09-25T14:16:58.000Z'),
      attempts: 1,
      facts: { on_branch: true, tip: 'fedcba9876543210fedcba9876543210fedcba98' },
      appeared: { notAfter: at('2026-09-25T14:01:50.000Z'), source: 'destination' },
    },
    verdict,
  })
  return structuredClone(body)
}

function goodChange(): Draft {
  return {
    spec_version: 'poaw/0.2',
    entry_kind: 'change',
    change_id: 'chg_01K5ZQ6T3V8XJ2M4N7P9R0S1T2',
    issued_at: '2026-09-25T14:30:05.000Z',
    issuer: { key_id: signerA.keyId },
    connector: 'github',
    event: 'codehost.commit.push',
    target: 'acme/widgets',
    fingerprint: '0123456789abcdef0123456789abcdef01234567',
    seen_at: '2026-09-25T14:30:04.000Z',
    facts: { branch: 'main' },
    watcher: { id: 'codehost.commit.push', version: '1' },
    policy: POLICY,
    trust_level: 2,
  }
}

export interface Signing {
  readonly signer?: Signer
  readonly domain?: Domain
}

/** A receipt with a body that was changed before its digest and signature were made: everything but the change is in order. */
export async function receipt(change: (body: Draft) => void = () => {}, signing: Signing = {}): Promise<Draft> {
  const body = goodBody()
  body.issuer.key_id = (signing.signer ?? signerA).keyId
  change(body)
  if (body.claim) {
    const { claim_digest: _, ...claim } = body.claim
    if ('claim_digest' in body.claim) body.claim.claim_digest = digestOf(claim)
  }
  return sign(body, { domain: DOMAINS.receipt, ...signing })
}

/** Seven receipts, different by their ids. */
export function sevenReceipts(): Promise<Draft[]> {
  return Promise.all(Array.from({ length: 7 }, (_, index) => receipt((body) => (body.receipt_id += index))))
}

export async function change(edit: (body: Draft) => void = () => {}, signing: Signing = {}): Promise<Draft> {
  const body = goodChange()
  edit(body)
  return sign(body, { domain: DOMAINS.change, ...signing })
}

export async function sign(body: Draft, { signer = signerA, domain = DOMAINS.receipt }: Signing): Promise<Draft> {
  return { body, signature: { ...(await signer.sign(domain, canonicalBytes(body))) } }
}

export function edited(document: Draft, edit: (document: Draft) => void): Draft {
  const copy = structuredClone(document)
  edit(copy)
  return copy
}

export function toText(document: unknown): string {
  return `${JSON.stringify(document, null, 2)}\n`
}

const GOOD_CHECKS = {
  spec_version: true,
  schema: true,
  integers_only: true,
  key: true,
  signature: true,
  claim_digest: true,
  inclusion: 'absent',
  anchor: 'absent',
}

const { claim_digest: _, ...CHANGE_CHECKS } = { ...GOOD_CHECKS, policy: 'not_checked' }

export function accepted(verdict: string, checks: object = {}): object {
  return { valid: true, checks: { ...GOOD_CHECKS, ...checks }, achieved_trust_level: 1, verdict }
}

export function refused(checks: object): object {
  return { valid: false, checks: { ...GOOD_CHECKS, ...checks }, achieved_trust_level: 0, verdict: null }
}

export function changeAccepted(checks: object = {}): object {
  const all = { ...CHANGE_CHECKS, ...checks }
  return { valid: true, checks: all, achieved_trust_level: 1, verdict: null, entry_kind: 'change' }
}

export function changeRefused(checks: object): object {
  return { ...changeAccepted(checks), valid: false, achieved_trust_level: 0 }
}

function at(timestamp: string): number {
  return parseInstant(timestamp)!
}
