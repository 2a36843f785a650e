/** Reads a repository at GitHub. Each question has the one endpoint whose answer is reliable for it. */
import { type CheckContext, DestinationError, type Instant } from '@claimcheck/core/plugin'
import { isReachable } from '../ancestry.ts'
import {
  ActivityAnswer,
  BranchesAnswer,
  CommitAnswer,
  ComparisonAnswer,
  RefAnswer,
  RepositoryAnswer,
} from './answers.ts'
import type { GitHubApi } from './api.ts'
import { type PushLog, toPushLog } from './push-log.ts'

export interface Repository {
  readonly id: number
  /** `<owner>/<repo>` as GitHub has it now. */
  readonly name: string
  readonly defaultBranch: string
  /** At the latest, by our clock. */
  readonly createdAt: Instant
  /** How far GitHub's clock was behind ours at most; undefined where it does not tell its time. Milliseconds. */
  readonly clockBehindMs: number | undefined
  /** The tip of a branch; `undefined` when there is no such branch, or its contents may not be read. */
  head(branch: string): Promise<string | undefined>
  /** Whether `sha` is `tip` or one of its ancestors; `undefined` when the repository lacks one of them, or they have no common history. */
  contains(sha: string, tip: string): Promise<boolean | undefined>
  /** `undefined` when the host has no push log, or does not show it to us. @param reachingBackTo older entries are not needed */
  pushLog(branch: string, reachingBackTo: Instant): Promise<PushLog | undefined>
  /** The newest page of it alone. */
  newestPushes(branch: string): Promise<PushLog | undefined>
  /**
   * The branches that have the commit as their tip, and whether GitHub knows it: undefined where no branch is left, and GitHub does not tell.
   * @throws DestinationError `forbidden` when the repository's contents may not be read
   */
  branchesWithTip(sha: string): Promise<{ readonly names: readonly string[]; readonly isKnown: boolean | undefined }>
}

const LOG_PAGE = 100
const MAX_LOG_PAGES = 3
/** GitHub's times have whole seconds. */
const RESOLUTION_MS = 1000

/** What GitHub says of a repository. */
export interface ShownRepository {
  readonly answer: RepositoryAnswer
  readonly clockBehindMs: number | undefined
}

/** @throws DestinationError `forbidden` when we cannot see the repository: it is private, missing, or the permission is */
export async function readRepository(
  api: GitHubApi,
  slug: string,
  { now }: Pick<CheckContext, 'now'>,
): Promise<ShownRepository> {
  const read = await api.get(`/repos/${slug}`, RepositoryAnswer)
  if ('refused' in read) throw new DestinationError('forbidden', { status: read.refused })
  const theirNow = Date.parse(read.headers.get('date') ?? '')
  return { answer: read.value, clockBehindMs: Number.isNaN(theirNow) ? undefined : now() - theirNow }
}

export function openRepository(
  api: GitHubApi,
  { cache, now }: Pick<CheckContext, 'cache' | 'now'>,
  { answer, clockBehindMs }: ShownRepository,
): Repository {
  const { id, full_name, default_branch, created_at } = answer
  // After a renaming this is the new name. With it the other requests are not redirected.
  const root = `/repos/${full_name}`

  /** `false` is certain. `true` does not mean that the commit was pushed to this repository: it can be a fork's. */
  async function isKnown(sha: string): Promise<boolean> {
    return 'value' in (await api.get(`${root}/commits/${sha}`, CommitAnswer, [404, 409, 422]))
  }

  /** Everybody can read it, still and under the same id. */
  async function isStillPublic(): Promise<boolean> {
    const { answer: again } = await readRepository(api, full_name, { now })
    return !again.private && again.id === id
  }

  async function readPushLog(branch: string, reachingBackTo: Instant, mostPages: number): Promise<PushLog | undefined> {
    const ref = `refs/heads/${branch}`
    const query = new URLSearchParams({ ref, per_page: String(LOG_PAGE) })
    const activities: ActivityAnswer = []
    let isWhole = false
    for (let page = 1; page <= mostPages; page++) {
      const answer = await api.get(`${root}/activity?${query}`, ActivityAnswer, [403, 404, 409, 422])
      if ('refused' in answer) return undefined
      activities.push(...answer.value.filter((activity) => activity.ref === ref))
      const cursor = nextCursor(answer.link)
      isWhole = cursor === undefined
      const oldest = activities.at(-1)
      if (cursor === undefined || (oldest && Date.parse(oldest.timestamp) < reachingBackTo)) break
      query.set('after', cursor)
    }
    return toPushLog(activities, isWhole)
  }

  return {
    id,
    name: full_name,
    defaultBranch: default_branch,
    createdAt: Date.parse(created_at) + RESOLUTION_MS + (clockBehindMs ?? 0),
    clockBehindMs,
    async head(branch) {
      const ref = `heads/${branch}`
      const answer = await api.get(`${root}/git/ref/${escaped(ref)}`, RefAnswer, [404, 409])
      if ('refused' in answer) return undefined
      const { object } = answer.value
      // Some versions of the API answer with a ref whose name only begins like the requested one.
      if (answer.value.ref !== `refs/${ref}` || object.type !== 'commit') {
        throw new DestinationError('unexpected_response', { status: 200 })
      }
      return object.sha
    },
    contains: (sha, tip) =>
      isReachable(sha, tip, cache, async () => {
        // The second page leaves out the list of changed files, which can have megabytes.
        const path = `${root}/compare/${sha}...${tip}?per_page=1&page=2`
        const answer = await api.get(path, ComparisonAnswer, [404, 422])
        if ('refused' in answer) {
          // 422 means that the commit does not exist, or that the comparison is too large.
          if (answer.refused === 422 && (await isKnown(sha))) throw new DestinationError('unexpected_response')
          return undefined
        }
        const { status, merge_base_commit } = answer.value
        return (status === 'ahead' || status === 'identical') && merge_base_commit.sha === sha
      }),
    pushLog: (branch, reachingBackTo) => readPushLog(branch, reachingBackTo, MAX_LOG_PAGES),
    newestPushes: (branch) => readPushLog(branch, 0, 1),
    async branchesWithTip(sha) {
      const answer = await api.get(`${root}/commits/${sha}/branches-where-head`, BranchesAnswer, [404, 409, 422])
      if ('refused' in answer) {
        // Rights to see a repository are not yet rights to see its branches, but for a public one.
        if (answer.refused === 404 && !(await isStillPublic())) throw new DestinationError('forbidden', { status: 404 })
        return { names: [], isKnown: answer.refused === 409 ? undefined : false }
      }
      const names = answer.value.filter(({ commit }) => commit.sha === sha).map((branch) => branch.name)
      return { names, isKnown: true }
    },
  }
}

/** Escapes each segment: GitHub expects a branch's slashes unescaped, and no other character may have a meaning in the path. */
function escaped(ref: string): string {
  return ref.split('/').map(encodeURIComponent).join('/')
}

/** Takes only the cursor from the link, and never the address that it points to. */
function nextCursor(link: string | null): string | undefined {
  const next = link?.split(',').find((part) => /;\s*rel="next"/.test(part))
  const url = next?.match(/<([^>]+)>/)?.[1]
  return (url && URL.canParse(url) && new URL(url).searchParams.get('after')) || undefined
}
