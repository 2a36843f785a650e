/** A profile that waits for seconds only, for tests of single checks. */
import { Type } from 'typebox'

export const profile = {
  action: 'test.outcome.reach',
  version: '1',
  summary: 'An outcome.',
  target: Type.String(),
  params: Type.Object({}),
  facts: Type.Object({}),
  required: { content: 'content' },
  toleranceMs: 1000,
  deadlineMs: 2000,
  maxDeadlineMs: 2000,
  rulesVersion: 2,
  access: { permission: 'none', anonymous: true },
} as const
