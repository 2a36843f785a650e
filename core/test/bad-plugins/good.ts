/** A verifier without a fault, in parts: each bad plugin replaces the part that its fault is in. */
import type { PluginParts } from '@claimcheck/core/hosting'
import {
  type ActionProfile,
  type Auth,
  bearer,
  type CheckContext,
  type Claim,
  type ConnectionType,
  credential,
  DestinationError,
  defineConnectionType,
  definePlugin,
  defineVerifier,
  type Observation,
  type Plugin,
  type Stay,
  secret,
  type TSchema,
  Type,
  type Verifier,
} from '@claimcheck/core/plugin'
import { MINUTE } from './tracker.ts'

/** A fixed address, as most plugins have it: nothing of the plugin knows where the test's tracker is. */
export const BASE = 'https://tracker.example.com'

export const profile = {
  action: 'acme.ticket.close',
  version: '1',
  rulesVersion: 1,
  summary: 'A ticket was closed with a resolution.',
  words: {
    title: 'Closing of a ticket',
    target: 'Ticket',
    claim: 'Ticket {target} was closed as {resolution}.',
    outcomes: {
      verified: 'Ticket {target} was closed as {resolution} in time.',
      late: 'Ticket {target} was closed too late.',
      mismatch: 'Ticket {target} was closed, but not as {resolution}.',
      failed: 'Ticket {target} was not closed.',
    },
    facts: { closed_at: 'It was closed at {closed_at}.' },
  },
  target: Type.String({ pattern: '^[A-Z]{1,10}-[0-9]{1,9}$', examples: ['ACME-7'] }),
  params: Type.Object(
    { resolution: Type.String({ title: 'Resolution', pattern: '^[a-zA-Z]{1,20}$', examples: ['fixed'] }) },
    { additionalProperties: false },
  ),
  facts: Type.Object(
    {
      project_id: Type.Integer({ title: 'Project number' }),
      state: Type.Optional(Type.Enum(['open', 'closed'], { title: 'State' })),
      closed_at: Type.Optional(Type.String({ title: 'Closed at', format: 'date-time' })),
    },
    { additionalProperties: false },
  ),
  required: { resolution: 'content' },
  toleranceMs: 10 * MINUTE,
  deadlineMs: 15 * MINUTE,
  maxDeadlineMs: 60 * MINUTE,
  access: { permission: 'Reading tickets.', anonymous: false },
} as const satisfies ActionProfile<TSchema, TSchema>

export const Project = Type.Object({ id: Type.Integer(), may_read: Type.Boolean() })
export const Ticket = Type.Object({
  number: Type.Integer(),
  state: Type.Enum(['open', 'closed']),
  resolution: Type.Union([Type.String(), Type.Null()]),
})
export const Events = Type.Array(
  Type.Object({
    kind: Type.String(),
    at: Type.String({ format: 'date-time' }),
    says: Type.String({ format: 'date-time' }),
  }),
)

export interface Look {
  readonly claim: Claim
  readonly context: CheckContext
  readonly http: CheckContext['http']
  readonly auth: Auth
  readonly project: string
  readonly ticket: string
}

export interface ReadTicket {
  readonly state: string
  readonly resolution: string | null
}

export interface Parts {
  project(look: Look): Promise<{ readonly id: number; readonly may_read: boolean }>
  /** undefined: there is none. */
  ticket(look: Look): Promise<ReadTicket | undefined>
  stays(look: Look): Promise<Stay[]>
  observe(seen: { id: number; ticket: ReadTicket | undefined; stays: Stay[] }, look: Look): Observation
  check(look: Look, parts: Parts): Promise<Observation>
  normalize(claim: { target: string; params: { resolution: string } }): {
    target: string
    params: { resolution: string }
  }
}

export const parts: Parts = {
  async project({ http, auth, project }) {
    const { value } = await http.json(project, { schema: Project, auth })
    if (!value.may_read) throw new DestinationError('forbidden')
    return value
  },
  async ticket({ http, auth, ticket }) {
    return (await http.json(ticket, { schema: Ticket, auth, also: [404] })).value
  },
  async stays({ http, auth, ticket }) {
    const stays: Stay[] = []
    for await (const { value } of http.paginate(`${ticket}/events`, { schema: Events, auth })) {
      for (const { kind, at } of value) {
        if (kind === 'closed') stays.push({ appeared: { notBefore: Date.parse(at), notAfter: Date.parse(at) } })
      }
    }
    return stays
  },
  observe({ id, ticket, stays }, { claim }) {
    const facts = { project_id: id, ...(ticket ? { state: ticket.state } : {}), ...closedAt(stays) }
    if (ticket?.state !== 'closed') return { kind: 'absent', facts }
    const differs = ticket.resolution === claim.params.resolution ? [] : ['resolution']
    return { kind: 'present', facts, differs, ...(differs.length === 0 ? { stays } : {}) }
  },
  async check(look, { project, ticket, stays, observe }) {
    const { id } = await project(look)
    const found = await ticket(look)
    return observe({ id, ticket: found, stays: found?.state === 'closed' ? await stays(look) : [] }, look)
  },
  normalize: ({ target, params }) => ({ target, params: { resolution: params.resolution.toLowerCase() } }),
}

function closedAt(stays: readonly Stay[]) {
  const [first] = stays
  return first ? { closed_at: new Date(first.appeared.notAfter).toISOString() } : {}
}

const Account = Type.Object({ project_id: Type.Integer(), scopes: Type.Array(Type.String()) })

function probedBy(authOf: (options: Record<string, unknown>) => Auth): ConnectionType['probe'] {
  return async (options, { http }) => {
    const { value } = await http.json(`${BASE}/account`, { schema: Account, auth: authOf(options) })
    return { proves: 'works', scopes: value.scopes, warnings: [] }
  }
}

export const connection = defineConnectionType({
  provider: 'tracker',
  title: 'Tracker',
  options: Type.Object(
    { token: secret({ title: 'Token', description: 'A token that can read.' }) },
    { additionalProperties: false },
  ),
  help: 'Make a token that can read.',
  baseUrl: () => BASE,
  fits: (_options, { target }) => target.startsWith('ACME-'),
  probe: probedBy(({ token }) => bearer(String(token))),
})

export interface Replaced {
  readonly parts?: Partial<Parts>
  readonly profile?: object
  /** In place of the token in a header. */
  readonly auth?: Auth
  readonly verifier?: Partial<Verifier>
  readonly connection?: Partial<ConnectionType>
  readonly plugin?: Partial<Plugin>
  readonly setup?: () => Partial<PluginParts>
}

/** The good plugin, but for what is replaced. */
export function ticketPlugin(replaced: Replaced = {}): Plugin {
  const all: Parts = { ...parts, ...replaced.parts }
  const verifier = {
    ...defineVerifier({
      profile: { ...profile, ...replaced.profile } as unknown as ActionProfile,
      providers: ['tracker'],
      normalize: all.normalize as never,
      check(claim, context) {
        const { options } = context.connection!
        const [key, number] = claim.target.split('-')
        const project = `${BASE}/projects/${key}`
        const auth = replaced.auth ?? bearer((options as { token: string }).token)
        return all.check(
          { claim: claim as Claim, context, http: context.http, auth, project, ticket: `${project}/tickets/${number}` },
          all,
        )
      },
    }),
    ...replaced.verifier,
  }
  return definePlugin({
    name: 'ticket',
    api: 3,
    manifest: { hosts: ['tracker.example.com'] },
    options: Type.Object({}, { additionalProperties: false }),
    setup: () => ({
      verifiers: [verifier],
      connections: [{ ...connection, ...replaced.connection }],
      ...replaced.setup?.(),
    }),
    ...replaced.plugin,
  }) as Plugin
}

/** How a plugin tells the identity of the tracker, by the id of its only project. */
export interface Identified {
  readonly checked?: (id: number, look: Look) => string | undefined
  readonly probed?: (id: number) => string | undefined
  readonly identified?: true | undefined
}

/** The same, through a connection that tells the identity of its destination. */
export function identifiedPlugin({
  checked = (id) => `project-${id}`,
  probed = (id) => `project-${id}`,
  ...type
}: Identified = {}): Plugin {
  const identity = (told: string | undefined) => (told === undefined ? {} : { identity: told })
  return ticketPlugin({
    parts: {
      observe: (seen, look) => ({ ...parts.observe(seen, look), ...identity(checked(seen.id, look)) }),
    },
    connection: {
      identified: true,
      ...(type as { identified?: true }),
      async probe({ token }, { http }) {
        const { value } = await http.json(`${BASE}/account`, { schema: Account, auth: bearer(String(token)) })
        return { proves: 'works', scopes: value.scopes, warnings: [], ...identity(probed(value.project_id)) }
      },
    },
  })
}

/** The same, by signatures that the host makes. */
export function signedPlugin(): Plugin {
  return ticketPlugin({
    auth: credential('signature'),
    connection: {
      credentials: {
        signature: {
          scheme: 'awsSigV4',
          service: 'tracker',
          region: 'region',
          accessKeyId: 'key_id',
          secretAccessKey: 'token',
        },
      },
      options: Type.Object(
        {
          token: secret({ title: 'Token', description: 'A secret access key.' }),
          key_id: Type.Optional(Type.String()),
          region: Type.Optional(Type.String()),
        },
        { additionalProperties: false },
      ),
      probe: probedBy(() => credential('signature')),
    },
  })
}

/** The same, by access tokens for a refresh token that rotates. */
export function tokenPlugin(): Plugin {
  return ticketPlugin({
    auth: credential('account'),
    connection: {
      credentials: {
        account: {
          scheme: 'oauth2',
          grant: 'refreshToken',
          tokenUrl: `${BASE}/token`,
          clientId: 'client_id',
          refreshToken: 'token',
        },
      },
      options: Type.Object(
        { token: secret({ title: 'Token', description: 'A refresh token.' }), client_id: Type.Optional(Type.String()) },
        { additionalProperties: false },
      ),
      probe: probedBy(() => credential('account')),
    },
  })
}

/** The same, by tokens that the host gets where the tracker's challenge says: at the tracker itself. */
export function challengedPlugin(replaced: Pick<Replaced, 'parts'> = {}): Plugin {
  return ticketPlugin({
    ...replaced,
    auth: credential('account'),
    connection: {
      credentials: { account: { scheme: 'challenge', username: 'user', password: 'token' } },
      options: Type.Object(
        { token: secret({ title: 'Token', description: 'A token.' }), user: Type.Optional(Type.String()) },
        { additionalProperties: false },
      ),
      probe: probedBy(() => credential('account')),
    },
  })
}

/** A plugin that makes its checks by this function. */
export function checksBy(check: Parts['check']): () => Plugin {
  return () => ticketPlugin({ parts: { check } })
}
