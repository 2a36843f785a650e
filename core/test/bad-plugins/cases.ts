/** What the kit is given of the tracker, for the good plugin and the bad ones. */
import type { Plugin } from '@claimcheck/core/plugin'
import { type Case, type ConformanceOptions, type Report, runConformance } from '@claimcheck/core/testkit'
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

export function options(plugin: Plugin, situations?: readonly Situation[]): ConformanceOptions<Situation, undefined> {
  const rows = ROWS.filter(({ situation }) => situations?.includes(situation!) ?? true)
  return {
    plugin,
    connection: { provider: 'tracker', options: { token: TOKEN } },
    unprivileged: { provider: 'tracker', options: { token: GUEST_TOKEN } },
    destination: tracker(),
    before: 'open',
    cases: rows.map((row) => ({ ...row, name: `the ticket is ${row.situation}`, claim, absentRoutes })),
  }
}

export function examine(plugin: Plugin, situations?: readonly Situation[]): Promise<Report> {
  return runConformance(options(plugin, situations))
}
