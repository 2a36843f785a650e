/** Answers what a check in a plugin's own process asks of the host: requests, sockets, and what another check's answers told. */
import { isUtf8 } from 'node:buffer'
import { type DigestInit, type FetchInit, type Socket, Type, Value } from '@claimcheck/core/plugin'
import type { JsonValue } from '@claimcheck/core/rules'
import { LRUCache } from 'lru-cache'
import type { CheckRequests } from '../../outbound/outbound.ts'
import { toWireError, type WireResponse } from './messages.ts'

/** What one run of the plugin may ask. */
export interface HostCalls {
  /** @param hold is told of the bytes of a body as they come */
  answer(method: string, args: readonly JsonValue[], hold: (bytes: number) => void): Promise<Answer>
  /** Its own limits ended the run's requests. */
  isSpent(): boolean
  /** Closes what the run left open. */
  close(): void
}

export interface Answer {
  /** Of its body. */
  readonly bytes: number
  /** Its form for the process, which takes several times the memory. */
  value(): unknown
}

/** Whose answers a check may take over: those of checks that share its part of the cache. */
export interface SharedReadings {
  keep(run: number, cacheKey: string, requests: CheckRequests): void
  inherit(run: number, cacheKey: string, requests: CheckRequests): void
}

/** More than begin while one read is under way: a check that joins it finds it here. */
const MAX_KEPT = 20_000

export function createSharedReadings(): SharedReadings {
  const kept = new LRUCache<number, { readonly cacheKey: string; readonly requests: CheckRequests }>({ max: MAX_KEPT })
  return {
    keep: (run, cacheKey, requests) => kept.set(run, { cacheKey, requests }),
    inherit(run, cacheKey, requests) {
      const other = kept.get(run)
      if (other?.cacheKey !== cacheKey) throw new TypeError('that check shares nothing with this one')
      requests.inherit(other.requests.readings())
    },
  }
}

const text = Type.String({ maxLength: 8192 })
const Auth = Type.Union([
  Type.Object({ scheme: Type.Literal('bearer'), token: text }),
  Type.Object({ scheme: Type.Literal('basic'), username: text, password: text }),
  Type.Object({ scheme: Type.Literal('header'), name: text, prefix: text, value: text }),
])
const Init = Type.Object({
  method: Type.Optional(Type.Union([Type.Literal('GET'), Type.Literal('HEAD')])),
  headers: Type.Optional(Type.Record(Type.String(), text)),
  auth: Type.Optional(Auth),
  redirect: Type.Optional(Type.Literal('manual')),
  call: Type.Optional(
    Type.Union([
      Type.Object({ jsonRpc: text, params: Type.Unknown() }),
      Type.Object({ graphql: Type.String({ maxLength: 65_536 }), variables: Type.Object({}) }),
    ]),
  ),
})

const Digest = Type.Object({
  ...Type.Pick(Init, ['headers', 'auth', 'redirect']).properties,
  // Which there are is the host's to check.
  algorithms: Type.Array(text, { maxItems: 8 }),
})

interface OpenSocket {
  readonly reader: ReadableStreamDefaultReader<Uint8Array>
  readonly writer: WritableStreamDefaultWriter<Uint8Array>
  readonly socket: Socket
}

interface HostCallsOptions {
  readonly requests: CheckRequests
  readonly cacheKey: string
  readonly shared: SharedReadings
}

export function createHostCalls({ requests, cacheKey, shared }: HostCallsOptions): HostCalls {
  const sockets = new Map<number, OpenSocket>()

  function opened(id: JsonValue | undefined): OpenSocket {
    const socket = sockets.get(id as number)
    if (!socket) throw new TypeError('there is no such socket')
    return socket
  }

  const methods: Readonly<Record<string, (first: JsonValue, second: JsonValue | undefined) => Promise<unknown>>> = {
    async digest(url, init) {
      if (!Value.Check(text, url) || !Value.Check(Digest, init))
        throw new TypeError('digest was called with other arguments')
      const { headers, ...answer } = await requests.digest(url, init as DigestInit)
      return { ...answer, headers: [...headers] }
    },
    async resolve(url) {
      return requests.resolve(String(url))
    },
    async connect(url) {
      const socket = await requests.connect(String(url))
      const id = sockets.size + 1
      sockets.set(id, { reader: socket.readable.getReader(), writer: socket.writable.getWriter(), socket })
      return id
    },
    async socketRead(id) {
      const { done, value } = await opened(id).reader.read()
      return done ? null : Buffer.from(value).toString('base64')
    },
    async socketWrite(id, part) {
      await opened(id).writer.write(Buffer.from(String(part), 'base64'))
    },
    async socketClose(id) {
      await opened(id).socket.close()
    },
    async inherit(run) {
      shared.inherit(Number(run), cacheKey, requests)
    },
  }

  async function fetch(url: JsonValue | undefined, init: JsonValue, hold: (bytes: number) => void): Promise<Answer> {
    if (!Value.Check(text, url) || !Value.Check(Init, init))
      throw new TypeError('fetch was called with other arguments')
    return toAnswer(await requests.fetch(url, init as FetchInit), hold)
  }

  return {
    async answer(method, args, hold) {
      if (method === 'fetch') return fetch(args[0], args[1] ?? {}, hold)
      if (!Object.hasOwn(methods, method)) throw new TypeError('the host offers no such call')
      const value = await methods[method]!(args[0]!, args[1])
      return { bytes: 0, value: () => value }
    },
    isSpent: () => requests.isSpent(),
    close() {
      for (const { socket } of sockets.values()) void socket.close().catch(() => {})
    },
  }
}

async function toAnswer(response: Response, hold: (bytes: number) => void): Promise<Answer> {
  const { status, url } = response
  const answer = { status, url, headers: [...response.headers] }
  const parts: Uint8Array[] = []
  let bytes = 0
  try {
    for await (const part of response.body ?? []) {
      bytes += part.length
      hold(part.length)
      parts.push(part)
    }
  } catch (error) {
    hold(-bytes)
    return { bytes: 0, value: () => ({ ...answer, failed: toWireError(error) }) }
  }
  return { bytes, value: () => ({ ...answer, ...bodyOf(Buffer.concat(parts)) }) }
}

function bodyOf(bytes: Buffer): Pick<WireResponse, 'text' | 'base64'> {
  if (bytes.length === 0) return {}
  return isPlain(bytes) ? { text: bytes.toString() } : { base64: bytes.toString('base64') }
}

/** In base64, too, what JSON would make longer than that: a control character becomes six. */
function isPlain(bytes: Buffer): boolean {
  if (!isUtf8(bytes)) return false
  let added = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!
    if (byte < SPACE) added += 5
    else if (byte === QUOTE || byte === BACKSLASH) added++
  }
  return added <= bytes.length / 3
}

const SPACE = 0x20
const QUOTE = 0x22
const BACKSLASH = 0x5c
