/** Conditions for the claims of a workspace that are listed or counted. */

import type { Instant, VerdictValue } from '@claimcheck/core/rules'
import { type ClaimRow, claims } from './claim-row.ts'
import type { Binding } from './db.ts'
import type { Dialect } from './dialect.ts'
import { patternOf, variantsOf } from './search.ts'
import { part, type RowOf } from './table.ts'

export const position = part(claims, 'submittedAt', 'claimId')

export type ClaimPosition = RowOf<typeof position>

export interface ClaimQuery {
  readonly workspaceId: string
  readonly limit: number
  /** The claim that all listed ones must be older than. */
  readonly before?: ClaimPosition
  /** The oldest claim to list. */
  readonly from?: ClaimPosition
  /** The time from which the claims must have been submitted. */
  readonly since?: Instant
  /** The time before which the claims must have been submitted. */
  readonly until?: Instant
  readonly agentId?: string
  readonly action?: string
  readonly target?: string
  readonly verdict?: VerdictValue
  readonly state?: ClaimRow['state']
  /** A text to search for in the target, the agent, an id, or the params as JSON. Letters of ASCII match in either case. */
  readonly search?: string
}

/** The parts of a query that an index finds: within them nothing is read that does not fit. */
export type ClaimScope = Omit<ClaimQuery, 'limit' | 'target' | 'search'>

/** Columns that narrow a list by one value each. Those that find fewer claims are first, as in `scopeOf`. */
const FILTERS = { agentId: 'agent_id', verdict: 'verdict', action: 'action', target: 'target' } as const
const STATES = { queued: 'verdict IS NULL', decided: `state = 'decided'` } as const

/** Columns to search for a text. The params are searched as the JSON that they are stored as. */
const SEARCHED = ['target', 'agent_id', 'claim_id', 'client_claim_id', 'receipt_id']

/** Conditions for whole ids of Claimcheck, which one claim has: it is looked up, because reading all claims for it could take long. */
const ID_CONDITIONS: readonly (readonly [id: RegExp, condition: string])[] = [
  [/^clm_[0-9a-z]{26}$/i, 'claim_id = ?'],
  [/^rcpt_[0-9a-z]{26}$/i, 'receipt_id = ?'],
]

function conditionOfId(search: string): string | undefined {
  return ID_CONDITIONS.find(([id]) => id.test(search))?.[1]
}

/** Tells whether a search is for a whole id, and needs no bound. */
export function isWholeId(search: string): boolean {
  return conditionOfId(search) !== undefined
}

function searched({ matches }: Dialect, search: string) {
  const byId = conditionOfId(search)
  if (byId !== undefined) {
    const [prefix, letters] = search.split('_')
    return { condition: byId, bindings: [`${prefix!.toLowerCase()}_${letters!.toUpperCase()}`] }
  }
  const variants = variantsOf(search)
  const isIn = (column: string) => variants.map(() => matches(column)).join(' OR ')
  return {
    condition: `(${[...SEARCHED, 'params'].map(isIn).join(' OR ')})`,
    bindings: [
      ...SEARCHED.flatMap(() => variants.map(patternOf)),
      ...variants.map((variant) => patternOf(JSON.stringify(variant).slice(1, -1))),
    ],
  }
}

/** Makes the condition of a query, with its bindings. */
export function conditionOf(
  dialect: Dialect,
  { workspaceId, before, from, since, until, search, state, ...filter }: Omit<ClaimQuery, 'limit'>,
) {
  const conditions = ['workspace_id = ?']
  const bindings: Binding[] = [workspaceId]
  let isNarrowed = state === 'queued'
  for (const [name, column] of Object.entries(FILTERS)) {
    const value = filter[name as keyof typeof FILTERS]
    if (value === undefined) continue
    // Only the first filter may use an index: that of another one may have many claims of which none fits.
    const plain = column === 'action' ? `action = ? AND action <> ''` : `${column} = ?`
    conditions.push(isNarrowed ? `COALESCE(${column}, '') = ?` : plain)
    isNarrowed = true
    bindings.push(value)
  }
  if (state !== undefined) conditions.push(STATES[state])
  if (before) {
    conditions.push('(submitted_at, claim_id) < (?, ?)')
    bindings.push(before.submittedAt, before.claimId)
  }
  if (from) {
    conditions.push('(submitted_at, claim_id) >= (?, ?)')
    bindings.push(from.submittedAt, from.claimId)
  }
  if (since !== undefined) {
    conditions.push('submitted_at >= ?')
    bindings.push(since)
  }
  if (until !== undefined) {
    conditions.push('submitted_at < ?')
    bindings.push(until)
  }
  if (search !== undefined) {
    const part = searched(dialect, search)
    conditions.push(part.condition)
    bindings.push(...part.bindings)
  }
  return { condition: conditions.join(' AND '), bindings }
}
