/** The top of a claim's page: what happened, why, and the comparison of the claimed and the found values. */

import type { ActionProfile } from '@claimcheck/core/plugin'
import type { Receipt } from '@claimcheck/core/receipts'
import { type CheckRecord, formatInstant, isRead, type JsonObject, type ReadRecord } from '@claimcheck/core/rules'
import { type ComparedField, comparisonOf, titlesOf } from '../../../web/receipt-view/comparison.ts'
import { decidedBy, differenceIn, headlineOf, pluginSays, reasonOf } from '../../../web/receipt-view/headline.ts'
import type { ClaimDetail } from '../../claims/claims.ts'

export interface Standing {
  readonly headline: string
  readonly reason: string
  readonly fields: readonly ComparedField[]
  /** Sentences of a stranger's plugin, to stand apart. */
  readonly said: readonly string[]
}

interface Known {
  readonly detail: ClaimDetail
  /** The claim's profile; undefined where it is not loaded. */
  readonly profile: ActionProfile | undefined
  /** True if the profile has the words of a stranger's plugin. */
  readonly isForeign?: boolean
  /** The receipt; undefined while the claim is queued, and where the receipt cannot be read. */
  readonly receipt: Receipt | undefined
}

export function standingOf({ detail, profile, isForeign = false, receipt }: Known): Standing {
  const { claim, params, history } = detail
  const { target, verdict } = claim
  const reason = claim.reasonCode ?? undefined
  const basis = basisOf(history, receipt)
  const facts: JsonObject = receipt?.body.observation.facts ?? basis?.observation.facts ?? {}
  const differs = basis?.observation.kind === 'present' ? basis.observation.differs : undefined
  const titles = profile && titlesOf(profile)
  const fields = comparisonOf({ claim: { target, params }, facts, verdict, reason, differs, titles })
  if (verdict === null) {
    return { headline: waitingFor(history.at(-1), fields), reason: CHECKED_AGAIN, fields, said: [] }
  }
  const decided = {
    ...(receipt ? decidedBy(receipt) : { verdict, reason, named: { target, params, facts } }),
    fields,
    worded: profile,
    isForeign,
    toleranceMs: profile?.toleranceMs,
  }
  return { headline: headlineOf(decided), reason: reasonOf(decided), fields, said: pluginSays(decided) }
}

/** Finds the read on which the verdict rests; the last one where there is no receipt. */
function basisOf(history: readonly CheckRecord[], receipt: Receipt | undefined): ReadRecord | undefined {
  const reads = history.filter(isRead)
  if (!receipt) return reads.at(-1)
  return reads.findLast(({ answeredAt }) => formatInstant(answeredAt) === receipt.body.observation.observed_at)
}

const CHECKED_AGAIN = 'Not decided yet. The destination is checked again until the deadline.'

function waitingFor(last: CheckRecord | undefined, fields: readonly ComparedField[]): string {
  if (!last) return 'Waiting for the first check'
  if (!isRead(last)) return 'Waiting: could not be read yet'
  if (last.observation.kind === 'absent') return 'Waiting: not there yet'
  const difference = differenceIn(fields)
  return difference === undefined ? 'Waiting: there, and not decided yet' : `Waiting: ${difference}, so far`
}
