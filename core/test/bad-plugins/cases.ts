/** What the kit is given of the tracker, for the good plugin and the bad ones. */
import type { JsonObject, Plugin } from '@claimcheck/core/plugin'
import { type Case, type ConformanceOptions, type Report, runConformance } from '@claimcheck/core/testkit'
import { lineTracker } from './line-tracker.ts'
import type { Way } from './row.ts'
import { GUEST_TOKEN, MINUTE, NOON, type Situation, TOKEN, tracker } from './tracker.ts'

const claim = { target: 'ACME-7', params: { resolution: 'Fixed' }, claimedAt: NOON }
const absentRoutes = [/\/tickets\/7$/]
const closedAt = (at: number) => [{ appeared: { notBefore: at, notAfter: at } }]

const ROWS: readonly Omit<Case<Situation, undefined>, 'claim' | 'absentRoutes' | 'name'>[] = [
  {
    situation: 'closed',
    sees: { kind: 'present', facts: { project_id: 17 }, stays: closedAt(NOON) },
    verdict: 'verified',
  },
  { situation: 'open', sees: { kind: 'absent', facts: { state: 'open' } }, verdict: 'failed' },
  { situation: 'missing', sees: { kind: 'absent' }, verdict: 'failed' },
  { situation: 'closed after many events', sees: { kind: 'present', stays: closedAt(NOON) }, verdict: 'verified' },
  { situation: 'closed otherwise', sees: { kind: 'present', differs: ['resolution'] }, verdict: 'mismatch' },
  {
    situation: 'closed late',
    submittedAfterMs: 13 * MINUTE,
    sees: { kind: 'present', stays: closedAt(NOON + 12 * MINUTE) },
    verdict: 'late',
  },
]

/** Besides the token. */
const MORE_OPTIONS: Partial<Record<Way, JsonObject>> = {
  signatures: { key_id: 'kit' },
  tokens: { client_id: 'kit' },
  challenges: { user: 'kit' },
}

const NO_LINE: readonly Situation[] = ['closed after many events']

export function options(
  plugin: Plugin,
  situations?: readonly Situation[],
  way: Way = 'requests',
): ConformanceOptions<Situation, undefined> {
  const known = ROWS.filter(({ situation }) => way !== 'lines' || !NO_LINE.includes(situation!))
  const client = MORE_OPTIONS[way] ?? {}
  const rows = known.filter(({ situation }) => situations?.includes(situation!) ?? true)
  return {
    plugin,
    connection: { provider: 'tracker', options: { token: TOKEN, ...client } },
    unprivileged: { provider: 'tracker', options: { token: GUEST_TOKEN, ...client } },
    destination: way === 'lines' ? lineTracker() : tracker(),
    before: 'open',
    another: 'another',
    cases: rows.map((row) => ({
      ...row,
      name: `the ticket is ${row.situation}`,
      claim,
      absentRoutes,
      // Nothing tells the clock of a place that does not speak HTTP.
      ...(way === 'lines' && row.verdict === 'late' ? { verdict: 'unverifiable' as const } : {}),
    })),
  }
}

/** @param only the kit's checks to make; all, when left out */
export function examine(
  plugin: Plugin,
  situations?: readonly Situation[],
  way?: Way,
  only?: readonly string[],
): Promise<Report> {
  return runConformance({ ...options(plugin, situations, way), ...(only ? { only } : {}) })
}
