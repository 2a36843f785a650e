/** A plugin that reads through a connection alone, and sees nothing there. */
import { defineConnectionType, definePlugin, defineVerifier, secret, Type } from '@claimcheck/core/plugin'

const MINUTE_MS = 60_000

const profile = {
  action: 'test.message.send',
  version: '1',
  summary: 'A message that is not there.',
  words: {
    title: 'Message',
    target: 'Target',
    claim: '{target} is there.',
    outcomes: {
      verified: '{target} was there in time.',
      late: '{target} came too late.',
      mismatch: '{target} differs.',
      failed: '{target} was not there.',
    },
  },
  target: Type.String({ minLength: 1, maxLength: 100 }),
  params: Type.Object({}, { additionalProperties: false }),
  facts: Type.Object({}, { additionalProperties: false }),
  required: { target: 'target' },
  toleranceMs: 10 * MINUTE_MS,
  deadlineMs: 15 * MINUTE_MS,
  maxDeadlineMs: 24 * 60 * MINUTE_MS,
  rulesVersion: 2,
  access: { permission: 'Messages: read', anonymous: false },
} as const

const verifier = defineVerifier<typeof profile.params, typeof profile.facts>({
  profile,
  providers: ['mailbox'],
  check: (_claim, { ask }) => ask('https://example.com', async () => ({ kind: 'absent', facts: {} })),
})

const connection = defineConnectionType({
  provider: 'mailbox',
  title: 'Mailbox',
  help: 'None.',
  options: Type.Object({ token: secret({ description: 'A token.' }) }),
  baseUrl: () => 'https://example.com',
  fits: () => true,
  probe: async () => ({ proves: 'works', scopes: [], warnings: [] }),
})

export default definePlugin({
  name: 'connected',
  api: 3,
  manifest: { hosts: ['example.com'], programs: ['none'] },
  options: Type.Object({}),
  setup: () => ({ verifiers: [verifier], connections: [connection] }),
})
