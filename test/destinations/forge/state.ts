/** A repository at one time: what a host's answers are made of. */
import type { CheckRun, PostedStatus } from './checks.ts'
import type { Issue } from './issues.ts'
import type { ForgeRepository, Push } from './model.ts'
import type { PullRequest } from './pull-requests.ts'
import type { Release } from './releases.ts'
import { NOW } from './timeline.ts'

export interface RepositoryState {
  readonly until: number
  /** In the order in which they were first pushed. */
  branches(): { readonly name: string; readonly sha: string }[]
  /** Of a branch. */
  tip(branch: string): string | undefined
  /** `object` is the tag object's id of an annotated tag; `sha` always the commit's. */
  tags(): { readonly name: string; readonly object: string; readonly sha: string }[]
  tag(name: string): { readonly object: string; readonly sha: string } | undefined
  /** What one of its refs holds: `heads/main`, `tags/v1`. */
  object(ref: string): { readonly type: 'commit' | 'tag'; readonly sha: string } | undefined
  /** It has no ref, whatever the replica shows. */
  readonly isEmpty: boolean
  /** The host answers for the commit: it was pushed, if only to a fork. */
  has(sha: string): boolean
  /** The commit that a full or abbreviated id names, by itself or as an annotated tag's. */
  commit(id: string): Promise<string | undefined>
  /** The commit that a branch, a tag, or an id names. */
  resolve(name: string): Promise<string | undefined>
  branchesWithTip(sha: string): string[]
  branchesContaining(sha: string): Promise<string[]>
  /** By branches and tags of this repository. A commit that was pushed to a fork only, or is gone from every branch, is not. */
  isReachable(sha: string): Promise<boolean>
  pullRequest(number: number): PullRequest | undefined
  /** What its ref holds, also of one that is hidden. */
  keptHead(number: number): string | undefined
  /** Oldest first. */
  pullRequests(): PullRequest[]
  /** Also one that was moved away or deleted, which it says. */
  issue(number: number): Issue | undefined
  issues(): Issue[]
  /** Also drafts. */
  release(id: number): Release | undefined
  releases(): Release[]
  /** Published, of that tag: the newest. */
  releaseOf(tag: string): Release | undefined
  /** Oldest first. @param sha of this commit alone */
  runs(sha?: string): CheckRun[]
  /** Oldest first. */
  statuses(sha?: string): PostedStatus[]
  /** Newest first: the push log by its own lag, not by the replica's. */
  pushes(): Push[]
}

export function stateOf(repository: ForgeRepository, until: number): RepositoryState {
  const { refs, pool, pullRequests, issues, releases, checks } = repository
  const named = (prefix: string) =>
    refs
      .all(until)
      .filter(([ref]) => ref.startsWith(prefix))
      .map(([ref, object]) => ({ name: ref.slice(prefix.length), object, sha: pool.peel(object) }))

  const shown = <T extends { readonly by: string }>(thing: T | undefined) =>
    thing && !repository.answering.hiddenAccounts.has(thing.by) ? thing : undefined

  const branches = () => named('refs/heads/').map(({ name, sha }) => ({ name, sha }))
  const tags = () => named('refs/tags/')

  const holding = async (refs: readonly { name: string; sha: string }[], sha: string) => {
    if (!pool.has(sha, until)) return []
    const isHolding = await Promise.all(refs.map((ref) => pool.isAncestor(sha, ref.sha)))
    return refs.filter((_, index) => isHolding[index]).map(({ name }) => name)
  }

  const commit = async (id: string) => {
    const found = await pool.complete(id, until)
    return found && pool.peel(found)
  }

  const tip = (branch: string) => refs.get(`refs/heads/${branch}`, until)
  const tag = (name: string) => {
    const object = refs.get(`refs/tags/${name}`, until)
    return object === undefined ? undefined : { object, sha: pool.peel(object) }
  }

  const state: RepositoryState = {
    until,
    branches,
    tip,
    tags,
    tag,
    object(ref) {
      const sha = refs.get(`refs/${ref}`, until)
      return sha === undefined ? undefined : { type: pool.typeOf(sha), sha }
    },
    get isEmpty() {
      return refs.all(NOW).length === 0
    },
    has: (sha) => pool.has(sha, until),
    commit,
    resolve: async (name) => tip(name) ?? tag(name)?.sha ?? (await commit(name)),
    branchesWithTip: (sha) =>
      branches()
        .filter((branch) => branch.sha === sha)
        .map(({ name }) => name),
    branchesContaining: (sha) => holding(branches(), sha),
    isReachable: async (sha) => (await holding([...branches(), ...tags()], sha)).length > 0,
    pullRequest: (number) => shown(pullRequests.get(number, until)),
    pullRequests: () => pullRequests.all(until).filter((one) => shown(one)),
    keptHead: (number) => pullRequests.get(number, until)?.headSha,
    issue: (number) => shown(issues.get(number, until)),
    issues: () => issues.all(until).filter((one) => shown(one)),
    release: (id) => releases.get(id, until),
    releases: () => releases.all(until),
    releaseOf: (tag) => releases.all(until).findLast((release) => release.tag === tag && !release.isDraft),
    runs: (sha) => checks.runs(until).filter((run) => sha === undefined || run.sha === sha),
    statuses: (sha) => checks.statuses(until).filter((status) => sha === undefined || status.sha === sha),
    pushes: () => repository.listed(),
  }
  return state
}
