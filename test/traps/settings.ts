/** The settings of services that traps are set in: checks have time on a busy machine, and no client is asked to wait. */
export const SETTINGS = {
  checks: { closing_ms: 30_000, grace_ms: 15_000, timeout_ms: 6000, first_answer_ms: 7000 },
  rate_limits: { key: 0, receipts: 0, log: 0 },
} as const
