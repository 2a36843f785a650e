/** Reads a repository at GitHub. Each question has the one endpoint whose answer is reliable for it. */

import {
  type CheckContext,
  clockBehindMs as clockBehind,
  DestinationError,
  type Instant,
} from '@claimcheck/core/plugin'
import { isReachable } from '../ancestry.ts'
import type { RepositoryQuery } from '../code-host.ts'
import { ownerAndName } from '../connection-options.ts'
import { escapePath, unexpectedAnswer } from '../rest.ts'
import { BranchesAnswer, CommitAnswer, ComparisonAnswer, RefAnswer, RepositoryAnswer, TagAnswer } from './answers.ts'
import { createGitHubApi, type GitHubAccess, type GitHubApi } from './api.ts'
import { readPushLog, readRemovals } from './push-log.ts'

/** The age that GitHub's answers may have. Milliseconds. */
export const AGE_MS = 10_000
/**
 * The age that GitHub's answers may have about outcomes without a log: absence counts only in an answer that is of the submission or later, and comes
 * soon after it. A judgement, of which the README says what it is worth.
 */
export const WITHOUT_LOG_AGE_MS = 2000
/** The time for which GitHub certainly keeps a commit that no branch has. */
export const KEEPS_OBJECTS_MS = 7 * 24 * 60 * 60_000

export type Repository = ReturnType<typeof openRepository>

const MAX_LOG_PAGES = 3
const MAX_REMOVAL_PAGES = 5
/** Limit of the tags of tags that are followed. */
const MAX_TAG_DEPTH = 5
/** GitHub's times have whole seconds. */
const RESOLUTION_MS = 1000

/** A repository as GitHub describes it. */
export type ShownRepository = Awaited<ReturnType<typeof readRepository>>

/** Reads a repository. @throws DestinationError `forbidden` when we cannot see it: it is private, missing, or the permission is */
export async function readRepository(api: GitHubApi, slug: string, { now }: Pick<CheckContext, 'now'>) {
  const { value: answer, headers } = await api.get(`/repos/${slug}`, RepositoryAnswer)
  return { answer, clockBehindMs: clockBehind(headers, now()) }
}

/** The repository that a claim names, and the facts of it that every answer has. */
export type ClaimedRepository = Awaited<ReturnType<typeof claimedRepository>>

/** Reads the claimed repository once for all claims that wait for it. @throws DestinationError as `readRepository` */
export async function claimedRepository(
  access: GitHubAccess,
  { repository: slug }: Pick<RepositoryQuery, 'repository'>,
  context: CheckContext,
) {
  ownerAndName(slug)
  const api = createGitHubApi(access, context)
  const shown = await context.cache.share(`github ${slug}`, () => readRepository(api, slug, context))
  const repository = openRepository(api, context, shown)
  const { id, name, createdAt: repositoryCreatedAt, clockBehindMs } = repository
  return {
    access,
    api,
    repository,
    found: { repositoryId: String(id), repositoryName: name, repositoryCreatedAt, ageMs: AGE_MS, clockBehindMs },
  }
}

export function openRepository(
  api: GitHubApi,
  { cache, now }: Pick<CheckContext, 'cache' | 'now'>,
  { answer, clockBehindMs }: ShownRepository,
) {
  const { id, full_name, default_branch, created_at } = answer
  // The path has the new name after a rename, so that the other requests are not redirected.
  const root = `/repos/${full_name}`

  /** Tells whether GitHub knows a commit. `false` is certain, where contents may be read. `true` does not mean that the commit was pushed to this repository: it can be a fork's. */
  async function isKnown(sha: string): Promise<boolean> {
    const answer = await api.find(`${root}/commits/${sha}`, CommitAnswer, [404, 409, 422])
    // The name may be a branch's, and then the answer is of the branch.
    return 'value' in answer && answer.value.sha === sha
  }

  /** Tells whether everybody can read the repository, still and under the same id. */
  async function isStillPublic(): Promise<boolean> {
    const { answer: again } = await readRepository(api, full_name, { now })
    return !again.private && again.id === id
  }

  return {
    id,
    /** The repository's path, `<owner>/<repo>`, as GitHub has it now. */
    name: full_name,
    /** The beginning of the paths of the repository's resources, which are not redirected. */
    root,
    /** Tells whether everybody may read the repository, issues and pull requests included. */
    isPublic: !answer.private,
    defaultBranch: default_branch,
    /** The time when the repository was made, at the latest, by our clock. */
    createdAt: Date.parse(created_at) + RESOLUTION_MS + (clockBehindMs ?? 0),
    clockBehindMs,
    /** Reads the tip of a branch; `undefined` when there is no such branch, or its contents may not be read. */
    async head(branch: string): Promise<string | undefined> {
      const object = await readRef(api, root, `heads/${branch}`)
      if (object && object.type !== 'commit') throw unexpectedAnswer()
      return object?.sha
    },
    /** Tells whether the repository has the ref of this pull request, which GitHub makes with it and never removes. */
    keepsPull: async (number: number) => (await readRef(api, root, `pull/${number}/head`)) !== undefined,
    /** Reads the commit to which a tag leads; `undefined` when there is no such tag, it leads to no commit, or the contents may not be read. */
    tagged: (tag: string) => readTag(api, root, tag),
    isKnown,
    /** Tells whether `sha` is `tip` or one of its ancestors; `undefined` when the repository lacks one of them, or they have no common history. */
    contains: (sha: string, tip: string) =>
      isReachable(sha, tip, cache, async () => {
        // The second page leaves out the list of changed files, which can have megabytes.
        const path = `${root}/compare/${sha}...${tip}?per_page=1&page=2`
        const answer = await api.find(path, ComparisonAnswer, [404, 422])
        if ('refused' in answer) {
          // 422 means that the commit does not exist, or that the comparison is too large.
          if (answer.refused === 422 && (await isKnown(sha))) throw new DestinationError('unexpected_response')
          return undefined
        }
        const { status, merge_base_commit } = answer.value
        return (status === 'ahead' || status === 'identical') && merge_base_commit.sha === sha
      }),
    /** Reads the push log of a branch; `undefined` where the host has none. @param reachingBackTo the time before which entries are not needed */
    pushLog: (branch: string, reachingBackTo: Instant, most = MAX_LOG_PAGES) =>
      readPushLog(api, root, branch, { reachingBackTo, most }),
    /** Reads the entries that took commits off a branch since then; undefined where the host does not list them all. */
    removals: (branch: string, reachingBackTo: Instant) =>
      readRemovals(api, root, branch, { reachingBackTo, most: MAX_REMOVAL_PAGES }),
    /** Reads the newest page of the push log alone. */
    newestPushes: (branch: string) => readPushLog(api, root, branch, { reachingBackTo: 0, most: 1 }),
    /**
     * Finds the branches that have the commit as their tip, and whether GitHub knows the commit: undefined where no branch is left, and GitHub does
     * not tell.
     * @throws DestinationError `forbidden` when the repository's contents may not be read
     */
    async branchesWithTip(
      sha: string,
    ): Promise<{ readonly names: readonly string[]; readonly isKnown: boolean | undefined }> {
      const answer = await api.find(`${root}/commits/${sha}/branches-where-head`, BranchesAnswer, [404, 409, 422])
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

async function readRef(api: GitHubApi, root: string, ref: string) {
  const answer = await api.find(`${root}/git/ref/${escapePath(ref)}`, RefAnswer, [404, 409])
  if ('refused' in answer) return undefined
  // Some versions of the API answer with a ref whose name only begins like the requested one.
  if (answer.value.ref !== `refs/${ref}`) throw unexpectedAnswer()
  return answer.value.object
}

async function readTag(api: GitHubApi, root: string, tag: string): Promise<string | undefined> {
  let object = await readRef(api, root, `tags/${tag}`)
  for (let depth = 0; object?.type === 'tag'; depth++) {
    if (depth === MAX_TAG_DEPTH) throw new DestinationError('unexpected_response')
    object = (await api.get(`${root}/git/tags/${object.sha}`, TagAnswer)).value.object
  }
  return object?.type === 'commit' ? object.sha : undefined
}
