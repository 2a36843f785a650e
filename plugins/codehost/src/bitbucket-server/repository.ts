/** Reads a repository at Bitbucket Data Center by its REST API. Each question has the one endpoint whose answer is reliable for it. */
import {
  bearer,
  type CheckContext,
  clockBehindMs,
  DestinationError,
  type Instant,
  type Static,
  type TSchema,
  Value,
} from '@claimcheck/core/plugin'
import { RepositoryPath } from '../actions/fields.ts'
import { isReachable } from '../ancestry.ts'
import type { CommitQuery, FoundCommit } from '../code-host.ts'
import { ownerAndName } from '../connection-options.ts'
import { findInHistories } from '../forgetting.ts'
import { createRest, type Identity, identifyPart, type Rest, type RestAccess, unexpectedAnswer } from '../rest.ts'
import { BranchesAnswer, CommitAnswer, CommitsAnswer, type PageOf, RefsAnswer, RepositoryAnswer } from './answers.ts'

export interface ServerApi extends Rest {
  /** Reads the values of a list, page by page. @throws DestinationError `too_large` where there are too many */
  pages<T extends TSchema>(path: string, schema: ReturnType<typeof PageOf<T>>): AsyncIterable<Static<T>[]>
}

const MOST_PAGES = 10
const PAGE = 250

export function createServerApi({ baseUrl, token }: RestAccess, context: Pick<CheckContext, 'http'>): ServerApi {
  const rest = createRest(`${baseUrl}/rest`, bearer(token), context)
  return {
    ...rest,
    // Some answers of the server are empty where there is nothing.
    find: (path, schema, also = [204, 404]) => rest.find(path, schema, also),
    async *pages(path, schema) {
      const from = (start: number) => `${path}${path.includes('?') ? '&' : '?'}limit=${PAGE}&start=${start}`
      let start = 0
      const pages = rest.paginate(from(start), {
        schema,
        most: MOST_PAGES,
        next({ value: { isLastPage, nextPageStart } }) {
          if (isLastPage) return undefined
          // A list that does not go on would be read again and again.
          if (typeof nextPageStart !== 'number' || nextPageStart <= start) throw unexpectedAnswer()
          start = nextPageStart
          return from(start)
        },
      })
      for await (const { value } of pages) yield value.values
    },
  }
}

/** The age that an answer may have: all nodes of a server share its storage, and keep little in memory. Milliseconds. */
export const AGE_MS = 2000

const BRANCH = 'refs/heads/'

export type Repository = ReturnType<typeof openRepository>

export function openRepository(access: RestAccess, slug: string, context: CheckContext) {
  const { cache, now } = context
  const api = createServerApi(access, context)
  const [project, name] = ownerAndName(slug)
  // Slugs are in lower case, whatever the repository is called.
  const path = `/projects/${encodeURIComponent(project)}/repos/${encodeURIComponent(name.toLowerCase())}`
  const root = `/api/latest${path}`
  let shown: Promise<Identity> | undefined

  /** Reads the repository, once in a check. @throws DestinationError `forbidden` when we cannot see it: it is private, missing, or the permission is */
  function show(): Promise<Identity> {
    shown ??= cache.share(`bitbucket-server ${slug}`, async () => {
      const { value, headers } = await api.get(root, RepositoryAnswer)
      return identityOf(value, headers, now())
    })
    return shown
  }

  /** Tells whether the server has a commit. `false` is certain. `true` does not mean that it was pushed to this repository: it can be a fork's. */
  async function isKnown(sha: string): Promise<boolean> {
    const { value: commit } = await api.find(`${root}/commits/${sha}`, CommitAnswer)
    if (commit && commit.id !== sha) throw unexpectedAnswer()
    return commit !== undefined
  }

  /**
   * Tells whether a commit is in the history of a tip. It is if it is their only best common ancestor. It is not if, in addition, the list of what it
   * has and the tip has not begins with the commit. Older servers have this list alone, and leave it empty for a commit in the history.
   */
  async function readReachable(sha: string, tip: string): Promise<boolean | undefined> {
    const { value: base } = await api.find(`${root}/commits/${sha}/merge-base?otherCommitId=${tip}`, CommitAnswer)
    if (base?.id === sha) return true
    const { value: beyond } = await api.find(`${root}/commits?until=${sha}&since=${tip}&limit=1`, CommitsAnswer)
    const first = beyond?.values[0]?.id
    if (first === sha) return false
    if (!beyond && !base && !(await isKnown(sha))) return undefined
    // A branch or a tag may be called like a commit, and the empty list does not name it.
    if (beyond?.isLastPage && first === undefined && !base) return (await isKnown(sha)) || undefined
    // The tip went away between the answers, or the two answers are of different times.
    throw new DestinationError('unavailable')
  }

  return {
    api,
    /** The repository's path in the API. */
    root,
    show,
    isKnown,
    /** Tells whether the repository has the ref that the server makes with a pull request. */
    async keepsPull(number: number): Promise<boolean> {
      const ref = encodeURIComponent(`refs/pull-requests/${number}/from`)
      const { value } = await api.find(`${root}/commits?until=${ref}&limit=1`, CommitsAnswer)
      return (value?.values.length ?? 0) > 0
    },
    /** Tells whether `sha` is `tip` or one of its ancestors; `undefined` when the repository does not have `sha`. */
    contains: (sha: string, tip: string) => isReachable(sha, tip, cache, () => readReachable(sha, tip)),
    /** Identifies the repository that an answer of one of its parts names. @throws DestinationError `ambiguous_claim` when that is another one */
    identify: async (named: RepositoryAnswer, headers: Headers) =>
      identifyPart(identityOf(named, headers, now()), slug, show),
    /** Reads the tip of a branch; undefined where there is no such branch. */
    head: (branch: string) =>
      cache.share(`bitbucket-server ${slug} branch ${branch}`, async () => {
        // The filter finds each branch with this text somewhere in its name.
        const query = new URLSearchParams({ filterText: branch, boostMatches: 'true' })
        for await (const branches of api.pages(`${root}/branches?${query}`, BranchesAnswer)) {
          const found = branches.find(({ id }) => id === BRANCH + branch)
          if (found) return found.latestCommit
        }
        return undefined
      }),
    /** Finds some branches that have the commit. */
    async branchesWith(sha: string): Promise<readonly string[]> {
      const { value: info } = await api.find(`/branch-utils/latest${path}/branches/info/${sha}?limit=25`, RefsAnswer)
      const ids = info?.values.map(({ id }) => id) ?? []
      return ids.filter((id) => id.startsWith(BRANCH)).map((id) => id.slice(BRANCH.length))
    },
  }
}

function identityOf({ id, slug, project }: RepositoryAnswer, headers: Headers, now: Instant): Identity {
  const repositoryName = `${project.key}/${slug}`
  if (!Value.Check(RepositoryPath, repositoryName)) throw unexpectedAnswer()
  return { repositoryId: String(id), repositoryName, clockBehindMs: clockBehindMs(headers, now) }
}

/** The name of a branch by its ref. @throws DestinationError `unexpected_response` for what is no branch */
export function branchOf(ref: string): string {
  if (!ref.startsWith(BRANCH)) throw unexpectedAnswer()
  return ref.slice(BRANCH.length)
}

/** Finds a commit at Bitbucket Data Center. Only administrators can read its push log, so the result has no times. */
export async function findCommit(access: RestAccess, query: CommitQuery, context: CheckContext): Promise<FoundCommit> {
  const { branch, sha } = query
  const repository = openRepository(access, query.repository, context)
  const identity = await repository.show()
  const head = await repository.head(branch)
  const found = await findInHistories(query, context, {
    head,
    contains: repository.contains,
    isKnown: repository.isKnown,
    findElsewhere: async () => (await repository.branchesWith(sha)).find((name) => name !== branch),
  })
  return { ...identity, ...found, ageMs: AGE_MS }
}
