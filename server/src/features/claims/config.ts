/** The configuration of claims: `quotas` and `checks`. */
import { Type } from '@claimcheck/core/plugin'
import { CLOSING } from '@claimcheck/core/rules'
import type { MembersOf } from '../../config/section.ts'
import { LIMIT, settingsSection } from '../../config/settings.ts'

const HOUR_MS = 60 * 60_000
const durationMs = (maximum: number) => Type.Integer({ minimum: 1, maximum })

export const claimsConfig = settingsSection({
  /** Quotas of each account, over the workspaces that it made, or of a workspace that the command line made; 0 is no limit. */
  quotas: {
    /** The most claims that may be submitted a minute. */
    claimsPerMinute: [LIMIT, 1200],
    /** The most claims that may wait for a decision. */
    waitingClaims: [Type.Integer({ minimum: 0, maximum: 10_000_000 }), 5000],
  },
  checks: {
    closingMs: [durationMs(HOUR_MS), CLOSING.closingMs],
    graceMs: [durationMs(HOUR_MS), CLOSING.graceMs],
    timeoutMs: [durationMs(60_000), 10_000],
    /** The time for which the answer to a submission waits for the first check. Clients wait 20 seconds for an answer. */
    firstAnswerMs: [durationMs(15_000), 5000],
    /** The most checks at a time, shared by payers and destinations. */
    concurrency: [Type.Integer({ minimum: 1, maximum: 1000 }), 256],
  },
})

export type ClaimsConfig = MembersOf<typeof claimsConfig>
export type QuotaSettings = ClaimsConfig['quotas']
