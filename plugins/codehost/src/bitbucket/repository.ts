/** Reads a repository at Bitbucket Cloud. Each question has the one endpoint whose answer is reliable for it. */
import { type CheckContext, clockBehindMs, DestinationError, type Instant } from '@claimcheck/core/plugin'
import { isReachable } from '../ancestry.ts'
import { ownerAndName } from '../connection-options.ts'
import { unexpected } from '../http-failure.ts'
import { logTime } from '../times.ts'
import {
  BranchAnswer,
  BranchesAnswer,
  CommitAnswer,
  CommitsAnswer,
  RepositoryAnswer,
  type RepositoryName,
} from './answers.ts'
import { type BitbucketAccess, type BitbucketApi, createBitbucketApi } from './api.ts'

/** Replicas lag. How old Bitbucket's answers may be. */
export const AGE_MS = 60_000

/** By the host's own account. */
export interface Identity {
  readonly repositoryId: string
  readonly repositoryName: string
  readonly clockBehindMs: number | undefined
}

export interface ShownRepository extends Identity {
  readonly mainBranch: string | undefined
  /** At the latest, by our clock. */
  readonly createdAt: Instant
}

export interface Branch {
  readonly tip: string | undefined
  readonly identity: Identity
}

export interface Repository {
  readonly api: BitbucketApi
  /** Its path in the API. */
  readonly root: string
  /** @throws DestinationError `forbidden` when we cannot see it: it is private, missing, or the permission is */
  show(): Promise<ShownRepository>
  /** The repository that an answer of one of its parts names. @throws DestinationError `ambiguous_claim` when that is another one */
  identify(named: RepositoryName | null | undefined, headers: Headers): Promise<Identity>
  branch(name: string): Promise<Branch>
  /** Whether `sha` is `tip` or one of its ancestors; `undefined` when the repository does not have it. */
  contains(sha: string, tip: string): Promise<boolean | undefined>
  /** `false` is certain. `true` does not mean that it was pushed to this repository: it can be a fork's. */
  isKnown(sha: string): Promise<boolean>
  /** The full id of a commit; undefined where the repository does not have it any more. */
  expand(hash: string): Promise<string | undefined>
  branchesWithTip(sha: string): Promise<readonly string[]>
}

export function openRepository(access: BitbucketAccess, slug: string, context: CheckContext): Repository {
  const { cache, now } = context
  const api = createBitbucketApi(access, context)
  const root = `/repositories/${ownerAndName(slug).map(encodeURIComponent).join('/')}`

  let shown: Promise<ShownRepository> | undefined

  /** Once in a check. */
  function show(): Promise<ShownRepository> {
    shown ??= cache.share(`bitbucket ${slug}`, readRepository)
    return shown
  }

  async function readRepository(): Promise<ShownRepository> {
    const { value, headers } = await api.read(root, RepositoryAnswer)
    const behindMs = clockBehindMs(headers, now())
    return {
      ...identityOf(value, behindMs),
      mainBranch: value.mainbranch?.name,
      createdAt: logTime(value.created_on).notAfter + (behindMs ?? 0),
    }
  }

  async function identify(named: RepositoryName | null | undefined, headers: Headers): Promise<Identity> {
    const identity = named && identityOf(named, clockBehindMs(headers, now()))
    if (identity?.repositoryName.toLowerCase() === slug.toLowerCase()) return identity
    // It has another name now, or a part of another repository was shown.
    const shown = await show()
    if (identity && identity.repositoryId !== shown.repositoryId) throw new DestinationError('ambiguous_claim')
    return shown
  }

  async function isKnown(sha: string): Promise<boolean> {
    const commit = await api.find(`${root}/commit/${sha}`, CommitAnswer)
    // A branch may be called like a commit.
    if (commit && commit.value.hash !== sha) throw unexpected()
    return commit !== undefined
  }

  /**
   * A commit in a tip's history is their only best common ancestor. That it is not there, the list of what it has and the tip has not
   * must say as well: it begins with the commit.
   */
  async function readReachable(sha: string, tip: string): Promise<boolean | undefined> {
    const base = await api.find(`${root}/merge-base/${sha}..${tip}`, CommitAnswer)
    if (base?.value.hash === sha) return true
    const beyond = await api.find(`${root}/commits/${sha}?exclude=${tip}&pagelen=1`, CommitsAnswer)
    if (beyond?.value.values[0]?.hash === sha) return false
    if (!beyond && !base && !(await isKnown(sha))) return undefined
    // The tip went away, or the two answers are of different times.
    throw new DestinationError('unavailable')
  }

  async function readBranch(name: string): Promise<Branch> {
    const answer = await api.find(`${root}/refs/branches/${escaped(name)}`, BranchAnswer)
    // The right to see the repository is the right to see its branches.
    if (!answer) return { tip: undefined, identity: await show() }
    const { target, name: answered } = answer.value
    if (answered !== name) throw unexpected()
    return { tip: target.hash, identity: await identify(target.repository, answer.headers) }
  }

  return {
    api,
    root,
    show,
    identify,
    isKnown,
    contains: (sha, tip) => isReachable(sha, tip, cache, () => readReachable(sha, tip)),
    branch: (name) => cache.share(`bitbucket ${slug} branch ${name}`, () => readBranch(name)),
    expand: (hash) => expand(hash, { api, root, cache }),
    async branchesWithTip(sha) {
      const query = new URLSearchParams({ q: `target.hash="${sha}"`, pagelen: '100' })
      const { value } = await api.read(`${root}/refs/branches?${query}`, BranchesAnswer)
      return value.values.filter(({ target }) => target.hash === sha).map(({ name }) => name)
    },
  }
}

async function expand(
  hash: string,
  { api, root, cache }: Pick<Repository, 'api' | 'root'> & Pick<CheckContext, 'cache'>,
): Promise<string | undefined> {
  if (hash.length === 40) return hash
  const key = `bitbucket ${root} commit ${hash}`
  return cache.share(key, async () => {
    const known = cache.get(key)
    if (typeof known === 'string') return known
    const full = (await api.find(`${root}/commit/${hash}`, CommitAnswer))?.value.hash
    if (full === undefined) return undefined
    if (!full.startsWith(hash)) throw unexpected()
    cache.set(key, full)
    return full
  })
}

function identityOf({ uuid, full_name }: RepositoryName, clockBehindMs: number | undefined): Identity {
  return { repositoryId: uuid.slice(1, -1), repositoryName: full_name, clockBehindMs }
}

/** Each segment: a branch's slashes stand as they are. */
function escaped(name: string): string {
  return name.split('/').map(encodeURIComponent).join('/')
}
