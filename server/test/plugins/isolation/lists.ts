/** A plugin that reads one list for many claims, at the place of the region that a claim names, and has a fault where a claim asks for one. */
import {
  bearer,
  DestinationError,
  defineConnectionType,
  definePlugin,
  defineVerifier,
  type Observation,
  secret,
  Type,
} from '@claimcheck/core/plugin'

/** A connection to a place that ends with this is tried by a read. */
export const READ_AT_PROBE = '/tried'
const SENTENCE = '{target} is listed.'
const MINUTE_MS = 60_000

const Params = Type.Object(
  {
    fault: Type.Optional(Type.String({ title: 'Fault' })),
    region: Type.Optional(Type.String({ title: 'Region' })),
  },
  { additionalProperties: false },
)
const Facts = Type.Object(
  {
    read: Type.Integer({ title: 'Read', description: 'Which read of the list it was.' }),
    together: Type.Integer({ title: 'Together', description: 'How many claims it served.' }),
  },
  { additionalProperties: false },
)
const List = Type.Object({ read: Type.Integer(), names: Type.Array(Type.String()) })
type Seen = Observation<{ read: number; together: number }>

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
  check: () => Promise.reject(new TypeError('checkMany is called instead')),
  async checkMany(checks, { http, connection }) {
    const faults = checks.map(({ claim }) => claim.params.fault)
    if (faults.includes('ends the process')) process.exit(1)
    const { base_url, token } = connection!.options as { base_url: string; token: string }
    const { claim } = checks[0]!
    const base = claim.params.region ?? base_url
    const auth = bearer(token)
    if (claim.params.fault === 'waits') await new Promise(() => {})
    if (faults.includes('fails for all')) throw new DestinationError('unavailable')
    if (faults.includes('asks elsewhere')) await http.head('https://elsewhere.example', { auth }).catch(() => {})
    const { value } = await http.json(`${base}/list`, { schema: List, auth })
    const seen = checks.map(({ claim: { target, params } }): Seen | DestinationError => {
      const facts = { read: value.read, together: checks.length }
      if (params.fault === 'cannot tell') return new DestinationError('forbidden')
      if (params.fault === 'breaks its entry') return { kind: 'present' } as never
      if (params.fault === 'breaks') return new TypeError('a mistake') as never
      return value.names.includes(target) ? { kind: 'present', differs: [], facts } : { kind: 'absent', facts }
    })
    if (faults.includes('forgets one')) seen.pop()
    return faults.includes('returns no list') ? ({ length: seen.length } as never) : seen
  },
})

export default definePlugin({
  name: 'lists',
  api: 2,
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
