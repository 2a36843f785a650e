/** A close look at one receipt: whether its entry is in order, and which of its claim's columns say something else. */
import { hash } from 'node:crypto'
import {
  canonicalize,
  DOMAINS,
  digestOf,
  formatInstant,
  type Instant,
  isReceipt,
  type JsonValue,
  type Receipt,
  type ReceiptBody,
} from '@claimcheck/core'
import { parseJson } from './check-record.ts'
import { examineClaim, paramsOf, recordsOf } from './claim-examination.ts'
import { evidenceProblems } from './evidence.ts'
import type { KeyRing } from './key-ring.ts'
import { factsOf } from './recorded-facts.ts'
import type { StoredClaim, StoredReceipt } from './stored.ts'

/** What a signed head says of the leaves under it. */
export interface Under {
  /** The key that signed it; undefined when it cannot be told. */
  readonly keyId: string | undefined
  readonly notBefore: Instant
  readonly notAfter: Instant
}

export interface Examination {
  /** In hex: of the entry. */
  readonly leafHash: string
  readonly problems: readonly string[]
}

/** @param keys given: the signature is verified, too */
export async function examineReceipt(
  receipt: StoredReceipt,
  claim: StoredClaim | undefined,
  under: Under,
  keys?: KeyRing,
): Promise<Examination> {
  const problems: string[] = []
  const complain = (problem: string) =>
    problems.push(`receipt ${receipt.receipt_id} (leaf ${receipt.leaf_index}): ${problem}`)
  const leafHash = hashLeaf(receipt.entry)
  if (leafHash !== receipt.leaf_hash) complain('leaf_hash is not the hash of the entry')
  const issuedAt = Number(receipt.issued_at)
  if (issuedAt < under.notBefore || issuedAt > under.notAfter)
    complain('issued_at is not within the time of its tree head')
  if (!claim) complain('its claim is missing')
  if (claim) problems.push(...examineClaim(claim))

  const read = readEntry(receipt.entry)
  if (!read) complain('the entry is no receipt in canonical JSON')
  if (!read) return { leafHash, problems }
  const { body, signature } = read
  const { claim_digest, ...claimed } = body.claim
  if (digestOf(claimed) !== claim_digest) complain("the entry's claim_digest is not the digest of its claim")
  if (body.receipt_id !== receipt.receipt_id) complain(`the entry is that of ${body.receipt_id}`)
  if (body.issued_at !== instantText(receipt.issued_at)) complain("issued_at is not the entry's")
  if (signature.key_id !== body.issuer.key_id) complain('it names one key and is signed by another')
  if (under.keyId !== undefined && signature.key_id !== under.keyId)
    complain('it is not signed by the key of its tree head')
  if (keys) for (const problem of await keys.check(DOMAINS.receipt, read, issuedAt)) complain(problem)
  for (const problem of evidenceProblems(body, receipt.evidence, claim)) complain(problem)
  if (claim)
    for (const column of differing(body, claim)) complain(`claim ${claim.fields.claim_id} differs in ${column}`)
  return { leafHash, problems }
}

/** In hex. The NUL is RFC 6962's prefix of a leaf. */
export function hashLeaf(entry: string): string {
  return hash('sha256', `\0${entry}`, 'hex')
}

function readEntry(entry: string): Receipt | undefined {
  const value = parseJson(entry)
  try {
    return value !== undefined && isReceipt(value) && canonicalize(value) === entry ? value : undefined
  } catch {
    // A lone surrogate, which is in no canonical JSON.
    return undefined
  }
}

/** The columns of the claim that say something else than its receipt, and its checks when none of them is what the verdict rests on. */
function differing(body: ReceiptBody, claim: StoredClaim): string[] {
  const { fields } = claim
  const params = paramsOf(fields)
  const { observation, verdict } = body
  const said: Readonly<Record<string, readonly [stored: string | undefined, said: string]>> = {
    state: [fields.state, 'decided'],
    receipt_id: [fields.receipt_id, body.receipt_id],
    agent_id: [fields.agent_id, body.agent.id],
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
  const columns = Object.keys(said).filter((column) => said[column]![0] !== said[column]![1])
  // With evidence, that says which checks there were.
  const rests = observation.evidence_digest !== undefined || restsOnCheck(observation, claim)
  return rests ? columns : [...columns, 'its checks: the receipt rests on none of them']
}

function restsOnCheck({ observed_at, facts }: ReceiptBody['observation'], claim: StoredClaim): boolean {
  const said = canonicalize(facts)
  return recordsOf(claim).some(
    (record) => instantText(record.answeredAt) === observed_at && canonicalize(factsOf(record) as JsonValue) === said,
  )
}

/** Undefined for what is no moment. */
function instantText(instant: string | number): string | undefined {
  try {
    return formatInstant(Number(instant))
  } catch {
    return undefined
  }
}
