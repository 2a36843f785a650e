/** Checks signatures of version 4 as Amazon documents them, apart from the code that makes them. */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'

export interface SignedRequest {
  readonly method: string
  /** The path and the query as they were sent. */
  readonly url: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
}

const AUTHORIZATION =
  /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([a-z0-9;-]+), ?Signature=([0-9a-f]{64})$/

const mac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest()

/** The code of S3's error for a signature that is missing or wrong; undefined of a right one. */
export function signatureError(
  { method, url, headers }: SignedRequest,
  secrets: Readonly<Record<string, string>>,
): string | undefined {
  const { authorization } = headers
  if (authorization === undefined) return 'AccessDenied'
  const [, id = '', day = '', region = '', names = '', signature = ''] = AUTHORIZATION.exec(String(authorization)) ?? []
  const secret = secrets[id]
  if (secret === undefined) return 'InvalidAccessKeyId'
  const [path = '', query = ''] = url.split('?', 2)
  const pairs = query === '' ? [] : query.split('&').map((pair) => (pair.includes('=') ? pair : `${pair}=`))
  const canonical = [
    method,
    path,
    pairs.sort().join('&'),
    ...names.split(';').map((name) => `${name}:${String(headers[name]).trim()}`),
    '',
    names,
    String(headers['x-amz-content-sha256']),
  ].join('\n')
  const digest = createHash('sha256').update(canonical).digest('hex')
  const scope = [day, region, 's3', 'aws4_request']
  const key = scope.reduce<string | Buffer>((made, part) => mac(made, part), `AWS4${secret}`)
  const text = ['AWS4-HMAC-SHA256', headers['x-amz-date'], scope.join('/'), digest].join('\n')
  const isRight = timingSafeEqual(mac(key, text), Buffer.from(signature, 'hex'))
  return isRight ? undefined : 'SignatureDoesNotMatch'
}
