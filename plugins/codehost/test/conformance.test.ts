// Test run: end-to-end, slow
/** The plugin passes the conformance kit at a stand-in for GitHub. */
import { verifierConformance } from '@claimcheck/core/testkit'
import codehost from '@claimcheck/plugin-codehost'
import t from 'tap'
import { startGitHub } from '../../../test/destinations/forge/github.ts'
import { MINUTE, NOON } from './github-fixture.ts'
import { inSituations } from './situations.ts'

t.setTimeout(500_000)

const TOKEN = 'ghp_0123456789abcdefghijABCDEFGHIJ'
const LIMITED_TOKEN = 'ghp_metadata0123456789metadata0123'

const SITUATIONS = ['not pushed', 'pushed', 'on another branch', 'pushed late'] as const
type Situation = (typeof SITUATIONS)[number]
interface Commits {
  readonly sha: string
}

async function build(situation: Situation, now: () => number) {
  let built: number | undefined = NOON - 60 * MINUTE
  const standIn = await startGitHub({ now: () => built ?? now() })
  const repository = await standIn.createRepository('acme/app', { isPrivate: true })
  const commit = (message: string, ...parents: string[]) =>
    repository.commit({ message, parents, date: new Date(NOON - 60 * MINUTE) })
  const base = await commit('Second', await commit('First'))
  const sha = await commit('Third', base)
  for (const branch of ['main', 'topic']) await repository.push(branch, base)
  built = situation === 'pushed late' ? NOON + 12 * MINUTE : NOON + MINUTE
  if (situation === 'pushed' || situation === 'pushed late') await repository.push('main', sha)
  if (situation === 'on another branch') await repository.push('topic', sha)
  standIn.addToken({ token: TOKEN, repositories: [repository] })
  standIn.addToken({ token: LIMITED_TOKEN, repositories: [repository], contents: false })
  built = undefined
  return { standIn, named: { sha } }
}

t.test('at GitHub', async (t) => {
  const claim = ({ sha }: Commits) => ({ target: 'acme/app', params: { sha, branch: 'main' }, claimedAt: NOON })
  const absentRoutes = [/\/git\/ref\//, /\/compare\//, /\/commits\//]
  // The push log needs a right of its own, and not every server has it.
  const extraRoutes = [/\/activity/]
  const common = { claim, absentRoutes, extraRoutes, submittedAfterMs: 13 * MINUTE }
  const report = await verifierConformance(t, {
    plugin: codehost,
    connection: (url) => ({ provider: 'github', options: { token: TOKEN, base_url: url }, target: 'acme/app' }),
    unprivileged: (url) => ({ provider: 'github', options: { token: LIMITED_TOKEN, base_url: url } }),
    destination: inSituations(SITUATIONS, build),
    before: 'not pushed',
    cases: [
      {
        ...common,
        name: 'pushed in time',
        situation: 'pushed',
        sees: ({ sha }) => ({ kind: 'present', facts: { head: sha, branch_listed: true } }),
        verdict: 'verified',
      },
      { ...common, name: 'pushed late', situation: 'pushed late', sees: { kind: 'present' }, verdict: 'late' },
      {
        ...common,
        name: 'never pushed',
        situation: 'not pushed',
        sees: { kind: 'absent', mark: 'never_before' },
        verdict: 'failed',
      },
      {
        ...common,
        name: 'pushed to another branch',
        situation: 'on another branch',
        sees: { kind: 'present', differs: ['branch'], mark: 'never_before', facts: { found_on: 'topic' } },
        verdict: 'mismatch',
      },
    ],
  })
  t.strictSame(report.untested, [])
})
