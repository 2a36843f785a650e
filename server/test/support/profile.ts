/** A profile that waits for seconds only, for tests of single checks. */

import { Type } from '@claimcheck/core/plugin'
import type { Words } from '@claimcheck/core/receipts'

/** Words that fit every profile: they name nothing but the target. */
export const words: Words = {
  title: 'Outcome',
  target: 'Target',
  claim: '{target} is there.',
  outcomes: {
    verified: '{target} was there in time.',
    late: '{target} came too late.',
    mismatch: '{target} differs.',
    failed: '{target} was not there.',
  },
}

export const profile = {
  action: 'test.outcome.reach',
  version: '1',
  summary: 'An outcome.',
  words,
  target: Type.String(),
  params: Type.Object({ content: Type.Optional(Type.String({ title: 'Content' })) }, { additionalProperties: false }),
  facts: Type.Object({}, { additionalProperties: false }),
  required: { content: 'content' },
  toleranceMs: 1000,
  deadlineMs: 2000,
  maxDeadlineMs: 2000,
  rulesVersion: 1,
  access: { permission: 'none', anonymous: true },
} as const
