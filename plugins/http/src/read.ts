/** Reads an address once: one GET, its redirects within the site, and the body. */
import { type CheckContext, DestinationError, parseUrl, statusError } from '@claimcheck/core/plugin'
import { isSameSite, prefixOf, withoutQuery } from './address.ts'
import { type Content, charsetOf, type Form, type Taken, takeAnswer } from './fingerprint.ts'
import { isLanguage } from './languages.ts'
import { isWall } from './walls.ts'

export interface Answer extends Content {
  readonly status: number
  /** The address that answered, without its query; of a redirect that is claimed, where it leads. */
  readonly finalUrl: string
  readonly redirected: boolean
  /** A redirect led to another page of the site, such as its sign-in. */
  readonly isElsewhere: boolean
  /** A cache's copy, from so long ago that it does not tell how the site answers now. */
  readonly isOld: boolean
  /** What was read is all of the content, in the only way to read it: else it can be the claimed content, and cannot contradict it. */
  readonly isExact: boolean
  /** Nothing in it says that others may get another one. */
  readonly isShared: boolean
  /** It names its version, as what is the same for all does and what is made for one reader does not. */
  readonly hasValidator: boolean
}

/** What is asked of one read, which serves all claims that ask the same. */
export interface Question {
  readonly target: string
  readonly status: number
  readonly form: Form | undefined
  /** Whether what an earlier read took may stand for a file with the same `ETag`. */
  readonly recalls: boolean
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])
export const MAX_REDIRECTS = 3
/** The host counts no greater age of answers from addresses that the operator does not list. */
const OLD_S = 60

export type Reading = Pick<CheckContext, 'connection' | 'fetch' | 'digest' | 'cache' | 'now'>

/** @throws DestinationError for an answer that says nothing about the claim */
export async function readUrl({ target, status, form, recalls }: Question, context: Reading): Promise<Answer> {
  // Caches are asked for what the site answers now, so that no copy of an earlier answer, such as one to our own last read, stands for it.
  const headers = { accept: '*/*', 'cache-control': 'no-cache' }
  const asked = new URL(target)
  const reads = (answered: number) => answered === status || isConclusive(answered, status)
  const taken: Taken[] = []
  for (let url = asked; ; ) {
    const one = await takeAnswer(url.href, { form, reads, recalls }, { headers, redirect: 'manual' }, context)
    taken.push(one)
    const next = isRedirect(status) ? undefined : locationOf(one, url)
    if (next === undefined) {
      const held = heldOf(one, status, context.now())
      if (taken.some(isWall)) throw new DestinationError('forbidden', { status: held.status })
      const answer = answerOf(taken, url, await wayOf(url, asked, context), { status, form })
      const goal = locationOf(one, url)
      return goal === undefined ? answer : { ...answer, finalUrl: withoutQuery(goal) }
    }
    // A connection is for one origin, and a public place may have its `www.`.
    const isHere = context.connection === null ? isSameSite(next, asked) : next.origin === asked.origin
    if (!isHere || taken.length > MAX_REDIRECTS) throw unexpected(one)
    url = next
  }
}

/** Where a redirect leads; undefined for any other answer. */
function locationOf({ status, headers }: Pick<Taken, 'status' | 'headers'>, from: URL): URL | undefined {
  const location = headers.get('location')
  if (!REDIRECTS.has(status) || location === null) return undefined
  const next = parseUrl(inUtf8(location), from.href)
  if (next === undefined) throw unexpected({ status })
  next.hash = ''
  return next
}

/** Headers are read byte by byte, and sites write letters of their own in UTF-8, as browsers take them. */
function inUtf8(header: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(header, 'latin1'))
  } catch {
    return header
  }
}

/** @throws DestinationError for an answer by which the site does not say how it stands with the page */
function heldOf(answer: Taken, claimed: number, now: number): Taken {
  const { status, headers } = answer
  if (status !== claimed && !isConclusive(status, claimed)) throw statusError(answer, now)
  // A page that asks to come back later stands in for another one.
  if ((status === 200 || isMissing(status)) && headers.has('retry-after'))
    throw new DestinationError('unavailable', { status })
  return answer
}

/** How the page that answered stands to the claimed one. */
type Way = 'same' | 'translated' | 'elsewhere'

async function wayOf(final: URL, asked: URL, context: Reading): Promise<Way> {
  const prefix = prefixOf(final, asked)
  if (prefix === undefined) return 'elsewhere'
  if (prefix === '') return 'same'
  const isTranslated = isLanguage(prefix) || (LIKE_A_TAG.test(prefix) && (await isBeforeOthers(prefix, asked, context)))
  return isTranslated ? 'translated' : 'elsewhere'
}

/** As sites name countries, too: `/us`, `/eu-en`. */
const LIKE_A_TAG = /^[a-z]{2}(?:[-_][a-z]{2})?$/i

/** The site leads from another path in the same way, so that it does so with all its pages. */
async function isBeforeOthers(prefix: string, asked: URL, { fetch }: Reading): Promise<boolean> {
  const other = new URL(asked.pathname === '/' ? '/claimcheck' : '/', asked)
  const response = await fetch(other.href, { headers: { accept: '*/*' }, redirect: 'manual' })
  await response.body?.cancel()
  const next = locationOf(response, other)
  return next !== undefined && prefixOf(next, other) === prefix
}

function answerOf(taken: readonly Taken[], url: URL, way: Way, claimed: Pick<Question, 'status' | 'form'>): Answer {
  const { headers, opening: _, ...content } = taken.at(-1)!
  return {
    ...content,
    finalUrl: withoutQuery(url),
    redirected: taken.length > 1,
    isElsewhere: way === 'elsewhere',
    isOld: isOldCopy(headers),
    isExact: tellsItsEnd(headers) && isAsAsked(headers, claimed.form) && content.hasMark !== true,
    isShared: way !== 'translated' && taken.every((one) => isForAll(one.headers)),
    hasValidator: headers.has('etag') || headers.has('last-modified'),
  }
}

/** Caches that give a copy without its `Age` say at least that it is one. */
const CACHES = ['x-cache', 'cf-cache-status', 'x-cache-status', 'x-proxy-cache', 'x-litespeed-cache', 'cache-status']

function isOldCopy(headers: Headers): boolean {
  const age = headers.get('age')
  if (age !== null) return !(Number(age) <= OLD_S)
  return CACHES.some((name) => /\bhit\b/i.test(headers.get(name) ?? ''))
}

/**
 * An answer by which the site itself says how it stands with the page. Refusals and faults say nothing of it, nor do redirects unless one is
 * claimed, nor 202, with which some walls against robots answer, and 203, by which a proxy says that it changed the answer.
 */
function isConclusive(status: number, claimed: number): boolean {
  if (isRedirect(claimed) && REDIRECTS.has(status)) return true
  return (isSuccess(status) && status !== 202 && status !== 203) || isMissing(status)
}

/** Else what a broken connection left of it looks like the whole. */
function tellsItsEnd(headers: Headers): boolean {
  return headers.has('content-length') || headers.has('transfer-encoding')
}

/** A server that compresses unasked may mean the compressed bytes, as of an archive; another encoding than UTF-8 makes another text. */
function isAsAsked(headers: Headers, form: Form | undefined): boolean {
  if (form === 'bytes') return /^(?:identity)?$/i.test((headers.get('content-encoding') ?? '').trim())
  return /^(?:|utf-?8|us-ascii)$/i.test(charsetOf(headers))
}

/** 206 answers a request that was not made. */
export function isSuccess(status: number): boolean {
  return status >= 200 && status <= 299 && status !== 206
}

export function isMissing(status: number): boolean {
  return status === 404 || status === 410
}

export function isError(status: number): boolean {
  return status >= 400
}

export function isRedirect(status: number): boolean {
  return status >= 300 && status <= 399
}

/** A claimed status can be an answer's: no interim one, and none by which a server answers the way in which it is asked. */
export function canBeAnswered(status: number): boolean {
  return status >= 200 && status !== 206 && status !== 304 && status !== 429
}

/**
 * By which it is compressed or shared between sites, everybody gets the same; and so does who sends none of what the scripts of a site ask
 * with (nextjs.org/docs/app/api-reference/config/next-config-js).
 */
const SAME_FOR_ALL: ReadonlySet<string> = new Set([
  ...['', 'accept-encoding', 'origin', 'access-control-request-method', 'access-control-request-headers'],
  ...['rsc', 'next-router-state-tree', 'next-router-prefetch', 'next-router-segment-prefetch', 'next-url'],
])

/** A site that sets a cookie knows its readers apart, and what is private or not to be stored is for one of them. */
function isForAll(headers: Headers): boolean {
  const varies = listOf(headers, 'vary').some((name) => !SAME_FOR_ALL.has(name))
  const isForOne = listOf(headers, 'cache-control').some((directive) => /^(?:private|no-store)\b/.test(directive))
  return !varies && !isForOne && !headers.has('set-cookie')
}

function listOf(headers: Headers, name: string): readonly string[] {
  return (headers.get(name) ?? '').split(',').map((one) => one.trim().toLowerCase())
}

export function unexpected({ status }: Pick<Answer, 'status'>): DestinationError {
  return new DestinationError('unexpected_response', { status })
}
