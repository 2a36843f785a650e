/** HTTP exchanges on the wire: reads a request, sends it on to another origin, and keeps the whole answer. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, request as requestHttp, type Server, type ServerResponse } from 'node:http'
import { request as requestHttps } from 'node:https'
import { type AddressInfo, isIP } from 'node:net'
import type { ClientCertificate } from '../hosting/credentials.ts'
import { isJsonObject, type JsonValue, jsonIn } from '../json.ts'

export interface WholeRequest {
  readonly method: string
  /** The path of the request with its query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

export interface WholeAnswer {
  readonly status: number
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: Buffer
  /** Time of the answer by the kit's clock. It is set if the answer may be given again later. */
  readonly answeredAt?: number
}

/** Headers of one connection (RFC 9110 7.6.1), or of a body that is sent anew. */
const CONNECTION_HEADERS: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'content-length',
])

export async function readRequest(request: IncomingMessage): Promise<WholeRequest> {
  return {
    method: request.method ?? 'GET',
    path: request.url ?? '/',
    headers: Object.fromEntries(pairs(request.rawHeaders)),
    body: await wholeBody(request),
  }
}

/**
 * Sends a request on, and follows no redirect. Rejects when there is no whole answer.
 *
 * @param host the `Host` header. Defaults to the origin's
 */
export async function sendOn(
  { method, path, headers, body }: WholeRequest,
  origin: string,
  { host, clientCertificate }: { readonly host?: string; readonly clientCertificate?: ClientCertificate } = {},
): Promise<WholeAnswer> {
  const url = new URL(origin)
  const sent = {
    ...headers,
    host: host ?? url.host,
    // The kit could neither read nor alter a compressed answer.
    'accept-encoding': 'identity',
    ...(body.length > 0 ? { 'content-length': String(body.length) } : {}),
  }
  const send = url.protocol === 'https:' ? requestHttps : requestHttp
  const hostname = url.hostname.replace(/^\[|\]$/g, '')
  const outgoing = send({
    hostname,
    // Node takes the server name of TLS from `Host`, and an address is not a server name.
    servername: isIP(hostname) === 0 ? hostname : '',
    port: url.port,
    method,
    path,
    headers: sent,
    agent: false,
    cert: clientCertificate?.certificate,
    key: clientCertificate?.key,
    ca: clientCertificate?.authority,
  })
  outgoing.end(body)
  // A server may send more than its answer, as Swift does after one to HEAD: that is an error of the request after its response.
  outgoing.on('error', () => {})
  const [answer] = (await once(outgoing, 'response')) as [IncomingMessage]
  const length = answer.headers['content-length']
  return {
    status: answer.statusCode ?? 0,
    // An answer to HEAD has no body that tells its length.
    headers: [
      ...pairs(answer.rawHeaders),
      ...(method === 'HEAD' && length ? [['content-length', length] as const] : []),
    ],
    body: await wholeBody(answer),
  }
}

/** Sends a whole answer. @param method the request's: an answer to HEAD has only the headers of a body */
export function answerWith(response: ServerResponse, { status, headers, body }: WholeAnswer, method = 'GET'): void {
  response.sendDate = false
  for (const [name, value] of headers) response.appendHeader(name, value)
  const hasBody = method !== 'HEAD' && status !== 204 && status !== 304
  if (hasBody) response.setHeader('content-length', body.length)
  response.writeHead(status)
  response.end(hasBody ? body : undefined)
}

export function headerOf({ headers }: Pick<WholeAnswer, 'headers'>, name: string): string | undefined {
  return headers.find(([one]) => one === name)?.[1]
}

/** Replaces headers of an answer. @param set new values by name; undefined removes the header */
export function withHeaders<A extends Pick<WholeAnswer, 'headers'>>(
  answer: A,
  set: Readonly<Record<string, string | undefined>>,
): A {
  const added = Object.entries(set).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]))
  return { ...answer, headers: [...answer.headers.filter(([name]) => !Object.hasOwn(set, name)), ...added] }
}

/** The body as JSON; undefined if it is not JSON. */
export function jsonOf({ body }: Pick<WholeAnswer, 'body'>): JsonValue | undefined {
  return jsonIn(body.toString('utf8'))
}

/** The method of JSON-RPC or the query of GraphQL that a request's body names. */
export function callIn({ body }: Pick<WholeRequest, 'body'>): string | undefined {
  const value = body.length > 0 ? jsonOf({ body }) : undefined
  if (!isJsonObject(value)) return undefined
  const named = value.method ?? value.query
  return typeof named === 'string' ? named : undefined
}

/** Serves HTTP on loopback, at a free port. */
export async function listen(
  handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const server: Server = createServer((request, response) => {
    // The client has gone, or sees the connection end, which says nothing of the outcome.
    handle(request, response).catch(() => response.destroy())
  })
  // A short time would end a connection between two requests of a check.
  server.keepAliveTimeout = 60_000
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function wholeBody(stream: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

function pairs(raw: readonly string[]): [string, string][] {
  const found: [string, string][] = []
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = raw[at]!.toLowerCase()
    if (!CONNECTION_HEADERS.has(name)) found.push([name, raw[at + 1]!])
  }
  return found
}
