/** Reads the files and URLs that `verify` is given, within limits. */
import { readFile } from 'node:fs/promises'
import { CommandError } from '@claimcheck/command-line/errors'
import { parseUrl } from '@claimcheck/core/plugin'
import { objectIn } from '@claimcheck/core/rules'
import { textOfFile } from '@claimcheck/core/words/file-text'
import { visible } from '@claimcheck/core/words/plain-text'

const FETCH_TIMEOUT_MS = 20_000
const GONE = 410
const LONGEST_DETAIL = 500
const LARGEST_DOCUMENT_BYTES = 5 * 1024 * 1024
const MOST_REDIRECTS = 5

/** The error of something that could not be checked, or of an option that asks for no check that there is. */
export function uncheckable(message: string): CommandError {
  return new CommandError('could_not_check', message)
}

export function isUrl(source: string): boolean {
  return /^https?:\/\//i.test(source)
}

/** Reads a file or a URL. @throws CommandError `could_not_check` if it cannot be read */
export async function readSource(source: string): Promise<string> {
  try {
    return textOfFile(await (isUrl(source) ? download(source) : readFile(source)))
  } catch (error) {
    throw uncheckable(`${source} could not be read: ${reasonOf(error as Error)}`)
  }
}

export interface Read {
  readonly text?: string
  /** The reason for which nothing could be read. */
  readonly problem?: string
}

export async function tryReading(place: string): Promise<Read> {
  try {
    return { text: await readSource(place) }
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    return { problem: error.message.replace(/\.$/, '') }
  }
}

async function download(url: string): Promise<Uint8Array> {
  const response = await follow(url, AbortSignal.timeout(FETCH_TIMEOUT_MS))
  if (response.status === GONE) {
    throw new Error(`the server answered with status ${GONE}: ${detailIn(await bodyOf(response))}`)
  }
  if (!response.ok) {
    await response.body?.cancel()
    throw new Error(`the server answered with status ${response.status}`)
  }
  return bodyOf(response)
}

async function bodyOf(response: Response): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.length
    if (size > LARGEST_DOCUMENT_BYTES) throw new Error(`it is larger than ${LARGEST_DOCUMENT_BYTES} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** Follows redirects within the origin alone: one to elsewhere would choose, instead of the reader, the issuer that is believed. */
async function follow(url: string, signal: AbortSignal): Promise<Response> {
  const { origin } = new URL(url)
  for (let at = url, redirects = 0; ; redirects++) {
    const response = await fetch(at, { signal, redirect: 'manual' })
    const location = response.headers.get('location')
    if (![301, 302, 303, 307, 308].includes(response.status) || location === null) return response
    await response.body?.cancel()
    const next = parseUrl(location, at)
    if (next?.origin !== origin) {
      const place = next && next.origin !== 'null' ? next.origin : 'something that is no web address'
      throw new Error(
        `it redirects to ${place}, and redirects are followed only within ${origin}. If you trust the other address, name it`,
      )
    }
    if (redirects === MOST_REDIRECTS) throw new Error(`it redirects more than ${MOST_REDIRECTS} times`)
    at = next.href
  }
}

/** Reads the text with which an issuer says that it erased a receipt's content. It proves nothing: anyone may have written it. */
function detailIn(body: Buffer): string {
  const { detail } = objectIn(body.toString())
  return typeof detail === 'string' ? visible(detail.slice(0, LONGEST_DETAIL)) : 'it is gone'
}

const FILE_PROBLEMS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EISDIR: 'it is a folder',
  EACCES: 'this user may not read it',
}

function reasonOf(error: Error): string {
  const { code } = error as NodeJS.ErrnoException
  if (code !== undefined && Object.hasOwn(FILE_PROBLEMS, code)) return FILE_PROBLEMS[code]!
  // The error of `fetch` says only that it failed; its cause says why.
  return error.cause instanceof Error ? error.cause.message : error.message
}
