/** Reads the version that an endpoint answers: once, with a redirect to itself, and as it answers now. */
import {
  type CheckContext,
  clockBehindMs,
  DestinationError,
  isOldCopy,
  parseUrl,
  readJson,
  statusError,
} from '@claimcheck/core/plugin'
import { isSameEndpoint } from './address.ts'
import { authOf } from './connection.ts'
import { isVersion, type Params } from './profile.ts'

export interface VersionAnswer {
  /** The version; undefined where the endpoint is missing. */
  readonly version: string | undefined
  /** Tells that nothing in the answer says that other readers may get another one. */
  readonly isShared: boolean
}

type ReadingContext = Pick<CheckContext, 'connection' | 'fetch' | 'cache' | 'now'>

/** The greatest age of an answer in seconds. An older one does not say what the endpoint answers now. */
const OLD_S = 60
const MAX_REDIRECTS = 2
/** Bytes of the longest answer that is a version, with white space around it. */
const LONGEST_TEXT = 1024

/** Asks an endpoint. @throws DestinationError for an answer that tells no version */
export async function readVersion(
  target: string,
  { pointer }: Pick<Params, 'pointer'>,
  context: ReadingContext,
): Promise<VersionAnswer> {
  const asked = new URL(target)
  const auth = authOf(context.connection)
  const accept = pointer === undefined ? 'text/plain' : 'application/json'
  const headers = { accept: `${accept}, */*;q=0.1`, 'cache-control': 'no-cache' }
  let url = asked
  for (let redirects = 0; ; redirects++) {
    const response = await context.fetch(url.href, { headers, auth, redirect: 'manual' })
    const next = redirectOf(response, url)
    if (!next) return toAnswer(response, url, { pointer, hasHeader: auth !== undefined }, context)
    await response.body?.cancel()
    if (redirects === MAX_REDIRECTS || !isSameEndpoint(next, asked)) throw unexpected(response)
    url = next
  }
}

function redirectOf(response: Response, from: URL): URL | undefined {
  const location = response.headers.get('location')
  if (location === null || ![301, 302, 303, 307, 308].includes(response.status)) return undefined
  const next = parseUrl(location, from.href)
  if (!next) throw unexpected(response)
  return next
}

async function toAnswer(
  response: Response,
  url: URL,
  { pointer, hasHeader }: { readonly pointer: string | undefined; readonly hasHeader: boolean },
  context: ReadingContext,
): Promise<VersionAnswer> {
  const { status, headers } = response
  const isMissing = status === 404 || status === 410
  const isOld = isOldCopy(headers, OLD_S) || isLongDated(url, headers, context)
  if ((status !== 200 && !isMissing) || isOld || headers.has('retry-after') || isMissing) await response.body?.cancel()
  if (status !== 200 && !isMissing) throw statusError(response, context.now())
  if (headers.has('retry-after')) throw new DestinationError('unavailable', { status })
  if (isOld) throw unexpected(response)
  const isShared = isForAll(headers)
  // A 404 may hide what a header may not read.
  if (isMissing) return { version: undefined, isShared: isShared && !hasHeader }
  const version = pointer === undefined ? await textOf(response) : valueAt(await readJson(response), pointer)
  if (version === undefined || !isVersion(version)) throw unexpected(response)
  return { version, isShared }
}

async function textOf(response: Response): Promise<string | undefined> {
  const text = await response.text()
  return text.length <= LONGEST_TEXT ? text.trim() : undefined
}

/** The text or whole number at a JSON pointer; undefined for anything else, because other numbers are written in several ways. */
function valueAt(value: unknown, pointer: string): string | undefined {
  let at = value
  for (const token of pointer.split('/').slice(1)) {
    const name = token.replaceAll('~1', '/').replaceAll('~0', '~')
    const isMember = typeof at === 'object' && at !== null && Object.hasOwn(at, name)
    if (!isMember || (Array.isArray(at) && !/^(?:0|[1-9][0-9]*)$/.test(name))) return undefined
    at = (at as Record<string, unknown>)[name]
  }
  return typeof at === 'string' || Number.isSafeInteger(at) ? String(at) : undefined
}

/** Milliseconds by which the clock of a site may seem to move between two looks, of which each has whole seconds and takes a while. */
const STEADY_MS = 3000

/**
 * Tells whether an answer without an `Age` is dated long ago, as a copy is whose cache does not say that it is one. A site whose clock is behind dates
 * the next look by as much later.
 */
function isLongDated({ href }: URL, headers: Headers, { cache, now }: Pick<ReadingContext, 'cache' | 'now'>): boolean {
  const behindMs = clockBehindMs(headers, now())
  if (headers.has('age') || behindMs === undefined || behindMs <= OLD_S * 1000) return false
  const key = `date ${href}`
  const before = cache.get(key) as { readonly behindMs: number; readonly at: number } | undefined
  const isAnotherLook = before === undefined || now() - before.at >= 1000
  if (isAnotherLook) cache.set(key, { behindMs, at: now() })
  return !(before && Math.abs(behindMs - before.behindMs) <= Math.min(STEADY_MS, (now() - before.at) / 2))
}

/**
 * Tells whether everybody gets this answer. One that varies by what a reader wants, other than its form, or that sets a cookie, may be another for
 * others.
 */
function isForAll(headers: Headers): boolean {
  const names = listOf(headers, 'vary')
  const varies = names.some((name) => !['', 'accept', 'accept-encoding', 'origin'].includes(name))
  return !varies && !listOf(headers, 'cache-control').includes('private') && !headers.has('set-cookie')
}

function listOf(headers: Headers, name: string): readonly string[] {
  return (headers.get(name) ?? '').split(',').map((one) => one.trim().toLowerCase())
}

function unexpected({ status }: Pick<Response, 'status'>): DestinationError {
  return new DestinationError('unexpected_response', { status })
}
