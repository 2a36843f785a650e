/** The configuration of claims: `quotas` and `checks`. */

import { Type } from '@claimcheck/core/plugin'
import { CLOSING, type Closing } from '@claimcheck/core/rules'
import type { ConfigSection } from '../../config/section.ts'
import { LIMIT, settings } from '../../config/settings.ts'

export interface CheckSettings extends Closing {
  readonly timeoutMs: number
  /** How long the answer to a submission waits for the first check. */
  readonly firstAnswerMs: number
  /** How many checks run at a time. Workspaces, keys and destinations share them. */
  readonly concurrency: number
}

/** Of each account, over the workspaces that it made; of a workspace that the command line made. 0: no limit. */
export interface QuotaSettings {
  /** Claims that are submitted a minute. */
  readonly claimsPerMinute: number
  /** Claims that wait for a decision. */
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
  // A client waits 20 seconds for an answer.
  firstAnswerMs: ['first_answer_ms', durationMs(15_000), 5000],
  concurrency: ['concurrency', Type.Integer({ minimum: 1, maximum: 1000 }), 256],
})

export const claimsConfig: ConfigSection<ClaimsConfig> = {
  file: { quotas: quotas.schema, checks: checks.schema },
  read: (file) => ({ quotas: quotas.read(file.quotas), checks: checks.read(file.checks) }),
}
