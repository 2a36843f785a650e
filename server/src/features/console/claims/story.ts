/** The story of a claim: what happened and what is still to come, in order of time. */

import type { Receipt } from '@claimcheck/core/receipts'
import { type CheckRecord, type Instant, parseInstant } from '@claimcheck/core/rules'
import type { ClaimDetail } from '../../claims/claims.ts'

/** An anchor on its chain. */
export interface Landing {
  readonly chain: string
  readonly txHash: string
  readonly uid: string
  readonly block?: { readonly number: number; readonly time: Instant }
}

export interface NumberedCheck {
  readonly number: number
  readonly record: CheckRecord
}

interface Timed {
  readonly at: Instant
}

interface Moments {
  readonly claimed: Timed
  /** The end of the tolerance. */
  readonly tolerance: Timed
  readonly submitted: Timed
  /** Checks in a row with the same result. */
  readonly checks: Timed & { readonly checks: readonly NumberedCheck[] }
  readonly next: Timed
  readonly deadline: Timed
  readonly decided: Timed
  readonly logged: Timed & { readonly leafIndex: number; readonly treeSize: number }
  readonly anchored: { readonly at: Instant | null; readonly landing: Landing }
  readonly unanchored: { readonly at: null; readonly isToCome: boolean }
}

export type MomentKind = keyof Moments

export type MomentOf<K extends MomentKind> = { readonly kind: K } & Moments[K]

export type Moment = { readonly [K in MomentKind]: MomentOf<K> }[MomentKind]

export interface StoryOptions {
  readonly detail: ClaimDetail
  /** The tolerance; undefined where the profile of the claim is not loaded. */
  readonly toleranceMs: number | undefined
  readonly receipt: Receipt | undefined
  readonly landing: Landing | undefined
  /** True if this service anchors its log now. */
  readonly anchors: boolean
}

/** Lists the moments of a claim in order of time. Those without a time come last; at the same time, a cause comes before its effect. */
export function storyOf({ detail, toleranceMs, receipt, landing, anchors }: StoryOptions): readonly Moment[] {
  const { claim, history } = detail
  const end = endOf(detail, receipt)
  const moments: Moment[] = [
    { kind: 'claimed', at: claim.claimedAt },
    ...(toleranceMs === undefined ? [] : upTo(end, { kind: 'tolerance', at: claim.claimedAt + toleranceMs })),
    { kind: 'submitted', at: claim.submittedAt },
    ...history.map((record, index) => checksOf({ number: index + 1, record })),
    ...upTo(end, { kind: 'deadline', at: claim.deadlineAt }),
    ...(claim.nextCheckAt === null ? [] : [{ kind: 'next' as const, at: claim.nextCheckAt }]),
    ...(receipt ? ending(receipt, landing, anchors) : []),
  ]
  return gathered(moments.toSorted((one, other) => rankOf(one) - rankOf(other)))
}

/** Returns the time of the decision, after which no limit matters any more. Without a receipt, the last check tells it. */
function endOf({ claim, history }: ClaimDetail, receipt: Receipt | undefined): Instant {
  if (claim.state === 'queued') return Number.POSITIVE_INFINITY
  return receipt ? parseInstant(receipt.body.issued_at)! : (history.at(-1)?.answeredAt ?? claim.submittedAt)
}

function upTo(end: Instant, moment: Moment & Timed): Moment[] {
  return moment.at <= end ? [moment] : []
}

function checksOf(check: NumberedCheck): Moment {
  return { kind: 'checks', at: check.record.answeredAt, checks: [check] }
}

function rankOf({ at }: Moment): number {
  return at ?? Number.POSITIVE_INFINITY
}

function ending({ body, proof }: Receipt, landing: Landing | undefined, anchors: boolean): Moment[] {
  const at = parseInstant(body.issued_at)!
  return [
    { kind: 'decided', at },
    ...(proof ? [{ kind: 'logged' as const, at, leafIndex: proof.leaf_index, treeSize: proof.tree_size }] : []),
    landing
      ? { kind: 'anchored', at: landing.block?.time ?? null, landing }
      : { kind: 'unanchored', at: null, isToCome: anchors },
  ]
}

/** Joins checks with the same result that have no other moment between them. */
function gathered(moments: readonly Moment[]): Moment[] {
  const story: Moment[] = []
  for (const moment of moments) {
    const last = story.at(-1)
    if (last?.kind === 'checks' && moment.kind === 'checks' && isSame(last.checks[0]!, moment.checks[0]!)) {
      story[story.length - 1] = { ...last, checks: [...last.checks, ...moment.checks] }
    } else story.push(moment)
  }
  return story
}

function isSame(one: NumberedCheck, other: NumberedCheck): boolean {
  return JSON.stringify(foundBy(one.record)) === JSON.stringify(foundBy(other.record))
}

function foundBy(record: CheckRecord): unknown {
  return 'observation' in record ? record.observation : [record.failure.code, record.failure.status]
}
