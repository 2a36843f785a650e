/** The plugin passes the conformance kit at PyPI. */
import { type Destination, verifierConformance } from '@claimcheck/core/testkit'
import registry from '@claimcheck/plugin-registry'
import t from 'tap'
import { PypiStandIn } from '../../../test/destinations/pypi.ts'
import { MINUTE, NOON } from './fixture.ts'

t.setTimeout(500_000)

type Situation = 'not uploaded' | 'uploaded' | 'other content' | 'no project'
interface Prepared {
  readonly integrity: string
}

function pypi(): Destination<Situation, Prepared> {
  let standIn: PypiStandIn
  return {
    async start({ now }) {
      standIn = await PypiStandIn.start(now)
      return { url: standIn.url, stop: () => standIn.close() }
    },
    set(situation) {
      standIn.reset()
      const integrity = standIn.digestOf('tool', '1.0.0', 'py3-none-any.whl', 'content')
      if (situation === 'no project') return { integrity }
      standIn.upload('tool', '0.9.0', { at: NOON - 60 * MINUTE })
      if (situation === 'uploaded') standIn.upload('tool', '1.0.0', { at: NOON + 500, content: 'content' })
      // What came after the claim may have taken the place of what was claimed.
      if (situation === 'other content') standIn.upload('tool', '1.0.0', { at: NOON - 2000, content: 'other' })
      return { integrity }
    },
  }
}

t.test('at PyPI', async (t) => {
  const claim = { target: 'pypi:Tool', params: { version: '1.0.0' }, claimedAt: NOON }
  const withDigest = ({ integrity }: Prepared) => ({ ...claim, params: { version: '1.0.0', integrity } })
  // Everything at PyPI is public, so that a 404 hides nothing there.
  const absentRoutes = [/\/1\.0\.0\/json$/, /\/simple\/tool\/$/]
  const report = await verifierConformance(t, {
    plugin: registry,
    destination: pypi(),
    before: 'not uploaded',
    cases: [
      {
        name: 'uploaded',
        situation: 'uploaded',
        claim: withDigest,
        absentRoutes,
        sees: { kind: 'present', facts: { version: '1.0.0', integrity_by: 'registry' } },
        verdict: 'verified',
      },
      {
        name: 'uploaded, and read late',
        situation: 'uploaded',
        claim,
        absentRoutes,
        submittedAfterMs: 13 * MINUTE,
        sees: { kind: 'present' },
        verdict: 'verified',
      },
      {
        name: 'uploaded with other content',
        situation: 'other content',
        claim: withDigest,
        absentRoutes,
        sees: { kind: 'present', differs: ['integrity'] },
        verdict: 'mismatch',
      },
      {
        name: 'never uploaded',
        situation: 'not uploaded',
        claim,
        absentRoutes,
        sees: { kind: 'absent', facts: { package_listed: true } },
        verdict: 'failed',
      },
      {
        name: 'no such project',
        situation: 'no project',
        claim,
        absentRoutes,
        sees: { kind: 'absent', facts: { package_listed: false } },
        verdict: 'failed',
      },
    ],
  })
  t.match(report.untested, [/^absence\.hides-permission/])
})
