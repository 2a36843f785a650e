/** A plugin that really reads: one GET at the connection that the claim names. */
import { DestinationError, defineConnectionType, definePlugin, defineVerifier, Type } from '@claimcheck/core/plugin'

const MINUTE_MS = 60_000

const Params = Type.Object({ at: Type.String({ title: 'Name' }) }, { additionalProperties: false })

const profile = {
  action: 'test.page.publish',
  version: '1',
  summary: 'A page that is there.',
  words: {
    title: 'Page',
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
  params: Params,
  facts: Type.Object({ status: Type.Integer({ title: 'Status' }) }, { additionalProperties: false }),
  required: { target: 'target' },
  toleranceMs: 10 * MINUTE_MS,
  deadlineMs: 15 * MINUTE_MS,
  maxDeadlineMs: 24 * 60 * MINUTE_MS,
  rulesVersion: 1,
  access: { permission: 'none', anonymous: false },
} as const

const verifier = defineVerifier<typeof Params, typeof profile.facts>({
  profile,
  providers: ['pages'],
  async check({ target }, { connection, fetch }) {
    const { base_url } = connection!.options as { base_url: string }
    const response = await fetch(`${base_url}/${target}`)
    await response.body?.cancel()
    const facts = { status: response.status }
    if (response.status === 200) return { kind: 'present', differs: [], facts }
    if (response.status === 404) return { kind: 'absent', facts, stays: [] }
    throw new DestinationError('unavailable', { status: response.status })
  },
})

const connection = defineConnectionType({
  provider: 'pages',
  title: 'Pages',
  help: 'None.',
  options: Type.Object({ base_url: Type.String(), name: Type.String() }),
  baseUrl: ({ base_url }) => base_url,
  fits: ({ name }, { params }) => params.at === name,
  probe: async () => ({ proves: 'works', scopes: [], warnings: [] }),
})

export default definePlugin({
  name: 'reading',
  api: 3,
  manifest: { hosts: ['example.com', 'connection.base_url'] },
  options: Type.Object({}),
  setup: () => ({ verifiers: [verifier], connections: [connection] }),
})
