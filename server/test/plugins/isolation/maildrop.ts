/** A plugin that reads a mailbox, or a table, at the port that its test writes into a copy of it. */
import {
  credential,
  defineConnectionType,
  definePlugin,
  defineVerifier,
  type Observation,
  type Static,
  secret,
  Type,
} from '@claimcheck/core/plugin'

const PORT = 41_995
const MINUTE_MS = 60_000
const SENTENCE = '{target} is there.'

const Facts = Type.Object(
  { told: Type.Optional(Type.String({ title: 'Told', pattern: '^[!-~·]*$', maxLength: 1024 })) },
  { additionalProperties: false },
)

interface Options {
  readonly base_url: string
  readonly password: string
}

const verifier = defineVerifier<ReturnType<typeof Type.Object>, typeof Facts>({
  profile: {
    action: 'test.maildrop.read',
    version: '1',
    summary: 'A maildrop.',
    words: {
      title: 'Maildrop',
      target: 'Command',
      claim: SENTENCE,
      outcomes: { verified: SENTENCE, late: SENTENCE, mismatch: SENTENCE, failed: SENTENCE },
    },
    target: Type.String({ minLength: 1, maxLength: 100 }),
    params: Type.Object({}, { additionalProperties: false }),
    facts: Facts,
    required: { target: 'target' },
    toleranceMs: 10 * MINUTE_MS,
    deadlineMs: 15 * MINUTE_MS,
    maxDeadlineMs: 60 * MINUTE_MS,
    rulesVersion: 1,
    access: { permission: 'none', anonymous: false },
  },
  providers: ['maildrop'],
  async check({ target }, { connect, query, connection }): Promise<Observation<Static<typeof Facts>>> {
    const { base_url, password } = connection!.options as unknown as Options
    const login = { mechanism: 'login', user: 'ann', secret: password } as const
    const told = (text: string) => ({
      kind: 'present' as const,
      differs: [],
      facts: { told: text.replaceAll(' ', '·') },
    })
    const failing = (asked: Promise<unknown>) =>
      asked.then(
        () => told('done'),
        (error: Error) => told(error.name),
      )
    if (target === 'odd login') return failing(connect(base_url, { login: { mechanism: 5 } as never }))
    if (target === 'declared login')
      return failing(connect(base_url, { login: { ...login, secret: credential('other') } }))
    if (target === 'odd query') return failing(query(base_url, { statement: 5 } as never))
    if (target === 'query') return failing(query(base_url, { statement: 'a', database: 'b', login }))
    const { readable, writable, close } = await connect(base_url, { login })
    const [writer, reader] = [writable.getWriter(), readable.getReader()]
    await writer.write(new TextEncoder().encode(`${target}\r\n`))
    const { value } = await reader.read()
    await close()
    return told(new TextDecoder().decode(value).trim())
  },
})

const connection = defineConnectionType({
  provider: 'maildrop',
  title: 'Maildrop',
  help: 'None.',
  options: Type.Object({ base_url: Type.String(), password: secret({ description: 'A password.' }) }),
  baseUrl: ({ base_url }) => base_url,
  fits: () => true,
  probe: async () => ({ proves: 'works', scopes: [], warnings: [] }),
})

export default definePlugin({
  name: 'maildrop',
  api: 3,
  manifest: {
    hosts: ['connection.base_url'],
    sockets: [{ port: PORT, tls: false, protocol: 'imap', commands: ['NOOP'] }],
  },
  options: Type.Object({}, { additionalProperties: false }),
  setup: () => ({ verifiers: [verifier], connections: [connection] }),
})
