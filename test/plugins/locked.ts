/** A plugin whose destination is read with a credential alone: for tests of what connections keep. */
import {
  bearer,
  DestinationError,
  defineConnectionType,
  definePlugin,
  defineVerifier,
  secret,
  Type,
} from '@claimcheck/core/plugin'

const MINUTE_MS = 60_000
const TOKEN = 'open sesame'

const profile = {
  action: 'test.cave.open',
  version: '1',
  summary: 'A cave that opens for who knows the word.',
  words: {
    title: 'Cave',
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
  params: Type.Object({}, { additionalProperties: false }),
  facts: Type.Object({}, { additionalProperties: false }),
  required: { target: 'target' },
  toleranceMs: MINUTE_MS,
  deadlineMs: 2 * MINUTE_MS,
  maxDeadlineMs: 3 * MINUTE_MS,
  rulesVersion: 1,
  access: { permission: 'none', anonymous: false },
} as const

const connectionType = defineConnectionType({
  provider: 'cave',
  title: 'Cave',
  help: 'The word is known.',
  options: Type.Object({ token: secret({ description: 'The word.' }) }, { additionalProperties: false }),
  baseUrl: () => 'https://example.com',
  fits: () => true,
  hints: [{ title: 'Cave', help: 'None.', proof: { header: 'x-word', by: 'secret' }, targets: ['{cave}'] }],
  probe: async () => ({ proves: 'works', scopes: ['read'], warnings: [] }),
})

const verifier = defineVerifier<typeof profile.params, typeof profile.facts>({
  profile,
  providers: ['cave'],
  async check(_claim, { connection, reveal, ask }) {
    await ask('https://example.com', async () => {})
    const { value } = reveal(bearer(connection!.options.token as string))
    if (value !== `Bearer ${TOKEN}`) throw new DestinationError('unauthorized')
    return { kind: 'present', facts: {}, differs: [] }
  },
})

export default definePlugin({
  name: 'locked',
  api: 3,
  manifest: { hosts: ['example.com'], programs: ['sesame'] },
  options: Type.Object({}),
  setup: () => ({ verifiers: [verifier], connections: [connectionType] }),
})
