/** Lives at places whose logs are cut, unread, or long: what was not read never blames, and what a liar adds gains nothing. */
import { status } from '../../destinations/faults.ts'
import {
  BITBUCKET,
  closing,
  FORGEJO,
  type ForgeLife,
  GITEA,
  GITHUB,
  GITLAB,
  isGitHub,
  livesAt,
  opening,
  pushing,
  type Scene,
} from './forges.ts'
import {
  at,
  BLAME,
  DAY,
  type Happening,
  HOUR,
  MINUTE,
  NOT_BLAMED,
  SECOND,
  START,
  UNVERIFIABLE,
  VERIFIED,
} from './life-row.ts'

/** Opened two days ago, with so many events since. */
const busyIssue = ({ repository, openIssue }: Scene, count: number) => [
  ...[openIssue(), at(-DAY, 'owner', () => repository.issues.label(1, count))],
]

/** Closed at the claim, and reopened by a bot before the first look. */
const reopened = (scene: Scene, count = 5, ...more: readonly Happening[]) => ({
  happens: [...busyIssue(scene, count), scene.closeIssue(), scene.reopenIssue(2 * SECOND), ...more],
  submittedMs: 3 * SECOND,
})

const EVENTS = /\/issues\/\d+\/(?:events|timeline)|resource_state_events|\/timeline/

/** The log fails from one moment to another. */
function broken({ standIn }: Scene, fromMs: number, toMs: number) {
  let isBroken = false
  standIn.faults.inject({ fault: status(502), on: EVENTS, during: () => isBroken })
  return [fromMs, toMs].map((ms, index) =>
    at(ms, 'place', () => {
      isBroken = index === 0
    }),
  )
}

const issues: readonly ForgeLife[] = [
  ...[10, 99, 100, 301, 650].map((count) =>
    closing(
      `an issue with ${count} events before it was closed, and reopened by a bot at once`,
      NOT_BLAMED,
      (scene) => reopened(scene, count),
      { where: (forge) => isGitHub(forge) || count === 301 },
    ),
  ),
  closing('an issue that is closed and reopened in time, with 301 events by bots right after', NOT_BLAMED, (scene) =>
    reopened(
      scene,
      5,
      at(2 * SECOND, 'bot', () => scene.repository.issues.label(1, 301)),
    ),
  ),
  ...[301, 900].map((count) =>
    closing(
      `an open issue, to which a liar adds ${count} events after the window`,
      BLAME,
      (scene) => [...busyIssue(scene, 5), at(11 * MINUTE, 'liar', () => scene.repository.issues.label(1, count))],
      { truth: 'never', where: (forge) => isGitHub(forge) || count === 301 },
    ),
  ),
  closing('an open issue that has had 301 events for days', BLAME, (scene) => busyIssue(scene, 301), {
    truth: 'never',
  }),
  closing('its log is refused to these credentials, and a bot has reopened it', NOT_BLAMED, (scene) => {
    scene.standIn.faults.inject({ fault: status(403), on: EVENTS })
    return reopened(scene)
  }),
  closing('its log fails for a minute, and then shows that a bot has reopened it', NOT_BLAMED, (scene) =>
    reopened(scene, 5, ...broken(scene, -SECOND, MINUTE)),
  ),
  closing(
    'a liar claims an open issue while its log fails for a minute',
    BLAME,
    (scene) => [...busyIssue(scene, 5), ...broken(scene, MINUTE, 2 * MINUTE)],
    { truth: 'never' },
  ),
]

const TWO_BASES = { branches: ['develop'] }

/** Opened into main, changed so, and retargeted by a bot before the first look. */
const retargeted = ({ openPull, retarget }: Scene, change: () => unknown) => ({
  params: { base: 'main' },
  happens: [openPull(-SECOND), at(0, 'bot', change), retarget(SECOND)],
  submittedMs: 3 * SECOND,
})

const pulls: readonly ForgeLife[] = [
  opening(
    'a pull request with 301 events, whose base a bot has changed in time',
    NOT_BLAMED,
    (scene) => retargeted(scene, () => scene.repository.pullRequests.label(1, 300)),
    TWO_BASES,
  ),
  opening(
    'a pull request into another base, to which a liar adds 301 events after the window',
    // Bitbucket tells its activity from the newest on.
    (forge) => (forge === BITBUCKET ? UNVERIFIABLE : BLAME),
    ({ repository, openPull }) => ({
      params: { base: 'develop' },
      happens: [openPull(-HOUR), at(12 * MINUTE, 'liar', () => repository.pullRequests.label(1, 301))],
    }),
    { truth: 'elsewhere', ...TWO_BASES },
  ),
]

/** At hosts whose log is sorted by times, and has pages of which entries are taken out. */
const timelines: readonly ForgeLife[] = [
  closing(
    'an issue that is closed and reopened in time, by administrators who choose an older date',
    NOT_BLAMED,
    (scene) => {
      const older = { shownAt: START - DAY }
      const changes = [scene.closeIssue(0, 'agent', older), scene.reopenIssue(SECOND, 'bot', older)]
      return { happens: [...busyIssue(scene, 60), ...changes], submittedMs: 3 * SECOND }
    },
    { where: (forge) => forge === FORGEJO },
  ),
  opening(
    'a pull request into another base, whose base and head changed a day ago',
    BLAME,
    ({ repository, head, openPull }) => ({
      params: { base: 'develop' },
      happens: [
        openPull(-2 * DAY, { base: 'develop' }),
        at(-DAY, 'agent', () => repository.pullRequests.retarget(1, 'main')),
        at(-DAY, 'agent', async () => repository.push('topic', await repository.commit({ parents: [head] }))),
      ],
    }),
    { truth: 'elsewhere', ...TWO_BASES },
  ),
  opening(
    'a pull request with 50 comments on single lines, whose base a bot has changed in time',
    NOT_BLAMED,
    (scene) => retargeted(scene, () => scene.repository.pullRequests.reviewLines(1, 50)),
    TWO_BASES,
  ),
]

/** The commit comes, and goes at once; `also` is what the log is full of. */
const comesAndGoes = ({ push, forceBack }: Scene, also: (after: boolean) => unknown = () => undefined) => ({
  happens: [
    at(-MINUTE, 'bot', () => also(false)),
    ...[push(), forceBack(SECOND)],
    at(2 * SECOND, 'bot', () => also(true)),
  ],
  submittedMs: 3 * SECOND,
})

const pushes: readonly ForgeLife[] = [
  pushing('a commit that was forced away at once, and 400 pushes since', NOT_BLAMED, (scene) =>
    comesAndGoes(scene, (after) => after && scene.repository.fillLog('main', 400)),
  ),
  pushing(
    'a commit that was forced away at once, and 400 pushes before',
    (forge) => (isGitHub(forge) ? VERIFIED : NOT_BLAMED),
    (scene) => comesAndGoes(scene, (after) => after || scene.repository.fillLog('main', 400)),
  ),
  pushing('a commit that was forced away at once, and the log is refused', NOT_BLAMED, (scene) => comesAndGoes(scene), {
    answering: { logStatus: 403 },
  }),
  pushing(
    'a commit that was forced away at once, and the log comes a minute late',
    NOT_BLAMED,
    (scene) => comesAndGoes(scene),
    { answering: { logLagMs: MINUTE } },
  ),
  pushing('an entry is missing from the log', NOT_BLAMED, (scene) => {
    const { pushes } = scene.repository
    return comesAndGoes(scene, (after) => after && pushes.splice(pushes.length - 2, 1))
  }),
  pushing(
    'an invented commit, and a liar fills the log after the window',
    BLAME,
    ({ repository }) => ({
      params: { sha: 'a'.repeat(40) },
      happens: [at(11 * MINUTE, 'liar', () => repository.fillLog('main', 400))],
    }),
    { truth: 'never' },
  ),
]

const honest = { about: 'logs that are cut', truth: 'in_time' } as const

export const cutLogLives = [
  ...livesAt([GITHUB, GITLAB, GITEA, FORGEJO], honest, issues),
  ...livesAt([GITHUB, GITLAB, GITEA, FORGEJO, BITBUCKET], honest, pulls),
  ...livesAt([GITEA, FORGEJO], honest, timelines),
  ...livesAt([GITHUB, GITLAB, GITEA], honest, pushes),
]
