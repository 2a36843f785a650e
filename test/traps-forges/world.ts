/** What the traps at a code host are set in: a service, and a stand-in of the host over real repositories. Both go by one clock, which skips idle time. */
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { ForgeRepository, ForgeRepositoryOptions } from '../destinations/forge/model.ts'
import type { StandIn, StandInOptions, Token } from '../destinations/forge/stand-in.ts'
import { connect } from '../support/connect.ts'
import { type Client, Installation } from '../support/installation.ts'
import { SkippingClock } from '../support/skipping-clock.ts'
import { SETTINGS } from '../traps/settings.ts'
import type { Play } from '../traps/trap.ts'

const CODEHOST = createRequire(join(process.cwd(), 'package.json')).resolve('@claimcheck/plugin-codehost')
const MINUTE_MS = 60_000
const MONTH_MS = 30 * 24 * 60 * MINUTE_MS

/** A kind of code host: how its stand-in starts, how a workspace connects to it, and in what it differs where traps depend on that. */
export interface HostKind {
  /** The provider. */
  readonly name: string
  readonly start: (options: StandInOptions) => Promise<StandIn>
  /** The options of a connection to it. */
  readonly connection: (standIn: StandIn, token: string) => Readonly<Record<string, string>>
  readonly actions: ReadonlySet<CommonAction>
  /** It tells the time of these by its own clock, from below, too. */
  readonly dates: ReadonlySet<'open' | 'merge' | 'release' | 'close'>
  /** Ways to merge that it has. */
  readonly merges: readonly ('merge' | 'squash' | 'fast-forward' | 'rebase' | 'squash-merge')[]
  /** It can be known which checks the host ran itself. */
  readonly runsChecks: boolean
  /** How a claim names the source of a check that the host's own CI ran, by the defaults of `checks.run`. */
  readonly runBy: string
  /** What the check `build` is called there, where it is called otherwise. */
  readonly checkName?: string
  /** Earlier runs of a check are told. */
  readonly tellsEarlierRuns: boolean
  /** Its answers are so recent that a look just after a claim counts, where it has no log. */
  readonly isPrompt: boolean
  /** It says that an issue was closed and opened again. */
  readonly tellsReopening: boolean
  /** Its logs have times that nobody can set, so that what they show in time is verified. */
  readonly datesLogs: boolean
  /** It records why an issue was closed. */
  readonly hasReasons: boolean
  /** Drafts of pull requests are told. */
  readonly tellsDrafts: boolean
  /** A token can lack the right to read these, while it may read the rest. */
  readonly hasRights: boolean
}

export type CommonAction =
  | 'pull_request.open'
  | 'pull_request.merge'
  | 'checks.pass'
  | 'release.publish'
  | 'issue.close'

export class ForgeWorld {
  readonly kind: HostKind
  readonly standIn: StandIn
  readonly service: Installation
  readonly clock: SkippingClock
  /** Connected with a token that may read everything. */
  readonly client: Client
  readonly #skew: { ms: number }
  readonly #stopSkipping: () => Promise<void>
  #repositories = 0
  #tokens = 0
  #clients = 0

  private constructor(
    parts: Pick<ForgeWorld, 'kind' | 'standIn' | 'service' | 'clock' | 'client'>,
    skew: { ms: number },
  ) {
    this.kind = parts.kind
    this.standIn = parts.standIn
    this.service = parts.service
    this.clock = parts.clock
    this.client = parts.client
    this.#skew = skew
    this.#stopSkipping = parts.clock.skip(parts.service.claimcheck)
  }

  static async start(kind: HostKind): Promise<ForgeWorld> {
    const skew = { ms: 0 }
    const clock = new SkippingClock()
    const standIn = await kind.start({ now: () => clock.now() + skew.ms })
    const service = await Installation.start({
      plugins: [{ use: CODEHOST }],
      env: { ALLOW_PRIVATE: new URL(standIn.url).host },
      file: SETTINGS,
      now: clock.now,
    })
    const client = await service.client('reader')
    const world = new ForgeWorld({ kind, standIn, service, clock, client }, skew)
    await world.#connect(client, {})
    return world
  }

  async #connect(client: Client, token: Omit<Token, 'token'>): Promise<void> {
    const name = `token-of-reader-number-${++this.#tokens}`
    this.standIn.addToken({ ...token, token: name })
    const { connections } = this.service.claimcheck
    await connect({ connections }, client.workspaceId, this.kind.name, this.kind.connection(this.standIn, name))
  }

  /** A client of a workspace of its own, whose token may read only so much. */
  async clientWith(token: Omit<Token, 'token'>): Promise<Client> {
    const client = await this.service.client(`reader ${++this.#clients}`)
    await this.#connect(client, token)
    return client
  }

  /** How far the clock of the host is off. */
  set skewMs(ms: number) {
    this.#skew.ms = ms
  }

  /** Made a month ago, with a main branch of two commits. */
  async repository(options: ForgeRepositoryOptions & { readonly slug?: string } = {}): Promise<Ground> {
    const slug = options.slug ?? `trap-${++this.#repositories}/app`
    const createdAt = options.createdAt ?? this.clock.now() - MONTH_MS
    const repository = await this.standIn.createRepository(slug, { ...options, createdAt })
    const base = await repository.commit({ parents: [await repository.commit()] })
    await repository.push('main', base, { at: createdAt })
    return { slug, repository, base }
  }

  /** The same, with a topic branch of one more commit. */
  async topic(options: Parameters<ForgeWorld['repository']>[0] = {}): Promise<Ground & { readonly head: string }> {
    const ground = await this.repository(options)
    const head = await ground.repository.commit({ parents: [ground.base] })
    await ground.repository.push('topic', head)
    return { ...ground, head }
  }

  /** A claim of now, or of a while ago. */
  claim(action: CommonAction, target: string, params: Play['params'], agoMs = 0): Play {
    const claimed_at = new Date(this.clock.now() - agoMs).toISOString()
    return { client: this.client, action: `codehost.${action}`, target, params, claimed_at }
  }

  async close(): Promise<void> {
    await this.#stopSkipping()
    await this.service.remove()
    await this.standIn.close()
  }
}

export interface Ground {
  readonly slug: string
  readonly repository: ForgeRepository
  readonly base: string
}
