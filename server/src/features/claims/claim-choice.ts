/** Which claims of a workspace somebody asks for, and how far such a choice may make the database look. */
import type { Instant, VerdictValue } from '@claimcheck/core/rules'
import { type ClaimScope, isWholeId } from '../../storage/claim-query.ts'
import type { ClaimRow } from '../../storage/claim-row.ts'

export interface ClaimChoice {
  readonly agentId?: string
  readonly action?: string
  readonly target?: string
  readonly verdict?: VerdictValue
  readonly state?: ClaimRow['state']
  /** A part of the target, of the agent, of an id, or of the params. */
  readonly search?: string
  /** Submitted then or later. */
  readonly since?: Instant
  /** Submitted before then. */
  readonly until?: Instant
}

/** A choice is applied to so many claims at a time: to read all of a large workspace would take the database from claims. */
export const MOST_EXAMINED = 10_000

/** The part of a choice that an index finds. */
export function scopeOf(workspaceId: string, { agentId, since, until }: ClaimChoice): ClaimScope {
  return {
    workspaceId,
    ...(agentId === undefined ? {} : { agentId }),
    ...(since === undefined ? {} : { since }),
    ...(until === undefined ? {} : { until }),
  }
}

/** False where an index finds all that is asked for. */
export function isBounded({ search }: ClaimChoice, mostExamined: number | undefined): mostExamined is number {
  return mostExamined !== undefined && !(search !== undefined && isWholeId(search))
}
