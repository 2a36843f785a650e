/** Reads an address once: one GET, its redirects within the origin, and the whole body. */
import { type CheckContext, DestinationError, statusError } from '@claimcheck/core/plugin'
import { isSamePage } from './address.ts'
import { type Content, type Form, readContent } from './fingerprint.ts'

export interface Answer extends Content {
  readonly status: number
  readonly redirected: boolean
  /** A redirect led to another page of the site, such as its sign-in. */
  readonly isElsewhere: boolean
  /** A cache's copy, from so long ago that it does not tell how the site answers now. */
  readonly isOld: boolean
  /** What was read is all of the content, in the only way to read it: else it can be the claimed content, and cannot contradict it. */
  readonly isExact: boolean
  /** Others may get another answer, by what they send. */
  readonly varies: boolean
}

/** What is asked of one read, which serves all claims that ask the same. */
export interface Question {
  readonly target: string
  readonly status: number
  readonly form: Form | undefined
}

/** The host counts no greater age of answers from addresses that the operator does not list. */
const OLD_S = 60

/** @throws DestinationError for an answer that says nothing about the claim */
export async function readUrl(
  { target, status, form }: Question,
  { fetch, now }: Pick<CheckContext, 'fetch' | 'now'>,
): Promise<Answer> {
  // Caches are asked for what the site answers now, so that no copy of an earlier answer, such as one to our own last read, stands for it.
  const asked = {
    accept: '*/*',
    'cache-control': 'no-cache',
    ...(form === 'bytes' && { 'accept-encoding': 'identity' }),
  }
  const response = await fetch(target, { headers: asked })
  if (response.status !== status && !isConclusive(response.status)) {
    await response.body?.cancel()
    throw statusError(response, now())
  }
  const { headers } = response
  const url = new URL(response.url)
  const content = await readContent(response, form)
  return {
    ...content,
    status: response.status,
    redirected: url.href !== target,
    isElsewhere: !isSamePage(url, new URL(target)),
    isOld: !(Number(headers.get('age') ?? 0) <= OLD_S),
    isExact: tellsItsEnd(headers) && isAsAsked(headers, form) && content.hasMark !== true,
    varies: variesByReader(headers),
  }
}

/**
 * An answer by which the site itself says how it stands with the page. Refusals, faults and redirects say nothing of it, nor do 202, with
 * which some walls against robots answer, and 203, by which a proxy says that it changed the answer.
 */
function isConclusive(status: number): boolean {
  return (isSuccess(status) && status !== 202 && status !== 203) || isMissing(status)
}

/** Else what a broken connection left of it looks like the whole. */
function tellsItsEnd(headers: Headers): boolean {
  return headers.has('content-length') || headers.has('transfer-encoding')
}

/** A server that compresses unasked may mean the compressed bytes, as of an archive; another encoding than UTF-8 makes another text. */
function isAsAsked(headers: Headers, form: Form | undefined): boolean {
  if (form === 'bytes') return ['', 'identity'].includes((headers.get('content-encoding') ?? '').toLowerCase())
  const charset = /;\s*charset\s*=\s*"?([^";\s]*)/i.exec(headers.get('content-type') ?? '')?.[1]
  return charset === undefined || /^(?:utf-?8|us-ascii)$/i.test(charset)
}

/** 206 answers a request that was not made. */
export function isSuccess(status: number): boolean {
  return status >= 200 && status <= 299 && status !== 206
}

export function isMissing(status: number): boolean {
  return status === 404 || status === 410
}

/** A claimed status can be an answer's: no interim one, and none by which a server answers the way in which it is asked. */
export function canBeAnswered(status: number): boolean {
  return status >= 200 && status !== 206 && status !== 429 && !(status >= 300 && status <= 399)
}

/** By which it is compressed or shared between sites, everybody gets the same. */
const SAME_FOR_ALL: ReadonlySet<string> = new Set(['', 'accept-encoding', 'origin'])

function variesByReader(headers: Headers): boolean {
  return (headers.get('vary') ?? '').split(',').some((name) => !SAME_FOR_ALL.has(name.trim().toLowerCase()))
}

export function unexpected({ status }: Answer): DestinationError {
  return new DestinationError('unexpected_response', { status })
}
