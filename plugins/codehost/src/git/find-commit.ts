/** Where a git server has a commit. Git has no push log, so that a finding has no time. */
import type { CheckCache, CheckContext } from '@claimcheck/core/plugin'
import { isReachable } from '../ancestry.ts'
import type { CodeHost, CommitQuery, Finding, FoundCommit } from '../code-host.ts'
import type { Remote } from './environment.ts'
import { defaultBranch, type History, historyOf, type Limits, listBranches } from './remote-repository.ts'
import { discover } from './repository-url.ts'
import { requireGit } from './version.ts'

export interface GitAccess {
  readonly baseUrl: string
  readonly authorization?: string
}

export function createGitHost({ baseUrl, authorization }: GitAccess, limits: Limits): CodeHost {
  async function reach(owner: string, repository: string, context: CheckContext): Promise<Remote> {
    await requireGit()
    const url = await discover(`${baseUrl}/${owner}/${repository}.git`, authorization, context)
    const address = await context.resolve(url)
    return { url, address, ...(authorization === undefined ? {} : { authorization }) }
  }

  return {
    async findCommit({ owner, repository, sha, branch }: CommitQuery, context): Promise<FoundCommit> {
      const { cache } = context
      const keyPrefix = `git ${owner}/${repository}`
      const { remote, branches } = await cache.share(`${keyPrefix} branches`, async () => {
        const remote = await reach(owner, repository, context)
        return { remote, branches: await listBranches(remote, context) }
      })

      async function isOn(name: string): Promise<boolean> {
        const tip = branches.get(name)
        if (tip === undefined) return false
        const inHistory = () =>
          joinRead(`${keyPrefix} history ${tip} ${name}`, cache, () => historyOf(name, tip, remote, context, limits))
        return (await isReachable(sha, tip, cache, async () => (await inHistory()).has(sha))) === true
      }

      async function find(): Promise<Finding> {
        // Settled: a later read could not say more about when it was pushed.
        if (await isOn(branch)) return { where: 'branch', settled: true }
        const atTip = [...branches].find(([, tip]) => tip === sha)?.[0]
        if (atTip !== undefined) return { where: 'another_branch', name: atTip }
        const main = await cache.share(`${keyPrefix} default`, () => defaultBranch(remote, context))
        if (main !== undefined && (await isOn(main))) return { where: 'another_branch', name: main }
        return { where: 'nowhere', settled: false }
      }

      const head = branches.get(branch)
      return { finding: await find(), ...(head === undefined ? {} : { head }) }
    },
  }
}

/** Unlike `share` it also joins a read that has already begun: a commit's history is the same whenever it is read. */
function joinRead(key: string, cache: CheckCache, read: () => Promise<History>): Promise<History> {
  const running = cache.get(key) as Promise<History> | undefined
  if (running) return running
  const reading = read().finally(() => cache.set(key, undefined))
  cache.set(key, reading)
  return reading
}
