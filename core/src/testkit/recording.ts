/** Records a destination's answers, and replays them over real HTTP. Recordings hold no credential. */
import { readFile, writeFile } from 'node:fs/promises'
import { isDeepStrictEqual } from 'node:util'
import type { ReadCall } from '../contract/fetch.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts'
import { answerWith, jsonOf, listen, readRequest, sendOn, type WholeAnswer, type WholeRequest } from './exchange.ts'
import type { Destination } from './options.ts'

export interface Recording {
  readonly version: 1
  /** The recorded origin: `https://api.example.com`. */
  readonly origin: string
  readonly exchanges: readonly Exchange[]
}

export interface Exchange {
  readonly method: string
  /** The path with its query, without credentials. */
  readonly path: string
  /** The call that a recorded POST or WebDAV request makes. */
  readonly requestCall?: ReadCall
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** Encoding of `body`. Without it, `body` is the text itself. */
  readonly encoding?: 'base64'
}

/** Reads a recording. @throws Error for a file that is not one */
export async function readRecording(file: string | URL): Promise<Recording> {
  const value = JSON.parse(await readFile(file, 'utf8')) as Recording
  const isRight = value?.version === 1 && typeof value.origin === 'string' && Array.isArray(value.exchanges)
  if (!isRight) throw new Error(`${file} is no recording of version 1`)
  return value
}

export async function writeRecording(file: string | URL, recording: Recording): Promise<void> {
  await writeFile(file, `${JSON.stringify(recording, undefined, 2)}\n`)
}

/**
 * A destination that replays a recording, or one for each situation, named by the situation. What was not recorded is answered 501: it is
 * never taken for absence.
 */
export function recorded(
  source: RecordingSource | Readonly<Record<string, RecordingSource>>,
): Destination<string, undefined> {
  const isOne = typeof source === 'string' || source instanceof URL || isRecording(source)
  let current: Recording | undefined

  async function open(one: RecordingSource): Promise<Recording> {
    return isRecording(one) ? one : readRecording(one)
  }

  return {
    ignoresCredentials: true,
    async start() {
      if (isOne) current = await open(source as RecordingSource)
      return listen(async (request, response) => {
        const asked = await readRequest(request)
        const found = current && findAnswer(current, asked)
        answerWith(response, found ?? notRecorded(asked), asked.method)
      })
    },
    async set(situation) {
      if (isOne) return undefined
      const one = (source as Readonly<Record<string, RecordingSource>>)[situation]
      if (one === undefined) throw new Error(`there is no recording of the situation ${situation}`)
      current = await open(one)
      return undefined
    },
  }
}

export type RecordingSource = string | URL | Recording

function isRecording(value: unknown): value is Recording {
  return typeof value === 'object' && value !== null && 'exchanges' in value && 'origin' in value
}

/** The last recorded answer, because what was recorded again is newer. */
function findAnswer({ exchanges }: Recording, asked: WholeRequest): WholeAnswer | undefined {
  const path = withoutCredentials(asked.path)
  const call = callOf(asked)
  const found = exchanges.findLast(
    (one) => one.method === asked.method && one.path === path && isDeepStrictEqual(one.requestCall, call),
  )
  if (!found) return undefined
  return {
    status: found.status,
    headers: [...Object.entries(found.headers), ['date', new Date().toUTCString()] as const],
    body: Buffer.from(found.body, found.encoding ?? 'utf8'),
  }
}

function notRecorded({ method, path }: WholeRequest): WholeAnswer {
  return {
    status: 501,
    headers: [
      ['content-type', 'application/json'],
      [NOT_RECORDED, '1'],
    ],
    body: Buffer.from(JSON.stringify({ message: `${method} ${withoutCredentials(path)} is not in the recording` })),
  }
}

/** Header that marks the answer to what was not recorded. */
export const NOT_RECORDED = 'x-claimcheck-not-recorded'

export interface RecordingProxy {
  /** Address to ask what is to be recorded. */
  readonly url: string
  recording(): Recording
  stop(): Promise<void>
}

/**
 * A real HTTP server that passes requests on to a destination and keeps the answers. Credentials are left out: those of the requests also
 * where an answer repeats them.
 */
export async function recordingProxy({ to, recording }: RecordingProxyOptions): Promise<RecordingProxy> {
  const { origin } = new URL(to)
  const exchanges: Exchange[] = [...(recording?.exchanges ?? [])]
  const server = await listen(async (request, response) => {
    const asked = await readRequest(request)
    const answer = await sendOn(asked, origin)
    exchanges.push(exchangeOf(asked, answer))
    answerWith(response, answer, asked.method)
  })
  return { url: server.url, recording: () => ({ version: 1, origin, exchanges }), stop: server.stop }
}

export interface RecordingProxyOptions {
  /** The destination's address. */
  readonly to: string
  /** An earlier recording, whose exchanges stay before the new ones. */
  readonly recording?: Recording
}

/** Headers that say when or whom a destination answered, and nothing of the outcome. */
const OMITTED_HEADERS: ReadonlySet<string> = new Set([
  'date',
  'set-cookie',
  'age',
  'expires',
  'content-encoding',
  'alt-svc',
  'report-to',
  'nel',
])
const CREDENTIAL_HEADER = /auth|token|key|secret|cookie|password/
const CREDENTIAL_PARAMETER = /^(?:.*(?:token|secret|password|signature|api_?key).*|key|sig|auth)$/i
const SHORTEST_CREDENTIAL = 6
const REPLACED = '[credential]'

export function exchangeOf(asked: WholeRequest, answer: WholeAnswer): Exchange {
  const credentials = credentialsOf(asked)
  const clean = (text: string) => credentials.reduce((rest, one) => rest.replaceAll(one, REPLACED), text)
  const call = callOf(asked)
  const isText = answer.body.equals(Buffer.from(answer.body.toString('utf8')))
  const headers = answer.headers.filter(([name]) => !OMITTED_HEADERS.has(name) && !CREDENTIAL_HEADER.test(name))
  return {
    method: asked.method,
    path: clean(withoutCredentials(asked.path)),
    ...(call ? { requestCall: call } : {}),
    status: answer.status,
    headers: Object.fromEntries(headers.map(([name, value]) => [name, clean(value)])),
    ...(isText
      ? { body: clean(answer.body.toString('utf8')) }
      : { body: answer.body.toString('base64'), encoding: 'base64' as const }),
  }
}

/** The credentials of a request, with and without their scheme, and decoded if it is Basic; longest first. */
function credentialsOf({ headers, path }: WholeRequest): string[] {
  const values = Object.entries(headers)
    .filter(([name]) => CREDENTIAL_HEADER.test(name))
    .flatMap(([, value]) => {
      const [, rest = value] = /^\S+\s+(.*)$/.exec(value) ?? []
      const decoded = /^basic /i.test(value) ? Buffer.from(rest, 'base64').toString('utf8') : ''
      return [value, rest, decoded, ...decoded.split(':')]
    })
  const inQuery = [...new URL(path, 'http://localhost').searchParams].filter(([name]) =>
    CREDENTIAL_PARAMETER.test(name),
  )
  return [...values, ...inQuery.map(([, value]) => value)]
    .filter((value) => value.length >= SHORTEST_CREDENTIAL)
    .toSorted((one, other) => other.length - one.length)
}

function withoutCredentials(path: string): string {
  const [place = '', query] = path.split(/\?(.*)/s)
  if (query === undefined) return path
  const kept = query.split('&').map((pair) => {
    const [name = ''] = pair.split('=')
    return CREDENTIAL_PARAMETER.test(decodedName(name)) ? `${name}=${REPLACED}` : pair
  })
  return `${place}?${kept.join('&')}`
}

function decodedName(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}

function callOf({ body }: WholeRequest): ReadCall | undefined {
  const value = body.length > 0 ? jsonOf({ body }) : undefined
  if (!isJsonObject(value)) return undefined
  if (typeof value.method === 'string') return { jsonRpc: value.method, params: (value.params ?? null) as JsonValue }
  return typeof value.query === 'string'
    ? { graphql: value.query, variables: (value.variables ?? {}) as JsonObject }
    : undefined
}
