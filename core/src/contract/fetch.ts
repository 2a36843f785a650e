/** The requests that a check may send, and their limits. */
import type { JsonObject, JsonValue } from '../json.ts'
import type { Auth } from './auth.ts'

/** Limits of one check. A plugin asks for less or more than usual; the host allows no more than `CEILING`. */
export interface CheckLimits {
  readonly requests?: number
  /** Bytes of one answer. More than usual is for answers that are read in parts, of which little is stored. */
  readonly bodyBytes?: number
  readonly timeMs?: number
}

export const CEILING = { requests: 64, bodyBytes: 40 * 1024 * 1024, timeMs: 60_000 } as const satisfies CheckLimits

/** Bytes of one answer if the plugin names no limit. */
export const USUAL_ANSWER_BYTES = 5 * 1024 * 1024

/**
 * Bytes of all answers and connections of a check together, without those that it only computes digests of. Twice the declared size of an
 * answer if that is more. A check that is made again has no more.
 */
export const MAX_CHECK_BYTES = 32 * 1024 * 1024

export interface FetchInit {
  /** The HTTP method. Defaults to GET. */
  readonly method?: 'GET' | 'HEAD'
  readonly headers?: Readonly<Record<string, string>>
  readonly auth?: Auth | undefined
  /** Returns a redirect as the answer, in place of following it. */
  readonly redirect?: 'manual'
  /**
   * The digest of the content, where something read before tells it: `sha256:` or `sha512:` and hexadecimal digits. The host reads a GET to its end
   * and refuses other content. One redirect may then lead to another origin, which gets no credentials and tells no time.
   */
  readonly contentDigest?: string
  /** The call, which the host writes into the body of a POST or a method of WebDAV. */
  readonly call?: ReadCall
}

/** A call that only reads. The manifest declares the method of JSON-RPC, the text of the GraphQL query, or the method of WebDAV with its body. */
export type ReadCall =
  | { readonly jsonRpc: string; readonly params: JsonValue }
  | { readonly graphql: string; readonly variables: JsonObject }
  | DavCall

export interface DavCall {
  /** The name of the method in the manifest. */
  readonly dav: string
  /** Values for the places of the method's body, by name. The host escapes them. */
  readonly parameters?: Readonly<Record<string, string>>
}

export type GuardedFetch = (url: string, init?: FetchInit) => Promise<Response>
