/** A plugin with a destination that never answers. */
import { definePlugin, defineVerifier } from '@claimcheck/core/plugin'
import { Type } from 'typebox'

const MINUTE_MS = 60_000

export const HANGING_ACTION = 'test.outcome.await'

const profile = {
  action: HANGING_ACTION,
  version: '1',
  summary: 'An outcome at a destination that does not answer.',
  words: {
    title: 'Hanging',
    target: 'Target',
    claim: '{target} is there.',
    outcomes: {
      verified: '{target} was there in time.',
      late: '{target} came too late.',
      mismatch: '{target} differs.',
      failed: '{target} was not there.',
    },
  },
  target: Type.String(),
  params: Type.Object({ see: Type.String({ title: 'See' }) }, { additionalProperties: false }),
  facts: Type.Object({}, { additionalProperties: false }),
  required: { target: 'target' },
  toleranceMs: 10 * MINUTE_MS,
  deadlineMs: 15 * MINUTE_MS,
  maxDeadlineMs: 24 * 60 * MINUTE_MS,
  rulesVersion: 1,
  access: { permission: 'none', anonymous: true },
} as const

const verifier = defineVerifier<typeof profile.params, typeof profile.facts>({
  profile,
  providers: [],
  anonymousSource: () => ({ provider: 'test', baseUrl: 'https://hanging.example' }),
  check: () => new Promise(() => {}),
})

// biome-ignore lint/style/noDefaultExport: a plugin is its module's default export
export default definePlugin({
  name: 'hanging',
  api: 2,
  manifest: { hosts: ['hanging.example'] },
  options: Type.Object({}),
  setup: () => ({ verifiers: [verifier] }),
})
