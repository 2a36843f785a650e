/** Makes claims about pushes for the tests. */
import type { Claim } from '@claimcheck/core/plugin'

const MINUTE_MS = 60_000

export interface PushClaim {
  readonly sha: string
  readonly branch?: string
  readonly target?: string
  readonly host?: string
  readonly pusher?: string
  readonly claimedAt?: number
}

export function claimOf({
  sha,
  branch = 'main',
  target = 'acme/app',
  host,
  pusher,
  claimedAt = Date.now(),
}: PushClaim): Claim {
  return {
    action: 'codehost.commit.push',
    target,
    params: { sha, branch, ...(host === undefined ? {} : { host }), ...(pusher === undefined ? {} : { pusher }) },
    claimedAt,
    deadlineAt: claimedAt + 15 * MINUTE_MS,
    submittedAt: claimedAt,
  }
}
