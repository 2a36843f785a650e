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
  type Happening,
  HOUR,
  type Kind,
  kind,
  type LifeRow,
  MINUTE,
  NOT_BLAMED,
  type Place,
  type Play,
  SECOND,
  START,
  settingOf,
  UNVERIFIABLE,
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

const NOWHERE = 'a'.repeat(40)
/** @param set what happens after the commit is on main, or more of the play */
export function row(
  name: string,
  about: Kind,
  set: (place: GitPlace) => Partial<Play>,
  options: GitRepositoryOptions = {},
) {
  const play = (place: GitPlace): Play => {
    const { params, ...given } = set(place)
    return { target: SLUG, params: { sha: place.sha, branch: 'main', ...params }, ...given }
  }
  return { ...about, name, action, place: 'git', set: () => settingOf(openGit(options), play) }
}

/** @param ms when the commit comes to main */
const pushed = (name: string, about: Kind, more: Partial<Play> = {}, act?: (place: GitPlace) => Happening) =>
  row(name, about, (place) => ({
    happens: [
      at(more.cameMs ?? 0, 'agent', () => place.repository.push('main', place.sha)),
      ...(act ? [act(place)] : []),
    ],
    ...more,
  }))
const onTopic = (name: string, about: Kind, more: Partial<Play> = {}) =>
  row(name, about, ({ repository, sha }) => ({
    happens: [at(-HOUR, 'agent', () => repository.push('topic', sha))],
    ...more,
  }))
const nowhere = (name: string, about: Kind, more: Partial<Play> = {}, options: GitRepositoryOptions = {}) =>
  row(name, about, () => ({ params: { sha: NOWHERE }, ...more }), options)

const lie = (about: About = 'plain lie') => kind(about, BLAME, 'never')
const noLog = kind('places without a log', UNVERIFIABLE, 'unknowable')
const AHEAD = { claimedMs: 5 * MINUTE - SECOND }
const PLAIN = { isPlain: true }

export const gitLives: readonly LifeRow[] = [
  nowhere('no such commit', lie()),
  onTopic('on another branch', kind('plain lie', BLAME, 'elsewhere')),
  nowhere('no such commit, by a clock nearly five minutes ahead', lie('clocks of clients'), AHEAD),
  nowhere('no such commit, by a clock nine seconds behind', lie('clocks of clients'), { claimedMs: -8 * SECOND }),
  onTopic('on another branch, dated four minutes back', noLog, { claimedMs: -4 * MINUTE }),
  onTopic('on another branch, first looked at 20 s after the submission', noLog, { idleUntilMs: 20 * SECOND }),
  pushed('pushed and claimed', kind('plain work')),
  pushed('pushed seven minutes after', kind('plain work'), { cameMs: 7 * MINUTE }),
  pushed('pushed, by a clock five minutes ahead', kind('clocks of clients'), AHEAD),
  pushed('submitted eight minutes after', kind('late submissions'), { submittedMs: 8 * MINUTE }),
  pushed('submitted twenty minutes after', kind('late submissions', NOT_BLAMED), { submittedMs: 20 * MINUTE }),
  pushed('forced away after the first look', kind('bots'), {}, ({ repository, base }) =>
    at(5 * SECOND, 'bot', () => repository.push('main', base)),
  ),
  pushed('a lint commit upon it within a second', kind('bots'), {}, ({ repository, sha }) =>
    at(500, 'bot', async () => repository.push('main', await repository.commit({ parents: [sha] }))),
  ),
  row(
    'an address without .git, and media types with a charset',
    kind('spellings'),
    ({ repository, sha }) => ({ happens: [at(0, 'agent', () => repository.push('main', sha))] }),
    PLAIN,
  ),
  nowhere('an address without .git, and no such commit', lie('spellings'), {}, PLAIN),
  pushed('it does not answer for three minutes', kind('reads that disagree'), {}, ({ server }) => {
    let isDown = true
    server.faults.inject({ fault: status(503), during: () => isDown })
    return at(3 * MINUTE, 'place', () => {
      isDown = false
    })
  }),
  pushed('renamed by its owner after the first look', kind('redirects'), {}, ({ server }) =>
    at(10 * SECOND, 'owner', () => server.rename(SLUG, 'acme/renamed')),
  ),
]
