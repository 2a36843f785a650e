/** A plugin whose pages tell, by a header, the database that they are of. */
import { DestinationError, defineConnectionType, definePlugin, defineVerifier, Type } from '@claimcheck/core/plugin'

const MINUTE_MS = 60_000

const profile = {
  action: 'test.record.keep',
  version: '1',
  summary: 'A record that is there.',
  words: {
    title: 'Record',
    target: 'Target',
    claim: '{target} is there.',
    outcomes: {
      verified: '{target} was there in time.',
      late: '{target} came too late.',
      mismatch: '{target} differs.',
      failed: '{target} was not there.',
    },
  },
  target: Type.String({ pattern: '^[a-z]{1,20}$', maxLength: 20, examples: ['one'] }),
  params: Type.Object({}, { additionalProperties: false }),
  facts: Type.Object({}, { additionalProperties: false }),
  required: { target: 'target' },
  toleranceMs: 10 * MINUTE_MS,
  deadlineMs: 15 * MINUTE_MS,
  maxDeadlineMs: 24 * 60 * MINUTE_MS,
  rulesVersion: 2,
  access: { permission: 'none', anonymous: false },
} as const

const identityIn = ({ headers }: Response) => headers.get('x-database') ?? undefined

const verifier = defineVerifier<typeof profile.params, typeof profile.facts>({
  profile,
  providers: ['records'],
  async check({ target }, { connection, fetch }) {
    const response = await fetch(`${(connection!.options as { base_url: string }).base_url}/${target}`)
    await response.body?.cancel()
    const identity = identityIn(response)
    const seen = { facts: {}, ...(identity === undefined ? {} : { identity }) }
    if (response.status === 200) return { ...seen, kind: 'present', differs: [] }
    if (response.status === 410) return { ...seen, kind: 'absent', mark: 'final' }
    throw new DestinationError('unavailable', { status: response.status })
  },
})

const connection = defineConnectionType({
  provider: 'records',
  title: 'Records',
  help: 'None.',
  options: Type.Object({ base_url: Type.String() }),
  identified: true,
  baseUrl: ({ base_url }) => base_url,
  fits: () => true,
  async probe({ base_url }, { fetch }) {
    const response = await fetch(base_url)
    await response.body?.cancel()
    const identity = identityIn(response)
    return { proves: 'works', scopes: [], warnings: [], ...(identity === undefined ? {} : { identity }) }
  },
})

export default definePlugin({
  name: 'identified',
  api: 3,
  manifest: { hosts: ['connection.base_url'] },
  options: Type.Object({}),
  setup: () => ({ verifiers: [verifier], connections: [connection] }),
})
