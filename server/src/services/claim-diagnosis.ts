/** Holds claims against what else is stored of them: their digests, their checks, and the receipts that follow from both. */
import { type CheckRecord, canonicalize, claimDigest, type ReceiptBody, receiptBody } from '@claimcheck/core'
import type { ClaimRow } from '../storage/claims.ts'
import type { ReceiptRow } from '../storage/log.ts'
import type { Reads } from '../storage/storage.ts'
import { receiptContent } from './receipt-content.ts'

export type Complain = (problem: string) => void
type Claims = Reads['claims']

const CLAIMS_PER_READ = 500

/** What is wrong with the claims of these receipts, whose entries are in order themselves. */
export async function checkDecidedClaims(
  claims: Claims,
  receipts: readonly { readonly row: ReceiptRow; readonly body: ReceiptBody }[],
  complain: Complain,
): Promise<void> {
  const found = await readClaims(
    claims,
    receipts.map(({ row }) => row.claimId),
    complain,
  )
  for (const { row, body } of receipts) {
    const stored = found.get(row.claimId)
    if (!stored || !isReceiptOf(body, row, stored)) {
      complain(
        `receipt ${row.receiptId} (leaf ${row.leafIndex}): claim ${row.claimId} says something else, or is missing`,
      )
    }
  }
}

export async function checkQueuedClaims(claims: Claims, complain: Complain): Promise<void> {
  let after = ''
  for (;;) {
    const ids = await claims.queuedIds(after, CLAIMS_PER_READ)
    if (ids.length === 0) return
    for (const { claim } of (await readClaims(claims, ids, complain)).values()) {
      if (claimDigest(claim) !== claim.claimDigest) complain(`claim ${claim.claimId}: claim_digest is not its digest`)
    }
    after = ids.at(-1)!
  }
}

interface StoredClaim {
  readonly claim: ClaimRow
  readonly history: readonly CheckRecord[]
}

/** All at once; where a row cannot be read, one by one, so that it is named. */
async function readClaims(
  claims: Claims,
  claimIds: readonly string[],
  complain: Complain,
): Promise<Map<string, StoredClaim>> {
  try {
    const [rows, histories] = await Promise.all([claims.byIds(claimIds), claims.histories(claimIds)])
    return new Map(rows.map((claim) => [claim.claimId, { claim, history: histories.get(claim.claimId)! }]))
  } catch (error) {
    if (claimIds.length > 1) {
      const each = []
      for (const claimId of claimIds) each.push(...(await readClaims(claims, [claimId], complain)))
      return new Map(each)
    }
    complain(`claim ${claimIds[0]}: it or its checks cannot be read: ${(error as Error).message}`)
    return new Map()
  }
}

/** The receipt follows from the claim and one of its checks. When the outcome appeared is for the rules to tell, which are a plugin's. */
function isReceiptOf(body: ReceiptBody, row: ReceiptRow, { claim, history }: StoredClaim): boolean {
  const { appeared: _, ...observation } = body.observation
  const said = canonicalize({ ...body, observation })
  const { verdict: value, reasonCode } = claim
  if (claim.state !== 'decided' || claim.receiptId !== row.receiptId || value === null) return false
  if (claim.claimDigest !== body.claim.claim_digest || !isSame(claim.lastCheck, history.at(-1))) return false
  const verdict = { value, ...(reasonCode === null ? {} : { reasonCode }) }
  const { key_id: keyId, name } = body.issuer
  return history.some((basis) => {
    const content = receiptContent({ ...claim, attempts: claim.attempts - 1 }, { verdict, basis })
    const issuer = { keyId, ...(name === undefined ? {} : { name }) }
    const { receiptId, issuedAt } = row
    return canonicalize(receiptBody({ ...content, receiptId, issuedAt, issuer })) === said
  })
}

function isSame(one: CheckRecord | null, other: CheckRecord | undefined): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}
