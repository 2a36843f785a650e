/** What the traps are set in: a service, a GitHub stand-in and a git server. All of them go by one clock, which skips the time in which nothing happens. */
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { startGitHub } from '../destinations/forge/github.ts'
import type { ForgeRepository } from '../destinations/forge/model.ts'
import type { StandIn } from '../destinations/forge/stand-in.ts'
import { GitServer } from '../destinations/git-server.ts'
import { connect } from '../support/connect.ts'
import { type Client, Installation } from '../support/installation.ts'
import { SkippingClock } from '../support/skipping-clock.ts'
import { SETTINGS } from './settings.ts'

export const TOLERANCE_MS = 10 * 60_000
const MONTH_MS = 30 * 24 * 60 * 60_000
const CODEHOST = createRequire(join(process.cwd(), 'package.json')).resolve('@claimcheck/plugin-codehost')

export const TOKEN = 'token-of-the-reader'

/** When a claim says that it came about, and until when it can be decided. */
export interface Times {
  readonly claimed_at: string
  readonly deadline_at?: string
}

/** For where each check takes all the time that checks have: there is time for few of them. */
export const soonest = (world: World): Times => world.times(500, 500)

export class World {
  readonly github: StandIn
  readonly git: GitServer
  readonly service: Installation
  /** Its workspace has no connection: the public GitHub is read. */
  readonly anonymous: Client
  /** A GitHub connection. */
  readonly connected: Client
  /** A connection to the git server. */
  readonly atGit: Client
  /** The same GitHub by an address that the operator does not list. */
  readonly unlisted: Client
  readonly unlistedUrl: string
  readonly clock: SkippingClock
  /** Added to the GitHub stand-in's clock. */
  readonly #skew: { ms: number }
  readonly #stopSkipping: () => Promise<void>
  #repositories = 0

  private constructor(parts: {
    github: StandIn
    git: GitServer
    service: Installation
    clients: [Client, Client, Client, Client]
    unlistedUrl: string
    clock: SkippingClock
    skew: { ms: number }
  }) {
    this.clock = parts.clock
    this.#stopSkipping = parts.clock.skip(parts.service.claimcheck)
    this.github = parts.github
    this.git = parts.git
    this.service = parts.service
    ;[this.anonymous, this.connected, this.atGit, this.unlisted] = parts.clients
    this.unlistedUrl = parts.unlistedUrl
    this.#skew = parts.skew
  }

  static async start(): Promise<World> {
    const skew = { ms: 0 }
    const clock = new SkippingClock()
    const github = await startGitHub({ now: () => clock.now() + skew.ms })
    github.addToken({ token: TOKEN })
    const git = await GitServer.start(0, clock.now)
    const unlistedUrl = github.url.replace('127.0.0.1', 'localhost')
    const hosts = [github.url, unlistedUrl, git.url, git.url.replace('127.0.0.1', 'localhost')]
    const service = await Installation.start({
      plugins: [{ use: CODEHOST, with: { public_base_url: github.url } }],
      env: { ALLOW_PRIVATE: hosts.map((url) => new URL(url).host).join() },
      file: {
        sources: { github: [github.url] },
        ...SETTINGS,
      },
      now: clock.now,
    })
    const anonymous = await service.client('anonymous')
    const connected = await service.client('connected')
    const atGit = await service.client('at git')
    const { connections } = service.claimcheck
    await connect({ connections }, connected.workspaceId, 'github', { base_url: github.url, token: TOKEN })
    await connect({ connections }, atGit.workspaceId, 'git', { base_url: git.url })
    const unlisted = await service.client('unlisted')
    await connect({ connections }, unlisted.workspaceId, 'github', { base_url: unlistedUrl })
    const clients: [Client, Client, Client, Client] = [anonymous, connected, atGit, unlisted]
    return new World({ github, git, service, clients, unlistedUrl, clock, skew })
  }

  /** The tolerance ends in `toleranceEndsInMs`, the deadline is `deadlineMs` after that. */
  times(toleranceEndsInMs: number, deadlineMs: number): Times {
    const claimedAt = this.clock.now() + toleranceEndsInMs - TOLERANCE_MS
    return {
      claimed_at: new Date(claimedAt).toISOString(),
      deadline_at: new Date(claimedAt + TOLERANCE_MS + deadlineMs).toISOString(),
    }
  }

  /** Claimed just now: minutes are left. */
  now(): Times {
    return { claimed_at: new Date(this.clock.now()).toISOString() }
  }

  /** There is time for a first check, and then the tolerance ends and the deadline comes. */
  soon(): Times {
    return this.times(30_000, 15_000)
  }

  async close(): Promise<void> {
    await this.#stopSkipping()
    await this.service.remove()
    await this.git.close()
    await this.github.close()
  }

  /** How far the clock of GitHub is off. */
  set skewMs(ms: number) {
    this.#skew.ms = ms
  }

  /** GitHub's clock is that far off while `work` is done. */
  async skewed<T>(ms: number, work: () => Promise<T>): Promise<T> {
    this.#skew.ms = ms
    try {
      return await work()
    } finally {
      this.#skew.ms = 0
    }
  }

  nextSlug(): string {
    return `trap-${++this.#repositories}/app`
  }

  /** At GitHub, with a main branch of two commits: made a month ago. */
  async repository(
    options: { readonly isPrivate?: boolean; readonly createdAt?: number } = {},
  ): Promise<{ slug: string; repository: ForgeRepository; base: string }> {
    const slug = this.nextSlug()
    const createdAt = options.createdAt ?? this.clock.now() - MONTH_MS
    const repository = await this.github.createRepository(slug, { ...options, createdAt })
    const base = await repository.commit({ parents: [await repository.commit()] })
    await repository.push('main', base, { at: createdAt })
    return { slug, repository, base }
  }

  /** The same at the git server. */
  async gitRepository(options: Parameters<GitServer['createRepository']>[1] = {}) {
    const slug = this.nextSlug()
    const repository = await this.git.createRepository(slug, options)
    const base = await repository.commit({ parents: [await repository.commit()] })
    await repository.push('main', base)
    return { slug, repository, base }
  }
}
