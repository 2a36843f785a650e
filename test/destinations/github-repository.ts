/** A repository of the GitHub stand-in: refs and a push log over commits that its forks share. */
import type { Activity, ShownRepository } from './github-answers.ts'
import type { Network } from './github-network.ts'
import type { CommitOptions } from './objects.ts'

export const NO_COMMIT = '0'.repeat(40)

export interface GitHubRepositoryOptions {
  readonly isPrivate?: boolean
  readonly defaultBranch?: string
  /** By the host's clock; now, when left out. */
  readonly createdAt?: number
}

interface PushOptions {
  readonly force?: boolean
  readonly as?: 'push' | 'pr_merge'
  /** The account that pushes. */
  readonly by?: string
  /** By the host's clock; now, when left out. */
  readonly at?: number
}

/** How GitHub may answer about a repository, to be changed while it is read. */
export interface Answering {
  /** The push log lists an entry so long after the push. Milliseconds. */
  logLagMs: number
  /** The status of the push log's answers. */
  logStatus: 200 | 403 | 404
  /** Answers come from a replica that is so far behind. Milliseconds. The push log's do not. */
  replicaLagMs: number
  /** Answers show the state of then, until it is undefined again. By the host's clock. */
  frozenAt: number | undefined
  /** The `Age` header, in seconds; none when absent. */
  ageSeconds: number | undefined
  /** Whether answers have a `Date` header. */
  isDated: boolean
  /** How far the clock is ahead, of the `Date` header and of the log. Milliseconds. */
  clockAheadMs: number
}

export class GitHubRepository implements ShownRepository {
  readonly id: number
  readonly network: Network
  readonly isFork: boolean
  readonly createdAt: Date
  slug: string
  isPrivate: boolean
  defaultBranch: string
  /** Newest last. */
  readonly activities: Activity[] = []
  readonly answering: Answering = {
    logLagMs: 0,
    logStatus: 200,
    replicaLagMs: 0,
    frozenAt: undefined,
    ageSeconds: undefined,
    isDated: true,
    clockAheadMs: 0,
  }
  /** What each tag's ref holds. */
  readonly #tags = new Map<string, string>()
  /** Every change of a branch, oldest first, whatever the log shows. */
  readonly #moves: { readonly branch: string; readonly after: string; readonly at: number }[] = []
  readonly #hostNow: () => number

  constructor(
    identity: Pick<ShownRepository, 'id' | 'slug' | 'isFork'> & { network: Network; now: () => number },
    { isPrivate = false, defaultBranch = 'main', createdAt }: GitHubRepositoryOptions,
  ) {
    this.id = identity.id
    this.slug = identity.slug
    this.network = identity.network
    this.isFork = identity.isFork
    this.#hostNow = identity.now
    this.createdAt = new Date(createdAt ?? identity.now())
    this.isPrivate = isPrivate
    this.defaultBranch = defaultBranch
    this.network.repositories.push(this)
  }

  /** A commit that only its author has: not pushed. */
  async commit(options?: CommitOptions): Promise<string> {
    return this.network.commit(options)
  }

  /** Moves a branch, and logs it by the host's clock. Rejects a push that is no fast-forward, unless forced. */
  async push(
    branch: string,
    sha: string,
    { force = false, as = 'push', by = 'agent', at = this.now() }: PushOptions = {},
  ): Promise<void> {
    const before = this.#tipAt(branch, Number.POSITIVE_INFINITY) ?? NO_COMMIT
    const type = before === NO_COMMIT ? 'branch_creation' : this.#typeOf(before, sha, as)
    if (type === 'force_push' && !force) throw new Error(`not a fast-forward: ${branch}`)
    if (type === 'branch_creation') this.#refuseInTheWay(branch)
    this.network.publish(sha, at)
    this.#log(branch, before, sha, { type, by, at })
  }

  /** git keeps branches as files: none has the name of another one's folder. */
  #refuseInTheWay(branch: string): void {
    const names = new Set(this.#moves.map((move) => move.branch))
    for (const name of names) {
      const isInTheWay = name.startsWith(`${branch}/`) || branch.startsWith(`${name}/`)
      const isThere = this.#tipAt(name, Number.POSITIVE_INFINITY) !== undefined
      if (isInTheWay && isThere) throw new Error(`${name} is in the way of ${branch}`)
    }
  }

  async deleteBranch(branch: string): Promise<void> {
    const before = this.#tipAt(branch, Number.POSITIVE_INFINITY)
    if (before === undefined) throw new Error(`no such branch: ${branch}`)
    this.#log(branch, before, NO_COMMIT, { type: 'branch_deletion', by: 'agent', at: this.now() })
  }

  /** The host gets the commit, and no branch has it. */
  async hold(sha: string): Promise<void> {
    this.network.publish(sha, this.now())
  }

  /** So many pushes of nothing new, now: they fill the log. */
  fillLog(branch: string, count: number): void {
    const tip = this.#tipAt(branch, Number.POSITIVE_INFINITY)!
    for (let i = 0; i < count; i++) this.#log(branch, tip, tip, { type: 'push', by: 'agent', at: this.now() })
  }

  /** By the host's clock. */
  now(): number {
    return this.#hostNow() + this.answering.clockAheadMs
  }

  /** Newest first: what the push log lists by now. */
  listed(): Activity[] {
    const until = this.now() - this.answering.logLagMs
    return this.activities.filter(({ at }) => at.getTime() <= until).toReversed()
  }

  /** A pull request merged with a merge commit, or squashed into a new one. The id of the commit that came of it. */
  async merge(from: string, into: string, { squash = false } = {}): Promise<string> {
    const [theirs, ours] = [from, into].map((name) => this.#tipAt(name, Number.POSITIVE_INFINITY)) as [string, string]
    const sha = await this.commit({ parents: squash ? [ours] : [ours, theirs] })
    await this.push(into, sha, { as: 'pr_merge' })
    return sha
  }

  /** The id that the tag's ref holds: the tag object's when it is annotated, else the commit's. */
  async tag(name: string, sha: string, { annotated = false } = {}): Promise<string> {
    this.network.publish(sha, this.now())
    const object = annotated ? this.network.annotate(name, sha) : sha
    this.#tags.set(name, object)
    return object
  }

  /** As the replica has it that answers. */
  tip(branch: string): string | undefined {
    return this.#tipAt(branch, this.#shownUntil())
  }

  #tipAt(branch: string, until: number): string | undefined {
    const last = this.#moves.findLast((move) => move.branch === branch && move.at <= until)
    return last === undefined || last.after === NO_COMMIT ? undefined : last.after
  }

  #shownUntil(): number {
    const { replicaLagMs, frozenAt } = this.answering
    if (frozenAt !== undefined) return frozenAt
    return replicaLagMs === 0 ? Number.POSITIVE_INFINITY : this.now() - replicaLagMs
  }

  /** What one of its refs holds: `heads/main`, `tags/v1`. */
  object(ref: string): { type: string; sha: string } | undefined {
    const [, kind, name = ''] = /^(heads|tags)\/(.+)$/s.exec(ref) ?? []
    const sha = kind === 'heads' ? this.tip(name) : this.#tags.get(name)
    return sha === undefined ? undefined : { type: this.network.typeOf(sha), sha }
  }

  branches(): { name: string; sha: string }[] {
    const names = [...new Set(this.#moves.map(({ branch }) => branch))]
    return names.flatMap((name) => {
      const sha = this.tip(name)
      return sha === undefined ? [] : [{ name, sha }]
    })
  }

  /** It has no ref, whatever the replica shows. */
  isEmpty(): boolean {
    const names = new Set(this.#moves.map(({ branch }) => branch))
    return (
      this.#tags.size === 0 && [...names].every((name) => this.#tipAt(name, Number.POSITIVE_INFINITY) === undefined)
    )
  }

  /**
   * The commit that a branch, tag, full or short id, or `owner:branch` names. As at GitHub, an id may be any
   * object's of the whole network.
   */
  resolve(name: string): string | undefined {
    const [owner, theirBranch] = name.split(':')
    const fork = theirBranch && this.network.repositories.find(({ slug }) => slug.startsWith(`${owner}/`))
    if (fork) return fork.tip(theirBranch)
    const object = this.object(`heads/${name}`) ?? this.object(`tags/${name}`)
    const id = object?.sha ?? (/^[0-9a-f]{4,40}$/.test(name) ? name : undefined)
    return id && this.network.resolve(id, this.#shownUntil())
  }

  #typeOf(before: string, after: string, as: 'push' | 'pr_merge') {
    return this.network.mergeBase(before, after) === before ? as : 'force_push'
  }

  #log(
    branch: string,
    before: string,
    after: string,
    { type, by, at }: { readonly type: Activity['type']; readonly by: string; readonly at: number },
  ): void {
    const id = this.activities.length + 1
    this.#moves.push({ branch, after, at })
    const ref = `refs/heads/${branch}`
    this.activities.push({ id, before, after, ref, at: new Date(at), type, actor: by })
  }
}
