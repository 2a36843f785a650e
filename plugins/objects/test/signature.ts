/** Makes and checks signatures of version 4 as Amazon documents them, apart from the code of the service that makes them. */
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
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

interface Signing {
  readonly secret: string
  readonly day: string
  readonly region: string
  /** The names of the signed headers, in order, with `;` between them. */
  readonly names: string
}

function signatureOf({ method, url, headers }: SignedRequest, { secret, day, region, names }: Signing): Buffer {
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
  const scope = [day, region, 's3', 'aws4_request']
  const key = scope.reduce<string | Buffer>((made, part) => mac(made, part), `AWS4${secret}`)
  return mac(key, ['AWS4-HMAC-SHA256', headers['x-amz-date'], scope.join('/'), sha256(canonical)].join('\n'))
}

/** The code of S3's error for a signature that is missing or wrong; undefined of a right one. */
export function signatureError(request: SignedRequest, secrets: Readonly<Record<string, string>>): string | undefined {
  const { authorization } = request.headers
  if (authorization === undefined) return 'AccessDenied'
  const [, id = '', day = '', region = '', names = '', signature = ''] = AUTHORIZATION.exec(String(authorization)) ?? []
  const secret = secrets[id]
  if (secret === undefined) return 'InvalidAccessKeyId'
  const expected = signatureOf(request, { secret, day, region, names })
  return timingSafeEqual(expected, Buffer.from(signature, 'hex')) ? undefined : 'SignatureDoesNotMatch'
}

/** Sends a signed request. @param key the id of a key and its secret */
export async function sendSigned(
  key: readonly [id: string, secret: string],
  region: string,
  method: string,
  address: string,
  { body = '', headers = {} }: { readonly body?: string; readonly headers?: Readonly<Record<string, string>> } = {},
): Promise<Response> {
  const { host, pathname, search } = new URL(address)
  const at = new Date().toISOString().replace(/[-:]|\.\d+/g, '')
  const sent = { ...headers, host, 'x-amz-content-sha256': sha256(body), 'x-amz-date': at }
  const day = at.slice(0, 8)
  const names = Object.keys(sent).sort().join(';')
  const [id, secret] = key
  const signature = signatureOf({ method, url: pathname + search, headers: sent }, { secret, day, region, names })
  const authorization = `AWS4-HMAC-SHA256 Credential=${id}/${day}/${region}/s3/aws4_request, SignedHeaders=${names}, Signature=${signature.toString('hex')}`
  const { host: _, ...others } = sent
  return fetch(address, { method, headers: { ...others, authorization }, ...(body !== '' && { body }) })
}
