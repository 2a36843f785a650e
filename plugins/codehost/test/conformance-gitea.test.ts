// Test run: end-to-end, slow
/**
 * The plugin passes the conformance kit at a stand-in for Gitea, but for what the git program keeps to itself: it tells whether older
 * commits are on a branch.
 */
import { runConformance } from '@claimcheck/core/testkit'
import codehost from '@claimcheck/plugin-codehost'
import t from 'tap'
import { startGitea } from '../../../test/destinations/forge/gitea.ts'
import { LONG } from '../../../test/support/extent.ts'
import { temporaryFolder } from './git-fixture.ts'
import { HOUR, MINUTE, NOON } from './gitea-fixture.ts'
import { inSituations, passesButForGit } from './situations.ts'

t.setTimeout(500_000)

const TOKEN = '0123456789abcdef0123456789abcdef01234567'
const LIMITED_TOKEN = 'fedcba9876543210fedcba9876543210fedcba98'

const SITUATIONS = ['nothing', 'done'] as const
type Situation = (typeof SITUATIONS)[number]
interface Made {
  readonly sha: string
}

/** A private repository with a topic branch and its pull request. At noon, the topic is pushed to main, or the pull request is merged. */
async function build(done: boolean, how: 'push' | 'merge', now: () => number) {
  let built: number | undefined = NOON - HOUR
  const standIn = await startGitea({ now: () => built ?? now() })
  const repository = await standIn.createRepository('acme/app', { isPrivate: true })
  const commit = (message: string, ...parents: string[]) =>
    repository.commit({ message, parents, date: new Date(NOON - HOUR) })
  const base = await commit('Second', await commit('First'))
  const sha = await commit('Third', base)
  await repository.push('main', base)
  const next = how === 'push' ? sha : await commit('Change', base)
  if (how === 'merge') {
    await repository.push('topic', next)
    await repository.pullRequests.open({ head: 'topic' })
  }
  built = NOON + MINUTE
  if (done && how === 'push') await repository.push('main', sha)
  if (done && how === 'merge') {
    await repository.pullRequests.merge(1)
    await repository.deleteBranch('topic')
  }
  standIn.addToken({ token: TOKEN, repositories: [repository] })
  standIn.addToken({ token: LIMITED_TOKEN, repositories: [repository], contents: false, rights: ['issues'] })
  built = undefined
  return { standIn, named: { sha } }
}

const gitea = (how: 'push' | 'merge') =>
  inSituations(SITUATIONS, (situation, now) => build(situation === 'done', how, now))

const connected = (token: string) => (url: string) => ({
  provider: 'gitea',
  options: { token, base_url: url },
  target: 'acme/app',
})
const common = { plugin: codehost, connection: connected(TOKEN), unprivileged: connected(LIMITED_TOKEN) }

t.test('pushes', LONG, async (t) => {
  await temporaryFolder(t)
  const claim = ({ sha }: Made) => ({ target: 'acme/app', params: { sha, branch: 'main' }, claimedAt: NOON })
  // What the feed says is not needed, and may be refused.
  const also = { absentRoutes: [/\/branches\//, /\/feeds/], extraRoutes: [/\/feeds/], submittedAfterMs: 13 * MINUTE }
  const report = await runConformance<Situation, Made>({
    ...common,
    destination: gitea('push'),
    before: 'nothing',
    cases: [
      {
        ...{ name: 'pushed in time', situation: 'done', claim, ...also },
        sees: ({ sha }) => ({ kind: 'present', facts: { head: sha, branch_listed: true } }),
        verdict: 'verified',
      },
      {
        ...{ name: 'never pushed', situation: 'nothing', claim, ...also },
        sees: { kind: 'absent', mark: 'never_before' },
        verdict: 'failed',
      },
    ],
  })
  passesButForGit(t, report)
  t.strictSame(report.untested, [])
})

t.test('merges', LONG, async (t) => {
  await temporaryFolder(t)
  const claim = () => ({
    action: 'codehost.pull_request.merge',
    target: 'acme/app',
    params: { number: 1, base: 'main' },
    claimedAt: NOON,
  })
  const also = { claim, submittedAfterMs: 13 * MINUTE, absentRoutes: [/\/pulls\/1$/, /\/issues\/1$/] }
  const report = await runConformance<Situation, Made>({
    ...common,
    destination: gitea('merge'),
    before: 'nothing',
    cases: [
      {
        ...{ name: 'merged in time', situation: 'done', ...also },
        sees: { kind: 'present', facts: { state: 'merged', merge_commit_on_base: true } },
        verdict: 'verified',
      },
      {
        ...{ name: 'open', situation: 'nothing', ...also },
        sees: { kind: 'absent', mark: 'never_before' },
        verdict: 'failed',
      },
    ],
  })
  passesButForGit(t, report)
  t.strictSame(report.untested, [])
})
