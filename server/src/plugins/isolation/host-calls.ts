/** Answers what a check in a plugin's own process asks of the host: requests, sockets, and what another check's answers told. */
import { isUtf8 } from 'node:buffer'
import type { FetchInit, JsonValue, Socket } from '@claimcheck/core'
import { LRUCache } from 'lru-cache'
import { Type } from 'typebox'
import { Value } from 'typebox/value'
import type { CheckRequests } from '../../outbound/outbound.ts'
import { toWireError, type WireResponse } from './messages.ts'

/** What one run of the plugin may ask. */
export interface HostCalls {
  answer(method: string, args: readonly JsonValue[]): Promise<unknown>
  /** Its own limits ended the run's requests. */
  isEnded(): boolean
  /** Closes what the run left open. */
  close(): void
}

/** Whose answers a check may take over: those of checks that share its part of the cache. */
export interface SharedReadings {
  keep(run: number, cacheKey: string, requests: CheckRequests): void
  inherit(run: number, cacheKey: string, requests: CheckRequests): void
}

const MAX_KEPT = 2000

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
  call: Type.Optional(
    Type.Union([
      Type.Object({ jsonRpc: text, params: Type.Unknown() }),
      Type.Object({ graphql: Type.String({ maxLength: 65_536 }), variables: Type.Object({}) }),
    ]),
  ),
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
    async fetch(url, init = {}) {
      if (!Value.Check(text, url) || !Value.Check(Init, init))
        throw new TypeError('fetch was called with other arguments')
      return toWireResponse(await requests.fetch(url, init as FetchInit))
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

  return {
    async answer(method, args) {
      if (!Object.hasOwn(methods, method)) throw new TypeError('the host offers no such call')
      return methods[method]!(args[0]!, args[1])
    },
    isEnded: () => requests.isEnded(),
    close() {
      for (const { socket } of sockets.values()) void socket.close().catch(() => {})
    },
  }
}

async function toWireResponse(response: Response): Promise<WireResponse> {
  const { status, url } = response
  const answer = { status, url, headers: [...response.headers] }
  let bytes: Buffer
  try {
    bytes = Buffer.from(await response.arrayBuffer())
  } catch (error) {
    return { ...answer, failed: toWireError(error) }
  }
  if (bytes.length === 0) return answer
  return isUtf8(bytes) ? { ...answer, text: bytes.toString() } : { ...answer, base64: bytes.toString('base64') }
}
