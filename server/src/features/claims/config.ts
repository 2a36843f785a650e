/** The configuration of claims: `quotas` and `checks`. */

import { Type } from '@claimcheck/core/plugin'
import { CLOSING, type Closing } from '@claimcheck/core/rules'
import type { ConfigSection } from '../../config/section.ts'
import { LIMIT, settings } from '../../config/settings.ts'

export interface CheckSettings extends Closing {
  readonly timeoutMs: number
  /** The time for which the answer to a submission waits for the first check. */
  readonly firstAnswerMs: number
  /** The most checks at a time, shared by payers and destinations. */
  readonly concurrency: number
}

/** Quotas of each account, over the workspaces that it made, or of a workspace that the command line made; 0 is no limit. */
export interface QuotaSettings {
  /** The most claims that may be submitted a minute. */
  readonly claimsPerMinute: number
  /** The most claims that may wait for a decision. */
  readonly waitingClaims: number
}

export interface ClaimsConfig {
  readonly quotas: QuotaSettings
  readonly checks: CheckSettings
}

const HOUR_MS = 60 * 60_000
const durationMs = (maximum: number) => Type.Integer({ minimum: 1, maximum })

const quotas = settings<QuotaSettings>({
  claimsPerMinute: ['claims_per_minute', LIMIT, 1200],
  waitingClaims: ['waiting_claims', Type.Integer({ minimum: 0, maximum: 10_000_000 }), 5000],
})

const checks = settings<CheckSettings>({
  closingMs: ['closing_ms', durationMs(HOUR_MS), CLOSING.closingMs],
  graceMs: ['grace_ms', durationMs(HOUR_MS), CLOSING.graceMs],
  timeoutMs: ['timeout_ms', durationMs(60_000), 10_000],
  // Clients wait 20 seconds for an answer.
  firstAnswerMs: ['first_answer_ms', durationMs(15_000), 5000],
  concurrency: ['concurrency', Type.Integer({ minimum: 1, maximum: 1000 }), 256],
})

export const claimsConfig: ConfigSection<ClaimsConfig> = {
  file: { quotas: quotas.schema, checks: checks.schema },
  read: (file) => ({ quotas: quotas.read(file.quotas), checks: checks.read(file.checks) }),
}
