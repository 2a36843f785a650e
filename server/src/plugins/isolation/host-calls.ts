/** Answers calls of the host by a check in a plugin's own process: requests, sockets, and the readings of another check. */
import type { ConnectInit, DigestAlgorithm, DigestInit, LoginMechanism } from '@claimcheck/core/hosting'
import { type FetchInit, type Query, type Socket, Type, Value } from '@claimcheck/core/plugin'
import type { JsonObject, JsonValue } from '@claimcheck/core/rules'
import { LRUCache } from 'lru-cache'
import type { CheckRequests } from '../../outbound/outbound.ts'
import type { Form } from '../problems.ts'
import { type BodyReader, createBodyReader } from './body-reader.ts'

export type HostCalls = ReturnType<typeof createHostCalls>

interface HostAnswer {
  readonly value?: unknown
  /** Bytes that go to the process as they are. */
  readonly body?: Uint8Array
}

export type SharedReadings = ReturnType<typeof createSharedReadings>

/** The most readings to keep, more than begin while one read is under way: a check that joins it finds its readings. */
const MAX_KEPT = 20_000

/** Keeps the readings of checks, for the checks that share their part of the cache. */
export function createSharedReadings() {
  const kept = new LRUCache<number, { readonly cacheKey: string; readonly requests: CheckRequests }>({ max: MAX_KEPT })
  return {
    keep: (run: number, cacheKey: string, requests: CheckRequests) => void kept.set(run, { cacheKey, requests }),
    inherit(run: number, cacheKey: string, requests: CheckRequests): void {
      const other = kept.get(run)
      if (other?.cacheKey !== cacheKey) throw new TypeError('that check shares nothing with this one')
      requests.inherit(other.requests.readings())
    },
  }
}

const text = Type.String({ maxLength: 8192 })
const json = Type.Unsafe<JsonValue>(Type.Unknown())
const Declared = Type.Object({ scheme: Type.Literal('credential'), name: text })
const Auth = Type.Union([
  Type.Object({ scheme: Type.Literal('bearer'), token: text }),
  Type.Object({ scheme: Type.Literal('basic'), username: text, password: text }),
  Type.Object({ scheme: Type.Literal('header'), name: text, prefix: text, value: text }),
  Declared,
])
const Init = Type.Object({
  method: Type.Optional(Type.Union([Type.Literal('GET'), Type.Literal('HEAD')])),
  headers: Type.Optional(Type.Record(Type.String(), text)),
  auth: Type.Optional(Auth),
  redirect: Type.Optional(Type.Literal('manual')),
  contentDigest: Type.Optional(text),
  call: Type.Optional(
    Type.Union([
      Type.Object({ jsonRpc: text, params: json }),
      Type.Object({ graphql: Type.String({ maxLength: 65_536 }), variables: Type.Unsafe<JsonObject>(Type.Object({})) }),
      Type.Object({ dav: text, parameters: Type.Optional(Type.Record(Type.String(), text)) }),
    ]),
  ),
} satisfies Form<FetchInit>)

const Digest = Type.Object({
  ...Type.Pick(Init, ['headers', 'auth', 'redirect']).properties,
  // The host checks which algorithms there are.
  algorithms: Type.Array(Type.Unsafe<DigestAlgorithm>(text), { maxItems: 8 }),
} satisfies Form<DigestInit>)

// The host checks which mechanisms and values there are.
const Login = Type.Object({
  mechanism: Type.Unsafe<LoginMechanism>(text),
  user: text,
  secret: Type.Union([text, Declared]),
})
const Connect = Type.Object({ login: Type.Optional(Login) } satisfies Form<ConnectInit>)
const QueryData = Type.Object({
  statement: text,
  parameters: Type.Optional(Type.Record(Type.String(), Type.Unsafe<QueryParameter>(Type.Unknown()))),
  identifiers: Type.Optional(Type.Record(Type.String(), Type.Union([text, Type.Array(text, { maxItems: 64 })]))),
  database: text,
  login: Type.Pick(Login, ['user', 'secret']),
} satisfies Form<Query>)

type QueryParameter = NonNullable<Query['parameters']>[string]

interface OpenSocket {
  readonly reader: ReadableStreamDefaultReader<Uint8Array>
  readonly writer: WritableStreamDefaultWriter<Uint8Array>
  readonly socket: Socket
}

/** Answers the calls of one run of the plugin. */
export function createHostCalls({
  requests,
  cacheKey,
  shared,
}: {
  readonly requests: CheckRequests
  readonly cacheKey: string
  readonly shared: SharedReadings
}) {
  const sockets = new Map<number, OpenSocket>()
  const bodies = new Map<number, BodyReader>()
  let opened = 0

  function openSocket(id: JsonValue | undefined): OpenSocket {
    const socket = sockets.get(id as number)
    if (!socket) throw new TypeError('there is no such socket')
    return socket
  }

  function openBody(id: JsonValue | undefined): BodyReader {
    const body = bodies.get(id as number)
    if (!body) throw new TypeError('there is no such body')
    return body
  }

  const methods: Readonly<Record<string, (first: JsonValue, second: JsonValue | undefined) => Promise<HostAnswer>>> = {
    async fetch(url, init = {}) {
      if (!Value.Check(text, url) || !Value.Check(Init, init))
        throw new TypeError('fetch was called with other arguments')
      const response = await requests.fetch(url, init)
      const answer = { status: response.status, url: response.url, headers: [...response.headers] }
      if (!response.body) return { value: answer }
      const body = createBodyReader(response.body)
      const whole = await body.whole()
      if (whole) return { value: answer, body: whole }
      const stream = ++opened
      bodies.set(stream, body)
      return { value: { ...answer, stream } }
    },
    async read(id) {
      const { bytes, isLast } = await openBody(id).read()
      if (isLast) bodies.delete(id as number)
      return { value: { isLast }, body: bytes }
    },
    async cancel(id) {
      openBody(id).cancel()
      bodies.delete(id as number)
      return {}
    },
    async digest(url, init) {
      if (!Value.Check(text, url) || !Value.Check(Digest, init))
        throw new TypeError('digest was called with other arguments')
      const { headers, ...answer } = await requests.digest(url, init)
      return { value: { ...answer, headers: [...headers] } }
    },
    async fingerprint(key, asked) {
      if (!Value.Check(Declared, key) || typeof asked !== 'string')
        throw new TypeError('fingerprint was called with other arguments')
      return { value: await requests.fingerprint(key, asked) }
    },
    async resolve(url) {
      return { value: await requests.resolve(String(url)) }
    },
    async connect(url, init) {
      if (!Value.Check(text, url) || !Value.Check(Connect, init))
        throw new TypeError('connect was called with other arguments')
      const socket = await requests.connect(url, init)
      const id = sockets.size + 1
      sockets.set(id, { reader: socket.readable.getReader(), writer: socket.writable.getWriter(), socket })
      return { value: id }
    },
    async query(url, query) {
      if (!Value.Check(text, url) || !Value.Check(QueryData, query))
        throw new TypeError('query was called with other arguments')
      return { value: await requests.query(url, query) }
    },
    async socketRead(id) {
      const { done, value } = await openSocket(id).reader.read()
      return done ? { value: { isLast: true } } : { value: { isLast: false }, body: value }
    },
    async socketWrite(id, part) {
      await openSocket(id).writer.write(Buffer.from(String(part), 'base64'))
      return {}
    },
    async socketClose(id) {
      await openSocket(id).socket.close()
      return {}
    },
    async inherit(run) {
      shared.inherit(Number(run), cacheKey, requests)
      return {}
    },
  }

  return {
    async answer(method: string, args: readonly JsonValue[]): Promise<HostAnswer> {
      if (!Object.hasOwn(methods, method)) throw new TypeError('the host offers no such call')
      return methods[method]!(args[0]!, args[1])
    },
    /** Tells whether the run's own limits ended its requests. */
    isSpent: () => requests.isSpent(),
    /** Closes the sockets and bodies that the run left open. */
    close() {
      for (const { socket } of sockets.values()) void socket.close().catch(() => {})
      for (const body of bodies.values()) body.cancel()
    },
  }
}
