/** Reads an address once: one GET, its redirects within the site, and the body. */
import {
  type CheckContext,
  clockBehindMs,
  DestinationError,
  isOldCopy,
  parseUrl,
  statusError,
} from '@claimcheck/core/plugin'
import { isSameSite, prefixOf, withoutQuery } from './address.ts'
import { type Content, charsetOf, type Form, type TakenAnswer, takeAnswer } from './fingerprint.ts'
import { isLanguage } from './languages.ts'
import { isWall } from './walls.ts'

export interface UrlAnswer extends Content {
  readonly status: number
  /** The address that answered, without its query. If the claim is about a redirect, the address to which that leads. */
  readonly finalUrl: string
  readonly redirected: boolean
  /** Tells that a redirect led to another page of the site, such as its sign-in. */
  readonly isElsewhere: boolean
  /** Tells that the answer is a cache's copy, too old to tell how the site answers now. */
  readonly isOld: boolean
  /** Tells that all of the content was read, in the only way to read it. Otherwise it may still be the claimed content, and cannot contradict it. */
  readonly isExact: boolean
  /** Tells that nothing in the answer says that other readers may get another one. */
  readonly isShared: boolean
  /** Tells that the answer names its version, which answers made for one reader do not. */
  readonly hasValidator: boolean
}

/** The question of one read, which serves all claims that ask the same. */
export interface Question {
  readonly target: string
  readonly status: number
  readonly form: Form | undefined
  /** Tells whether the content of an earlier read may stand for a file with the same `ETag`. */
  readonly recalls: boolean
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])
export const MAX_REDIRECTS = 3
/** The greatest age, in seconds, that the host counts in answers from addresses which the operator does not list. */
const OLD_S = 60

export type ReadingContext = Pick<CheckContext, 'connection' | 'fetch' | 'digest' | 'cache' | 'now'>

/** Reads an address for a claim. @throws DestinationError for an answer that says nothing about the claim */
export async function readUrl(question: Question, context: ReadingContext): Promise<UrlAnswer> {
  const { target, status, form, recalls } = question
  // Caches are asked how the site answers now, so that no copy of an earlier answer, such as one to our own last read, stands for it.
  const headers = { accept: '*/*', 'cache-control': 'no-cache' }
  const asked = new URL(target)
  const reads = (answered: number) => answered === status || isConclusive(answered, status)
  // A connection is for one origin, and a public place may have its `www.`.
  const isWithinSite = (url: URL) =>
    context.connection === null ? isSameSite(url, asked) : url.origin === asked.origin
  const answers: TakenAnswer[] = []
  let url = asked
  for (let next: URL | undefined = asked; next; ) {
    url = next
    const answer = await takeAnswer(url.href, { form, reads, recalls }, { headers, redirect: 'manual' }, context)
    answers.push(answer)
    next = isRedirect(status) ? undefined : locationOf(answer, url)
    if (next && (!isWithinSite(next) || answers.length > MAX_REDIRECTS)) throw unexpected(answer)
  }
  const last = answers.at(-1)!
  requireConclusive(last, status, context.now())
  if (answers.some(isWall)) throw new DestinationError('forbidden', { status: last.status })
  const relation = await relationOf(url, asked, context)
  const isOld = isOldCopy(last.headers, OLD_S) || isLongDated(url, last.headers, context)
  return toUrlAnswer(
    answers,
    locationOf(last, url) ?? url,
    { relation: leadsOn(last, url) ? 'elsewhere' : relation, isOld },
    form,
  )
}

/** The target of a redirect; undefined for any other answer. */
function locationOf({ status, headers }: Pick<TakenAnswer, 'status' | 'headers'>, from: URL): URL | undefined {
  const location = headers.get('location')
  if (!REDIRECTS.has(status) || location === null) return undefined
  const next = parseUrl(inUtf8(location), from.href)
  if (next === undefined) throw unexpected({ status })
  next.hash = ''
  return next
}

/** Seconds after which a page that leads on to another one has been there to read. */
const LONGEST_STOPOVER_S = 10
/**
 * Matches a time to wait and an address, as the HTML standard reads them (shared declarative refresh steps). It takes a time that grows with the length
 * of the header alone: sites may write 32 KiB of digits.
 */
const REFRESH = /^\s*(?=[\d.])(\d*)(?:\.[\d.]*)?(?:\s*[;,]\s*|\s+)(?:url\s*=\s*)?["']?([^"']+)/i

/** Tells whether an answer is a redirect by other means: browsers show it and soon go on to another page. */
function leadsOn({ status, headers }: Pick<TakenAnswer, 'status' | 'headers'>, from: URL): boolean {
  const [, seconds, address = ''] = REFRESH.exec(headers.get('refresh') ?? '') ?? []
  const next = parseUrl(inUtf8(address.trim()), from.href)
  if (!isSuccess(status) || seconds === undefined || next === undefined) return false
  return Number(seconds) <= LONGEST_STOPOVER_S && prefixOf(next, from) !== ''
}

/** Decodes a header as browsers do: it is read byte by byte, and sites write other letters in UTF-8. */
function inUtf8(header: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(header, 'latin1'))
  } catch {
    return header
  }
}

/**
 * Refuses answers that tell nothing of the page.
 * @throws DestinationError for an answer by which the site does not say how it stands with the page
 */
function requireConclusive({ status, headers }: TakenAnswer, claimed: number, now: number): void {
  if (status !== claimed && !isConclusive(status, claimed)) throw statusError({ status, headers }, now)
  // A page that asks to come back later stands in for another one.
  if ((status === 200 || isMissing(status)) && headers.has('retry-after'))
    throw new DestinationError('unavailable', { status })
}

/** The relation of the page that answered to the claimed one. */
type Relation = 'same' | 'translated' | 'elsewhere'

async function relationOf(final: URL, asked: URL, context: ReadingContext): Promise<Relation> {
  const prefix = prefixOf(final, asked)
  if (prefix === undefined) return 'elsewhere'
  if (prefix === '') return 'same'
  const isTranslated = isLanguage(prefix) || (LIKE_A_TAG.test(prefix) && (await isBeforeOthers(prefix, asked, context)))
  return isTranslated ? 'translated' : 'elsewhere'
}

/** Matches countries as sites put them into paths, and languages: `/us`, `/eu-en`. */
const LIKE_A_TAG = /^[a-z]{2}(?:[-_][a-z]{2})?$/i

/** Tells whether the site adds the prefix to another path as well, and so to all its pages. */
async function isBeforeOthers(prefix: string, asked: URL, { fetch }: ReadingContext): Promise<boolean> {
  const other = new URL(asked.pathname === '/' ? '/claimcheck' : '/', asked)
  const response = await fetch(other.href, { headers: { accept: '*/*' }, redirect: 'manual' })
  await response.body?.cancel()
  const next = locationOf(response, other)
  return next !== undefined && prefixOf(next, other) === prefix
}

function toUrlAnswer(
  answers: readonly TakenAnswer[],
  finalUrl: URL,
  { relation, isOld }: { readonly relation: Relation; readonly isOld: boolean },
  form: Form | undefined,
): UrlAnswer {
  const { headers, opening: _, ...content } = answers.at(-1)!
  return {
    ...content,
    finalUrl: withoutQuery(finalUrl),
    redirected: answers.length > 1,
    isElsewhere: relation === 'elsewhere',
    isOld,
    isExact: tellsItsEnd(headers) && isAsAsked(headers, form) && content.hasMark !== true,
    isShared: relation !== 'translated' && answers.every((answer) => isForAll(answer.headers)),
    hasValidator: headers.has('etag') || headers.has('last-modified'),
  }
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
  cache.set(key, { behindMs, at: now() })
  const isAnotherLook = before !== undefined && now() - before.at >= 1000
  return !(isAnotherLook && Math.abs(behindMs - before.behindMs) <= Math.min(STEADY_MS, (now() - before.at) / 2))
}

/**
 * Tells whether an answer is the site's own word on the page. Refusals and faults say nothing of it, nor do redirects unless one is claimed,
 * nor 202, with which some walls against robots answer, nor 203, by which a proxy says that it changed the answer.
 */
function isConclusive(status: number, claimed: number): boolean {
  if (isRedirect(claimed) && REDIRECTS.has(status)) return true
  return (isSuccess(status) && status !== 202 && status !== 203) || isMissing(status)
}

/** Tells whether an answer says where it ends. Otherwise a broken connection makes a part look like the whole. */
function tellsItsEnd(headers: Headers): boolean {
  return headers.has('content-length') || headers.has('transfer-encoding')
}

/**
 * Tells whether the content came as asked. A server that compresses unasked may mean the compressed bytes, and another encoding than UTF-8
 * makes another text.
 */
function isAsAsked(headers: Headers, form: Form | undefined): boolean {
  if (form === 'bytes') return /^(?:identity)?$/i.test((headers.get('content-encoding') ?? '').trim())
  return /^(?:|utf-?8|us-ascii)$/i.test(charsetOf(headers))
}

/** Tells whether a status is a success. 206 is none, which answers a request that was not made. */
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

/** Tells whether a status can be claimed. Interim statuses cannot, nor those by which a server answers the way in which it is asked. */
export function canBeAnswered(status: number): boolean {
  return status >= 200 && status !== 206 && status !== 304 && status !== 429
}

/**
 * Request headers by which an answer may vary and still be the same for all: they say how it is compressed or shared between sites, or only the
 * scripts of a site send them (nextjs.org/docs/app/api-reference/config/next-config-js).
 */
const SAME_FOR_ALL: ReadonlySet<string> = new Set([
  ...['', 'accept-encoding', 'origin', 'access-control-request-method', 'access-control-request-headers'],
  ...['rsc', 'next-router-state-tree', 'next-router-prefetch', 'next-router-segment-prefetch', 'next-url'],
])

/** Tells whether everybody gets this answer. A site that sets a cookie tells its readers apart, and a private answer is for one of them. */
function isForAll(headers: Headers): boolean {
  const varies = listOf(headers, 'vary').some((name) => !SAME_FOR_ALL.has(name))
  const isForOne = listOf(headers, 'cache-control').some((directive) => /^(?:private|no-store)\b/.test(directive))
  return !varies && !isForOne && !headers.has('set-cookie')
}

function listOf(headers: Headers, name: string): readonly string[] {
  return (headers.get(name) ?? '').split(',').map((one) => one.trim().toLowerCase())
}

export function unexpected({ status }: Pick<UrlAnswer, 'status'>): DestinationError {
  return new DestinationError('unexpected_response', { status })
}
