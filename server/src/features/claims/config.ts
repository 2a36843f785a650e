/** The configuration of claims: `quotas` and `checks`. */

import { type Static, Type } from '@claimcheck/core/plugin'
import { CLOSING, type Closing } from '@claimcheck/core/rules'
import type { ConfigSection } from '../../config/section.ts'

export interface CheckSettings extends Closing {
  /** The time limit of one check. */
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
const DEFAULT_QUOTAS: QuotaSettings = { claimsPerMinute: 1200, waitingClaims: 5000 }
const DEFAULT_CHECKS: CheckSettings = { ...CLOSING, timeoutMs: 10_000, firstAnswerMs: 5000, concurrency: 256 }

const durationMs = (maximum: number) => Type.Optional(Type.Integer({ minimum: 1, maximum }))

const file = {
  quotas: Type.Optional(
    Type.Object(
      {
        claims_per_minute: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000 })),
        waiting_claims: Type.Optional(Type.Integer({ minimum: 0, maximum: 10_000_000 })),
      },
      { additionalProperties: false },
    ),
  ),
  checks: Type.Optional(
    Type.Object(
      {
        closing_ms: durationMs(HOUR_MS),
        grace_ms: durationMs(HOUR_MS),
        timeout_ms: durationMs(60_000),
        // A client waits 20 seconds for an answer.
        first_answer_ms: durationMs(15_000),
        concurrency: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
      },
      { additionalProperties: false },
    ),
  ),
}
const File = Type.Object(file)

export const claimsConfig: ConfigSection<ClaimsConfig> = {
  file,
  read: ({ quotas = {}, checks = {} }: Static<typeof File>) => ({
    quotas: {
      claimsPerMinute: quotas.claims_per_minute ?? DEFAULT_QUOTAS.claimsPerMinute,
      waitingClaims: quotas.waiting_claims ?? DEFAULT_QUOTAS.waitingClaims,
    },
    checks: {
      closingMs: checks.closing_ms ?? DEFAULT_CHECKS.closingMs,
      graceMs: checks.grace_ms ?? DEFAULT_CHECKS.graceMs,
      timeoutMs: checks.timeout_ms ?? DEFAULT_CHECKS.timeoutMs,
      firstAnswerMs: checks.first_answer_ms ?? DEFAULT_CHECKS.firstAnswerMs,
      concurrency: checks.concurrency ?? DEFAULT_CHECKS.concurrency,
    },
  }),
}
