// Test run: end-to-end, slow
/** The plugin passes the conformance kit at a stand-in for GitLab. */
import { verifierConformance } from '@claimcheck/core/testkit'
import codehost from '@claimcheck/plugin-codehost'
import t from 'tap'
import { gitlabKind } from '../../../test/destinations/forge/gitlab.ts'
import { StandIn } from '../../../test/destinations/forge/stand-in.ts'
import { LONG } from '../../../test/support/extent.ts'
import { MINUTE, NOON, TOKEN } from './gitlab-fixture.ts'
import { inSituations } from './situations.ts'

t.setTimeout(500_000)

const LIMITED_TOKEN = 'glpat-metadata-0123456789'
const SLUG = 'acme/tools/app'

const SITUATIONS = ['nothing', 'pushed', 'pushed late', 'on another branch', 'merged'] as const
type Situation = (typeof SITUATIONS)[number]
interface Made {
  readonly sha: string
  readonly number: number
}

/** All with the same project and the same commits. */
async function build(situation: Situation, now: () => number) {
  let built: number | undefined = NOON - 60 * MINUTE
  const standIn = await StandIn.start(gitlabKind, { now: () => built ?? now() })
  const repository = await standIn.createRepository(SLUG, { isPrivate: true, createdAt: NOON - 600 * MINUTE })
  const commit = (message: string, ...parents: string[]) =>
    repository.commit({ message, parents, date: new Date(NOON - 60 * MINUTE) })
  const base = await commit('Second', await commit('First'))
  const sha = await commit('Third', base)
  const tip = await commit('Fourth', sha)
  for (const branch of ['main', 'topic']) await repository.push(branch, base)
  await repository.push('feature', await commit('Feature', base))
  const number = await repository.pullRequests.open({ head: 'feature' })
  built = situation === 'pushed late' ? NOON + 12 * MINUTE : NOON + MINUTE
  if (situation === 'pushed' || situation === 'pushed late') await repository.push('main', tip)
  if (situation === 'on another branch') await repository.push('topic', tip)
  if (situation === 'merged') {
    await repository.pullRequests.merge(number)
    await repository.push('main', await commit('Fifth', repository.asOf().tip('main')!))
  }
  standIn.addToken({ token: TOKEN, repositories: [repository] })
  standIn.addToken({ token: LIMITED_TOKEN, repositories: [repository], contents: false })
  built = undefined
  return { standIn, named: { sha, number } }
}

t.test('at GitLab', LONG, async (t) => {
  const push = {
    claim: ({ sha }: Made) => ({ target: SLUG, params: { sha, branch: 'main' }, claimedAt: NOON }),
    absentRoutes: [/\/branches\//, /\/merge_base/, /\/commits\//],
    // What is there has been seen without it.
    extraRoutes: [/\/events/],
    submittedAfterMs: 13 * MINUTE,
  }
  const merge = {
    claim: ({ number }: Made) => ({
      ...{ action: 'codehost.pull_request.merge', target: SLUG, claimedAt: NOON },
      params: { number, base: 'main' },
    }),
    absentRoutes: [/\/merge_requests\/\d+$/, /\/branches\//, /\/merge_base/],
    submittedAfterMs: 13 * MINUTE,
  }
  const report = await verifierConformance(t, {
    plugin: codehost,
    connection: (url) => ({ provider: 'gitlab', options: { token: TOKEN, base_url: url }, target: SLUG }),
    unprivileged: (url) => ({ provider: 'gitlab', options: { token: LIMITED_TOKEN, base_url: url } }),
    destination: inSituations(SITUATIONS, build),
    before: 'nothing',
    cases: [
      {
        ...push,
        name: 'pushed in time',
        situation: 'pushed',
        sees: { kind: 'present', facts: { branch_listed: true } },
        verdict: 'verified',
      },
      {
        ...push,
        name: 'never pushed',
        situation: 'nothing',
        sees: { kind: 'absent', mark: 'never_before' },
        verdict: 'failed',
      },
      {
        ...push,
        name: 'pushed to another branch',
        situation: 'on another branch',
        sees: { kind: 'present', differs: ['branch'], mark: 'never_before', facts: { found_on: 'topic' } },
        verdict: 'mismatch',
      },
      {
        ...merge,
        name: 'merged in time',
        situation: 'merged',
        sees: { kind: 'present', facts: { state: 'merged', merge_commit_on_base: true } },
        verdict: 'verified',
      },
      {
        ...merge,
        name: 'not merged',
        situation: 'nothing',
        sees: { kind: 'absent', mark: 'never_before', facts: { state: 'open' } },
        verdict: 'failed',
      },
    ],
  })
  t.strictSame(report.untested, [])
})
