/** Decided claims with their checks and signed receipts in the log, each as good as a real one, some ten times as fast. */

import { aroundBody, canonicalize, DOMAINS, receiptBody, type Signer } from '@claimcheck/core/receipts'
import type { Instant } from '@claimcheck/core/rules'
import { newId } from '@claimcheck/server/base/ids'
import { sha256Text } from '@claimcheck/server/base/sha256'
import type { Claimcheck } from '@claimcheck/server/claimcheck'
import type { Draft } from '@claimcheck/server/features/log/log-planner'
import { SHA256_TREE } from '@claimcheck/server/features/log/log-rows'
import { receiptContent } from '@claimcheck/server/features/log/receipt-content'
import type { ClaimRow } from '@claimcheck/server/storage/claim-row'
import { queuedClaim } from './claims.ts'

const BATCH = 5_000

interface Made {
  readonly claim: ClaimRow
  readonly draft: Draft
}

/** Returns the ids of the receipts, in the order of the log. */
export async function seedReceipts(claimcheck: Claimcheck, workspaceId: string, count: number): Promise<string[]> {
  const { signingKeys, now } = claimcheck
  const signer = await signingKeys.latest()
  const begin = now()
  const receiptIds: string[] = []
  let writing: Promise<void> | undefined

  for (let start = 0, batch = 0; start < count; start += BATCH, batch++) {
    const make = receiptsLike(workspaceId, signer, begin + batch)
    const made = await Promise.all(
      Array.from({ length: Math.min(BATCH, count - start) }, (_, index) =>
        make(`decided-${String(start + index).padStart(9, '0')}`),
      ),
    )
    for (const { draft } of made) receiptIds.push(draft.receiptId)
    await writing
    // While the database writes these, the next are signed, which keeps this thread busy: it must have handed them over before.
    await new Promise<void>((handedOver, fail) => {
      writing = append(claimcheck, made, handedOver)
      writing.catch(fail)
    })
  }
  await writing
  return receiptIds
}

/** @param handedOver called when nothing is left to do but what the database does */
function append({ storage, logPlanner }: Claimcheck, made: readonly Made[], handedOver: () => void): Promise<void> {
  return storage.write(async (tx) => {
    const log = (await tx.log.lock())!
    const growth = await logPlanner.plan(
      tx.log,
      log,
      made.map(({ draft }) => draft),
    )
    const written = tx.apply({ ...growth, newClaims: made.map(({ claim }) => claim) })
    setImmediate(handedOver)
    await written
  })
}

/** Makes one receipt; the others differ from it in a few members. */
function receiptsLike(workspaceId: string, signer: Signer, at: Instant) {
  const RECEIPT_ID = 'rcpt_{receipt}'
  const CLIENT_CLAIM_ID = '{client-claim}'
  const appeared = { notAfter: at, source: 'observation' } as const
  const claim = queuedClaim(workspaceId, CLIENT_CLAIM_ID, at)
  const lastCheck = {
    sentAt: at,
    answeredAt: at,
    observation: { kind: 'present', facts: { seen: 'present' }, differs: [] },
    clockOffsetMs: 0,
    plugin: { package: '@claimcheck/plugin-codehost', version: '0.1.0', codeHash: `sha256:${'A'.repeat(43)}` },
  } as const
  const content = receiptContent(
    { ...claim, attempts: 1 },
    {
      verdict: { value: 'verified' },
      appeared,
      basis: lastCheck,
      facts: lastCheck.observation.facts,
      source: undefined,
      evidence: undefined,
    },
  )
  const issuer = { keyId: signer.keyId }
  const body = receiptBody({ ...content, receiptId: RECEIPT_ID, issuedAt: at, issuer })
  const { claim_digest, ...claimed } = body.claim
  const bodyOf = gaps(canonicalize(body), [RECEIPT_ID, CLIENT_CLAIM_ID, claim_digest])
  const claimedOf = gaps(canonicalize(claimed), [CLIENT_CLAIM_ID])

  return async (clientClaimId: string): Promise<Made> => {
    const claimId = newId('clm_', at)
    const receiptId = newId('rcpt_', at)
    const claimDigest = sha256Text(claimedOf([clientClaimId]))
    const text = bodyOf([receiptId, clientClaimId, claimDigest])
    const [before, after] = aroundBody(await signer.sign(DOMAINS.receipt, Buffer.from(text)))
    const entry = before + text + after
    const leafHash = SHA256_TREE.leaf(Buffer.from(entry))
    const decided = {
      state: 'decided',
      attempts: 1,
      dueAt: null,
      nextCheckAt: null,
      momentAt: null,
      verdict: 'verified',
    } as const
    return {
      claim: { ...claim, ...decided, claimId, clientClaimId, claimDigest, receiptId, lastCheck },
      draft: { claimId, receiptId, issuedAt: at, content, evidence: undefined, keyId: signer.keyId, entry, leafHash },
    }
  }
}

/** A text as a function of what replaces these parts of it. */
function gaps(text: string, parts: readonly string[]): (values: readonly string[]) => string {
  const marks = parts
    .map((part, index) => ({ at: text.indexOf(part), end: text.indexOf(part) + part.length, index }))
    .sort((one, other) => one.at - other.at)
  const fixed = [0, ...marks.map(({ end }) => end)].map((from, index) => text.slice(from, marks[index]?.at))
  return (values) =>
    fixed.map((piece, index) => (index === 0 ? piece : values[marks[index - 1]!.index]! + piece)).join('')
}
