/** Lives of pushes, by what logs show of them and hide: each with the verdict, and the reason, that it must get. */

import { waysOf } from '../../destinations/forge/gitea.ts'
import { settingsOf } from '../../destinations/forge/gitlab-answers.ts'
import type { Answering, PushOptions } from '../../destinations/forge/model.ts'
import type { Truth } from '../trap.ts'
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
  livesAt,
} from './forges.ts'
import { at, DAY, type Happening, HOUR, MINUTE, type Play, SECOND, START } from './life-row.ts'

const AMBIGUOUS = 'unverifiable/claim_ambiguous'
const DENIED = 'unverifiable/permission_denied'
const LATE = 'late/observed_after_tolerance'
const ABSENT = 'failed/not_found'
const ELSEWHERE = 'mismatch/target_mismatch'
const TOLERANCE = 10 * MINUTE
const NOWHERE = 'a'.repeat(40)

interface Scene extends ForgePlace {
  /** A commit on top of `base` that only its author has. It is claimed on the branch `work`. */
  readonly sha: string
  /** Moves `work`, to `sha` unless another commit is named. */
  readonly push: (ms: number, to?: string, options?: PushOptions, branch?: string) => Happening
  /** Moves `work` back to `base`. */
  readonly force: (ms: number, options?: PushOptions) => Happening
  readonly drop: (ms: number, options?: PushOptions) => Happening
}

type Given = Partial<Omit<Play, 'params'>> & { readonly params?: object }
interface More extends Pick<ForgeLife, 'visit' | 'where'> {
  readonly answering?: Partial<Answering>
}

function row(
  name: string,
  truth: Truth,
  right: string | ((forge: Forge) => string),
  set: (scene: Scene) => readonly Happening[] | Given | Promise<Given>,
  { answering, ...more }: More = {},
): ForgeLife {
  return {
    ...{ name, truth, action: 'codehost.commit.push', ...more },
    right: (forge) => [typeof right === 'string' ? right : right(forge)],
    async play(place) {
      const { repository, base, slug } = place
      Object.assign(repository.answering, answering)
      const sha = await repository.commit({ parents: [base], message: 'Work' })
      const given = await set({
        ...{ ...place, sha },
        push: (ms, to = sha, options = {}, branch = 'work') =>
          at(ms, 'agent', () => repository.push(branch, to, options)),
        force: (ms, options = {}) => at(ms, 'bot', () => repository.push('work', base, { force: true, ...options })),
        drop: (ms, options = {}) => at(ms, 'bot', () => repository.deleteBranch('work', options)),
      })
      const { params, ...rest }: Given = 'length' in given ? { happens: given as readonly Happening[] } : given
      return { target: slug, params: { sha, branch: 'work', ...params }, ...rest }
    },
  }
}

const FORCE = { force: true }
const WITHOUT_LOG = { answering: { logStatus: 404 } }
const dated = (ms: number) => ({ claimedMs: ms, deadlineMs: ms + TOLERANCE + MINUTE })

const atGitHub: readonly ForgeLife[] = [
  row('pushed 25 hours ago, and deleted before the claim', 'in_time', AMBIGUOUS, ({ push, drop }) => [
    ...[push(-25 * HOUR), drop(-SECOND)],
  ]),
  row('forced away, and pushed again 3 s after the claim', 'in_time', 'verified', ({ push, force, sha }) => [
    ...[push(-12 * MINUTE), force(-11 * MINUTE), push(3 * SECOND, sha, FORCE)],
  ]),
  row('forced away, and pushed again late', 'late', LATE, ({ push, force, sha }) => [
    ...[push(-12 * MINUTE), force(-11 * MINUTE), push(TOLERANCE + 5 * SECOND, sha, FORCE)],
  ]),
  row('forced away, and not pushed again', 'unknowable', AMBIGUOUS, ({ push, force }) => [
    ...[push(-12 * MINUTE), force(-11 * MINUTE)],
  ]),
  row('forced away after the claim, and deleted', 'in_time', 'verified', ({ push, force, drop }) => ({
    ...{ happens: [push(0), force(2 * SECOND), drop(3 * SECOND)], submittedMs: 4 * SECOND },
  })),
  row(
    'the log lists the push 20 s late, and the branch is gone by then',
    'in_time',
    'verified',
    ({ push, drop }) => [push(-10 * SECOND), drop(-SECOND)],
    { answering: { logLagMs: 20 * SECOND } },
  ),
  row(
    'first seen after the tolerance, and listed as in time 40 s later',
    'in_time',
    'verified',
    ({ push }) => ({ happens: [push(TOLERANCE - 30 * SECOND)], idleUntilMs: TOLERANCE + SECOND }),
    { answering: { logLagMs: MINUTE } },
  ),
  row(
    'pushed late, and listed 40 s later',
    'late',
    LATE,
    ({ push }) => ({ happens: [push(TOLERANCE + 5 * SECOND)], idleUntilMs: TOLERANCE + 6 * SECOND }),
    { answering: { logLagMs: 40 * SECOND } },
  ),
  row(
    'pushed in time, first seen late, and never listed',
    'in_time',
    AMBIGUOUS,
    ({ push }) => ({ happens: [push(TOLERANCE - 30 * SECOND)], idleUntilMs: TOLERANCE + SECOND }),
    { answering: { logLagMs: DAY } },
  ),
  ...[200, 404].map((logStatus) =>
    row(
      `a replica 9 s behind, and pushed just before the tolerance ends, the log answers ${logStatus}`,
      'in_time',
      logStatus === 200 ? 'verified' : AMBIGUOUS,
      ({ push }) => [push(TOLERANCE - 5 * SECOND)],
      { answering: { replicaLagMs: 9 * SECOND, logStatus } },
    ),
  ),
  row(
    'a replica 9 s behind, first read after the tolerance, when the branch is gone',
    'in_time',
    'verified',
    ({ push, drop }) => ({
      happens: [push(TOLERANCE - 30 * SECOND), drop(TOLERANCE - 20 * SECOND)],
      idleUntilMs: TOLERANCE + SECOND,
    }),
    { answering: { replicaLagMs: 9 * SECOND } },
  ),
  row('deleted and made again, and the log has lost that it was deleted', 'in_time', AMBIGUOUS, (scene) => {
    const { repository, push, drop, base } = scene
    const lose = at(3 * SECOND, 'place', () => repository.pushes.splice(-2, 1))
    return { happens: [push(0), drop(SECOND), push(2 * SECOND, base), lose], submittedMs: 4 * SECOND }
  }),
  ...[200, 404].map((logStatus) =>
    row(
      `a repository younger than the claim; the log answers ${logStatus}`,
      'unknowable',
      AMBIGUOUS,
      () => ({ claimedMs: -5 * MINUTE }),
      { visit: { repository: { createdAt: START - MINUTE } }, answering: { logStatus } },
    ),
  ),
  row('more than three pages of log, and a commit that is nowhere', 'never', ABSENT, ({ repository }) => [
    at(SECOND, 'bot', () => repository.fillLog('main', 320)),
  ]),
  row(
    'without a log, an invented id, claimed for six days ago',
    'never',
    ABSENT,
    () => ({ params: { sha: NOWHERE, branch: 'main' }, ...dated(-6 * DAY) }),
    WITHOUT_LOG,
  ),
  row(
    'without a log, an invented id, claimed for eight days ago',
    'unknowable',
    AMBIGUOUS,
    () => ({ params: { sha: NOWHERE, branch: 'main' }, ...dated(-8 * DAY) }),
    WITHOUT_LOG,
  ),
  ...[200, 404].map((logStatus) =>
    row(
      `an object that the host has, and no branch; the log answers ${logStatus}`,
      logStatus === 200 ? 'never' : 'unknowable',
      logStatus === 200 ? ABSENT : AMBIGUOUS,
      async ({ repository, sha }) => {
        await repository.hold(sha)
        return {}
      },
      { answering: { logStatus } },
    ),
  ),
  row(
    "without a log, a fork's object",
    'unknowable',
    AMBIGUOUS,
    async ({ standIn, repository, sha }) => {
      await (await standIn.fork(repository, 'mallory/app')).push('work', sha)
      return {}
    },
    WITHOUT_LOG,
  ),
  row('pushed now, claimed for two hours ago', 'late', ABSENT, ({ push }) => ({
    ...{ happens: [push(-SECOND)], ...dated(-2 * HOUR) },
  })),
  row('on another branch, claimed for two hours ago', 'elsewhere', ELSEWHERE, ({ push }) => ({
    ...{ happens: [push(-SECOND)], params: { branch: 'main' }, ...dated(-2 * HOUR) },
  })),
  row('pushed in time, claimed long after the deadline', 'in_time', 'verified', ({ push }) => ({
    ...{ happens: [push(-2 * HOUR)], ...dated(-2 * HOUR + MINUTE) },
  })),
  row('an old commit', 'in_time', 'verified', ({ push }) => ({
    ...{ happens: [push(-DAY)], facts: { preexisting: true, pusher_matches: undefined } },
  })),
  row("the pusher's name, in another case", 'in_time', 'verified', ({ push, sha }) => ({
    happens: [push(0, sha, { by: 'octo-agent[bot]' })],
    params: { pusher: 'Octo-Agent[bot]' },
    facts: { pusher_matches: true },
  })),
  row("somebody else's push", 'in_time', 'verified', ({ push, sha }) => ({
    ...{ happens: [push(0, sha, { by: 'mallory' })], params: { pusher: 'agent' }, facts: { pusher_matches: false } },
  })),
  row('forced away days ago, and pushed again now: by the push that counts', 'in_time', 'verified', (scene) => ({
    happens: [
      scene.push(-3 * DAY, scene.sha, { by: 'mallory' }),
      scene.force(-2 * DAY),
      scene.push(0, scene.sha, { force: true, by: 'agent' }),
    ],
    params: { pusher: 'agent' },
    facts: { pusher_matches: true, preexisting: undefined },
  })),
  row(
    'no Date header, first seen after the tolerance',
    'in_time',
    AMBIGUOUS,
    ({ push }) => ({ ...{ happens: [push(0)], idleUntilMs: TOLERANCE + SECOND } }),
    { answering: { isDated: false } },
  ),
]

/** Kept by the host alone, and by no branch. */
const HIDDEN = 'shy'
const hide = ({ standIn }: Scene) => void waysOf(standIn).hidden.add(HIDDEN)

/** Gitea and Forgejo: an activity feed that is late, cut, and silent about those who hide. */
const atGitea: readonly ForgeLife[] = [
  row('first looked at late, at the sixth of a push, under a later one', 'in_time', 'verified', async (scene) => {
    const { repository, push, sha } = scene
    const tips = [sha]
    for (let index = 0; index < 8; index++) tips.push(await repository.commit({ parents: [tips.at(-1)!] }))
    return { happens: [push(0, tips[7]), push(MINUTE, tips[8])], idleUntilMs: TOLERANCE + MINUTE }
  }),
  row('first looked at late, and old entries were removed', 'in_time', AMBIGUOUS, ({ repository, push }) => ({
    happens: [push(0), at(MINUTE, 'place', () => repository.pushes.splice(0))],
    idleUntilMs: TOLERANCE + MINUTE,
  })),
  row('first looked at late, and who pushed hides', 'in_time', AMBIGUOUS, (scene) => {
    hide(scene)
    return { happens: [scene.push(0, scene.sha, { by: HIDDEN })], idleUntilMs: TOLERANCE + MINUTE }
  }),
  row('forced away by somebody who hides, and pushed again late', 'late', AMBIGUOUS, (scene) => {
    const { push, force, sha } = scene
    hide(scene)
    return {
      happens: [push(-20 * MINUTE), force(-15 * MINUTE, { by: HIDDEN }), push(TOLERANCE + 5 * SECOND, sha, FORCE)],
      idleUntilMs: TOLERANCE + MINUTE,
    }
  }),
  row(
    'a branch that is called like the commit leads to what was there before',
    'late',
    AMBIGUOUS,
    ({ push, base, sha }) => ({
      happens: [push(-20 * MINUTE, base, {}, sha), push(TOLERANCE + 5 * SECOND)],
      idleUntilMs: TOLERANCE + MINUTE,
    }),
  ),
  row(
    'on the branch and forced off it again, by the feed, while it is on main',
    'in_time',
    AMBIGUOUS,
    ({ push, force, sha }) => ({
      happens: [push(0), push(SECOND, sha, {}, 'main'), force(2 * SECOND)],
      submittedMs: 3 * SECOND,
    }),
  ),
  row('a commit of main, on a branch that never was: the feed proves nothing', 'elsewhere', AMBIGUOUS, ({ base }) => ({
    params: { sha: base },
  })),
  row('the feed fails', 'in_time', 'verified', ({ push }) => [push(0)], { answering: { logStatus: 500 } }),
]

/** GitLab: its log is written after the fact and has holes, and its objects are shared by forks. */
const atGitLab: readonly ForgeLife[] = [
  row('first looked at late, and in the log in time', 'in_time', 'verified', ({ push, base }) => ({
    ...{ happens: [push(-HOUR, base), push(0)], idleUntilMs: TOLERANCE + MINUTE },
  })),
  row(
    'pushed in time, written into the log after the tolerance',
    'in_time',
    AMBIGUOUS,
    ({ push, base }) => ({
      ...{ happens: [push(-HOUR, base), push(TOLERANCE - 2 * MINUTE)], idleUntilMs: TOLERANCE + 2 * MINUTE },
    }),
    { answering: { logLagMs: 3 * MINUTE } },
  ),
  row('pushed with three other branches at once, in one event that names none', 'in_time', AMBIGUOUS, (scene) => {
    const { repository, push, base, sha } = scene
    const branches = ['work', 'b', 'c', 'd']
    return {
      happens: [
        ...branches.map((branch) => push(-DAY, base, {}, branch)),
        at(0, 'agent', () => repository.pushAll(branches.map((branch) => ({ branch, sha })))),
      ],
      idleUntilMs: TOLERANCE + MINUTE,
    }
  }),
  row('forced away, by events that are left out of their page', 'in_time', AMBIGUOUS, async (scene) => {
    const { repository, push, base } = scene
    const other = await repository.commit({ parents: [base] })
    return {
      happens: [
        ...[push(-HOUR, base), push(0), push(SECOND, other, FORCE)],
        at(2 * SECOND, 'place', () => {
          for (const { id } of repository.pushes.slice(-2)) settingsOf(repository).hiddenPushes.add(id)
        }),
      ],
      submittedMs: 3 * SECOND,
    }
  }),
  row('a commit of main, on a branch that never was', 'elsewhere', ELSEWHERE, ({ base }) => ({
    params: { sha: base },
  })),
  row('a commit of main, on a branch that never was, dated ten minutes back', 'elsewhere', ELSEWHERE, ({ base }) => ({
    ...{ params: { sha: base }, claimedMs: -TOLERANCE },
  })),
  row('a commit of main, on a branch that may be one of an event that names none', 'unknowable', AMBIGUOUS, (scene) => {
    const { repository, base, sha } = scene
    const branches = ['a', 'b', 'c', 'd']
    const pushes = at(-MINUTE, 'bot', () => repository.pushAll(branches.map((branch) => ({ branch, sha }))))
    return { params: { sha: base }, happens: [pushes], claimedMs: -TOLERANCE }
  }),
  row('the branch was deleted, and made again without the commit', 'in_time', AMBIGUOUS, ({ push, drop, base }) => ({
    ...{ happens: [push(-5 * MINUTE), drop(-2 * MINUTE), push(-MINUTE, base)] },
  })),
]

/** What hosts make of an id that is no commit's. */
const annotated = (forge: Forge) => {
  if (forge === GITHUB) return ABSENT
  return forge === GITEA || forge === FORGEJO ? AMBIGUOUS : 'unverifiable/destination_unavailable'
}
const isWithoutLog = (forge: Forge) => !forge.hasPushLog
/** Of a commit that is elsewhere nothing tells that it was not here, but a look that is prompt. */
const everywhere: readonly ForgeLife[] = [
  row('in the middle of a push', 'in_time', 'verified', async ({ repository, push, sha }) => ({
    happens: [push(0, await repository.commit({ parents: [sha] }))],
  })),
  row('pushed too late, by a commit with the date of yesterday', 'late', LATE, async ({ repository, base, push }) => {
    const sha = await repository.commit({ parents: [base], date: new Date(START - DAY) })
    return { params: { sha, branch: 'main' }, happens: [push(TOLERANCE + 3 * MINUTE, sha, {}, 'main')] }
  }),
  row(
    'a tag in the place of the branch',
    'elsewhere',
    (forge) => (forge === GITHUB || forge === GITLAB ? ELSEWHERE : AMBIGUOUS),
    (scene) => ({
      ...{
        params: { sha: scene.base, branch: 'v1' },
        happens: [at(-HOUR, 'agent', () => scene.repository.tag('v1', scene.base))],
      },
    }),
  ),
  row("an annotated tag's id", 'never', annotated, async ({ repository, base }) => ({
    params: { sha: await repository.tag('v1', base, { annotated: true }), branch: 'main' },
  })),
  row('renamed by its owner', 'in_time', 'verified', ({ standIn, repository, push }) => ({
    happens: [push(-SECOND), at(0, 'owner', () => standIn.rename(repository, 'acme/renamed'))],
    facts: { repository: 'acme/renamed' },
  })),
  row("behind the name of somebody else's", 'unknowable', AMBIGUOUS, ({ standIn, repository, push }) => [
    ...[push(-SECOND), at(0, 'owner', () => standIn.rename(repository, 'mallory/app'))],
  ]),
  row('the token may not read code', 'in_time', DENIED, ({ push }) => [push(0)], {
    visit: { token: ['issues'] },
    // Its tokens have no rights of their own.
    where: (forge) => forge !== BITBUCKET_SERVER,
  }),
  ...['fix#12', '100%', 'a%2Fb', 'zweig-ü', 'a&b=c'].map((branch) =>
    row(`a branch that is called ${branch}`, 'in_time', 'verified', ({ push, sha }) => ({
      ...{ happens: [push(0, sha, {}, branch)], params: { branch } },
    })),
  ),
  row(
    'histories with two best common ancestors',
    'elsewhere',
    (forge) => (forge === BITBUCKET ? AMBIGUOUS : ELSEWHERE),
    async ({ repository, base, push }) => {
      const [one, two] = await Promise.all([1, 2].map(() => repository.commit({ parents: [base] })))
      const criss = await repository.commit({ parents: [one!, two!] })
      const cross = await repository.commit({ parents: [two!, one!] })
      return { params: { sha: cross }, happens: [push(-HOUR, criss), push(-HOUR, cross, {}, 'cross')] }
    },
    { where: isWithoutLog },
  ),
]

const told = { about: 'what logs show', truth: 'in_time' } as const

export const pushLogLives = [
  ...livesAt([GITHUB], told, atGitHub),
  ...livesAt([GITEA, FORGEJO], told, atGitea),
  ...livesAt([GITLAB], told, atGitLab),
  ...livesAt(FORGES, told, everywhere),
]
