/** Lives at places whose logs are cut, unread, or long: what was not read never blames, and what a liar adds gains nothing. */
import { status } from '../../destinations/faults.ts'
import {
  BITBUCKET,
  FORGEJO,
  type ForgeLife,
  type ForgePlace,
  GITEA,
  GITHUB,
  GITLAB,
  isGitHub,
  livesAt,
} from './forges.ts'
import { at, BLAME, DAY, HOUR, MINUTE, NOT_BLAMED, SECOND, START, UNVERIFIABLE, VERIFIED } from './life-row.ts'

const OPEN = 'codehost.pull_request.open'
const ISSUE = 'codehost.issue.close'
const PUSH = 'codehost.commit.push'

/** Opened two days ago, with so many events since. */
function busyIssue({ repository }: ForgePlace, count: number) {
  return [
    at(-2 * DAY, 'owner', () => repository.issues.open()),
    at(-DAY, 'owner', () => repository.issues.label(1, count)),
  ]
}

const EVENTS = /\/issues\/\d+\/(?:events|timeline)|resource_state_events|\/timeline/

const issues: readonly ForgeLife[] = [
  ...[10, 99, 100, 301, 650].map(
    (count): ForgeLife => ({
      name: `an issue with ${count} events before it was closed, and reopened by a bot at once`,
      action: ISSUE,
      right: NOT_BLAMED,
      where: (forge) => isGitHub(forge) || count === 301,
      play: (place) => ({
        target: place.slug,
        params: { number: 1 },
        happens: [
          ...busyIssue(place, count),
          at(0, 'agent', () => place.repository.issues.close(1)),
          at(2 * SECOND, 'bot', () => place.repository.issues.reopen(1)),
        ],
        submittedMs: 3 * SECOND,
      }),
    }),
  ),
  {
    name: 'an issue that is closed and reopened in time, with 301 events by bots right after',
    action: ISSUE,
    right: NOT_BLAMED,
    play: (place) => ({
      target: place.slug,
      params: { number: 1 },
      happens: [
        ...busyIssue(place, 5),
        at(0, 'agent', () => place.repository.issues.close(1)),
        at(SECOND, 'bot', () => place.repository.issues.reopen(1)),
        at(2 * SECOND, 'bot', () => place.repository.issues.label(1, 301)),
      ],
      submittedMs: 3 * SECOND,
    }),
  },
  ...[301, 900].map(
    (count): ForgeLife => ({
      name: `an open issue, to which a liar adds ${count} events after the window`,
      action: ISSUE,
      truth: 'never',
      right: BLAME,
      where: (forge) => isGitHub(forge) || count === 301,
      play: (place) => ({
        target: place.slug,
        params: { number: 1 },
        happens: [...busyIssue(place, 5), at(11 * MINUTE, 'liar', () => place.repository.issues.label(1, count))],
      }),
    }),
  ),
  {
    name: 'an open issue that has had 301 events for days',
    action: ISSUE,
    truth: 'never',
    right: BLAME,
    play: (place) => ({ target: place.slug, params: { number: 1 }, happens: busyIssue(place, 301) }),
  },
  {
    name: 'its log is refused to these credentials, and a bot has reopened it',
    action: ISSUE,
    right: NOT_BLAMED,
    play(place) {
      place.standIn.faults.inject({ fault: status(403), on: EVENTS })
      return {
        target: place.slug,
        params: { number: 1 },
        happens: [
          ...busyIssue(place, 5),
          at(0, 'agent', () => place.repository.issues.close(1)),
          at(2 * SECOND, 'bot', () => place.repository.issues.reopen(1)),
        ],
        submittedMs: 3 * SECOND,
      }
    },
  },
  {
    name: 'its log fails for a minute, and then shows that a bot has reopened it',
    action: ISSUE,
    right: NOT_BLAMED,
    play(place) {
      let isBroken = false
      place.standIn.faults.inject({ fault: status(502), on: EVENTS, during: () => isBroken })
      return {
        target: place.slug,
        params: { number: 1 },
        happens: [
          ...busyIssue(place, 5),
          at(-SECOND, 'place', () => {
            isBroken = true
          }),
          at(0, 'agent', () => place.repository.issues.close(1)),
          at(2 * SECOND, 'bot', () => place.repository.issues.reopen(1)),
          at(MINUTE, 'place', () => {
            isBroken = false
          }),
        ],
        submittedMs: 3 * SECOND,
      }
    },
  },
  {
    name: 'a liar claims an open issue while its log fails for a minute',
    action: ISSUE,
    truth: 'never',
    right: BLAME,
    play(place) {
      let isBroken = false
      place.standIn.faults.inject({ fault: status(502), on: EVENTS, during: () => isBroken })
      return {
        target: place.slug,
        params: { number: 1 },
        happens: [
          ...busyIssue(place, 5),
          at(MINUTE, 'place', () => {
            isBroken = true
          }),
          at(2 * MINUTE, 'place', () => {
            isBroken = false
          }),
        ],
      }
    },
  },
]

const pulls: readonly ForgeLife[] = [
  {
    name: 'a pull request with 301 events, whose base a bot has changed in time',
    action: OPEN,
    right: NOT_BLAMED,
    async play({ slug, repository, base }) {
      await repository.push('develop', base)
      const happens = [
        at(-SECOND, 'agent', () => repository.pullRequests.open({ head: 'topic' })),
        at(0, 'bot', () => repository.pullRequests.label(1, 300)),
        at(SECOND, 'bot', () => repository.pullRequests.retarget(1, 'develop')),
      ]
      return { target: slug, params: { number: 1, base: 'main' }, happens, submittedMs: 3 * SECOND }
    },
  },
  {
    name: 'a pull request into another base, to which a liar adds 301 events after the window',
    action: OPEN,
    truth: 'elsewhere',
    // Bitbucket tells its activity from the newest on.
    right: (forge) => (forge === BITBUCKET ? UNVERIFIABLE : BLAME),
    async play({ slug, repository, base }) {
      await repository.push('develop', base)
      const happens = [
        at(-HOUR, 'agent', () => repository.pullRequests.open({ head: 'topic' })),
        at(12 * MINUTE, 'liar', () => repository.pullRequests.label(1, 301)),
      ]
      return { target: slug, params: { number: 1, base: 'develop' }, happens }
    },
  },
]

/** At hosts whose log is sorted by times, and has pages of which entries are taken out. */
const timelines: readonly ForgeLife[] = [
  {
    name: 'an issue that is closed and reopened in time, by administrators who choose an older date',
    action: ISSUE,
    right: NOT_BLAMED,
    where: (forge) => forge === FORGEJO,
    play: (place) => ({
      target: place.slug,
      params: { number: 1 },
      happens: [
        ...busyIssue(place, 60),
        at(0, 'agent', () => place.repository.issues.close(1, { shownAt: START - DAY })),
        at(SECOND, 'bot', () => place.repository.issues.reopen(1, { shownAt: START - DAY })),
      ],
      submittedMs: 3 * SECOND,
    }),
  },
  {
    name: 'a pull request into another base, whose base and head changed a day ago',
    action: OPEN,
    truth: 'elsewhere',
    right: BLAME,
    async play({ slug, repository, base, head }) {
      await repository.push('develop', base)
      const happens = [
        at(-2 * DAY, 'agent', () => repository.pullRequests.open({ head: 'topic', base: 'develop' })),
        at(-DAY, 'agent', () => repository.pullRequests.retarget(1, 'main')),
        at(-DAY, 'agent', async () => repository.push('topic', await repository.commit({ parents: [head] }))),
      ]
      return { target: slug, params: { number: 1, base: 'develop' }, happens }
    },
  },
  {
    name: 'a pull request with 50 comments on single lines, whose base a bot has changed in time',
    action: OPEN,
    right: NOT_BLAMED,
    async play({ slug, repository, base }) {
      await repository.push('develop', base)
      const happens = [
        at(-SECOND, 'agent', () => repository.pullRequests.open({ head: 'topic' })),
        at(0, 'bot', () => repository.pullRequests.reviewLines(1, 50)),
        at(SECOND, 'bot', () => repository.pullRequests.retarget(1, 'develop')),
      ]
      return { target: slug, params: { number: 1, base: 'main' }, happens, submittedMs: 3 * SECOND }
    },
  },
]

/** The commit comes, and goes at once; `also` is what the log is full of. */
function comesAndGoes({ slug, repository, base }: ForgePlace, also: (after: boolean) => unknown) {
  let sha = ''
  const happens = [
    at(-MINUTE, 'bot', () => also(false)),
    at(-200, 'agent', async () => {
      sha = await repository.commit({ parents: [base], message: 'Work' })
      await repository.push('main', sha)
    }),
    at(SECOND, 'bot', async () => repository.push('main', base, { force: true })),
    at(2 * SECOND, 'bot', () => also(true)),
  ]
  return { target: slug, params: () => ({ sha, branch: 'main' }), happens, submittedMs: 3 * SECOND }
}

const pushes: readonly ForgeLife[] = [
  {
    name: 'a commit that was forced away at once, and 400 pushes since',
    action: PUSH,
    right: NOT_BLAMED,
    play: (place) => comesAndGoes(place, (after) => after && place.repository.fillLog('main', 400)),
  },
  {
    name: 'a commit that was forced away at once, and 400 pushes before',
    action: PUSH,
    right: (forge) => (isGitHub(forge) ? VERIFIED : NOT_BLAMED),
    play: (place) => comesAndGoes(place, (after) => after || place.repository.fillLog('main', 400)),
  },
  {
    name: 'a commit that was forced away at once, and the log is refused',
    action: PUSH,
    right: NOT_BLAMED,
    play(place) {
      place.repository.answering.logStatus = 403
      return comesAndGoes(place, () => undefined)
    },
  },
  {
    name: 'a commit that was forced away at once, and the log comes a minute late',
    action: PUSH,
    right: NOT_BLAMED,
    play(place) {
      place.repository.answering.logLagMs = MINUTE
      return comesAndGoes(place, () => undefined)
    },
  },
  {
    name: 'an entry is missing from the log',
    action: PUSH,
    right: NOT_BLAMED,
    play(place) {
      const { pushes } = place.repository
      return comesAndGoes(place, (after) => {
        if (after) pushes.splice(pushes.length - 2, 1)
      })
    },
  },
  {
    name: 'an invented commit, and a liar fills the log after the window',
    action: PUSH,
    truth: 'never',
    right: BLAME,
    play: ({ slug, repository }) => ({
      target: slug,
      params: { sha: 'a'.repeat(40), branch: 'main' },
      happens: [at(11 * MINUTE, 'liar', () => repository.fillLog('main', 400))],
    }),
  },
]

const honest = { about: 'logs that are cut', truth: 'in_time' } as const

export const cutLogLives = [
  ...livesAt([GITHUB, GITLAB, GITEA, FORGEJO], honest, issues),
  ...livesAt([GITHUB, GITLAB, GITEA, FORGEJO, BITBUCKET], honest, pulls),
  ...livesAt([GITEA, FORGEJO], honest, timelines),
  ...livesAt([GITHUB, GITLAB, GITEA], honest, pushes),
]
