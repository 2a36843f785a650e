/** The plugin passes the conformance kit at a sparse index that nginx serves. */
import { type Destination, verifierConformance } from '@claimcheck/core/testkit'
import registry from '@claimcheck/plugin-registry'
import t from 'tap'
import { SparseIndex } from '../../../test/destinations/sparse-index.ts'
import { findProgram } from '../../../test/support/programs.ts'
import { MINUTE, NOON } from './fixture.ts'

t.setTimeout(500_000)

type Situation = 'not published' | 'published' | 'published late' | 'no crate'
interface Prepared {
  readonly integrity: string
}

function cargo(nginx: string): Destination<Situation, Prepared> {
  let index: SparseIndex
  return {
    async start({ now }) {
      index = await SparseIndex.start(nginx, now)
      return { url: index.url, stop: () => index.close() }
    },
    async set(situation) {
      await index.remove('tool')
      // Of another length in each situation, because nginx tells files of one second apart by their length alone.
      if (situation !== 'no crate') await index.publish('tool', '0.9.0', { at: NOON - 60 * MINUTE })
      if (situation === 'published late') await index.publish('tool', '1.0.0', { at: NOON + 12 * MINUTE, yanked: true })
      if (situation === 'published') await index.publish('tool', '1.0.0', { at: NOON + MINUTE })
      return { integrity: 'ab'.repeat(32) }
    },
  }
}

const nginx = findProgram('nginx')
t.test('at Cargo', { skip: nginx === undefined && 'this machine has no nginx to serve an index' }, async (t) => {
  const claim = { target: 'cargo:Tool', params: { version: '1.0.0' }, claimedAt: NOON }
  // Everything at crates.io is public, so that a 404 hides nothing there.
  const common = { claim, absentRoutes: [/\/to\/ol\/tool$/] }
  const late = { ...common, submittedAfterMs: 13 * MINUTE }
  const report = await verifierConformance(t, {
    plugin: registry,
    destination: cargo(nginx!),
    before: 'not published',
    cases: [
      {
        ...late,
        name: 'published in time',
        situation: 'published',
        sees: { kind: 'present', facts: { published_at: '2026-09-25T12:01:00.000Z' } },
        verdict: 'verified',
      },
      {
        ...late,
        name: 'published late',
        situation: 'published late',
        sees: { kind: 'present' },
        verdict: 'late',
      },
      {
        ...late,
        name: 'published with other content',
        situation: 'published',
        claim: ({ integrity }) => ({ ...claim, params: { ...claim.params, integrity } }),
        sees: { kind: 'present', differs: ['integrity'], mark: 'final' },
        verdict: 'mismatch',
      },
      {
        ...late,
        name: 'never published',
        situation: 'not published',
        sees: { kind: 'absent', mark: 'never_before' },
        verdict: 'failed',
      },
      {
        ...common,
        name: 'no such crate',
        situation: 'no crate',
        sees: { kind: 'absent', facts: { package_listed: false } },
        verdict: 'failed',
      },
    ],
  })
  t.match(report.untested, [/^absence\.hides-permission/])
})
