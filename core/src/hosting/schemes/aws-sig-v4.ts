/** Signs the host's own GET by version 4 of AWS. The request is sent in the canonical form that was signed. */
import { bytesToHex } from '@noble/hashes/utils.js'
import { DestinationError } from '../../contract/destination-error.ts'
import { utf8 } from '../../encoding.ts'
import { Type } from '../../typebox.ts'
import { BreachError } from '../failures.ts'
import { hmacSha256, sha256Hex } from './hashes.ts'
import { hideCredentials, percentEncode, withHeaders } from './messages.ts'
import type { Outgoing, Scheme, SchemeHost } from './scheme.ts'

/** Signature version 4 of AWS, and of other services that speak S3. The host signs GET and HEAD as it sends them. */
export interface SigV4Credential {
  readonly scheme: 'awsSigV4'
  /** The name of the service, such as `s3`. */
  readonly service: string
  /** The name of the option that holds the region, which is `us-east-1` where nothing was typed. */
  readonly region: string
  /** The name of the option that holds the access key's id, secret or not. */
  readonly accessKeyId: string
  /** The name of the secret option that holds the secret access key. */
  readonly secretAccessKey: string
  /** The name of the secret option that holds the session token of temporary credentials. */
  readonly sessionToken?: string
}

const name = Type.String({ minLength: 1 })

export const awsSigV4: Scheme<SigV4Credential> = {
  form: Type.Object(
    {
      scheme: Type.Literal('awsSigV4'),
      service: Type.String({ pattern: '^[a-z0-9-]{1,64}$' }),
      region: name,
      accessKeyId: name,
      secretAccessKey: name,
      sessionToken: Type.Optional(name),
    },
    { additionalProperties: false },
  ),
  options: ({ region, accessKeyId, secretAccessKey, sessionToken }) => [
    { name: region, isSecret: false },
    { name: accessKeyId },
    { name: secretAccessKey, isSecret: true },
    ...(sessionToken === undefined ? [] : [{ name: sessionToken, isSecret: true }]),
  ],
  async spend(credential, request, host) {
    const canonical = canonicalRequest(credential, request)
    const known = Number(host.memory.get(CLOCK) ?? 0)
    const first = await host.send(signRequest(credential, canonical, host, known))
    const ahead = aheadBy(first, host)
    if (ahead === undefined || Math.abs(ahead - known) < LARGEST_SKEW_MS) return hideCredentials(first)
    // The destination refuses times that are off by some minutes: by its own clock the signature is right.
    await first.body?.cancel()
    host.memory.set(CLOCK, String(ahead), host.now() + CLOCK_KEPT_MS)
    return hideCredentials(await host.send(signRequest(credential, canonical, host, ahead)))
  },
}

const CLOCK = 'clock'
const CLOCK_KEPT_MS = 60 * 60_000
const LARGEST_SKEW_MS = 4 * 60_000
/** The digest of an empty body. */
const EMPTY = sha256Hex('')

/** Milliseconds by which the clock of a destination that refused is ahead of ours. */
function aheadBy({ status, headers }: Response, { now }: SchemeHost): number | undefined {
  const theirs = Date.parse(headers.get('date') ?? '')
  return (status === 400 || status === 403) && !Number.isNaN(theirs) ? theirs - now() : undefined
}

/** Writes a request in the form that is signed. @throws BreachError for a request that is not signed */
function canonicalRequest({ service }: SigV4Credential, request: Outgoing): Outgoing {
  const { url, method, body } = request
  if ((method !== 'GET' && method !== 'HEAD') || body !== undefined)
    throw new BreachError('awsSigV4 signs GET and HEAD only')
  // Some services take a change as a GET with an Action.
  if ([...url.searchParams.keys()].some((name) => name.toLowerCase() === 'action'))
    throw new BreachError('awsSigV4 signs no query with an Action')
  const sent = new URL(url)
  // S3 takes an encoded slash of a key for a slash.
  const path = service === 's3' ? url.pathname.replace(/%2f/gi, '/') : url.pathname
  sent.pathname = path.split('/').map(recode).join('/')
  sent.search = [...url.searchParams]
    .map(([name, value]) => [percentEncode(name), percentEncode(value)] as const)
    .sort(([a, x], [b, y]) => compare(a, b) || compare(x, y))
    .map((pair) => pair.join('='))
    .join('&')
  return { ...request, url: sent }
}

function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other)
}

function recode(segment: string): string {
  try {
    return percentEncode(decodeURIComponent(segment))
  } catch {
    throw new BreachError('the path of the URL is not well-formed')
  }
}

function signRequest(credential: SigV4Credential, request: Outgoing, host: SchemeHost, ahead: number): Outgoing {
  const { service } = credential
  const region = host.value(credential.region) ?? 'us-east-1'
  if (!/^[a-z0-9-]{1,64}$/.test(region)) throw new DestinationError('misconfigured')
  const time = new Date(host.now() + ahead).toISOString().replace(/[:-]|\.\d{3}/g, '')
  const sessionToken = host.value(credential.sessionToken)
  const dated = withHeaders(request, {
    'x-amz-date': time,
    'x-amz-content-sha256': EMPTY,
    ...(sessionToken !== undefined && { 'x-amz-security-token': sessionToken }),
  })
  const names = ['host', ...dated.headers.keys()].filter((name) => !UNSIGNED.has(name)).sort()
  const scope = [time.slice(0, 8), region, service, 'aws4_request']
  const message = ['AWS4-HMAC-SHA256', time, scope.join('/'), sha256Hex(canonicalText(dated, names, service))].join(
    '\n',
  )
  const key = scope.reduce(
    (made, part) => hmacSha256(made, part),
    utf8(`AWS4${host.required(credential.secretAccessKey)}`),
  )
  const signature = bytesToHex(hmacSha256(key, message))
  const authorization = `AWS4-HMAC-SHA256 Credential=${host.required(credential.accessKeyId)}/${scope.join('/')}, SignedHeaders=${names.join(';')}, Signature=${signature}`
  return withHeaders(dated, { authorization })
}

/** Headers that proxies change, or that the client sets as it sends. */
const UNSIGNED: ReadonlySet<string> = new Set(['user-agent', 'accept-encoding', 'range'])

function canonicalText({ url, method, headers }: Outgoing, names: readonly string[], service: string): string {
  // All services but S3 encode the path of the request once more.
  const path = service === 's3' ? url.pathname : url.pathname.split('/').map(percentEncode).join('/')
  const lines = names.map((name) => {
    const value = name === 'host' ? url.host : headers.get(name)!
    return `${name}:${value.trim().replace(/ +/g, ' ')}\n`
  })
  return [method, path, url.search.slice(1), lines.join(''), names.join(';'), EMPTY].join('\n')
}
