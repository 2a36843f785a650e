/** A plugin that reads a list at the place of the region that a claim names. */
import {
  bearer,
  DestinationError,
  defineConnectionType,
  definePlugin,
  defineVerifier,
  secret,
  Type,
} from '@claimcheck/core/plugin'

/** A connection to a place that ends with this is tried by a read. */
export const READ_AT_PROBE = '/tried'
const SENTENCE = '{target} is listed.'
const MINUTE_MS = 60_000

const Params = Type.Object({ region: Type.Optional(Type.String({ title: 'Region' })) }, { additionalProperties: false })
const Facts = Type.Object(
  { read: Type.Integer({ title: 'Read', description: 'Which read of the list it was.' }) },
  { additionalProperties: false },
)
const List = Type.Object({ read: Type.Integer(), names: Type.Array(Type.String()) })

const lists = defineVerifier({
  profile: {
    action: 'test.list.have',
    version: '1',
    rulesVersion: 1,
    summary: 'A name is on the list.',
    words: {
      title: 'Name on a list',
      target: 'Name',
      claim: SENTENCE,
      outcomes: { verified: SENTENCE, late: SENTENCE, mismatch: SENTENCE, failed: SENTENCE },
    },
    target: Type.String({ minLength: 1, maxLength: 64 }),
    params: Params,
    facts: Facts,
    required: {},
    toleranceMs: 10 * MINUTE_MS,
    deadlineMs: 15 * MINUTE_MS,
    maxDeadlineMs: 24 * 60 * MINUTE_MS,
    access: { permission: 'none', anonymous: false },
  },
  providers: ['lists'],
  limits: { requests: 4 },
  destination({ target, params: { region } }, { options }) {
    if (region === 'nowhere') throw new DestinationError('unsupported_target')
    if (region === 'fails') throw new TypeError('a mistake')
    if (region === 'text') return 'no address'
    if (region === 'number') return 5 as never
    if (region === 'ends') process.exit(1)
    const base = String(options.base_url)
    return region === undefined ? base : region.replace('{target}', target)
  },
  async check({ target, params: { region } }, { http, connection }) {
    const { base_url, token } = connection!.options as { base_url: string; token: string }
    const { value } = await http.json(`${region ?? base_url}/list`, { schema: List, auth: bearer(token) })
    const facts = { read: value.read }
    return value.names.includes(target) ? { kind: 'present', differs: [], facts } : { kind: 'absent', facts }
  },
})

export default definePlugin({
  name: 'lists',
  api: 3,
  manifest: { hosts: ['connection.base_url', 'options.region_url', '*.lists.example'] },
  options: Type.Object({ region_url: Type.Optional(Type.String()) }),
  setup: () => ({
    verifiers: [lists],
    connections: [
      defineConnectionType({
        provider: 'lists',
        title: 'Lists',
        help: 'None.',
        options: Type.Object({ base_url: Type.String(), token: secret({ description: 'A token.' }) }),
        baseUrl: ({ base_url }) => base_url,
        fits: () => true,
        async probe({ base_url, token }, { http }) {
          if (base_url.endsWith(READ_AT_PROBE))
            await http.json(`${base_url}/list`, { schema: List, auth: bearer(token) })
          return { proves: 'works', scopes: [], warnings: [] }
        },
      }),
    ],
  }),
})
