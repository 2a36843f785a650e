/** Code hosts as lives are set at them: a stand-in over real repositories, by the life's own clock. */
import { createVirtualClock } from '@claimcheck/core/testkit'
import codehost from '@claimcheck/plugin-codehost'
import { startBitbucket } from '../../destinations/forge/bitbucket.ts'
import { startBitbucketServer } from '../../destinations/forge/bitbucket-server.ts'
import { startGitea } from '../../destinations/forge/gitea.ts'
import { startGitHub } from '../../destinations/forge/github.ts'
import { gitlabKind } from '../../destinations/forge/gitlab.ts'
import type { Answering, ForgeRepository, ForgeRepositoryOptions } from '../../destinations/forge/model.ts'
import { type Right, StandIn, type StandInOptions } from '../../destinations/forge/stand-in.ts'
import {
  type About,
  at,
  DAY,
  type Happening,
  HOUR,
  type LifeAt,
  type LifeRow,
  type Place,
  type Play,
  START,
  settingOf,
  type Who,
} from './life-row.ts'

const TOKEN = 'token-of-the-reader'

/** A code host, and in what it differs where the right verdict hangs on that. */
export interface Forge {
  readonly name: string
  readonly provider: string
  readonly start: (options: StandInOptions) => Promise<StandIn>
  readonly baseUrl: (standIn: StandIn) => string
  /** The word for jobs of its own runs in a claim of checks, and the name of the check `build` there. */
  readonly runBy?: string
  readonly buildName?: string
  readonly hasIssues: boolean
  readonly hasReleases: boolean
  /** Its push log tells which commits a branch had. */
  readonly hasPushLog: boolean
}

const usual = { hasIssues: true, hasReleases: true, hasPushLog: true }
const origin = ({ origin }: StandIn) => origin
const url = ({ url }: StandIn) => url

export const GITHUB: Forge = {
  ...{ name: 'github', provider: 'github', start: startGitHub, baseUrl: url, runBy: 'github-actions' },
  ...{ buildName: 'build', ...usual },
}
export const GITLAB: Forge = {
  ...{ name: 'gitlab', provider: 'gitlab', baseUrl: origin, runBy: 'gitlab-ci', buildName: 'build', ...usual },
  start: (options) => StandIn.start(gitlabKind, options),
}
export const GITEA: Forge = {
  ...{ name: 'gitea', provider: 'gitea', baseUrl: origin, runBy: 'gitea-actions', ...usual },
  buildName: 'ci.yml / build (push)',
  start: (options) => startGitea(options, 'gitea'),
}
export const FORGEJO: Forge = {
  ...{ name: 'forgejo', provider: 'gitea', baseUrl: origin, runBy: 'forgejo-actions', ...usual },
  buildName: 'ci.yml / build (push)',
  start: (options) => startGitea({ ...options, prefix: '/forge' }, 'forgejo'),
}
export const BITBUCKET: Forge = {
  ...{ name: 'bitbucket', provider: 'bitbucket', start: startBitbucket, baseUrl: url, runBy: 'bitbucket-pipelines' },
  ...{ buildName: 'branches/build', hasIssues: false, hasReleases: false, hasPushLog: false },
}
export const BITBUCKET_SERVER: Forge = {
  ...{ name: 'bitbucket-server', provider: 'bitbucket-server', start: startBitbucketServer, baseUrl: origin },
  ...{ hasIssues: false, hasReleases: false, hasPushLog: false },
}

export const FORGES: readonly Forge[] = [GITHUB, GITLAB, GITEA, FORGEJO, BITBUCKET, BITBUCKET_SERVER]

export const isGitHub = ({ name }: Forge) => name === 'github'
export const hasIssues = ({ hasIssues }: Forge) => hasIssues
export const hasReleases = ({ hasReleases }: Forge) => hasReleases
export const hasRuns = ({ runBy }: Forge) => runBy !== undefined

/** A repository that was made a month ago, with a main branch of some commits and a topic branch of one more. */
export interface ForgePlace extends Place {
  readonly forge: Forge
  readonly standIn: StandIn
  readonly slug: string
  readonly repository: ForgeRepository
  /** The commits of main before `base`, the newest first. */
  readonly past: readonly string[]
  readonly base: string
  readonly head: string
}

export interface Visit {
  /** `reader` may read everything; `none`: nobody's eyes; else a token that may read so much of a private repository. */
  readonly token?: 'reader' | 'none' | readonly Right[]
  readonly repository?: ForgeRepositoryOptions
}

const MONTH = 30 * DAY

export async function openForge(forge: Forge, visit: Visit = {}): Promise<ForgePlace> {
  const { token = 'reader' } = visit
  const clock = createVirtualClock(START - MONTH)
  const standIn = await forge.start({ now: clock.now })
  const isPrivate = Array.isArray(token)
  const slug = 'acme/app'
  const repository = await standIn.createRepository(slug, { isPrivate, ...visit.repository })
  const date = new Date(clock.now())
  const past = [await repository.commit({ date })]
  for (let i = 0; i < 3; i++) past.unshift(await repository.commit({ parents: [past[0]!], date }))
  const base = await repository.commit({ parents: [past[0]!], date })
  await repository.push('main', base)
  const head = await repository.commit({ parents: [base], message: 'Topic' })
  await repository.push('topic', head)
  standIn.addToken(isPrivate ? { token: TOKEN, repositories: [repository], rights: token } : { token: TOKEN })
  const base_url = forge.baseUrl(standIn)
  const isPublic = token === 'none' && forge.name === 'github'
  return {
    ...{ clock, forge, standIn, slug, repository, past, base, head, plugin: codehost },
    options: isPublic ? { public_base_url: base_url } : {},
    connection: isPublic
      ? null
      : { provider: forge.provider, options: { base_url, ...(token === 'none' ? {} : { token: TOKEN }) } },
    close: () => standIn.close(),
  }
}

/** A life that is told once, for every host that it can be lived at. */
export interface ForgeLife extends Omit<LifeAt<ForgePlace>, 'about' | 'right' | 'truth' | 'forgets'> {
  readonly truth?: LifeRow['truth']
  readonly right: LifeRow['right'] | ((forge: Forge) => LifeRow['right'])
  readonly where?: (forge: Forge) => boolean
  readonly visit?: Visit
}

/** @param truth of those that do not say */
export function livesAt(
  forges: readonly Forge[],
  { about, truth }: { readonly about: About; readonly truth: LifeRow['truth'] },
  lives: readonly ForgeLife[],
): LifeRow[] {
  return forges.flatMap((forge) =>
    lives
      .filter(({ where }) => where?.(forge) ?? true)
      .map(({ where: _, visit, play, right, bars: { seconds, requests } = {}, ...life }) => ({
        ...{ truth, about, place: forge.name, ...life },
        bars: {
          ...(seconds === undefined ? {} : { seconds }),
          // Nowhere else an answer that has not changed is free.
          ...(requests === undefined || forge !== GITHUB ? {} : { requests }),
        },
        right: typeof right === 'function' ? right(forge) : right,
        set: () => settingOf(openForge(forge, visit), play),
      })),
  )
}

/** As claims name the check `build` of the host's own runs. */
export function ownBuild({ forge }: ForgePlace) {
  return [{ name: forge.buildName!, by: forge.runBy! }]
}

/** The tag of the one release that lives are about. */
export const TAG = 'v1.0.0'

/** What people do, each at its time of the life: with pull request 1, issue 1, the release of `TAG`, and a commit on top of `base`. */
function deedsAt({ repository, base }: ForgePlace) {
  const { pullRequests, issues, releases } = repository
  let [sha, release] = ['', 0]
  const byBot = (ms: number, branch: string, message: string, options: object = {}) =>
    at(ms, 'bot', async () => {
      const parents = [message === 'Lint' ? sha : base]
      await repository.push(branch, await repository.commit({ parents, message }), options)
    })
  return {
    openPull: (ms = -HOUR, given: object = {}) => at(ms, 'agent', () => pullRequests.open({ head: 'topic', ...given })),
    mergePull: (ms = 0, how: 'merge' | 'squash' | 'rebase' | 'fast-forward' = 'merge', who: Who = 'agent') =>
      at(ms, who, () => pullRequests.merge(1, { how })),
    retarget: (ms: number, who: Who = 'bot') => at(ms, who, () => pullRequests.retarget(1, 'develop')),
    openIssue: (ms = -2 * DAY) => at(ms, 'owner', () => issues.open()),
    closeIssue: (ms = 0, who: Who = 'agent', options: Parameters<typeof issues.close>[1] = {}) =>
      at(ms, who, () => issues.close(1, options)),
    reopenIssue: (ms: number, who: Who = 'bot', options: Parameters<typeof issues.reopen>[1] = {}) =>
      at(ms, who, () => issues.reopen(1, options)),
    publish: (ms = 0, file?: string) =>
      at(ms, 'agent', async () => {
        release = await releases.create({ tag: TAG })
        if (file) releases.addAsset(release, file)
      }),
    /** The id of the release, once it is published. */
    release: () => release,
    push: (ms = -200, branch = 'main') =>
      at(ms, 'agent', async () => {
        sha = await repository.commit({ parents: [base], message: 'Work' })
        await repository.push(branch, sha)
      }),
    /** The id of the commit, once it is pushed. */
    sha: () => sha,
    /** A bot's commit on top of it. */
    lint: (ms: number, branch = 'main') => byBot(ms, branch, 'Lint'),
    /** A bot's commit instead of it. */
    rebase: (ms: number, branch = 'main') => byBot(ms, branch, 'Rebased', { force: true }),
    forceBack: (ms: number) => at(ms, 'bot', () => repository.push('main', base, { force: true })),
  }
}

export interface Scene extends ForgePlace, ReturnType<typeof deedsAt> {}

/** What happens, where that is all; else what differs from the claims of the action. */
type Given = readonly Happening[] | Partial<Play>

interface More extends Pick<ForgeLife, 'truth' | 'where' | 'visit' | 'bars'> {
  readonly answering?: Partial<Answering>
  /** Beside main and topic, at `base`. */
  readonly branches?: readonly string[]
}

/** For lives of one action. @param claim the params of its claims, unless a life says otherwise */
export function livesOf(action: string, claim: (scene: Scene) => object, common: More = {}) {
  return (
    name: string,
    right: ForgeLife['right'],
    set: (scene: Scene) => Given | Promise<Given>,
    more: More = {},
  ): ForgeLife => {
    const { answering, branches = [], ...rest } = { ...common, ...more }
    return {
      ...{ action, name, right, ...rest },
      async play(place) {
        Object.assign(place.repository.answering, answering)
        for (const branch of branches) await place.repository.push(branch, place.base)
        const scene = { ...place, ...deedsAt(place) }
        const given = await set(scene)
        const { params, ...play }: Partial<Play> = 'length' in given ? { happens: given as Happening[] } : given
        const claimed = () => ({ ...claim(scene), ...(typeof params === 'function' ? params() : params) })
        return { target: place.slug, params: claimed, ...play }
      },
    }
  }
}

export const opening = livesOf('codehost.pull_request.open', () => ({ number: 1 }))
export const merging = livesOf('codehost.pull_request.merge', () => ({ number: 1 }))
export const closing = livesOf('codehost.issue.close', () => ({ number: 1 }), { where: hasIssues })
export const releasing = livesOf('codehost.release.publish', () => ({ tag: TAG }), { where: hasReleases })
export const pushing = livesOf('codehost.commit.push', ({ sha }) => ({ sha: sha(), branch: 'main' }))
/** Of the host's own `build` at `base`. */
export const checking = livesOf('codehost.checks.pass', (scene) => ({ sha: scene.base, checks: ownBuild(scene) }), {
  where: hasRuns,
})
/** Of all checks at `base`: the claim names none. */
export const checkingAll = livesOf('codehost.checks.pass', ({ base }) => ({ sha: base }))
