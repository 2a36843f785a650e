/** What the traps are set in: a service, a GitHub stand-in and a git server, and claims whose windows pass within seconds. */
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { GitServer } from '../destinations/git-server.ts'
import { GitHubStandIn } from '../destinations/github.ts'
import type { GitHubRepository } from '../destinations/github-repository.ts'
import { connect } from '../support/connect.ts'
import { type Client, Installation } from '../support/installation.ts'

export const TOLERANCE_MS = 10 * 60_000
const CODEHOST = createRequire(join(process.cwd(), 'package.json')).resolve('@claimcheck/plugin-codehost')

export const TOKEN = 'token-of-the-reader'

export interface Times {
  readonly claimed_at: string
  readonly deadline_at?: string
}

/** The tolerance ends in `toleranceEndsInMs`, the deadline is `deadlineMs` after that. */
export function times(toleranceEndsInMs: number, deadlineMs: number): Times {
  const claimedAt = Date.now() + toleranceEndsInMs - TOLERANCE_MS
  return {
    claimed_at: new Date(claimedAt).toISOString(),
    deadline_at: new Date(claimedAt + TOLERANCE_MS + deadlineMs).toISOString(),
  }
}

/** Claimed just now: minutes are left. */
export const now = (): Times => ({ claimed_at: new Date().toISOString() })
/** Decided at a deadline that is seconds away. */
export const soon = () => times(2500, 1500)

export class World {
  readonly github: GitHubStandIn
  readonly git: GitServer
  readonly service: Installation
  /** Its workspace has no connection: the public GitHub is read. */
  readonly anonymous: Client
  /** A GitHub connection. */
  readonly connected: Client
  /** A connection to the git server. */
  readonly atGit: Client
  /** Added to the GitHub stand-in's clock. */
  readonly #skew: { ms: number }
  #repositories = 0

  private constructor(parts: {
    github: GitHubStandIn
    git: GitServer
    service: Installation
    clients: [Client, Client, Client]
    skew: { ms: number }
  }) {
    this.github = parts.github
    this.git = parts.git
    this.service = parts.service
    ;[this.anonymous, this.connected, this.atGit] = parts.clients
    this.#skew = parts.skew
  }

  static async start(): Promise<World> {
    const skew = { ms: 0 }
    const github = await GitHubStandIn.start({ now: () => Date.now() + skew.ms })
    github.addToken({ token: TOKEN })
    const git = await GitServer.start()
    const service = await Installation.start({
      plugins: [{ use: CODEHOST, with: { public_base_url: github.url } }],
      env: { ALLOW_PRIVATE: `${new URL(github.url).host},${new URL(git.url).host}` },
      file: {
        checks: { closing_ms: 10_000, grace_ms: 3000, timeout_ms: 3000, first_answer_ms: 3500 },
        rate_limits: { key: 0, receipts: 0, log: 0 },
      },
    })
    const anonymous = await service.client('anonymous')
    const connected = await service.client('connected')
    const atGit = await service.client('at git')
    const { connections } = service.claimcheck
    await connect({ connections }, connected.workspaceId, 'github', { base_url: github.url, token: TOKEN })
    await connect({ connections }, atGit.workspaceId, 'git', { base_url: git.url })
    return new World({ github, git, service, clients: [anonymous, connected, atGit], skew })
  }

  async close(): Promise<void> {
    await this.service.remove()
    await this.git.close()
    await this.github.close()
  }

  /** As if the host's clock were that far off, while `work` is done. */
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

  /** At GitHub, with a main branch of two commits. */
  async repository(
    options: { readonly isPrivate?: boolean } = {},
  ): Promise<{ slug: string; repository: GitHubRepository; base: string }> {
    const slug = this.nextSlug()
    const repository = await this.github.createRepository(slug, options)
    const base = await repository.commit({ parents: [await repository.commit()] })
    await repository.push('main', base)
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
