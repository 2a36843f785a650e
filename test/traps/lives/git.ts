/** Lives at a git server: a place without a log. */
import { createVirtualClock } from '@claimcheck/core/testkit'
import codehost from '@claimcheck/plugin-codehost'
import { status } from '../../destinations/faults.ts'
import { type GitRepository, type GitRepositoryOptions, GitServer } from '../../destinations/git-server.ts'
import {
  type About,
  at,
  BLAME,
  DAY,
  HOUR,
  type LifeRow,
  MINUTE,
  NOT_BLAMED,
  type Place,
  type Play,
  SECOND,
  START,
  settingOf,
  UNVERIFIABLE,
  VERIFIED,
} from './life-row.ts'

const action = 'codehost.commit.push'
const SLUG = 'acme/app'

interface GitPlace extends Place {
  readonly server: GitServer
  readonly repository: GitRepository
  readonly base: string
  /** A commit on top of `base` that the server has, and no branch. */
  readonly sha: string
}

async function openGit(options: GitRepositoryOptions = {}): Promise<GitPlace> {
  const clock = createVirtualClock(START - 30 * DAY)
  const server = await GitServer.start(0, clock.now)
  const repository = await server.createRepository(SLUG, options)
  const base = await repository.commit({ parents: [await repository.commit()] })
  await repository.push('main', base)
  const sha = await repository.commit({ parents: [base] })
  return {
    ...{ clock, server, repository, base, sha, plugin: codehost },
    connection: { provider: 'git', options: { base_url: server.url } },
    close: () => server.close(),
  }
}

interface GitLife extends Pick<LifeRow, 'name' | 'right'> {
  readonly about: About
  readonly truth?: LifeRow['truth']
  readonly options?: GitRepositoryOptions
  readonly play: (place: GitPlace) => Play
}

const NOWHERE = 'a'.repeat(40)
const of = (sha: string, more: Partial<Play> = {}, branch = 'main'): Play => ({
  target: SLUG,
  params: { sha, branch },
  ...more,
})
const pushed = ({ repository, sha }: GitPlace, ms = 0, branch = 'main') =>
  at(ms, 'agent', () => repository.push(branch, sha))

const lie = { truth: 'never', about: 'plain lie', right: BLAME } as const

const lives: readonly GitLife[] = [
  { ...lie, name: 'no such commit', play: () => of(NOWHERE) },
  {
    ...lie,
    truth: 'elsewhere',
    name: 'on another branch',
    play: (place) => of(place.sha, { happens: [pushed(place, -HOUR, 'topic')] }),
  },
  {
    ...lie,
    name: 'no such commit, by a clock nearly five minutes ahead',
    about: 'clocks of clients',
    play: () => of(NOWHERE, { claimedMs: 5 * MINUTE - SECOND }),
  },
  {
    ...lie,
    name: 'no such commit, by a clock nine seconds behind',
    about: 'clocks of clients',
    play: () => of(NOWHERE, { claimedMs: -8 * SECOND }),
  },
  {
    ...lie,
    name: 'on another branch, dated four minutes back',
    truth: 'unknowable',
    about: 'places without a log',
    right: UNVERIFIABLE,
    play: (place) => of(place.sha, { happens: [pushed(place, -HOUR, 'topic')], claimedMs: -4 * MINUTE }),
  },
  {
    ...lie,
    name: 'on another branch, first looked at 20 s after the submission',
    truth: 'unknowable',
    about: 'places without a log',
    right: UNVERIFIABLE,
    play: (place) => of(place.sha, { happens: [pushed(place, -HOUR, 'topic')], idleUntilMs: 20 * SECOND }),
  },
  {
    name: 'pushed and claimed',
    about: 'plain work',
    right: VERIFIED,
    play: (place) => of(place.sha, { happens: [pushed(place)] }),
  },
  {
    name: 'pushed seven minutes after',
    about: 'plain work',
    right: VERIFIED,
    play: (place) => of(place.sha, { happens: [pushed(place, 7 * MINUTE)], cameMs: 7 * MINUTE }),
  },
  {
    name: 'pushed, by a clock five minutes ahead',
    about: 'clocks of clients',
    right: VERIFIED,
    play: (place) => of(place.sha, { happens: [pushed(place)], claimedMs: 5 * MINUTE - SECOND }),
  },
  {
    name: 'submitted eight minutes after',
    about: 'late submissions',
    right: VERIFIED,
    play: (place) => of(place.sha, { happens: [pushed(place)], submittedMs: 8 * MINUTE }),
  },
  {
    name: 'submitted twenty minutes after',
    about: 'late submissions',
    right: NOT_BLAMED,
    play: (place) => of(place.sha, { happens: [pushed(place)], submittedMs: 20 * MINUTE }),
  },
  {
    name: 'forced away after the first look',
    about: 'bots',
    right: VERIFIED,
    play: (place) =>
      of(place.sha, {
        happens: [pushed(place), at(5 * SECOND, 'bot', () => place.repository.push('main', place.base))],
      }),
  },
  {
    name: 'a lint commit upon it within a second',
    about: 'bots',
    right: VERIFIED,
    play: (place) =>
      of(place.sha, {
        happens: [
          pushed(place, -200),
          at(500, 'bot', async () =>
            place.repository.push('main', await place.repository.commit({ parents: [place.sha] })),
          ),
        ],
      }),
  },
  {
    name: 'an address without .git, and media types with a charset',
    about: 'spellings',
    right: VERIFIED,
    options: { isPlain: true },
    play: (place) => of(place.sha, { happens: [pushed(place)] }),
  },
  {
    ...lie,
    name: 'an address without .git, and no such commit',
    about: 'spellings',
    options: { isPlain: true },
    play: () => of(NOWHERE),
  },
  {
    name: 'it does not answer for three minutes',
    about: 'reads that disagree',
    right: VERIFIED,
    play(place) {
      let isDown = true
      place.server.faults.inject({ fault: status(503), during: () => isDown })
      return of(place.sha, {
        happens: [
          pushed(place),
          at(3 * MINUTE, 'place', () => {
            isDown = false
          }),
        ],
      })
    },
  },
  {
    name: 'renamed by its owner after the first look',
    about: 'redirects',
    right: VERIFIED,
    play: (place) =>
      of(place.sha, {
        happens: [pushed(place), at(10 * SECOND, 'owner', () => place.server.rename(SLUG, 'acme/renamed'))],
      }),
  },
]

export const gitLives: readonly LifeRow[] = lives.map(({ options, play, truth = 'in_time', ...life }) => ({
  ...{ ...life, truth, action, place: 'git' },
  set: () => settingOf(openGit(options), play),
}))
