/** What the traps are set in: one service, and a destination of each kind. All go by one clock, which skips the time in which nothing happens. */
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { Authority } from '../destinations/certificates.ts'
import { CratesStandIn } from '../destinations/crates.ts'
import type { ForgeRepository } from '../destinations/forge/model.ts'
import type { StandIn } from '../destinations/forge/stand-in.ts'
import { GitServer } from '../destinations/git-server.ts'
import { Internet } from '../destinations/internet.ts'
import { NpmStandIn } from '../destinations/npm-public.ts'
import { PypiStandIn } from '../destinations/pypi.ts'
import { type Answerer, Web } from '../destinations/web.ts'
import { connect } from '../support/connect.ts'
import { type Client, Installation } from '../support/installation.ts'
import { SkippingClock } from '../support/skipping-clock.ts'
import { FORGES, type Forge, GITHUB } from './lives/forges.ts'

const { resolve } = createRequire(join(process.cwd(), 'package.json'))
const MONTH_MS = 30 * 24 * 60 * 60_000
/** In this process's internet: at the public address is a site of public names, and at the private one the same server. */
export const PUBLIC = '9.9.9.2'
export const PRIVATE = '10.0.0.2'

interface Parts {
  readonly clock: SkippingClock
  readonly service: Installation
  readonly forges: ReadonlyMap<Forge, { readonly standIn: StandIn; readonly client: Client }>
  readonly git: GitServer
  readonly npm: NpmStandIn
  readonly pypi: PypiStandIn
  readonly crates: CratesStandIn
  readonly internet: Internet
  readonly sites: Web
  /** Its workspace has no connection: what is public is read. */
  readonly anonymous: Client
  readonly atGit: Client
}

export class World {
  readonly parts: Parts
  readonly clock: SkippingClock
  readonly service: Installation
  readonly #closing: readonly (() => unknown)[]
  #things = 0

  private constructor(parts: Parts, closing: readonly (() => unknown)[]) {
    this.parts = parts
    this.clock = parts.clock
    this.service = parts.service
    this.#closing = closing
  }

  static async start(): Promise<World> {
    const clock = new SkippingClock()
    const { now } = clock
    const standIns = new Map<Forge, StandIn>()
    for (const forge of FORGES) standIns.set(forge, await forge.start({ now }))
    const github = standIns.get(GITHUB)!
    const git = await GitServer.start(0, now)
    const [npm, pypi, crates] = await Promise.all([
      NpmStandIn.start(now),
      PypiStandIn.start(now),
      CratesStandIn.start(now),
    ])
    const authority = new Authority()
    const internet = new Internet(authority.cert)
    const sites = await Web.start('sites.example', authority.issue(['sites.example', '*.sites.example']), now)
    const untrusted = await Web.start(
      'untrusted.example',
      authority.issue(['*.untrusted.example'], { isSelfSigned: true }),
      now,
    )
    internet.host(PUBLIC, sites.port, sites.domain)
    internet.name(sites.domain, PUBLIC)
    internet.host(PRIVATE, sites.port)
    internet.host('9.9.9.3', untrusted.port, untrusted.domain)

    const urls = [
      ...[...standIns.values()].map(({ url }) => url),
      git.url,
      npm.url,
      pypi.url,
      crates.url,
      unlisted(github.url),
    ]
    const service = await Installation.start({
      plugins: [
        { use: resolve('@claimcheck/plugin-codehost'), with: { public_base_url: github.url } },
        {
          use: resolve('@claimcheck/plugin-registry'),
          with: { public_npm_url: npm.url, public_pypi_url: pypi.url, public_cargo_url: crates.url },
        },
        { use: resolve('@claimcheck/plugin-http') },
      ],
      env: { ALLOW_PRIVATE: urls.map((url) => new URL(url).host).join() },
      file: {
        sources: { github: [github.url] },
        // Checks have time on a busy machine, and no client is asked to wait.
        checks: { closing_ms: 30_000, grace_ms: 15_000, timeout_ms: 6000, first_answer_ms: 7000 },
      },
      now,
    })
    const stopSkipping = clock.skip(service.claimcheck)
    const forges = new Map<Forge, { standIn: StandIn; client: Client }>()
    for (const [forge, standIn] of standIns) {
      const token = `token-of-the-reader-at-${forge.name}`
      standIn.addToken({ token })
      const client = await connected(service, forge.name, [forge.provider, { base_url: forge.baseUrl(standIn), token }])
      forges.set(forge, { standIn, client })
    }
    const atGit = await connected(service, 'git', ['git', { base_url: git.url }])
    const anonymous = await service.client('anonymous')
    const parts = { clock, service, forges, git, npm, pypi, crates, internet, sites, anonymous, atGit }
    return new World(parts, [
      stopSkipping,
      () => service.remove(),
      ...[...standIns.values(), git, npm, pypi, crates, sites, untrusted].map((place) => () => place.close()),
      () => internet.close(),
      () => authority.remove(),
    ])
  }

  async close(): Promise<void> {
    for (const close of this.#closing) await close()
  }

  get github(): StandIn {
    return this.parts.forges.get(GITHUB)!.standIn
  }

  /** The same GitHub by an address that the operator does not list. */
  get unlistedUrl(): string {
    return unlisted(this.github.url)
  }

  /** Of nothing that another trap has. */
  nextName(): string {
    return `trap-${++this.#things}`
  }

  /** A client of a workspace with these connections. */
  connected(...connections: readonly Connection[]): Promise<Client> {
    return connected(this.service, `${this.nextName()} reader`, ...connections)
  }

  /** Made a month ago, with a main branch of two commits, and a commit upon it that only its author has. */
  async repository(forge: Forge, options: { readonly isPrivate?: boolean } = {}): Promise<Ground> {
    const slug = `${this.nextName()}/app`
    const createdAt = this.clock.now() - MONTH_MS
    const repository = await this.parts.forges.get(forge)!.standIn.createRepository(slug, { ...options, createdAt })
    const base = await repository.commit({ parents: [await repository.commit()] })
    await repository.push('main', base, { at: createdAt })
    return { world: this, slug, repository, base, sha: await repository.commit({ parents: [base] }) }
  }

  /** A new site. @returns its name */
  site(answer: Answerer): string {
    const host = `${this.nextName()}.${this.parts.sites.domain}`
    this.parts.sites.serve(host, answer)
    return host
  }

  /** The tolerance of ten minutes ends in `toleranceEndsInMs`, the deadline is `deadlineMs` after that. */
  times(toleranceEndsInMs: number, deadlineMs: number): { readonly claimed_at: string; readonly deadline_at: string } {
    const ends = this.clock.now() + toleranceEndsInMs
    return {
      claimed_at: new Date(ends - 600_000).toISOString(),
      deadline_at: new Date(ends + deadlineMs).toISOString(),
    }
  }

  /** There is time for a first check, and then the tolerance ends and the deadline comes. */
  soon() {
    return this.times(30_000, 15_000)
  }
}

export interface Ground {
  readonly world: World
  readonly slug: string
  readonly repository: ForgeRepository
  readonly base: string
  readonly sha: string
}

type Connection = readonly [provider: string, options: Parameters<typeof connect>[3]]

async function connected(service: Installation, name: string, ...connections: readonly Connection[]): Promise<Client> {
  const client = await service.client(name)
  for (const [provider, options] of connections)
    await connect(service.claimcheck, client.workspaceId, provider, options)
  return client
}

function unlisted(url: string): string {
  return url.replace('127.0.0.1', 'localhost')
}
