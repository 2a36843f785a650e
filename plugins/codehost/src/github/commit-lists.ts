/** Opens GitHub's lists of the checks of a claimed commit. */
import type { CheckContext } from '@claimcheck/core/plugin'
import type { Check, ChecksQuery, FoundChecks } from '../code-host.ts'
import { entriesOf, isCutList, readCheckRuns, readCheckSuites, readStatuses } from './check-lists.ts'
import { comparableTo } from './comparable.ts'
import { readJobs, type WantedJobs } from './jobs.ts'
import type { ClaimedRepository } from './repository.ts'
import { readWorkflowRuns, type WorkflowRuns } from './workflow-runs.ts'

/** The checks of a commit that the repository has. */
export type CommitChecks = Pick<FoundChecks, 'canBeDeleted' | 'isGrowing' | 'changedAt' | 'comparable'> & {
  readonly checks: readonly Check[]
}

export type CommitLists = ReturnType<typeof openLists>

/** Limit of the names that are read by a list of each: more of them are cheaper to read as the whole list. */
const MOST_NAMES = 2
/** Limit of the names that are read by a list of each where the whole list has no end. */
const MOST_NAMES_IN_NOISE = 16

/** Opens the lists of one commit. Each is read once for all claims that wait for it. */
export function openLists(claimed: ClaimedRepository, { sha, windowFrom }: ChecksQuery, context: CheckContext) {
  const shared = <T>(what: string, read: () => Promise<T>) =>
    context.cache.share(`github ${claimed.repository.id} ${what} ${sha}`, read)
  let read: Promise<WorkflowRuns> | undefined

  /** Reads the workflow runs, once in a check. */
  function workflows(): Promise<WorkflowRuns> {
    read ??= shared('workflows', () => readWorkflowRuns(claimed, sha))
    return read
  }

  function checkRunsOfName(name: string) {
    return shared(`checks ${JSON.stringify([name])}`, () => readCheckRuns(claimed, sha, new Set([name])))
  }

  /** Reads check runs. @param names the names of the only ones that are wanted */
  async function checkRuns(names?: ReadonlySet<string>): ReturnType<typeof readCheckRuns> {
    if (names === undefined) return shared('checks', () => readCheckRuns(claimed, sha))
    if (names.size > MOST_NAMES) {
      const what = `checks ${JSON.stringify([...names].sort())}`
      const all = await shared(what, () => readCheckRuns(claimed, sha, names))
      if (!isCutList(all) || names.size > MOST_NAMES_IN_NOISE) return all
    }
    const lists = await Promise.all([...names].map(checkRunsOfName))
    if (lists.includes(undefined)) return undefined
    if (lists.includes('hidden')) return 'hidden'
    return { entries: lists.flatMap(entriesOf), isCut: lists.some(isCutList) }
  }

  return {
    checkRuns,
    /** Reads statuses. @param names the contexts of the only ones that are wanted */
    statuses: (names?: ReadonlySet<string>) =>
      shared(`statuses ${names ? JSON.stringify([...names].sort()) : ''}`, () => readStatuses(claimed, sha, names)),
    suites: () => shared('suites', () => readCheckSuites(claimed, sha)),
    workflows,
    jobs: async (wanted: WantedJobs) => readJobs(claimed, await workflows(), wanted, context),
    hasCommit: () => claimed.repository.isKnown(sha),
    comparable: async () => comparableTo(claimed, { sha, windowFrom, runs: await workflows() }, context),
  }
}
