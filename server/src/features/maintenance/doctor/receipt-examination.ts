/** Examines one receipt in full: whether the code that makes receipts makes it of its claim, and what differs where not. */
import { HASH_BYTES } from '@claimcheck/core/log'
import {
  agentNames,
  canonicalize,
  DOMAINS,
  digestOf,
  entryText,
  isReceipt,
  type Receipt,
  type ReceiptBody,
  receiptBody,
  signedEvidence,
} from '@claimcheck/core/receipts'
import {
  type CheckRecord,
  formatInstant,
  type Instant,
  isJsonObject,
  type JsonValue,
  jsonIn,
} from '@claimcheck/core/rules'
import { sentencesThatHold } from '../../../base/problems.ts'
import { LEAF_BEGINNING, sha256 } from '../../../base/sha256.ts'
import { type Decided, receiptContent } from '../../log/receipt-content.ts'
import { examineClaim, examineErasedClaim, recordsOf } from './claim-examination.ts'
import { evidenceProblems, recompute } from './evidence.ts'
import { examineFinding, isFindingId } from './finding-examination.ts'
import type { KeyRing } from './key-ring.ts'
import type { Examination, HeadBounds, StoredClaim, StoredReceipt } from './stored.ts'

/** @param keys to verify the signature, too */
export async function examineReceipt(
  receipt: StoredReceipt,
  claim: StoredClaim | undefined,
  bounds: HeadBounds,
  keys?: KeyRing,
): Promise<Examination> {
  const { receiptId, leafIndex, isErased } = receipt
  if (isFindingId(receiptId)) return examineFinding(receipt, claim, bounds, keys)
  const ofClaim = claim ? (isErased ? examineErasedClaim : examineClaim)(claim) : []
  const { leafHash, problems } = isErased
    ? examineErasedLeaf(receipt)
    : await examineEntry(receipt, claim, bounds.keyId, keys)
  const ofReceipt = [...placeProblems(receipt, claim, bounds), ...problems]
  return {
    leafHash,
    problems: [...ofClaim, ...ofReceipt.map((problem) => `receipt ${receiptId} (leaf ${leafIndex}): ${problem}`)],
  }
}

/** Finds what is wrong with the claim and the tree head that a receipt belongs to. */
function placeProblems(
  { receiptId, logId, issuedAt }: StoredReceipt,
  claim: StoredClaim | undefined,
  { notBefore, notAfter }: HeadBounds,
): string[] {
  const row = claim?.row
  const found = sentencesThatHold({
    'its claim is missing': !claim,
    'issued_at is not between its tree head and the one before': !(issuedAt >= notBefore && issuedAt <= notAfter),
  })
  const isOther = row && (row.receiptId !== receiptId || row.logId !== logId)
  return isOther ? [...found, `claim ${claim.claimId} differs in receipt_id or log_id`] : found
}

/** Examines what an erasure leaves of a receipt, its leaf's hash: the tree and the signed roots tell whether it is the right one. */
function examineErasedLeaf({ evidence, leafHash }: StoredReceipt): Examination {
  const isHash = leafHash.length === HASH_BYTES
  const problems = sentencesThatHold({
    'it is erased, and its evidence is there': evidence !== null,
    'leaf_hash is not a hash': !isHash,
  })
  return { leafHash: isHash ? leafHash : sha256(LEAF_BEGINNING), problems }
}

/** @param keyId the key that signed the tree head; undefined when it is unknown */
async function examineEntry(
  receipt: StoredReceipt,
  claim: StoredClaim | undefined,
  keyId: string | undefined,
  keys: KeyRing | undefined,
): Promise<Examination> {
  const { entry, issuedAt } = receipt
  const leafHash = sha256(LEAF_BEGINNING + entry)
  const ofLeaf = sentencesThatHold({
    'its content is missing, and no erasure says why': entry === '',
    'leaf_hash is not the hash of the entry': Buffer.compare(leafHash, receipt.leafHash) !== 0,
  })
  const made = claim && asMade(receipt, claim)
  const read = made ?? readEntry(entry)
  if (!read) return { leafHash, problems: [...ofLeaf, 'the entry is not a receipt in canonical JSON'] }
  const signedBy = read.signature.key_id
  const ofSigner = sentencesThatHold({
    'its issuer names another key than its signature': signedBy !== read.body.issuer.key_id,
    'it is not signed by the key of its tree head': keyId !== undefined && signedBy !== keyId,
  })
  const ofContent = made ? [] : entryProblems(read.body, receipt, claim)
  const ofSignature = keys ? await keys.check(DOMAINS.receipt, read, issuedAt) : []
  return { leafHash, problems: [...ofLeaf, ...ofContent, ...ofSigner, ...ofSignature] }
}

/** The receipt, where the code that makes receipts makes exactly this entry of the claim and its checks. */
export function asMade(receipt: StoredReceipt, claim: StoredClaim): Receipt | undefined {
  try {
    const { body, signature } = JSON.parse(receipt.entry) as Receipt
    // JSON.stringify is several times as fast, and writes the same where the names in params and facts are in order.
    const isEntry = (made: ReceiptBody) =>
      [JSON.stringify, entryText].some((write) => write({ body: made, signature }) === receipt.entry)
    return signature.alg === 'Ed25519' && bodiesOf(receipt, claim, body).some(isEntry) ? { body, signature } : undefined
  } catch {
    // It is not JSON, or not of that form.
    return undefined
  }
}

function readEntry(entry: string): Receipt | undefined {
  const value = jsonIn(entry)
  try {
    return value !== undefined && isReceipt(value) && canonicalize(value) === entry ? value : undefined
  } catch {
    // A lone surrogate, which canonical JSON cannot contain.
    return undefined
  }
}

/**
 * The body that the claim and its evidence make, or one for each check on which a verdict without evidence can rest. Only the issuer, what
 * a bound agent was called and, without evidence, the time of appearance are taken from the entry: no other row has them.
 * @throws RangeError, TypeError for what cannot be in a receipt
 */
function bodiesOf(
  receipt: StoredReceipt,
  claim: StoredClaim,
  { agent, issuer, observation }: ReceiptBody,
): ReceiptBody[] {
  const { row } = claim
  if (!row || row.verdict === null) return []
  const { verdict: value, reasonCode } = row
  const verdict = reasonCode === null ? { value } : { value, reasonCode }
  const { receiptId, issuedAt } = receipt
  const names = issuer.name === undefined ? { keyId: issuer.key_id } : { keyId: issuer.key_id, name: issuer.name }
  return decisionsOf(receipt, claim).map((decided) => {
    const content = receiptContent(row, { ...decided, verdict, agentNames: agentNames(agent) })
    const made = receiptBody({ ...content, receiptId, issuedAt, issuer: names })
    if (decided.evidence !== undefined || observation.appeared === undefined) return made
    return { ...made, observation: { appeared: observation.appeared, ...made.observation } }
  })
}

function decisionsOf({ evidence }: StoredReceipt, claim: StoredClaim): Omit<Decided, 'verdict'>[] {
  const records = recordsOf(claim)
  if (evidence === null) {
    const restingOn = (basis: CheckRecord) => ({ basis, ...signedEvidence({ basis }, records), evidence: undefined })
    return records.toReversed().map(restingOn)
  }
  const retold = recompute(evidence, claim)
  return retold?.text === evidence
    ? [{ ...retold.decision, ...signedEvidence(retold.decision, records), evidence }]
    : []
}

/** In words: why the entry is not the one that the claim and its checks make. */
function entryProblems(body: ReceiptBody, receipt: StoredReceipt, claim: StoredClaim | undefined): string[] {
  const { claim_digest, ...claimed } = body.claim
  const problems = evidenceProblems(body, receipt.evidence, claim)
  if (digestOf(claimed) !== claim_digest) problems.push("the entry's claim_digest is not the digest of its claim")
  if (body.receipt_id !== receipt.receiptId) problems.push(`the entry belongs to ${body.receipt_id}`)
  if (body.issued_at !== instantText(receipt.issuedAt)) problems.push('issued_at differs from that of the entry')
  if (!claim?.row) return problems
  const [made] = tryBodies(receipt, claim, body)
  if (made) {
    const members = differingMembers(body, made).filter((member) => !['receipt_id', 'issued_at'].includes(member))
    return [...problems, ...members.map((member) => `claim ${claim.claimId} differs in ${member}`)]
  }
  return problems.length > 0 ? problems : [`claim ${claim.claimId} has no check that it can rest on`]
}

function tryBodies(...of: Parameters<typeof bodiesOf>): ReceiptBody[] {
  try {
    return bodiesOf(...of)
  } catch {
    return []
  }
}

/** As `claim.target`: not deeper, where names are those of clients. */
export function differingMembers(
  one: JsonValue | undefined,
  other: JsonValue | undefined,
  at: string[] = [],
): string[] {
  if (one !== undefined && other !== undefined) {
    if (canonicalize(one) === canonicalize(other)) return []
    if (at.length < 2 && isJsonObject(one) && isJsonObject(other)) {
      const names = new Set([...Object.keys(one), ...Object.keys(other)])
      return [...names].flatMap((name) => differingMembers(one[name], other[name], [...at, name]))
    }
  }
  return one === other ? [] : [at.join('.')]
}

/** Undefined when the value is not a time. */
function instantText(instant: Instant): string | undefined {
  try {
    return formatInstant(instant)
  } catch {
    return undefined
  }
}
