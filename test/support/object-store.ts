/** An object store with conditional writes over HTTP, which knows one account by Basic authorization or by AWS Signature Version 4. */
import { createHash, createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'

export interface ObjectStore {
  readonly url: string
  readonly objects: Map<string, string>
  /** Each with its status. */
  readonly requests: string[]
  /** Answers 503. */
  isAway: boolean
  close(): Promise<void>
}

export interface Account {
  readonly name: string
  readonly secret: string
}

export async function startObjectStore({ name, secret }: Account): Promise<ObjectStore> {
  const objects = new Map<string, string>()
  const requests: string[] = []
  const basic = `Basic ${Buffer.from(`${name}:${secret}`).toString('base64')}`

  function statusOf(request: IncomingMessage, body: string): number {
    const { authorization = '', 'if-match': match, 'if-none-match': noneMatch } = request.headers
    if (store.isAway) return 503
    if (authorization !== basic && !isSigned(request, body, secret)) return 403
    const object = objects.get(request.url!)
    if (request.method === 'GET') return object === undefined ? 404 : 200
    if (noneMatch === '*' && object !== undefined) return 412
    if (match !== undefined && (object === undefined || match !== etagOf(object))) return 412
    if (noneMatch === undefined && match === undefined) return 400
    objects.set(request.url!, body)
    return 200
  }

  const server = createServer(async (request, response) => {
    const body = await text(request)
    const status = statusOf(request, body)
    requests.push(`${request.method} ${status}`)
    const object = status === 200 ? objects.get(request.url!) : undefined
    response.writeHead(status, object === undefined ? {} : { etag: etagOf(object) })
    response.end(request.method === 'GET' ? object : '')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  const store: ObjectStore = {
    url: `http://127.0.0.1:${port}/bucket`,
    objects,
    requests,
    isAway: false,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return store
}

function etagOf(object: string): string {
  return `"${sha256(object)}"`
}

function sha256(content: string): string {
  return createHash('sha256').update(content).digest('hex')
}

/** Tells whether a request has the signature of AWS's version 4. */
export function isSigned({ method, url = '', headers }: IncomingMessage, body: string, secret: string): boolean {
  const [, scope = '', names = '', signature] =
    /^AWS4-HMAC-SHA256 Credential=[^/]+\/([^,]+), ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/.exec(
      headers.authorization ?? '',
    ) ?? []
  const given = String(headers['x-amz-content-sha256'])
  if (given !== 'UNSIGNED-PAYLOAD' && given !== sha256(body)) return false
  const lines = names.split(';').map((name) => `${name}:${String(headers[name]).trim()}\n`)
  const [path, query = ''] = url.split('?')
  const canonical = [method, path, query, lines.join(''), names, given].join('\n')
  const toSign = ['AWS4-HMAC-SHA256', headers['x-amz-date'], scope, sha256(canonical)].join('\n')
  const key = scope.split('/').reduce<Buffer | string>((key, part) => hmac(key, part), `AWS4${secret}`)
  return hmac(key, toSign).toString('hex') === signature
}

function hmac(key: Buffer | string, content: string): Buffer {
  return createHmac('sha256', key).update(content).digest()
}
