// Test run: end-to-end, slow
/** The plugin passes the conformance kit at stand-ins for both Bitbuckets. */
import { type Case, verifierConformance } from '@claimcheck/core/testkit'
import codehost from '@claimcheck/plugin-codehost'
import t, { type Test } from 'tap'
import { LONG } from '../../../test/support/extent.ts'
import { BITBUCKET, BITBUCKET_SERVER, type Forge } from '../../../test/traps/lives/forges.ts'
import { MINUTE, NOON } from './bitbucket-fixture.ts'
import { inSituations } from './situations.ts'

t.setTimeout(500_000)

const TOKEN = 'bitbucket-token-0123456789-reading'
const LIMITED_TOKEN = 'bitbucket-token-0123456789-limited'

const SITUATIONS = ['nothing', 'pushed', 'merged'] as const
type Situation = (typeof SITUATIONS)[number]
interface Ids {
  readonly sha: string
}

/** In each there is pull request 1, from `topic`, whose one commit is `sha`. */
async function build(start: Forge['start'], situation: Situation, now: () => number) {
  let built: number | undefined = NOON - 60 * MINUTE
  const standIn = await start({ now: () => built ?? now() })
  const repository = await standIn.createRepository('acme/app', { isPrivate: true })
  const commit = (message: string, ...parents: string[]) =>
    repository.commit({ message, parents, date: new Date(NOON - 60 * MINUTE) })
  const base = await commit('Second', await commit('First'))
  const sha = await commit('Third', base)
  await repository.push('main', base)
  if (situation !== 'nothing') {
    await repository.push('topic', sha)
    await repository.pullRequests.open({ head: 'topic' })
  }
  built = NOON + MINUTE
  if (situation === 'pushed') await repository.push('main', await commit('Fourth', sha))
  if (situation === 'merged') await repository.pullRequests.merge(1, { how: 'squash' })
  standIn.addToken({ token: TOKEN, repositories: [repository] })
  standIn.addToken({ token: LIMITED_TOKEN, repositories: [] })
  built = undefined
  return { standIn, named: { sha } }
}

type Routes = Pick<Case, 'absentRoutes' | 'extraRoutes'>

/** @param neverOpened what a check sees of a pull request that is missing: one of them may hide it, the other may have deleted it */
function casesOf(
  push: Routes,
  merge: Routes,
  neverOpened: Pick<Case<Situation, Ids>, 'sees' | 'verdict'>,
): Case<Situation, Ids>[] {
  const pushed = {
    claim: ({ sha }: Ids) => ({
      action: 'codehost.commit.push',
      target: 'acme/app',
      params: { sha, branch: 'main' },
      claimedAt: NOON,
    }),
    ...push,
    submittedAfterMs: 2 * MINUTE,
  }
  const merged = {
    claim: ({ sha }: Ids) => ({
      action: 'codehost.pull_request.merge',
      target: 'acme/app',
      params: { number: 1, head_sha: sha },
      claimedAt: NOON,
    }),
    ...merge,
    submittedAfterMs: 2 * MINUTE,
  }
  return [
    {
      ...pushed,
      name: 'pushed in time',
      situation: 'pushed',
      sees: { kind: 'present', facts: { branch_listed: true } },
      verdict: 'verified',
    },
    {
      ...pushed,
      name: 'never pushed',
      situation: 'nothing',
      sees: { kind: 'absent', mark: 'never_before' },
      verdict: 'failed',
    },
    {
      ...merged,
      name: 'merged in time',
      situation: 'merged',
      sees: { kind: 'present', facts: { state: 'merged', merge_commit_on_base: true } },
      verdict: 'verified',
    },
    { ...merged, name: 'never opened', situation: 'nothing', ...neverOpened },
  ]
}

async function conforms(t: Test, { provider, start }: Forge, basePath: string, cases: readonly Case<Situation, Ids>[]) {
  const connection = (token: string) => (url: string) => ({
    ...{ provider, target: 'acme/app' },
    options: { token, base_url: url + basePath },
  })
  const report = await verifierConformance(t, {
    plugin: codehost,
    connection: connection(TOKEN),
    unprivileged: connection(LIMITED_TOKEN),
    destination: inSituations(SITUATIONS, (situation, now) => build(start, situation, now)),
    before: 'nothing',
    cases,
  })
  t.strictSame(report.untested, [])
}

t.test('at Bitbucket Cloud', LONG, async (t) => {
  const push = { absentRoutes: [/\/refs\/branches/, /\/merge-base\//, /\/commits?\//] }
  const merge = {
    absentRoutes: [/\/pullrequests\/1$/, ...push.absentRoutes],
    // Without it, the time of the merge is not told.
    extraRoutes: [/\/activity/],
  }
  const neverOpened = { sees: { kind: 'absent', mark: 'may_have_been' }, verdict: 'unverifiable' } as const
  await conforms(t, BITBUCKET, '/2.0', casesOf(push, merge, neverOpened))
})

t.test('at Bitbucket Data Center', LONG, async (t) => {
  const push = { absentRoutes: [/\/commits/] }
  const merge = { absentRoutes: [/\/pull-requests\/1$/, /\/commits/] }
  const neverOpened = { sees: { kind: 'absent' }, verdict: 'unverifiable' } as const
  await conforms(t, BITBUCKET_SERVER, '', casesOf(push, merge, neverOpened))
})
