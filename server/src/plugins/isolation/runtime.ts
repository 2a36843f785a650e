/**
 * The program of a plugin's own process: loads the plugin, runs its functions when the host asks, and passes the calls that it makes to the host. It
 * holds nothing that is worth stealing.
 */
import '@claimcheck/core/sandbox/no-strings'
import { Socket } from 'node:net'
import { pathToFileURL } from 'node:url'
import { isPlugin, type PluginParts } from '@claimcheck/core/hosting'
import type { Plugin } from '@claimcheck/core/plugin'
import type { JsonObject } from '@claimcheck/core/rules'
import { createFrames } from './frames.ts'
import { type Described, type DescribedPart, type RunMessage, type ToPlugin, toWireError } from './messages.ts'
import { createRuns } from './runs.ts'

const HOST_HANDLE = 3
/** The size of the largest message of the host, which may hold a claim with all its earlier reads. */
const MAX_BYTES = 8 * 1024 * 1024
/** The most bytes after one message: more than a part of a body, or than a socket receives at once. */
const MAX_BODY_BYTES = 1024 * 1024
const VERIFIER_FUNCTIONS = ['check', 'normalize', 'anonymousSource', 'destination']
const CONNECTION_FUNCTIONS = ['baseUrl', 'fits', 'probe']

const queue: { readonly message: ToPlugin; readonly body: Buffer | undefined }[] = []

// References are taken now, before the plugin can replace the originals for all that follows.
const { stringify } = JSON

const frames = createFrames(new Socket({ fd: HOST_HANDLE, readable: true, writable: true }), {
  maxBytes: MAX_BYTES,
  maxBodyBytes: MAX_BODY_BYTES,
  onMessage(received, body) {
    const message = received as unknown as ToPlugin
    // Pings are answered before waiting messages: many of these take long, and are no loop.
    if (message.k === 'ping') {
      // The pong goes out before the next message is worked on, which may take as long as the host allows.
      frames.send({ k: 'pong' })
      return frames.flush()
    }
    queue.push({ message, body })
    if (queue.length === 1) setImmediate(turn)
  },
  onClose: () => process.exit(0),
})

const runs = createRuns(frames)

/** Works on one message a turn: in between, pings are read and answered. */
function turn(): void {
  const { message, body } = queue.shift()!
  if (queue.length > 0) setImmediate(turn)
  receive(message, body)
}

let plugin: Plugin
let parts: PluginParts = {}

function receive(message: ToPlugin, body: Buffer | undefined): void {
  if (message.k === 'run') void run(message)
  else if (message.k === 'abort') runs.abort(message.id)
  else if (message.k === 'ok') runs.answer(message.id, { value: message.value, body })
  else if (message.k === 'err') runs.refuse(message.id, message.error, message.isSpent === true)
}

async function run(message: RunMessage): Promise<void> {
  try {
    const value = await runs.within(message.id, message.now, () => call(message))
    // The result is written here and not by the frames: a getter or a cycle in it is the plugin's error.
    const text = stringify(value === undefined ? null : value)
    frames.send({ k: 'ok', id: message.id, value: JSON.parse(text) })
  } catch (error) {
    // Any later call would get no memory either.
    if (isOutOfMemory(error)) process.exit(1)
    frames.send({ k: 'err', id: message.id, error: toWireError(error) })
  }
}

/**
 * Recognizes an error for want of memory. V8 refuses an array buffer with a message alone; Node 24 and 26 refuse some of theirs with a code and other
 * words.
 */
function isOutOfMemory(error: unknown): boolean {
  if (!(error instanceof RangeError)) return false
  const { code, message } = error as RangeError & { readonly code?: unknown }
  return code === 'ERR_MEMORY_ALLOCATION_FAILED' || /allocation failed/i.test(message)
}

async function call({ id, method, part, args }: RunMessage): Promise<unknown> {
  const verifier = parts.verifiers?.[part]
  const type = parts.connections?.[part]
  const [first, second] = args as [never, never]
  switch (method) {
    case 'setup':
      parts = await plugin.setup({ logger: runs.logger }, first)
      return describeParts(parts)
    case 'normalize':
      return verifier!.normalize!(first)
    case 'anonymousSource':
      return verifier!.anonymousSource!(first)
    case 'destination':
      return verifier!.destination!(first, second)
    case 'check':
      return runs.check(id, verifier!, first)
    case 'baseUrl':
      return type!.baseUrl(first)
    case 'fits':
      return type!.fits(first, second)
    case 'probe':
      return type!.probe(first, runs.probeContext(id, second))
    case 'close':
      return parts.close?.()
  }
}

function describe(plugin: unknown): Described {
  if (!isPlugin(plugin)) return { isPlugin: false, data: {}, functions: [] }
  const { setup, ...data } = plugin as Plugin & { setup?: unknown }
  return { isPlugin: true, data: plain(data), functions: typeof setup === 'function' ? ['setup'] : [] }
}

function describeParts(made: PluginParts) {
  const { verifiers, connections, close, ...rest } = (made ?? {}) as PluginParts & JsonObject
  return {
    data: plain(rest),
    functions: typeof close === 'function' ? ['close'] : [],
    verifiers: (verifiers ?? []).map((verifier) => describePart(verifier, VERIFIER_FUNCTIONS)),
    connections: (connections ?? []).map((type) => ({
      ...describePart(type, CONNECTION_FUNCTIONS),
      ...addressOf(type),
    })),
  }
}

function describePart(part: object, functions: readonly string[]): DescribedPart {
  const isFunction = (name: string) => typeof (part as Record<string, unknown>)[name] === 'function'
  return { data: plain(part), functions: functions.filter(isFunction) }
}

function addressOf(type: { baseUrl?: (options: never) => string }): { readonly address?: string } {
  try {
    return { address: String(type.baseUrl!({} as never)) }
  } catch {
    return {}
  }
}

/** Makes plain data of a part, without its functions; schemas are plain data. */
function plain(value: object): JsonObject {
  return JSON.parse(stringify(value))
}

// Stray errors are the plugin's, and no reason to end the checks of others.
process.on('uncaughtException', (error) => runs.stray('an error that nothing caught', error))
process.on('unhandledRejection', (reason) => runs.stray('a promise that nothing awaited was rejected', reason))

try {
  const loaded = (await import(pathToFileURL(process.argv[2]!).href)) as { default?: unknown }
  plugin = loaded.default as Plugin
  frames.send({ k: 'ready', plugin: describe(plugin) })
} catch (error) {
  frames.send({ k: 'err', id: 0, error: toWireError(error) })
}
