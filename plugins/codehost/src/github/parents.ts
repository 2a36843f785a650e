/** Who reported on a commit, and its parents: for the checks of the commits after it. */
import { DestinationError } from '@claimcheck/core/plugin'
import { accountId, workflow } from '../reporters.ts'
import type { Reports } from '../reporters-before.ts'
import { ParentsAnswer } from './answers.ts'
import { reportersOf, statusesOf } from './check-runs.ts'
import { checkSuitesOf, hasRuns } from './check-suites.ts'
import type { ClaimedRepository } from './repository.ts'
import { ACTIONS_APP, fileOf, workflowRunsOf } from './workflow-runs.ts'

/** What a person or the time starts runs for one commit, and need not for the next. */
const OF_COMMITS: ReadonlySet<string> = new Set(['push', 'pull_request', 'pull_request_target', 'merge_group'])

/** Each throws DestinationError, `forbidden` where it may not be read. */
export function reportsOf(claimed: ClaimedRepository): Reports {
  const { api, repository } = claimed
  return {
    async parents(sha) {
      // The list of changed files comes in pages, too, and can have megabytes.
      const { value } = await api.get(`${repository.root}/commits/${sha}?per_page=1`, ParentsAnswer)
      return value.parents.map((parent) => parent.sha)
    },
    async reporters(sha) {
      const [suites = [], statuses = []] = await Promise.all([checkSuitesOf(claimed, sha), statusesOf(claimed, sha)])
      if (suites === 'hidden' || statuses === 'hidden') throw new DestinationError('forbidden', { status: 403 })
      const isOfActions = ({ app }: (typeof suites)[number]) => app?.slug === ACTIONS_APP
      // Each run of a workflow has a suite.
      const { latest } = suites.some(isOfActions) ? await workflowRunsOf(claimed, sha) : { latest: [] }
      const runs = latest.filter(({ event }) => OF_COMMITS.has(event))
      const reporting = suites.filter((suite) => hasRuns(suite) && (runs.length > 0 || !isOfActions(suite)))
      return [
        ...reporting.flatMap((suite) => reportersOf(suite).slice(0, 1)),
        ...runs.map((run) => workflow(fileOf(run))),
        ...statuses.flatMap(({ creator }) => (creator ? accountId(creator.id) : [])),
      ]
    },
  }
}
