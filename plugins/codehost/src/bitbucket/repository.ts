/** Reads a repository at Bitbucket Cloud by its REST API. Each question has the one endpoint whose answer is reliable for it. */
import {
  bearer,
  type CheckContext,
  clockBehindMs,
  DestinationError,
  type Instant,
  parseUrl,
  type Static,
  type TSchema,
} from '@claimcheck/core/plugin'
import { isReachable } from '../ancestry.ts'
import type { CommitQuery, FoundCommit } from '../code-host.ts'
import { ownerAndName } from '../connection-options.ts'
import { findInHistories } from '../forgetting.ts'
import {
  createRest,
  escapePath,
  type Identity,
  identifyPart,
  type Rest,
  type RestAccess,
  unexpectedAnswer,
} from '../rest.ts'
import { logTime } from '../times.ts'
import {
  BranchAnswer,
  BranchesAnswer,
  CommitAnswer,
  CommitsAnswer,
  RepositoryAnswer,
  type RepositoryName,
} from './answers.ts'

export interface BitbucketApi extends Rest {
  /** Reads the pages of a list; no page for 404, where `find` finds nothing. @throws DestinationError `too_large` where there are too many */
  pages<T extends TSchema>(path: string, schema: T, next: NextPage<T>, most?: number): AsyncIterable<Static<T>>
}

/** Takes the query of the next page from a page; undefined at the end. */
type NextPage<T extends TSchema> = (page: Static<T>) => string | undefined

const MOST_PAGES = 10

function createBitbucketApi({ baseUrl, token }: RestAccess, context: Pick<CheckContext, 'http'>): BitbucketApi {
  const rest = createRest(baseUrl, bearer(token), context)
  return {
    ...rest,
    async *pages(path, schema, nextQuery, most = MOST_PAGES) {
      const [resource] = path.split('?')
      const next = ({ value }: { readonly value: Static<typeof schema> }) => {
        const query = nextQuery(value)
        return query === undefined ? undefined : `${resource}?${query}`
      }
      let isFirst = true
      for await (const { status, value } of rest.paginate(path, { schema, next, most, also: [404] })) {
        if (status === 404 && isFirst) return
        if (status === 404) throw new DestinationError('unexpected_response', { status })
        isFirst = false
        yield value
      }
    },
  }
}

/** Takes only the query from the link to the next page, and never the address: behind a proxy that is another one. */
export function linkedPage({ next }: { readonly next?: string }): string | undefined {
  if (next === undefined) return undefined
  const url = parseUrl(next)
  if (!url) throw unexpectedAnswer()
  return url.search.slice(1)
}

/** The age that Bitbucket's answers may have, because replicas lag. Milliseconds. */
export const AGE_MS = 60_000

interface ShownRepository extends Identity {
  readonly mainBranch: string | undefined
  /** The time when the repository was made, at the latest, by our clock. */
  readonly createdAt: Instant
}

export type Repository = ReturnType<typeof openRepository>

export function openRepository(access: RestAccess, slug: string, context: CheckContext) {
  const { cache, now } = context
  const api = createBitbucketApi(access, context)
  const root = `/repositories/${ownerAndName(slug).map(encodeURIComponent).join('/')}`

  let shown: Promise<ShownRepository> | undefined

  /** Reads the repository, once in a check. @throws DestinationError `forbidden` when we cannot see it: it is private, missing, or the permission is */
  function show(): Promise<ShownRepository> {
    shown ??= cache.share(`bitbucket ${slug}`, async () => {
      const { value, headers } = await api.get(root, RepositoryAnswer)
      const behindMs = clockBehindMs(headers, now())
      return {
        ...identityOf(value, behindMs),
        mainBranch: value.mainbranch?.name,
        createdAt: logTime(value.created_on).notAfter + (behindMs ?? 0),
      }
    })
    return shown
  }

  /** Identifies the repository that an answer of one of its parts names. @throws DestinationError `ambiguous_claim` when that is another one */
  function identify(named: RepositoryName | null | undefined, headers: Headers): Promise<Identity> {
    return identifyPart(named ? identityOf(named, clockBehindMs(headers, now())) : undefined, slug, show)
  }

  /** Tells whether Bitbucket has a commit. `false` is certain. `true` does not mean that it was pushed to this repository: it can be a fork's. */
  async function isKnown(sha: string): Promise<boolean> {
    const { value: commit } = await api.find(`${root}/commit/${sha}`, CommitAnswer)
    // A branch may be called like a commit, and then the answer is of the branch's tip.
    if (commit && commit.hash !== sha) throw unexpectedAnswer()
    return commit !== undefined
  }

  /**
   * Tells whether a commit is in the history of a tip. It is if it is their only best common ancestor. It is not if, in addition, the list of what it
   * has and the tip has not begins with the commit.
   */
  async function readReachable(sha: string, tip: string): Promise<boolean | undefined> {
    const { value: base } = await api.find(`${root}/merge-base/${sha}..${tip}`, CommitAnswer)
    if (base?.hash === sha) return true
    const { value: beyond } = await api.find(`${root}/commits/${sha}?exclude=${tip}&pagelen=1`, CommitsAnswer)
    if (beyond?.values[0]?.hash === sha) return false
    if (!beyond && !base && !(await isKnown(sha))) return undefined
    // The tip went away between the answers, or the two answers are of different times.
    throw new DestinationError('unavailable')
  }

  return {
    api,
    /** The repository's path in the API. */
    root,
    show,
    identify,
    isKnown,
    /** Tells whether `sha` is `tip` or one of its ancestors; `undefined` when the repository does not have `sha`. */
    contains: (sha: string, tip: string) => isReachable(sha, tip, cache, () => readReachable(sha, tip)),
    branch: (name: string) =>
      cache.share(
        `bitbucket ${slug} branch ${name}`,
        async (): Promise<{ readonly tip: string | undefined; readonly identity: Identity }> => {
          const { value: branch, headers } = await api.find(`${root}/refs/branches/${escapePath(name)}`, BranchAnswer)
          // The right to see the repository is the right to see its branches.
          if (!branch) return { tip: undefined, identity: await show() }
          if (branch.name !== name) throw unexpectedAnswer()
          const { target } = branch
          return { tip: target.hash, identity: await identify(target.repository, headers) }
        },
      ),
    /** Expands the beginning of a commit's id; undefined where the repository does not have the commit any more. */
    async expand(hash: string): Promise<string | undefined> {
      if (hash.length === 40) return hash
      const key = `bitbucket ${root} commit ${hash}`
      return cache.share(key, async () => {
        const known = cache.get(key)
        if (typeof known === 'string') return known
        const full = (await api.find(`${root}/commit/${hash}`, CommitAnswer)).value?.hash
        if (full === undefined) return undefined
        if (!full.startsWith(hash)) throw unexpectedAnswer()
        cache.set(key, full)
        return full
      })
    },
    async branchesWithTip(sha: string): Promise<readonly string[]> {
      const query = new URLSearchParams({ q: `target.hash="${sha}"`, pagelen: '100' })
      const { value } = await api.get(`${root}/refs/branches?${query}`, BranchesAnswer)
      return value.values.filter(({ target }) => target.hash === sha).map(({ name }) => name)
    },
  }
}

function identityOf({ uuid, full_name }: RepositoryName, clockBehindMs: number | undefined): Identity {
  return { repositoryId: uuid.slice(1, -1), repositoryName: full_name, clockBehindMs }
}

/** Finds a commit at Bitbucket Cloud, which shows no push log, so that the result has no times. */
export async function findCommit(access: RestAccess, query: CommitQuery, context: CheckContext): Promise<FoundCommit> {
  const repository = openRepository(access, query.repository, context)
  const { tip, identity } = await repository.branch(query.branch)
  const found = await findInHistories(query, context, {
    head: tip,
    contains: repository.contains,
    isKnown: repository.isKnown,
    findElsewhere: () => findElsewhere(repository, query),
    createdAt: async () => (await repository.show()).createdAt,
  })
  return { ...identity, ...found, ageMs: AGE_MS }
}

/** Finds another branch that has the commit: as its tip, or the main branch. */
async function findElsewhere(repository: Repository, { sha, branch }: CommitQuery): Promise<string | undefined> {
  const named = (await repository.branchesWithTip(sha)).find((name) => name !== branch)
  if (named !== undefined) return named
  const { mainBranch } = await repository.show()
  if (mainBranch === undefined || mainBranch === branch) return undefined
  const { tip } = await repository.branch(mainBranch)
  return tip !== undefined && (await repository.contains(sha, tip)) ? mainBranch : undefined
}
