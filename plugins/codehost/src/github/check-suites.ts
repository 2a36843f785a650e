/**
 * Suites of check runs, which GitHub makes for each app that may report on a commit: one without runs says that an app may not have begun.
 * Their times are GitHub's own, where those of check runs are sent by what ran them.
 */

import type { Instant } from '@claimcheck/core/plugin'
import type { Check } from '../code-host.ts'
import { unexpectedAnswer } from '../rest.ts'
import { type CheckSuite, CheckSuitesAnswer } from './answers.ts'
import { reportersOf, type Seen, UNREAD, unread } from './check-runs.ts'
import type { ClaimedRepository } from './repository.ts'
import { ACTIONS_APP } from './workflow-runs.ts'

const PAGE = 100
/** Some apps never begin: their suites stay queued. Milliseconds. */
const BEGINS_WITHIN_MS = 10 * 60_000

/** Undefined where the repository does not have the commit. */
export async function checkSuitesOf(
  { api, repository }: ClaimedRepository,
  sha: string,
): Promise<Seen<CheckSuite> | undefined> {
  const path = `${repository.root}/commits/${sha}/check-suites?per_page=${PAGE}`
  const start = await api.findStart(path, CheckSuitesAnswer, UNREAD)
  if ('refused' in start) return unread(start)
  const entries = start.pages.flatMap(({ check_suites }) => check_suites)
  if (entries.some(({ head_sha }) => head_sha !== sha)) throw unexpectedAnswer()
  return { entries, isCut: start.isCut }
}

function hasRuns({ latest_check_runs_count = 0 }: CheckSuite): boolean {
  return latest_check_runs_count > 0
}

/** Those of apps that may still begin. A workflow that has not begun shows among the runs of workflows. @param now by GitHub's clock */
export function checksOfSuites(suites: readonly CheckSuite[], now: Instant): Check[] {
  const waiting = suites.filter((suite) => {
    const { status, created_at } = suite
    const mayBegin = created_at === null || now - Date.parse(created_at) < BEGINS_WITHIN_MS
    return status !== 'completed' && !hasRuns(suite) && suite.app?.slug !== ACTIONS_APP && mayBegin
  })
  return waiting.map((suite) => ({
    name: suite.app?.slug ?? 'app',
    by: reportersOf(suite),
    isRunByHost: false,
    outcome: 'pending',
    passedBefore: false,
  }))
}
