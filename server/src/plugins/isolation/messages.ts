/** The messages between the host and the process of a plugin. */

import { DestinationError, type DigestAnswer, isDestinationError, type Static, Type } from '@claimcheck/core/plugin'
import {
  DESTINATION_ERROR_CODES,
  type DestinationErrorCode,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from '@claimcheck/core/rules'

/** The message that calls a function of the plugin. `part` is the index of the verifier or connection type. */
export interface RunMessage {
  readonly k: 'run'
  readonly id: number
  readonly method: PluginMethod
  readonly part: number
  readonly args: readonly unknown[]
  /** The host's clock at the call. The process goes by it, because its own clock may be off. */
  readonly now: number
}

export const PLUGIN_METHODS = [
  'setup',
  'anonymousSource',
  'destination',
  'normalize',
  'check',
  'baseUrl',
  'fits',
  'probe',
  'close',
] as const
export type PluginMethod = (typeof PLUGIN_METHODS)[number]

export type ToPlugin =
  | RunMessage
  /** The message that says that the time of a call is over. */
  | { readonly k: 'abort'; readonly id: number }
  /** The message that answers a call of the process. */
  | {
      readonly k: 'ok'
      readonly id: number
      readonly value?: unknown
      /** The number of raw bytes that follow the message. */
      readonly bytes?: number
    }
  | {
      readonly k: 'err'
      readonly id: number
      readonly error: WireError
      readonly isSpent?: boolean
    }
  /** The message that the process answers with a pong, which shows that it does not loop. */
  | { readonly k: 'ping' }

export type FromPlugin =
  | { readonly k: 'ready'; readonly plugin: Described }
  | { readonly k: 'pong' }
  | { readonly k: 'ok'; readonly id: number; readonly value?: JsonValue }
  | { readonly k: 'err'; readonly id: number; readonly error: WireError }
  /** The message that calls the host, for a run of the plugin. */
  | {
      readonly k: 'call'
      readonly id: number
      readonly run: number
      readonly method: string
      readonly args: JsonValue[]
    }
  | { readonly k: 'log'; readonly level: string; readonly fields: JsonObject; readonly text: string }

const FORMS: Readonly<Record<FromPlugin['k'], (message: JsonObject) => boolean>> = {
  ready: () => true,
  pong: () => true,
  ok: ({ id }) => isCount(id),
  err: ({ id }) => isCount(id),
  call: ({ id, run, method, args }) => isCount(id) && isCount(run) && typeof method === 'string' && Array.isArray(args),
  log: ({ text }) => typeof text === 'string',
}

/**
 * Reads a message of a plugin.
 * @returns undefined for any other value: the process may send anything
 */
export function readFromPlugin(message: JsonValue): FromPlugin | undefined {
  if (!isJsonObject(message) || typeof message.k !== 'string' || !Object.hasOwn(FORMS, message.k)) return undefined
  return FORMS[message.k as FromPlugin['k']](message) ? (message as unknown as FromPlugin) : undefined
}

function isCount(value: JsonValue | undefined): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

/** A plugin before its setup, described as data. */
export interface Described {
  readonly isPlugin: boolean
  readonly data: JsonObject
  readonly functions: readonly string[]
}

const described = { data: Type.Unsafe<JsonObject>(Type.Object({})), functions: Type.Array(Type.String()) }
const DescribedPart = Type.Object({
  ...described,
  /** The base address of a connection type without options. */
  address: Type.Optional(Type.String()),
})
/** The result of a setup: data, and the names of the functions in it. */
export const DescribedParts = Type.Object({
  ...described,
  verifiers: Type.Array(DescribedPart),
  connections: Type.Array(DescribedPart),
})
export type DescribedParts = Static<typeof DescribedParts>
export type DescribedPart = Static<typeof DescribedPart>

/** The part of a check's context that the host sends. The process makes the rest. */
export interface CheckArguments {
  readonly claim: unknown
  readonly previous: unknown
  readonly connection: unknown
  readonly share: string
  readonly cacheKey: string
  readonly limits: unknown
}

/** An HTTP answer, with its body, or with the number of the stream by which parts of the body are asked for. */
export interface WireResponse {
  readonly status: number
  readonly url: string
  readonly headers: readonly (readonly [string, string])[]
  readonly stream?: number
}

/** The message before a part of a body, or before bytes that a socket received. */
export interface WirePart {
  readonly isLast: boolean
}

/** The digest of an answer whose body stays at the host. */
export interface WireDigest extends Omit<DigestAnswer, 'headers'> {
  readonly headers: WireResponse['headers']
}

export type WireError =
  | {
      readonly code: DestinationErrorCode
      readonly retryAfterMs?: number
      readonly status?: number
      readonly param?: string
    }
  /** The stack of an error that is not a destination's. */
  | { readonly text: string }

const MAX_ERROR_LENGTH = 4096

export function toWireError(error: unknown): WireError {
  if (isDestinationError(error)) {
    const { code, retryAfterMs, status, param } = error
    return {
      code,
      ...(typeof retryAfterMs === 'number' && Number.isFinite(retryAfterMs) ? { retryAfterMs } : {}),
      ...(Number.isSafeInteger(status) ? { status: status! } : {}),
      ...(typeof param === 'string' ? { param } : {}),
    }
  }
  return { text: textOf(error).slice(0, MAX_ERROR_LENGTH) }
}

function textOf(error: unknown): string {
  try {
    return error instanceof Error ? String(error.stack ?? error.message) : `a ${typeof error} was thrown`
  } catch {
    return 'an error without a text was thrown'
  }
}

/** An error of the plugin's own. Its stack is the plugin's text, and is not trusted. */
export class PluginFailure extends Error {
  override readonly stack: string

  constructor(stack: string) {
    super('the plugin failed')
    this.stack = stack
  }
}

const CODES: ReadonlySet<unknown> = new Set(DESTINATION_ERROR_CODES)

/**
 * Makes an error of one from the process.
 * @param error from the other side, which is not trusted
 */
export function fromWireError(error: unknown): Error {
  const { code, retryAfterMs, status, param, text } = (typeof error === 'object' && error !== null ? error : {}) as {
    readonly [name: string]: unknown
  }
  if (CODES.has(code)) {
    return new DestinationError(code as DestinationErrorCode, {
      ...(typeof retryAfterMs === 'number' ? { retryAfterMs } : {}),
      ...(Number.isSafeInteger(status) ? { status: status as number } : {}),
      ...(typeof param === 'string' ? { param } : {}),
    })
  }
  return new PluginFailure(typeof text === 'string' ? text.slice(0, MAX_ERROR_LENGTH) : 'Error: the plugin failed')
}
