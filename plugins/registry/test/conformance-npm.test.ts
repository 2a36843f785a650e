// Test run: slow
/** The plugin passes the conformance kit at npm's public registry, with a private package. */
import { type Destination, verifierConformance } from '@claimcheck/core/testkit'
import registry from '@claimcheck/plugin-registry'
import t from 'tap'
import { NpmStandIn } from '../../../test/destinations/npm-public.ts'
import { integrityOf } from '../../../test/destinations/verdaccio.ts'
import { MINUTE, NOON } from './fixture.ts'

t.setTimeout(500_000)

const TOKEN = 'npm_0123456789abcdefghijABCDEFGHIJ012345'
const NAME = '@acme/tool'
const TARBALL = 'https://registry.npmjs.org/@acme/tool/-/tool-1.0.0.tgz'
const CONTENT = 'the content'

type Situation = 'not published' | 'published' | 'published late' | 'other content' | 'unpublished'

function npm(): Destination<Situation> {
  let standIn: NpmStandIn
  return {
    async start({ now }) {
      standIn = await NpmStandIn.start(now)
      standIn.addToken(TOKEN)
      return { url: standIn.url, stop: () => standIn.close() }
    },
    set(situation) {
      const common = { isPrivate: true, tarball: TARBALL }
      const publish = (version: string, minutes: number, content = CONTENT) =>
        standIn.publish(NAME, version, { ...common, at: NOON + minutes * MINUTE, content })
      standIn.reset()
      publish('0.9.0', -60)
      if (situation === 'not published') return
      publish('1.0.0', situation === 'published late' ? 12 : 1, situation === 'other content' ? 'other' : CONTENT)
      if (situation === 'unpublished') standIn.unpublish(NAME, '1.0.0', NOON + 2 * MINUTE)
    },
  }
}

t.test('at npm', async (t) => {
  const claim = { target: `npm:${NAME}`, params: { version: '1.0.0' }, claimedAt: NOON }
  const withDigest = { ...claim, params: { version: '1.0.0', integrity: integrityOf(CONTENT) } }
  const absentRoutes = [/\/1\.0\.0$/]
  // The package's document only says when.
  const extraRoutes = [/%2ftool$/]
  const late = { submittedAfterMs: 13 * MINUTE }
  const report = await verifierConformance(t, {
    plugin: registry,
    connection: { provider: 'npm', options: { token: TOKEN }, target: NAME },
    unprivileged: { provider: 'npm', options: { token: 'npm_9876543210abcdefghijABCDEFGHIJ012345' } },
    destination: npm(),
    before: 'not published',
    cases: [
      {
        name: 'published in time',
        situation: 'published',
        claim,
        absentRoutes,
        extraRoutes,
        submittedAfterMs: 2 * MINUTE,
        sees: { kind: 'present', facts: { version: '1.0.0', published_at: '2026-09-25T12:01:00.000Z' } },
        verdict: 'verified',
      },
      {
        name: 'published in time with the content, and read late',
        situation: 'published',
        claim: withDigest,
        absentRoutes,
        extraRoutes,
        ...late,
        sees: { kind: 'present', facts: { integrity: integrityOf(CONTENT), integrity_by: 'claimcheck' } },
        verdict: 'verified',
      },
      {
        name: 'published late',
        situation: 'published late',
        claim,
        absentRoutes,
        extraRoutes,
        ...late,
        sees: { kind: 'present' },
        verdict: 'late',
      },
      {
        name: 'published with other content',
        situation: 'other content',
        claim: withDigest,
        absentRoutes,
        extraRoutes,
        ...late,
        sees: { kind: 'present', differs: ['integrity'], mark: 'final' },
        verdict: 'mismatch',
      },
      {
        name: 'published and unpublished',
        situation: 'unpublished',
        claim,
        absentRoutes,
        ...late,
        sees: { kind: 'absent', facts: { unpublished: true } },
        verdict: 'verified',
      },
      {
        name: 'never published',
        situation: 'not published',
        claim,
        absentRoutes,
        ...late,
        sees: { kind: 'absent', mark: 'never_before', stays: [] },
        verdict: 'failed',
      },
      {
        name: 'without a connection',
        situation: 'published',
        connection: null,
        claim,
        sees: { error: 'forbidden' },
        verdict: 'unverifiable',
      },
    ],
  })
  t.strictSame(report.untested, [])
})
