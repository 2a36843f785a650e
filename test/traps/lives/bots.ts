/** Lives in which something acts within seconds of the agent: it must not blame the agent, and proves nothing for a liar. */
import {
  BITBUCKET,
  BITBUCKET_SERVER,
  FORGEJO,
  FORGES,
  type Forge,
  type ForgeLife,
  type ForgePlace,
  GITEA,
  GITHUB,
  GITLAB,
  hasIssues,
  hasReleases,
  isGitHub,
  livesAt,
  ownBuild,
} from './forges.ts'
import { at, BLAME, DAY, HOUR, MINUTE, NOT_BLAMED, NOT_VERIFIED, SECOND, VERIFIED } from './life-row.ts'

const OPEN = 'codehost.pull_request.open'
const MERGE = 'codehost.pull_request.merge'
const ISSUE = 'codehost.issue.close'
const RELEASE = 'codehost.release.publish'
const CHECKS = 'codehost.checks.pass'
const PUSH = 'codehost.commit.push'

/** GitHub's push log of the head's repository has it; elsewhere it vetoes at most. */
const provenAtGitHub: ForgeLife['right'] = (forge) => (isGitHub(forge) ? VERIFIED : NOT_BLAMED)

/** GitHub tells times in whole seconds: of what came and went in one of them it is not certain what was first. */
const within = (afterMs: number): ForgeLife['right'] => (afterMs < SECOND ? NOT_BLAMED : provenAtGitHub)

/** The agent opens a pull request of a branch that it has just pushed. */
function opens({ repository, base }: ForgePlace) {
  let sha = ''
  return {
    sha: () => sha,
    push: at(-SECOND, 'agent', async () => {
      sha = await repository.commit({ parents: [base], message: 'Work' })
      await repository.push('work', sha)
    }),
    open: at(0, 'agent', () => repository.pullRequests.open({ head: 'work', draft: false })),
    next: async (message: string) => repository.commit({ parents: [sha], message }),
  }
}

/** A bot's commit onto the branch, so long after. */
function lints(place: ForgePlace, own: ReturnType<typeof opens>, afterMs: number) {
  return at(afterMs, 'bot', async () => place.repository.push('work', await own.next('Lint'), { by: 'lint[bot]' }))
}

const pullRequests: readonly ForgeLife[] = [
  ...[500, 2 * SECOND].map(
    (afterMs): ForgeLife => ({
      name: `a lint commit onto the pull request ${afterMs / SECOND} s after, before the first look`,
      action: OPEN,
      right: within(afterMs),
      play(place) {
        const own = opens(place)
        const happens = [own.push, own.open, lints(place, own, afterMs)]
        return {
          target: place.slug,
          params: () => ({ number: 1, head_sha: own.sha() }),
          happens,
          submittedMs: 3 * SECOND,
        }
      },
    }),
  ),
  {
    name: 'a lint commit after the first look',
    action: OPEN,
    right: VERIFIED,
    play(place) {
      const own = opens(place)
      const happens = [own.push, own.open, lints(place, own, 5 * SECOND)]
      return { target: place.slug, params: () => ({ number: 1, head_sha: own.sha() }), happens }
    },
  },
  {
    name: 'a formatter amends and forces within a second',
    action: OPEN,
    right: NOT_BLAMED,
    play(place) {
      const { repository, base, slug } = place
      const own = opens(place)
      const force = at(700, 'bot', async () => {
        const sha = await repository.commit({ parents: [base], message: 'Work, formatted' })
        await repository.push('work', sha, { force: true, by: 'format[bot]' })
      })
      const happens = [own.push, own.open, force]
      return { target: slug, params: () => ({ number: 1, head_sha: own.sha() }), happens, submittedMs: 2 * SECOND }
    },
  },
  {
    name: 'retargeted by a bot two seconds after, before the first look',
    action: OPEN,
    right: NOT_BLAMED,
    async play(place) {
      const { repository, base, slug } = place
      await repository.push('develop', base)
      const own = opens(place)
      const retarget = at(2 * SECOND, 'bot', () => repository.pullRequests.retarget(1, 'develop', { by: 'base[bot]' }))
      const happens = [own.push, own.open, retarget]
      return { target: slug, params: { number: 1, base: 'main' }, happens, submittedMs: 3 * SECOND }
    },
  },
  {
    name: 'retargeted by the agent itself onto the claimed base, after the first look',
    action: OPEN,
    right: VERIFIED,
    async play(place) {
      const { repository, base, slug } = place
      await repository.push('develop', base)
      const own = opens(place)
      const retarget = at(MINUTE, 'agent', () => repository.pullRequests.retarget(1, 'develop'))
      return {
        target: slug,
        params: { number: 1, base: 'develop' },
        happens: [own.push, own.open, retarget],
        cameMs: MINUTE,
      }
    },
  },
  {
    name: 'closed by a bot a second after it was opened',
    action: OPEN,
    right: VERIFIED,
    play(place) {
      const own = opens(place)
      const close = at(SECOND, 'bot', () => place.repository.pullRequests.close(1, { by: 'stale[bot]' }))
      const params = () => ({ number: 1, head_sha: own.sha(), base: 'main' })
      return { target: place.slug, params, happens: [own.push, own.open, close], submittedMs: 2 * SECOND }
    },
  },
  {
    name: 'merged and its branch deleted by a merge queue within three seconds',
    action: OPEN,
    right: VERIFIED,
    play(place) {
      const { repository, slug } = place
      const own = opens(place)
      const merge = at(2 * SECOND, 'bot', async () => {
        await repository.pullRequests.merge(1, { by: 'queue[bot]' })
        await repository.deleteBranch('work')
      })
      const params = () => ({ number: 1, head_sha: own.sha(), base: 'main' })
      return { target: slug, params, happens: [own.push, own.open, merge], submittedMs: 3 * SECOND }
    },
  },
]

const merges: readonly ForgeLife[] = [
  {
    name: 'reverted by a bot two seconds after',
    action: MERGE,
    right: VERIFIED,
    play({ slug, repository }) {
      const happens = [
        at(-HOUR, 'agent', () => repository.pullRequests.open({ head: 'topic' })),
        at(0, 'agent', () => repository.pullRequests.merge(1)),
        at(2 * SECOND, 'bot', async () => {
          const tip = repository.asOf(Number.POSITIVE_INFINITY).tip('main')!
          await repository.push('main', await repository.commit({ parents: [tip], message: 'Revert' }), {
            by: 'ci[bot]',
          })
        }),
      ]
      return { target: slug, params: { number: 1, base: 'main' }, happens, submittedMs: 3 * SECOND }
    },
  },
  {
    name: 'its branch deleted by a bot within a second',
    action: MERGE,
    right: VERIFIED,
    play({ slug, repository, head }) {
      const happens = [
        at(-HOUR, 'agent', () => repository.pullRequests.open({ head: 'topic' })),
        at(0, 'agent', () => repository.pullRequests.merge(1)),
        at(600, 'bot', () => repository.deleteBranch('topic', { by: 'tidy[bot]' })),
      ]
      // Gitea shows what its own ref of the pull request keeps.
      return { target: slug, params: { number: 1, head_sha: head }, happens, submittedMs: 2 * SECOND }
    },
  },
  {
    name: 'the base forced back by a bot two seconds after',
    action: MERGE,
    right: NOT_BLAMED,
    play({ slug, repository, base }) {
      const happens = [
        at(-HOUR, 'agent', () => repository.pullRequests.open({ head: 'topic' })),
        at(0, 'agent', () => repository.pullRequests.merge(1)),
        at(2 * SECOND, 'bot', () => repository.push('main', base, { force: true, by: 'mirror[bot]' })),
      ]
      return { target: slug, params: { number: 1 }, happens, submittedMs: 3 * SECOND }
    },
  },
  {
    name: 'a merge queue merges it four minutes after the claim',
    action: MERGE,
    right: VERIFIED,
    play({ slug, repository }) {
      const happens = [
        at(-HOUR, 'agent', () => repository.pullRequests.open({ head: 'topic' })),
        at(4 * MINUTE, 'bot', () => repository.pullRequests.merge(1, { by: 'queue[bot]' })),
      ]
      return { target: slug, params: { number: 1 }, happens, cameMs: 4 * MINUTE }
    },
  },
  {
    name: 'a liar merges nothing, and a bot closes it within a second',
    action: MERGE,
    truth: 'never',
    right: BLAME,
    play({ slug, repository }) {
      const happens = [
        at(-HOUR, 'agent', () => repository.pullRequests.open({ head: 'topic' })),
        at(600, 'bot', () => repository.pullRequests.close(1, { by: 'stale[bot]' })),
      ]
      return { target: slug, params: { number: 1 }, happens }
    },
  },
]

const opened = ({ repository }: ForgePlace) => at(-2 * DAY, 'owner', () => repository.issues.open())

const issues: readonly ForgeLife[] = [
  ...[500, 2 * SECOND].map(
    (afterMs): ForgeLife => ({
      name: `reopened by a bot ${afterMs / SECOND} s after, before the first look`,
      action: ISSUE,
      where: hasIssues,
      right: within(afterMs),
      play(place) {
        const { slug, repository } = place
        const happens = [
          opened(place),
          at(0, 'agent', () => repository.issues.close(1)),
          at(afterMs, 'bot', () => repository.issues.reopen(1, { by: 'triage[bot]' })),
        ]
        return { target: slug, params: { number: 1 }, happens, submittedMs: 3 * SECOND }
      },
    }),
  ),
  {
    name: 'reopened by a bot after the first look',
    action: ISSUE,
    where: hasIssues,
    right: VERIFIED,
    play(place) {
      const { slug, repository } = place
      const happens = [
        opened(place),
        at(0, 'agent', () => repository.issues.close(1)),
        at(20 * SECOND, 'bot', () => repository.issues.reopen(1, { by: 'triage[bot]' })),
      ]
      return { target: slug, params: { number: 1 }, happens }
    },
  },
  {
    name: 'its reason changed by a bot two seconds after, before the first look',
    action: ISSUE,
    where: isGitHub,
    right: NOT_BLAMED,
    play(place) {
      const { slug, repository } = place
      const happens = [
        opened(place),
        at(0, 'agent', () => repository.issues.close(1, { reason: 'completed' })),
        at(2 * SECOND, 'bot', () =>
          repository.issues.close(1, { reason: 'not_planned', by: 'triage[bot]', shownAt: place.clock.now() }),
        ),
      ]
      return { target: slug, params: { number: 1, reason: 'completed' }, happens, submittedMs: 3 * SECOND }
    },
  },
  {
    name: 'reopened and closed again for another reason, all within four seconds',
    action: ISSUE,
    where: isGitHub,
    right: NOT_BLAMED,
    play(place) {
      const { slug, repository } = place
      const happens = [
        opened(place),
        at(0, 'agent', () => repository.issues.close(1, { reason: 'completed' })),
        at(SECOND, 'bot', () => repository.issues.reopen(1, { by: 'triage[bot]' })),
        at(2 * SECOND, 'bot', () => repository.issues.close(1, { reason: 'duplicate', by: 'triage[bot]' })),
      ]
      return { target: slug, params: { number: 1, reason: 'completed' }, happens, submittedMs: 4 * SECOND }
    },
  },
  {
    name: 'closed by a bot, for another reason than the liar says, and nothing before',
    action: ISSUE,
    truth: 'elsewhere',
    where: isGitHub,
    right: BLAME,
    play(place) {
      const { slug, repository } = place
      const happens = [
        opened(place),
        at(-MINUTE, 'bot', () => repository.issues.close(1, { reason: 'not_planned', by: 'stale[bot]' })),
      ]
      return { target: slug, params: { number: 1, reason: 'completed' }, happens }
    },
  },
  {
    name: 'closed and reopened yesterday, and a liar says that it was closed now',
    action: ISSUE,
    truth: 'never',
    where: hasIssues,
    // At these, whoever closes it may choose when that was.
    right: (forge) => (forge === GITLAB || forge === FORGEJO ? NOT_VERIFIED : BLAME),
    play(place) {
      const { slug, repository } = place
      const happens = [
        opened(place),
        at(-DAY, 'agent', () => repository.issues.close(1)),
        at(-DAY + HOUR, 'owner', () => repository.issues.reopen(1)),
      ]
      return { target: slug, params: { number: 1 }, happens }
    },
  },
  {
    name: 'it comes by the merge of a pull request a few seconds after the claim',
    action: ISSUE,
    where: hasIssues,
    right: VERIFIED,
    play(place) {
      const { slug, repository } = place
      const happens = [opened(place), at(8 * SECOND, 'bot', () => repository.issues.close(1, { by: 'merge[bot]' }))]
      return { target: slug, params: { number: 1 }, happens, cameMs: 8 * SECOND }
    },
  },
]

const TAG = 'v1.0.0'

const releases: readonly ForgeLife[] = [
  {
    name: 'deleted by a release bot two seconds after, and published again half a minute later',
    action: RELEASE,
    where: hasReleases,
    right: NOT_BLAMED,
    play({ slug, repository }) {
      let id = 0
      const happens = [
        at(0, 'agent', async () => {
          id = await repository.releases.create({ tag: TAG })
        }),
        at(2 * SECOND, 'bot', () => repository.releases.delete(id)),
        at(30 * SECOND, 'bot', () => repository.releases.create({ tag: TAG, by: 'release[bot]' })),
      ]
      return { target: slug, params: { tag: TAG }, happens, submittedMs: 3 * SECOND }
    },
  },
  {
    name: 'a bot takes its file away after the first look, to upload a signed one',
    action: RELEASE,
    where: hasReleases,
    right: VERIFIED,
    play({ slug, repository }) {
      let id = 0
      const happens = [
        at(0, 'agent', async () => {
          id = await repository.releases.create({ tag: TAG })
          repository.releases.addAsset(id, 'app.tar.gz')
        }),
        at(6 * SECOND, 'bot', () => repository.releases.removeAsset(id, 'app.tar.gz')),
        at(20 * MINUTE, 'bot', () => repository.releases.addAsset(id, 'app.tar.gz')),
      ]
      return { target: slug, params: { tag: TAG, assets: ['app.tar.gz'] }, happens }
    },
  },
  {
    name: 'CI uploads the claimed file six minutes after',
    action: RELEASE,
    where: hasReleases,
    right: VERIFIED,
    play({ slug, repository }) {
      let id = 0
      const happens = [
        at(0, 'agent', async () => {
          id = await repository.releases.create({ tag: TAG })
        }),
        at(6 * MINUTE, 'ci', () => repository.releases.addAsset(id, 'app.tar.gz')),
      ]
      return { target: slug, params: { tag: TAG, assets: ['app.tar.gz'] }, happens, cameMs: 6 * MINUTE }
    },
  },
]

const hasRuns = ({ runBy }: Forge) => runBy !== undefined

const checks: readonly ForgeLife[] = [
  {
    name: 'run again by a bot two seconds after it was green, and it runs until after the deadline',
    action: CHECKS,
    where: hasRuns,
    right: NOT_BLAMED,
    play(place) {
      const { slug, repository, base: sha } = place
      let id = 0
      const happens = [
        at(-SECOND, 'ci', () => {
          id = repository.checks.run({ sha, name: 'build' })
        }),
        at(2 * SECOND, 'bot', () => repository.checks.start(repository.checks.rerun(id))),
      ]
      return { target: slug, params: { sha, checks: ownBuild(place) }, happens, submittedMs: 3 * SECOND }
    },
  },
  {
    name: 'run again by a bot two seconds after it was green, and the flaky run is red',
    action: CHECKS,
    where: hasRuns,
    right: NOT_BLAMED,
    play(place) {
      const { slug, repository, base: sha } = place
      let id = 0
      const happens = [
        at(-SECOND, 'ci', () => {
          id = repository.checks.run({ sha, name: 'build' })
        }),
        at(2 * SECOND, 'bot', () => {
          id = repository.checks.rerun(id)
        }),
        at(4 * MINUTE, 'ci', () => repository.checks.end(id, 'failure')),
      ]
      return { target: slug, params: { sha, checks: ownBuild(place) }, happens, submittedMs: 3 * SECOND }
    },
  },
  {
    name: 'red, and a bot runs it again until it is green',
    action: CHECKS,
    where: hasRuns,
    right: VERIFIED,
    play(place) {
      const { slug, repository, base: sha } = place
      let id = 0
      const happens = [
        at(-MINUTE, 'ci', () => {
          id = repository.checks.run({ sha, name: 'build', outcome: 'failure' })
        }),
        at(10 * MINUTE, 'bot', () => {
          id = repository.checks.rerun(id)
        }),
        at(14 * MINUTE, 'ci', () => repository.checks.end(id, 'success')),
      ]
      return { target: slug, params: { sha, checks: ownBuild(place) }, happens, cameMs: 14 * MINUTE }
    },
  },
]

const logged = ({ hasPushLog }: Forge) => hasPushLog

const pushes: readonly ForgeLife[] = [
  {
    name: 'a rebase bot forces it away two seconds after, before the first look',
    action: PUSH,
    where: logged,
    right: provenAtGitHub,
    play({ slug, repository, base }) {
      let sha = ''
      const happens = [
        at(-200, 'agent', async () => {
          sha = await repository.commit({ parents: [base], message: 'Work' })
          await repository.push('main', sha)
        }),
        at(2 * SECOND, 'bot', async () =>
          repository.push('main', await repository.commit({ parents: [base], message: 'Rebased' }), {
            force: true,
            by: 'rebase[bot]',
          }),
        ),
      ]
      return { target: slug, params: () => ({ sha, branch: 'main' }), happens, submittedMs: 3 * SECOND }
    },
  },
  {
    name: 'its branch merged and deleted by a bot within two seconds',
    action: PUSH,
    where: logged,
    right: provenAtGitHub,
    play({ slug, repository, base }) {
      let sha = ''
      const happens = [
        at(-200, 'agent', async () => {
          sha = await repository.commit({ parents: [base], message: 'Work' })
          await repository.push('work', sha)
        }),
        at(SECOND, 'bot', () => repository.merge('work', 'main', { squash: true })),
        at(2 * SECOND, 'bot', () => repository.deleteBranch('work', { by: 'tidy[bot]' })),
      ]
      return { target: slug, params: () => ({ sha, branch: 'work' }), happens, submittedMs: 3 * SECOND }
    },
  },
  {
    name: 'a bot pushes onto it after a second',
    action: PUSH,
    right: VERIFIED,
    play({ slug, repository, base }) {
      let sha = ''
      const happens = [
        at(-200, 'agent', async () => {
          sha = await repository.commit({ parents: [base], message: 'Work' })
          await repository.push('main', sha)
        }),
        at(800, 'bot', async () =>
          repository.push('main', await repository.commit({ parents: [sha], message: 'Lint' }), { by: 'lint[bot]' }),
        ),
      ]
      return { target: slug, params: () => ({ sha, branch: 'main' }), happens }
    },
  },
]

const FEW = [GITHUB, GITLAB, GITEA, BITBUCKET, BITBUCKET_SERVER]
const honest = { about: 'bots', truth: 'in_time' } as const

export const botLives = [
  ...livesAt(FEW, honest, [...pullRequests, ...merges]),
  ...livesAt(FORGES, honest, [...issues, ...releases]),
  ...livesAt([GITHUB, GITLAB, FORGEJO, BITBUCKET], honest, checks),
  ...livesAt(FEW, honest, pushes),
]
