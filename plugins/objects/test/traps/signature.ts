/** Checks requests that are signed by version 4 of AWS, from its published description. */
import { createHash, createHmac } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

export interface Keys {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string
}

export interface S3Error {
  readonly status: number
  readonly code: string
  readonly message: string
}

const LARGEST_SKEW_MS = 15 * 60_000
const AUTHORIZATION =
  /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]*)\/s3\/aws4_request, ?SignedHeaders=([a-z0-9;-]+), ?Signature=([0-9a-f]{64})$/
const REFUSED: S3Error = { status: 403, code: 'AccessDenied', message: 'Access Denied' }

/** Finds why a request is refused; undefined where its signature is right. */
export function signatureProblem(
  request: IncomingMessage,
  keys: Keys,
  region: string,
  now: number,
): S3Error | undefined {
  const { headers, method = 'GET', url = '/' } = request
  const [, id, day, signedRegion, names, signature] = AUTHORIZATION.exec(headers.authorization ?? '') ?? []
  if (id === undefined || names === undefined) return REFUSED
  if (id !== keys.accessKeyId)
    return {
      status: 403,
      code: 'InvalidAccessKeyId',
      message: 'The AWS Access Key Id you provided does not exist in our records.',
    }
  // R2 takes the usual region for its own.
  if (signedRegion !== region && !(region === 'auto' && signedRegion === 'us-east-1')) {
    return {
      status: 400,
      code: 'AuthorizationHeaderMalformed',
      message: `The authorization header is malformed; the region '${signedRegion}' is wrong; expecting '${region}'`,
    }
  }
  const time = String(headers['x-amz-date'])
  const sentAt = Date.parse(time.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'))
  if (!(Math.abs(sentAt - now) <= LARGEST_SKEW_MS))
    return {
      status: 403,
      code: 'RequestTimeTooSkewed',
      message: 'The difference between the request time and the current time is too large.',
    }
  if (headers['x-amz-security-token'] !== keys.sessionToken)
    return { status: 403, code: 'InvalidToken', message: 'The provided token is malformed or otherwise invalid.' }
  const signed = names.split(';')
  const mustBeSigned = Object.keys(headers).filter((name) => name === 'host' || name.startsWith('x-amz-'))
  if (mustBeSigned.some((name) => !signed.includes(name)))
    return { ...REFUSED, message: 'There were headers present in the request which were not signed' }

  const [path = '', query = ''] = url.split('?')
  const canonicalQuery = query
    .split('&')
    .filter(Boolean)
    .map((pair) => (pair.includes('=') ? pair : `${pair}=`))
    .sort()
    .join('&')
  const canonicalHeaders = signed
    .map((name) => `${name}:${String(headers[name]).trim().replace(/ +/g, ' ')}\n`)
    .join('')
  const canonical = [
    method,
    canonicalPath(path),
    canonicalQuery,
    canonicalHeaders,
    names,
    headers['x-amz-content-sha256'],
  ].join('\n')
  const scope = `${day}/${signedRegion}/s3/aws4_request`
  const text = ['AWS4-HMAC-SHA256', time, scope, createHash('sha256').update(canonical).digest('hex')].join('\n')
  const key = scope.split('/').reduce<string | Buffer>((made, part) => mac(made, part), `AWS4${keys.secretAccessKey}`)
  if (mac(key, text).toString('hex') === signature) return undefined
  return {
    status: 403,
    code: 'SignatureDoesNotMatch',
    message: 'The request signature we calculated does not match the signature you provided.',
  }
}

function mac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}

/** Writes a path as a server does that has decoded it. */
function canonicalPath(path: string): string {
  return path
    .split('/')
    .map((part) => percentEncode(decodeURIComponent(part)))
    .join('/')
}

export function percentEncode(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`)
}
