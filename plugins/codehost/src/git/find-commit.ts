/** Where a git server has a commit. It keeps no push log that we can read, so it says nothing of when. */
import type { CheckCache, CheckContext } from '@claimcheck/core/plugin'
import { isReachable } from '../ancestry.ts'
import type { CodeHost, CommitQuery, FoundCommit, Place } from '../code-host.ts'
import { markOf } from '../forgetting.ts'
import type { Remote } from './environment.ts'
import { defaultBranch, type History, hasObject, historyOf, type Limits, listBranches } from './remote-repository.ts'
import { discover } from './repository-url.ts'
import { requireGit } from './version.ts'

/** A git server that prunes as usual keeps a commit that no branch has for longer than this. */
const KEEPS_OBJECTS_MS = 24 * 60 * 60_000

export interface GitAccess {
  readonly baseUrl: string
  readonly authorization?: string
  /** The server removes commits as soon as no branch has them. */
  readonly prunesAtOnce?: boolean
}

export function createGitHost({ baseUrl, authorization, prunesAtOnce = false }: GitAccess, limits: Limits): CodeHost {
  async function reach(
    slug: string,
    context: CheckContext,
  ): Promise<{ readonly remote: Remote; readonly name: string }> {
    await requireGit()
    const { url, name } = await discover(baseUrl, slug, authorization, context)
    const address = await context.resolve(url)
    return { remote: { url, address, ...(authorization === undefined ? {} : { authorization }) }, name }
  }

  return {
    async findCommit(query: CommitQuery, context): Promise<FoundCommit> {
      const { owner, repository, sha, branch, claimedAt } = query
      const { cache } = context
      const sentAt = context.now()
      const slug = `${owner}/${repository}`
      const scope = `git ${slug}`
      const { remote, name, branches } = await cache.share(`${scope} branches`, async () => {
        const reached = await reach(slug, context)
        return { ...reached, branches: await listBranches(reached.remote, context) }
      })

      /** Whether a commit is in the history of a branch's tip. */
      async function isIn(commit: string, name: string): Promise<boolean> {
        const tip = branches.get(name)
        if (tip === undefined) return false
        const inHistory = () =>
          joined(`${scope} history ${tip} ${name}`, cache, () => historyOf(name, tip, remote, context, limits))
        return (await isReachable(commit, tip, cache, async () => (await inHistory()).has(commit))) === true
      }

      async function find(): Promise<Place> {
        if (await isIn(sha, branch)) return { at: 'branch' }
        const atTip = [...branches].find(([, tip]) => tip === sha)?.[0]
        if (atTip !== undefined) return { at: 'another_branch', name: atTip }
        const main = await cache.share(`${scope} default`, () => defaultBranch(remote, context))
        if (main !== undefined && (await isIn(sha, main))) return { at: 'another_branch', name: main }
        return { at: 'nowhere' }
      }

      const head = branches.get(branch)
      const place = await find()
      const found: FoundCommit = {
        place,
        ...(head === undefined ? {} : { head }),
        ...(name === slug ? {} : { repositoryName: name }),
      }
      if (place.at === 'branch') return found
      const mark = await markOf(query, {
        place,
        head,
        isKnown: place.at === 'nowhere' ? await hasObject(remote, sha, context) : true,
        keepsObjects: !prunesAtOnce && context.now() - claimedAt <= KEEPS_OBJECTS_MS,
        isAncestor: (older) => isIn(older, branch),
        sentAt,
      })
      return { ...found, ...(mark === undefined ? {} : { mark }) }
    },
  }
}

/** Joins also what has begun already, as `share` does not: a tip's history is the same whenever it is read. */
function joined(key: string, cache: CheckCache, read: () => Promise<History>): Promise<History> {
  const begun = cache.get(key) as Promise<History> | undefined
  if (begun) return begun
  const reading = read().finally(() => cache.set(key, undefined))
  cache.set(key, reading)
  return reading
}
