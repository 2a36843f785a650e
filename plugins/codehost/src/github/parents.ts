/** Who reported on the parents of a commit: whoever did may still report on the commit itself. */
import { DestinationError } from '@claimcheck/core/plugin'
import { accountId, workflow } from '../reporters.ts'
import { ParentsAnswer } from './answers.ts'
import { reportersOf, statusesOf } from './check-runs.ts'
import { checkSuitesOf, hasRuns } from './check-suites.ts'
import type { ClaimedRepository } from './repository.ts'
import { fileOf, workflowRunsOf } from './workflow-runs.ts'

/** What a person or the time starts runs for one commit, and need not for the next. */
const OF_COMMITS: ReadonlySet<string> = new Set(['push', 'pull_request', 'pull_request_target', 'merge_group'])

/** Of a merge of more, the first ones. */
const MOST_PARENTS = 2

/** Of several commits that were pushed together only the last is reported on. */
const MOST_GENERATIONS = 5

/** @throws DestinationError `forbidden` where they may not be read */
export async function reportersBefore(claimed: ClaimedRepository, sha: string): Promise<readonly string[]> {
  let at: string | undefined = sha
  for (let generation = 0; at !== undefined && generation < MOST_GENERATIONS; generation++) {
    const { reporters, parent }: Generation = await reportersOnParents(claimed, at)
    if (reporters.length > 0) return reporters
    at = parent
  }
  return []
}

interface Generation {
  readonly reporters: readonly string[]
  /** The first one. */
  readonly parent: string | undefined
}

async function reportersOnParents(claimed: ClaimedRepository, sha: string): Promise<Generation> {
  const { api, repository } = claimed
  // The list of changed files comes in pages, too, and can have megabytes.
  const commit = await api.get(`${repository.root}/commits/${sha}?per_page=1`, ParentsAnswer)
  if (!('value' in commit)) throw new DestinationError('forbidden', { status: commit.refused })
  const found = await Promise.all(
    commit.value.parents.slice(0, MOST_PARENTS).map(async (parent) => {
      const [suites, statuses, workflows] = await Promise.all([
        checkSuitesOf(claimed, parent.sha),
        statusesOf(claimed, parent.sha),
        workflowRunsOf(claimed, parent.sha),
      ])
      if (suites === 'hidden' || statuses === 'hidden') throw new DestinationError('forbidden', { status: 403 })
      return [
        ...(suites ?? []).filter(hasRuns).flatMap((suite) => reportersOf(suite).slice(0, 1)),
        ...workflows.latest.filter(({ event }) => OF_COMMITS.has(event)).map((run) => workflow(fileOf(run))),
        ...(statuses ?? []).flatMap(({ creator }) => (creator ? accountId(creator.id) : [])),
      ]
    }),
  )
  return { reporters: [...new Set(found.flat())], parent: commit.value.parents[0]?.sha }
}
