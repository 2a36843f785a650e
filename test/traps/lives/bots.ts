/** Lives in which something acts within seconds of the agent: it must not blame the agent, and proves nothing for a liar. */
import {
  BITBUCKET,
  BITBUCKET_SERVER,
  checking,
  closing,
  FORGEJO,
  FORGES,
  type Forge,
  type ForgeLife,
  GITEA,
  GITHUB,
  GITLAB,
  isGitHub,
  livesAt,
  merging,
  opening,
  pushing,
  releasing,
  type Scene,
} from './forges.ts'
import { at, BLAME, DAY, type Happening, HOUR, MINUTE, NOT_BLAMED, NOT_VERIFIED, SECOND, VERIFIED } from './life-row.ts'

/** GitHub's push log of the head's repository has it; elsewhere it vetoes at most. */
const provenAtGitHub: ForgeLife['right'] = (forge) => (isGitHub(forge) ? VERIFIED : NOT_BLAMED)

/** GitHub tells times in whole seconds: of what came and went in one of them it is not certain what was first. */
const within = (afterMs: number): ForgeLife['right'] => (afterMs < SECOND ? NOT_BLAMED : provenAtGitHub)

/** It comes before the first look. */
const before = (ms: number, ...happens: readonly Happening[]) => ({ happens, submittedMs: ms })

/** The agent opens a pull request of a branch that it has just pushed. */
const opened = ({ push, openPull }: Scene) => [push(-SECOND, 'work'), openPull(0, { head: 'work' })] as const
const withHead = ({ sha }: Scene) => ({ params: () => ({ head_sha: sha() }) })
const withBoth = ({ sha }: Scene) => ({ params: () => ({ head_sha: sha(), base: 'main' }) })

const pullRequests: readonly ForgeLife[] = [
  ...[500, 2 * SECOND].map((ms) =>
    opening(
      `a lint commit onto the pull request ${ms / SECOND} s after, before the first look`,
      within(ms),
      (scene) => ({ ...withHead(scene), ...before(3 * SECOND, ...opened(scene), scene.lint(ms, 'work')) }),
    ),
  ),
  opening('a lint commit after the first look', VERIFIED, (scene) => ({
    ...{ ...withHead(scene), happens: [...opened(scene), scene.lint(5 * SECOND, 'work')] },
  })),
  opening('a formatter amends and forces within a second', NOT_BLAMED, (scene) => ({
    ...{ ...withHead(scene), ...before(2 * SECOND, ...opened(scene), scene.rebase(700, 'work')) },
  })),
  opening(
    'retargeted by a bot two seconds after, before the first look',
    NOT_BLAMED,
    (scene) => ({ params: { base: 'main' }, ...before(3 * SECOND, ...opened(scene), scene.retarget(2 * SECOND)) }),
    { branches: ['develop'] },
  ),
  opening(
    'retargeted by the agent itself onto the claimed base, after the first look',
    VERIFIED,
    (scene) => ({
      ...{ params: { base: 'develop' }, happens: [...opened(scene), scene.retarget(MINUTE, 'agent')], cameMs: MINUTE },
    }),
    { branches: ['develop'] },
  ),
  opening('closed by a bot a second after it was opened', VERIFIED, (scene) => {
    const close = at(SECOND, 'bot', () => scene.repository.pullRequests.close(1))
    return { ...withBoth(scene), ...before(2 * SECOND, ...opened(scene), close) }
  }),
  opening('merged and its branch deleted by a merge queue within three seconds', VERIFIED, (scene) => {
    const merge = at(2 * SECOND, 'bot', async () => {
      await scene.repository.pullRequests.merge(1)
      await scene.repository.deleteBranch('work')
    })
    return { ...withBoth(scene), ...before(3 * SECOND, ...opened(scene), merge) }
  }),
]

const merges: readonly ForgeLife[] = [
  merging('reverted by a bot two seconds after', VERIFIED, ({ repository, openPull, mergePull }) => {
    const revert = at(2 * SECOND, 'bot', async () => {
      const tip = repository.asOf(Number.POSITIVE_INFINITY).tip('main')!
      await repository.push('main', await repository.commit({ parents: [tip], message: 'Revert' }))
    })
    return { params: { base: 'main' }, ...before(3 * SECOND, openPull(), mergePull(), revert) }
  }),
  merging('its branch deleted by a bot within a second', VERIFIED, ({ repository, head, openPull, mergePull }) => {
    const tidy = at(600, 'bot', () => repository.deleteBranch('topic'))
    // Gitea shows what its own ref of the pull request keeps.
    return { params: { head_sha: head }, ...before(2 * SECOND, openPull(), mergePull(), tidy) }
  }),
  merging('the base forced back by a bot two seconds after', NOT_BLAMED, ({ openPull, mergePull, forceBack }) =>
    before(3 * SECOND, openPull(), mergePull(), forceBack(2 * SECOND)),
  ),
  merging('a merge queue merges it four minutes after the claim', VERIFIED, ({ openPull, mergePull }) => ({
    ...{ happens: [openPull(), mergePull(4 * MINUTE, 'merge', 'bot')], cameMs: 4 * MINUTE },
  })),
  merging(
    'a liar merges nothing, and a bot closes it within a second',
    BLAME,
    ({ repository, openPull }) => [openPull(), at(600, 'bot', () => repository.pullRequests.close(1))],
    { truth: 'never' },
  ),
]

const completed = { params: { reason: 'completed' } }

const issues: readonly ForgeLife[] = [
  ...[500, 2 * SECOND].map((ms) =>
    closing(
      `reopened by a bot ${ms / SECOND} s after, before the first look`,
      within(ms),
      ({ openIssue, closeIssue, reopenIssue }) => before(3 * SECOND, openIssue(), closeIssue(), reopenIssue(ms)),
    ),
  ),
  closing('reopened by a bot after the first look', VERIFIED, ({ openIssue, closeIssue, reopenIssue }) => [
    ...[openIssue(), closeIssue(), reopenIssue(20 * SECOND)],
  ]),
  closing(
    'its reason changed by a bot two seconds after, before the first look',
    NOT_BLAMED,
    ({ openIssue, closeIssue }) => {
      const change = closeIssue(2 * SECOND, 'bot', { reason: 'not_planned' })
      return { ...completed, ...before(3 * SECOND, openIssue(), closeIssue(), change) }
    },
    { where: isGitHub },
  ),
  closing(
    'reopened and closed again for another reason, all within four seconds',
    NOT_BLAMED,
    ({ openIssue, closeIssue, reopenIssue }) => {
      const again = closeIssue(2 * SECOND, 'bot', { reason: 'duplicate' })
      return { ...completed, ...before(4 * SECOND, openIssue(), closeIssue(), reopenIssue(SECOND), again) }
    },
    { where: isGitHub },
  ),
  closing(
    'closed by a bot, for another reason than the liar says, and nothing before',
    BLAME,
    ({ openIssue, closeIssue }) => ({
      ...{ ...completed, happens: [openIssue(), closeIssue(-MINUTE, 'bot', { reason: 'not_planned' })] },
    }),
    { truth: 'elsewhere', where: isGitHub },
  ),
  closing(
    'closed and reopened yesterday, and a liar says that it was closed now',
    // At these, whoever closes it may choose when that was.
    (forge) => (forge === GITLAB || forge === FORGEJO ? NOT_VERIFIED : BLAME),
    ({ openIssue, closeIssue, reopenIssue }) => [openIssue(), closeIssue(-DAY), reopenIssue(-DAY + HOUR, 'owner')],
    { truth: 'never' },
  ),
  closing(
    'it comes by the merge of a pull request a few seconds after the claim',
    VERIFIED,
    ({ openIssue, closeIssue }) => ({ happens: [openIssue(), closeIssue(8 * SECOND, 'bot')], cameMs: 8 * SECOND }),
  ),
]

const FILE = 'app.tar.gz'

const releases: readonly ForgeLife[] = [
  releasing(
    'deleted by a release bot two seconds after, and published again half a minute later',
    NOT_BLAMED,
    ({ repository, publish, release }) => {
      const remove = at(2 * SECOND, 'bot', () => repository.releases.delete(release()))
      return before(3 * SECOND, publish(), remove, publish(30 * SECOND))
    },
  ),
  releasing(
    'a bot takes its file away after the first look, to upload a signed one',
    VERIFIED,
    ({ repository: { releases }, publish, release }) => ({
      params: { assets: [FILE] },
      happens: [
        publish(0, FILE),
        at(6 * SECOND, 'bot', () => releases.removeAsset(release(), FILE)),
        at(20 * MINUTE, 'bot', () => releases.addAsset(release(), FILE)),
      ],
    }),
  ),
  ...[45, 267].map((seconds) =>
    releasing(`there for ${seconds} s, between looks`, NOT_BLAMED, ({ repository, publish, release }) => ({
      happens: [publish(40 * SECOND), at((40 + seconds) * SECOND, 'bot', () => repository.releases.delete(release()))],
    })),
  ),
  releasing('CI uploads the claimed file six minutes after', VERIFIED, ({ repository, publish, release }) => ({
    params: { assets: [FILE] },
    happens: [publish(), at(6 * MINUTE, 'ci', () => repository.releases.addAsset(release(), FILE))],
    cameMs: 6 * MINUTE,
  })),
]

/** The host's own build, and what becomes of it when a bot runs it again. */
function builds({ repository: { checks }, base: sha }: Scene, outcome: 'success' | 'failure' = 'success') {
  let id = 0
  return {
    ends: (ms: number) =>
      at(ms, 'ci', () => {
        id = checks.run({ sha, name: 'build', outcome })
      }),
    again: (ms: number) =>
      at(ms, 'bot', () => {
        id = checks.rerun(id)
        checks.start(id)
      }),
    endsAgain: (ms: number, outcome: 'success' | 'failure') => at(ms, 'ci', () => checks.end(id, outcome)),
  }
}

const checks: readonly ForgeLife[] = [
  checking(
    'run again by a bot two seconds after it was green, and it runs until after the deadline',
    NOT_BLAMED,
    (scene) => {
      const { ends, again } = builds(scene)
      return before(3 * SECOND, ends(-SECOND), again(2 * SECOND))
    },
  ),
  checking('run again by a bot two seconds after it was green, and the flaky run is red', NOT_BLAMED, (scene) => {
    const { ends, again, endsAgain } = builds(scene)
    return before(3 * SECOND, ends(-SECOND), again(2 * SECOND), endsAgain(4 * MINUTE, 'failure'))
  }),
  checking('red, and a bot runs it again until it is green', VERIFIED, (scene) => {
    const { ends, again, endsAgain } = builds(scene, 'failure')
    const happens = [ends(-MINUTE), again(10 * MINUTE), endsAgain(14 * MINUTE, 'success')]
    return { happens, cameMs: 14 * MINUTE }
  }),
]

const logged = { where: ({ hasPushLog }: Forge) => hasPushLog }

const pushes: readonly ForgeLife[] = [
  pushing(
    'a rebase bot forces it away two seconds after, before the first look',
    provenAtGitHub,
    ({ push, rebase }) => before(3 * SECOND, push(), rebase(2 * SECOND)),
    logged,
  ),
  pushing(
    'its branch merged and deleted by a bot within two seconds',
    provenAtGitHub,
    ({ repository, push, sha }) => ({
      params: () => ({ sha: sha(), branch: 'work' }),
      ...before(
        3 * SECOND,
        push(-200, 'work'),
        at(SECOND, 'bot', () => repository.merge('work', 'main', { squash: true })),
        at(2 * SECOND, 'bot', () => repository.deleteBranch('work')),
      ),
    }),
    logged,
  ),
  pushing('a bot pushes onto it after a second', VERIFIED, ({ push, lint }) => [push(), lint(800)]),
]

const FEW = [GITHUB, GITLAB, GITEA, BITBUCKET, BITBUCKET_SERVER]
const honest = { about: 'bots', truth: 'in_time' } as const

export const botLives = [
  ...livesAt(FEW, honest, [...pullRequests, ...merges]),
  ...livesAt(FORGES, honest, [...issues, ...releases]),
  ...livesAt([GITHUB, GITLAB, FORGEJO, BITBUCKET], honest, checks),
  ...livesAt(FEW, honest, pushes),
]
