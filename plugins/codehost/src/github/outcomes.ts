/** What GitHub's words for the end of a check run, a job or a workflow run mean. */
import { DestinationError } from '@claimcheck/core/plugin'
import type { Check } from '../code-host.ts'

const ENDED = 'completed'

const OUTCOMES: Readonly<Record<string, Check['outcome']>> = {
  success: 'passed',
  failure: 'failed',
  startup_failure: 'failed',
  timed_out: 'failed',
  cancelled: 'failed',
  // It waits for somebody.
  action_required: 'pending',
  // Its app has not ended it in two weeks.
  stale: 'pending',
  neutral: 'skipped',
  skipped: 'skipped',
}

/** @throws DestinationError `unexpected_response` for an end that is none of those */
export function outcomeOf({
  status,
  conclusion,
}: {
  readonly status: string | null
  readonly conclusion: string | null
}): Check['outcome'] {
  if (status !== ENDED) return 'pending'
  const outcome = conclusion !== null && Object.hasOwn(OUTCOMES, conclusion) ? OUTCOMES[conclusion] : undefined
  if (outcome === undefined) throw new DestinationError('unexpected_response')
  return outcome
}
