/** What the traps of addresses are set in: a service, an internet of test servers, and one clock, which skips the time in which nothing happens. */
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { createRequire } from 'node:module'
import { type AddressInfo, createServer as createTcpServer, type Server as TcpServer } from 'node:net'
import { join } from 'node:path'
import { Authority } from '../destinations/certificates.ts'
import { Internet } from '../destinations/internet.ts'
import { Nginx } from '../destinations/nginx.ts'
import { type Answerer, Web } from '../destinations/web.ts'
import { connect } from '../support/connect.ts'
import { type Client, Installation } from '../support/installation.ts'
import { SkippingClock } from '../support/skipping-clock.ts'
import { SETTINGS } from '../traps/settings.ts'
import type { Play } from '../traps/trap.ts'

const HTTP = createRequire(join(process.cwd(), 'package.json')).resolve('@claimcheck/plugin-http')

export const MINUTE_MS = 60_000
export const TOLERANCE_MS = 5 * MINUTE_MS
/** Public addresses of nobody in this process's internet. */
const [NGINX, SITES, EXPIRED, UNTRUSTED, OTHER_NAME, PLAIN] = [1, 2, 3, 4, 5, 6].map((last) => `9.9.9.${last}`) as [
  string,
  string,
  string,
  string,
  string,
  string,
]
/** At that address is a site of public names, and by the private one the same server. */
export const PUBLIC = SITES
export const PRIVATE = '10.0.0.2'

/** What a claim says, and how it comes about; the rest is usual. */
export type Claimed = Partial<Omit<Play, 'params'>> & { readonly params?: Play['params'] }

export class World {
  readonly service: Installation
  readonly clock: SkippingClock
  readonly internet: Internet
  readonly sites: Web
  /** Undefined where it is not installed. */
  readonly nginx: Nginx | undefined
  readonly client: Client
  /** It has a connection to `connectedUrl`. */
  readonly connected: Client
  readonly connectedUrl: string
  readonly #closing: (() => unknown)[]
  #names = 0

  private constructor(
    parts: Pick<World, 'service' | 'clock' | 'internet' | 'sites' | 'nginx' | 'client' | 'connected'>,
    closing: (() => unknown)[],
  ) {
    this.service = parts.service
    this.clock = parts.clock
    this.internet = parts.internet
    this.sites = parts.sites
    this.nginx = parts.nginx
    this.client = parts.client
    this.connected = parts.connected
    this.connectedUrl = `https://localhost:${parts.sites.port}`
    this.#closing = closing
  }

  static async start(): Promise<World> {
    const clock = new SkippingClock()
    const { now } = clock
    const authority = new Authority()
    const internet = new Internet(authority.cert)
    const sites = await Web.start(
      'sites.example',
      authority.issue(['sites.example', '*.sites.example', 'xn--bcher-kva.example', 'localhost']),
      now,
    )
    const expired = await Web.start('expired.example', authority.issue(['*.expired.example'], { isExpired: true }), now)
    const untrusted = await Web.start(
      'untrusted.example',
      authority.issue(['*.untrusted.example'], { isSelfSigned: true }),
      now,
    )
    const otherName = await Web.start('misnamed.example', authority.issue(['*.sites.example']), now)
    const upstream = await startUpstream()
    const plain = await startPlain()
    const nginx = await Nginx.start(authority.issue(['*.nginx.example']), portOf(upstream), now)

    for (const [address, web] of [
      [EXPIRED, expired],
      [UNTRUSTED, untrusted],
      [OTHER_NAME, otherName],
      [SITES, sites],
    ] as const) {
      internet.host(address, web.port, web.domain)
    }
    internet.host(PRIVATE, sites.port)
    internet.host('127.0.0.1', sites.port)
    internet.host(PLAIN, portOf(plain), 'plain.example')
    if (nginx) internet.host(NGINX, nginx.port, 'nginx.example')
    for (const web of [expired, untrusted, otherName])
      web.serve(`www.${web.domain}`, (_, response) => response.end('Hello'))

    const service = await Installation.start({
      plugins: [{ use: HTTP }],
      env: { ALLOW_PRIVATE: `localhost:${sites.port}` },
      file: {
        ...SETTINGS,
        // Silence is among the answers, and is waited for.
        checks: { ...SETTINGS.checks, grace_ms: 2000, timeout_ms: 700, first_answer_ms: 1000 },
      },
      now,
    })
    const stopSkipping = clock.skip(service.claimcheck)
    const client = await service.client('anonymous')
    const connected = await service.client('connected')
    const { connections } = service.claimcheck
    await connect({ connections }, connected.workspaceId, 'site', { base_url: `https://localhost:${sites.port}` })
    return new World({ service, clock, internet, sites, nginx, client, connected }, [
      stopSkipping,
      () => service.remove(),
      () => nginx?.close(),
      ...[sites, expired, untrusted, otherName].map((web) => () => web.close()),
      ...[upstream, plain].map((server) => () => server.close()),
      () => internet.close(),
      () => authority.remove(),
    ])
  }

  async close(): Promise<void> {
    for (const close of this.#closing) await close()
  }

  /** A new site that Node serves. @returns its name */
  site(answer: Answerer): string {
    const host = `trap-${++this.#names}.${this.sites.domain}`
    this.sites.serve(host, answer)
    return host
  }

  /** The site without a name before the domain's. @returns its name */
  apex(answer: Answerer): string {
    const { domain } = this.sites
    this.internet.name(domain, PUBLIC)
    this.sites.serve(domain, answer)
    return domain
  }

  /** A new site that nginx serves. */
  nginxSite(): { readonly host: string; readonly nginx: Nginx } {
    return { host: `trap-${++this.#names}.nginx.example`, nginx: this.nginx! }
  }

  /** Claimed just now, as agents do. */
  claim(target: string, claimed: Claimed = {}): Play {
    return {
      client: this.client,
      action: 'http.url.status',
      target,
      params: {},
      claimed_at: new Date(this.clock.now()).toISOString(),
      ...claimed,
    }
  }

  /** The tolerance ends in a moment and the deadline comes right after it, so that there are few reads: for what cannot be read. */
  soon(): Pick<Play, 'claimed_at' | 'deadline_at'> {
    const claimedAt = this.clock.now() + 500 - TOLERANCE_MS
    return {
      claimed_at: new Date(claimedAt).toISOString(),
      deadline_at: new Date(claimedAt + TOLERANCE_MS + 500).toISOString(),
    }
  }
}

function portOf(server: Server | TcpServer): number {
  return (server.address() as AddressInfo).port
}

/** Behind the cache of nginx: a page that is missing when it is first asked, and there from then on. */
async function startUpstream(): Promise<Server> {
  const asked = new Set<string>()
  const server = createServer(({ headers, url }, response) => {
    const page = `${headers.host}${url}`
    const isThere = asked.has(page)
    asked.add(page)
    response.writeHead(isThere ? 200 : 404).end(isThere ? 'Hello' : 'Not found')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

/** Speaks no TLS. */
async function startPlain(): Promise<TcpServer> {
  const server = createTcpServer((socket) => {
    socket.on('error', () => {})
    socket.end('HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nHello')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}
