/** A verifier that reads tickets as messages of IMAP, and bad ones: only the reader of what is no HTTP says how far an answer goes. */
import {
  type ActionProfile,
  type CheckContext,
  DestinationError,
  defineConnectionType,
  definePlugin,
  defineVerifier,
  isDestinationError,
  type Observation,
  type Plugin,
  type Socket,
} from '@claimcheck/core/plugin'
import { connection, profile } from './good.ts'
import { type BadPlugin, readingBy } from './row.ts'

const PLACE = 'tls://lines.example.com:993'
/** The line behind a list. */
const END = 'b OK'
const LONGEST_LINE = 1024

interface Session {
  /** Without its line break. */
  line(): Promise<string>
  say(line: string): Promise<void>
  /** What came and was not read yet. */
  rest(): string
  readonly socket: Socket
}

interface Parts {
  readonly place: string
  /** What it writes to open a project. */
  readonly opening: string
  /** Of a connection that has ended. */
  ended(): string
  /** The lines up to the one that ends the list. */
  list(session: Session): Promise<string[]>
  /** @throws DestinationError for what is no line of a list */
  ticket(line: string): readonly [number: string, state: string, resolution?: string, at?: string]
  refused(session: Session): unknown
  check(read: () => Promise<Observation>, context: CheckContext): Promise<Observation>
}

const parts: Parts = {
  place: PLACE,
  opening: 'a MYRIGHTS ACME',
  ended() {
    throw new DestinationError('unavailable')
  },
  async list({ line }) {
    const lines: string[] = []
    for (let one = await line(); one !== END; one = await line()) lines.push(one)
    return lines
  },
  ticket(line) {
    const [, number, state, resolution, at] = /^\* (\d+) (open|closed)(?: (\w+) (\S+))?$/.exec(line) ?? []
    if (number === undefined) throw new DestinationError('unexpected_response')
    return [number, state!, resolution!, at!]
  },
  refused: () => new DestinationError('unexpected_response'),
  check: (read) => read(),
}

async function open(context: Pick<CheckContext, 'connect'>, token: string, all: Parts): Promise<Session> {
  const login = { mechanism: 'login', user: 'ann', secret: token } as const
  const socket = await context.connect(all.place, { login })
  const reader = socket.readable.getReader()
  const writer = socket.writable.getWriter()
  const decoder = new TextDecoder()
  let rest = ''
  return {
    socket,
    rest: () => rest,
    async line() {
      for (;;) {
        const end = rest.indexOf('\r\n')
        if (end >= 0) {
          const line = rest.slice(0, end)
          rest = rest.slice(end + 2)
          return line
        }
        if (rest.length > LONGEST_LINE) throw new DestinationError('too_large')
        const { done, value } = await reader.read()
        if (done) return all.ended()
        rest += decoder.decode(value, { stream: true })
      }
    },
    say: (line) => writer.write(new TextEncoder().encode(`${line}\r\n`)),
  }
}

async function read(context: CheckContext, target: string, resolution: unknown, all: Parts): Promise<Observation> {
  const [, number] = target.split('-')
  const session = await open(context, (context.connection!.options as { token: string }).token, all)
  try {
    await session.say(all.opening)
    const [, id, access] = /^a OK (\d+) (full|limited)$/.exec(await session.line()) ?? []
    if (id === undefined) throw all.refused(session)
    if (access !== 'full') throw new DestinationError('forbidden')
    await session.say('b UID SEARCH ALL')
    const tickets = (await all.list(session)).map(all.ticket)
    const [, state, closedAs, at] = tickets.find(([one]) => one === number) ?? []
    const facts = {
      project_id: Number(id),
      ...(state === undefined ? {} : { state }),
      ...(at ? { closed_at: at } : {}),
    }
    if (state !== 'closed') return { kind: 'absent', facts }
    const time = Date.parse(at!)
    if (closedAs !== resolution) return { kind: 'present', facts, differs: ['resolution'] }
    return { kind: 'present', facts, differs: [], stays: [{ appeared: { notBefore: time, notAfter: time } }] }
  } finally {
    await session.socket.close()
  }
}

export function linePlugin(replaced: Partial<Parts> = {}): Plugin {
  const all = { ...parts, ...replaced }
  const { target, params, facts } = profile
  const verifier = defineVerifier({
    profile: { ...profile, target, params, facts } as unknown as ActionProfile,
    providers: ['tracker'],
    normalize: ({ target, params }) => ({
      target,
      params: { resolution: String((params as { resolution: string }).resolution).toLowerCase() },
    }),
    check: ({ target, params }, context) =>
      all.check(
        () => read(context, target, (params as { resolution: string }).resolution, all),
        context,
      ) as Promise<never>,
  })
  const type = defineConnectionType({
    ...connection,
    baseUrl: () => PLACE,
    async probe({ token }, context) {
      const session = await open(context, token as string, parts)
      await session.socket.close()
      return { proves: 'works', scopes: [], warnings: [] }
    },
  })
  return definePlugin({
    name: 'lines',
    api: 3,
    manifest: {
      hosts: ['lines.example.com'],
      sockets: [{ port: 993, tls: true, protocol: 'imap', commands: ['MYRIGHTS', 'UID SEARCH'] }],
    },
    options: { type: 'object', properties: {}, additionalProperties: false } as never,
    setup: () => ({ verifiers: [verifier], connections: [type] }),
  }) as Plugin
}

/** Reads the list as far as it goes, whatever ends it. */
async function asFarAsItGoes({ line }: Session, mayEnd: (error: unknown) => boolean): Promise<string[]> {
  const lines: string[] = []
  try {
    for (let one = await line(); one !== END; one = await line()) lines.push(one)
  } catch (error) {
    if (!mayEnd(error)) throw error
  }
  return lines.filter((one) => /^\* \d/.test(one))
}

const codeOf = (error: unknown) => (isDestinationError(error) ? error.code : undefined)

export const LINES: readonly BadPlugin[] = readingBy('lines', [
  [
    'abort.heeded',
    'waits for an answer for ever',
    () =>
      linePlugin({
        check: (read) =>
          read().catch((error: unknown) => {
            if (codeOf(error) !== 'timeout') throw error
            return new Promise<never>(() => {})
          }),
      }),
    { takesLong: true },
  ],
  [
    'fault.socket-closed',
    'takes a closed connection for the end of a list',
    () => linePlugin({ ended: () => END, list: (session) => asFarAsItGoes(session, () => false) }),
    { situations: ['open'] },
  ],
  [
    'fault.socket-cut',
    'takes the beginning of a list for the list',
    () => linePlugin({ list: (session) => asFarAsItGoes(session, (error) => codeOf(error) === 'unavailable') }),
  ],
  [
    'fault.socket-reset',
    'takes what came before a reset for the list',
    () => linePlugin({ list: (session) => asFarAsItGoes(session, (error) => codeOf(error) === 'unavailable') }),
    { situations: ['missing'] },
  ],
  [
    'fault.socket-flood',
    'reads without bounds, and takes what it got for the list',
    () => linePlugin({ list: (session) => asFarAsItGoes(session, (error) => codeOf(error) === 'too_large') }),
    { situations: ['missing'] },
  ],
  [
    'fault.socket-garbage',
    'takes what it does not understand for no ticket',
    () =>
      linePlugin({
        list: async ({ line }) => {
          const lines: string[] = []
          for (let one = await line(); one.startsWith('* '); one = await line()) lines.push(one)
          return lines
        },
      }),
    { situations: ['missing'] },
  ],
  [
    'fault.socket-silence',
    'takes silence for the end of a list',
    () => linePlugin({ list: (session) => asFarAsItGoes(session, (error) => codeOf(error) === 'timeout') }),
    { situations: ['missing'] },
  ],
  [
    'fault.socket-one-byte-a-second',
    'calls a slow answer an outage',
    () =>
      linePlugin({
        check: (read) =>
          read().catch((error: unknown) => {
            throw codeOf(error) === 'timeout' ? new DestinationError('unavailable') : error
          }),
      }),
  ],
  [
    'requests.sockets',
    'connects to a port that its manifest does not declare',
    () => linePlugin({ place: 'tls://lines.example.com:25' }),
  ],
  [
    'requests.sockets',
    'connects without the encryption that its manifest declares',
    () => linePlugin({ place: 'tcp://lines.example.com:993' }),
  ],
  ['requests.sockets', 'connects to another host', () => linePlugin({ place: 'tls://example.com:993' })],
  [
    'secrets.in-errors',
    'repeats what the destination says in an error',
    () => linePlugin({ refused: ({ rest }) => new DestinationError('unexpected_response', { cause: rest() }) }),
  ],
  [
    'requests.sockets',
    'writes a command that its manifest does not declare',
    () => linePlugin({ opening: 'a STATUS ACME (MESSAGES)' }),
  ],
  [
    'requests.sockets',
    'writes a command that does more than read',
    () => linePlugin({ opening: 'a STORE 1 +FLAGS (\\Deleted)' }),
  ],
  ['requests.sockets', 'writes a secret itself', () => linePlugin({ opening: 'a LOGIN ann secret:token' })],
])
