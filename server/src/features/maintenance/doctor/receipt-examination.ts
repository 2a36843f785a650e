/** Examines one receipt in full: checks its entry, and names the columns of its claim that differ from it. */

import {
  canonicalize,
  DOMAINS,
  digestOf,
  isReceipt,
  type Receipt,
  type ReceiptBody,
  signedEvidence,
} from '@claimcheck/core/receipts'
import { type CheckRecord, formatInstant, type Instant } from '@claimcheck/core/rules'
import { leafHashHex } from '../../../base/sha256.ts'
import { parseJson } from './check-record.ts'
import { examineClaim, examineErasedClaim, paramsOf, recordsOf } from './claim-examination.ts'
import { evidenceProblems, namesPlugin } from './evidence.ts'
import type { KeyRing } from './key-ring.ts'
import type { StoredClaim, StoredReceipt } from './stored.ts'

/** What a signed head determines for its leaves. */
export interface HeadBounds {
  /** The key that signed the head; undefined when it is unknown. */
  readonly keyId: string | undefined
  readonly notBefore: Instant
  readonly notAfter: Instant
}

export interface Examination {
  /** The hash of the entry, in hex. */
  readonly leafHash: string
  readonly problems: readonly string[]
}

/** @param keys to verify the signature, too */
export async function examineReceipt(
  receipt: StoredReceipt,
  claim: StoredClaim | undefined,
  bounds: HeadBounds,
  keys?: KeyRing,
): Promise<Examination> {
  if (receipt.erased === '1') return examineErased(receipt, claim, bounds)
  const problems: string[] = []
  const addProblem = (problem: string) =>
    problems.push(`receipt ${receipt.receipt_id} (leaf ${receipt.leaf_index}): ${problem}`)
  const leafHash = leafHashHex(receipt.entry)
  if (receipt.entry === '') addProblem('its content is missing, and no erasure says why')
  if (leafHash !== receipt.leaf_hash) addProblem('leaf_hash is not the hash of the entry')
  const issuedAt = Number(receipt.issued_at)
  if (issuedAt < bounds.notBefore || issuedAt > bounds.notAfter)
    addProblem('issued_at is not between its tree head and the one before')
  if (!claim) addProblem('its claim is missing')
  if (claim) problems.push(...examineClaim(claim))

  const read = readEntry(receipt.entry)
  if (!read) addProblem('the entry is not a receipt in canonical JSON')
  if (!read) return { leafHash, problems }
  const { body, signature } = read
  const { claim_digest, ...claimed } = body.claim
  if (digestOf(claimed) !== claim_digest) addProblem("the entry's claim_digest is not the digest of its claim")
  if (body.receipt_id !== receipt.receipt_id) addProblem(`the entry belongs to ${body.receipt_id}`)
  if (body.issued_at !== instantText(receipt.issued_at)) addProblem('issued_at differs from that of the entry')
  if (signature.key_id !== body.issuer.key_id) addProblem('its issuer names another key than its signature')
  if (bounds.keyId !== undefined && signature.key_id !== bounds.keyId)
    addProblem('it is not signed by the key of its tree head')
  if (keys) for (const problem of await keys.check(DOMAINS.receipt, read, issuedAt)) addProblem(problem)
  for (const problem of evidenceProblems(body, receipt.evidence, claim)) addProblem(problem)
  if (claim)
    for (const column of differingColumns(body, claim))
      addProblem(`claim ${claim.fields.claim_id} differs in ${column}`)
  return { leafHash, problems }
}

/** Of an erased receipt the leaf's hash is left: the tree and the signed roots tell whether it is the right one. */
function examineErased(receipt: StoredReceipt, claim: StoredClaim | undefined, bounds: HeadBounds): Examination {
  const problems: string[] = []
  const addProblem = (problem: string) =>
    problems.push(`receipt ${receipt.receipt_id} (leaf ${receipt.leaf_index}): ${problem}`)
  const issuedAt = Number(receipt.issued_at)
  if (!(issuedAt >= bounds.notBefore && issuedAt <= bounds.notAfter))
    addProblem('issued_at is not between its tree head and the one before')
  if (receipt.evidence !== '') addProblem('it is erased, and its evidence is there')
  if (!claim) addProblem('its claim is missing')
  else {
    if (claim.fields.receipt_id !== receipt.receipt_id)
      addProblem(`claim ${claim.fields.claim_id} differs in receipt_id`)
    problems.push(...examineErasedClaim(claim))
  }
  const isHash = /^[0-9a-f]{64}$/.test(receipt.leaf_hash)
  if (!isHash) addProblem('leaf_hash is not a hash')
  return { leafHash: isHash ? receipt.leaf_hash : leafHashHex(''), problems }
}

function readEntry(entry: string): Receipt | undefined {
  const value = parseJson(entry)
  try {
    return value !== undefined && isReceipt(value) && canonicalize(value) === entry ? value : undefined
  } catch {
    // A lone surrogate, which canonical JSON cannot contain.
    return undefined
  }
}

/** The columns of the claim that differ from its receipt; also names the checks when the receipt is based on none of them. */
function differingColumns(body: ReceiptBody, claim: StoredClaim): string[] {
  const { fields } = claim
  const params = paramsOf(fields)
  const { observation, verdict } = body
  const pairs: Readonly<Record<string, readonly [stored: string | undefined, inReceipt: string]>> = {
    state: [fields.state, 'decided'],
    receipt_id: [fields.receipt_id, body.receipt_id],
    agent_id: [fields.agent_id, body.agent.id],
    agent_bound: [fields.agent_bound, body.agent.bound === true ? '1' : '0'],
    action: [fields.action, body.claim.action],
    target: [fields.target, body.claim.target],
    params: [params && canonicalize(params), canonicalize(body.claim.params)],
    claimed_at: [instantText(fields.claimed_at), body.claim.claimed_at],
    client_claim_id: [fields.client_claim_id, body.claim.client_claim_id ?? ''],
    claim_digest: [fields.claim_digest, body.claim.claim_digest],
    deadline_at: [instantText(fields.deadline_at), observation.deadline_at],
    attempts: [fields.attempts, String(observation.attempts)],
    profile_action: [fields.profile_action, observation.verifier.id],
    profile_version: [fields.profile_version, observation.verifier.version],
    verdict: [fields.verdict, verdict.value],
    reason_code: [fields.reason_code, verdict.reason_code ?? ''],
  }
  const columns = Object.keys(pairs).filter((column) => pairs[column]![0] !== pairs[column]![1])
  // The evidence, where there is any, says which checks there were.
  const isBased = observation.evidence_digest !== undefined || isBasedOnCheck(observation, claim)
  return isBased ? columns : [...columns, 'its checks: the receipt is based on none of them']
}

function isBasedOnCheck(observation: ReceiptBody['observation'], claim: StoredClaim): boolean {
  const { observed_at, facts } = observation
  const factsText = canonicalize(facts)
  const records = recordsOf(claim)
  // Before there was evidence, a receipt that rests on a failed check said nothing of earlier ones.
  const isFactsOf = (basis: CheckRecord) =>
    [[], records].some((checks) => canonicalize(signedEvidence({ basis }, checks).facts) === factsText)
  return records.some(
    (record) =>
      instantText(record.answeredAt) === observed_at && isFactsOf(record) && namesPlugin(observation, record.plugin),
  )
}

/** Undefined when the value is not a time. */
function instantText(instant: string | number): string | undefined {
  try {
    return formatInstant(Number(instant))
  } catch {
    return undefined
  }
}
