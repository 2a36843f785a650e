/** The requests that a check may send, and how many. */
import type { JsonObject, JsonValue } from '../json.ts'
import type { Auth } from './auth.ts'

/** What one check may use. A plugin asks for less or more than usual; the host allows no more than `CEILING`. */
export interface CheckLimits {
  readonly requests?: number
  /** Bytes of one answer. More than usual is for what is read in parts, of which little is kept. */
  readonly bodyBytes?: number
  readonly timeMs?: number
}

export const CEILING = { requests: 64, bodyBytes: 40 * 1024 * 1024, timeMs: 60_000 } as const satisfies CheckLimits

/** Bytes of one answer, where the plugin names no limit. */
export const USUAL_ANSWER_BYTES = 5 * 1024 * 1024

/**
 * Bytes of all answers and connections of a check together, without those that it only computes digests of; twice the declared size of an answer,
 * where that is more. A check that is made again has no more.
 */
export const MAX_CHECK_BYTES = 32 * 1024 * 1024

export interface FetchInit {
  /** GET when left out. */
  readonly method?: 'GET' | 'HEAD'
  readonly headers?: Readonly<Record<string, string>>
  readonly auth?: Auth | undefined
  /** A redirect is the answer, and is not followed. */
  readonly redirect?: 'manual'
  /** Sent with POST, or the method of WebDAV, in a body that the host writes. */
  readonly call?: ReadCall
}

/** A call that only reads. The manifest declares the method of JSON-RPC, the text of the GraphQL query, or the method of WebDAV with its body. */
export type ReadCall =
  | { readonly jsonRpc: string; readonly params: JsonValue }
  | { readonly graphql: string; readonly variables: JsonObject }
  | DavCall

export interface DavCall {
  /** Its name in the manifest. */
  readonly dav: string
  /** What belongs into the places of its body. The host escapes it. */
  readonly parameters?: Readonly<Record<string, string>>
}

export type GuardedFetch = (url: string, init?: FetchInit) => Promise<Response>
