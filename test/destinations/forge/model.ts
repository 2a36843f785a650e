/**
 * A repository of a code host, whatever the host: branches and tags over real git objects, a log of its pushes, pull requests,
 * issues, releases and checks. Tests change it as people and agents do; a host's stand-in shows it in the host's own JSON.
 *
 * Everything that changes is kept with its time by the host's clock (`at`, which is now when left out), so that `asOf` can
 * give what a replica shows that is behind. Times are in milliseconds since 1970.
 *
 *     const repository = await standIn.createRepository('acme/app')
 *     const sha = await repository.commit({ parents: [base] })            // only its author has it
 *     await repository.push('topic', sha)                                 // now the host has it
 *     const number = await repository.pullRequests.open({ head: 'topic', base: 'main' })
 *     const landed = await repository.pullRequests.merge(number, { how: 'squash' })
 *     repository.answering.replicaLagMs = 9000                            // answers are 9 s behind
 *     const { tip } = repository.asOf()                                   // so is this
 */
import { createHash } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type CommitOptions, deleteRef, initBare, writeRef } from '../objects.ts'
import { Checks } from './checks.ts'
import { Issues } from './issues.ts'
import type { ObjectPool } from './pool.ts'
import { PullRequests } from './pull-requests.ts'
import { Releases } from './releases.ts'
import { type RepositoryState, stateOf } from './state.ts'
import { NOW, Timelines } from './timeline.ts'

/** The id that a log has where there is no commit: before a branch was created, and after it was deleted. */
export const NO_COMMIT = '0'.repeat(40)

/** What all repositories of a stand-in share. */
export interface ForgeHost {
  now(): number
  /** Of any kind of thing: it is not given twice. */
  nextId(): number
  /** Pull requests and issues are counted together, as GitHub and Gitea do. */
  readonly sharesNumbers: boolean
  /** The ref under which the host keeps a pull request's newest commit: `refs/pull/7/head`. None, when it gives undefined. */
  pullRef(number: number): string | undefined
  /** The host makes a merge of each open pull request to see whether it can be merged, as GitHub does. */
  readonly makesTestMerges: boolean
}

export interface ForgeRepositoryOptions {
  readonly isPrivate?: boolean
  readonly defaultBranch?: string
  /** By the host's clock; now, when left out. */
  readonly createdAt?: number
}

/** When, by the host's clock, and by which account. */
export interface Act {
  readonly at?: number
  readonly by?: string
}

/** One move of one ref. */
export interface Push {
  readonly id: number
  /** `refs/heads/main`, `refs/tags/v1`. */
  readonly ref: string
  /** `NO_COMMIT` where it created the ref. Of an annotated tag the tag object's id. */
  readonly before: string
  /** `NO_COMMIT` where it deleted the ref. */
  readonly after: string
  readonly at: number
  readonly by: string
  readonly kind: PushKind
  /** Moves that were pushed together have the same. */
  readonly batch: number
}

export type PushKind = 'create' | 'push' | 'merge' | 'force' | 'delete'

export interface PushOptions extends Act {
  readonly force?: boolean
  /** `merge`: the host itself moves the branch, for a pull request. */
  readonly as?: 'push' | 'merge'
}

/** How the host may answer about a repository, to be changed while it is read. */
export interface Answering {
  /** The push log lists an entry so long after the push. Milliseconds. */
  logLagMs: number
  /** The status of the push log's answers. */
  logStatus: number
  /** Answers come from a replica that is so far behind. Milliseconds. The push log's do not. */
  replicaLagMs: number
  /** Answers show the state of then, until it is undefined again. By the host's clock. */
  frozenAt: number | undefined
  /** Whether answers have a `Date` header. */
  isDated: boolean
  /** Accounts whose pull requests and issues are shown to nobody, though their refs are kept and their numbers count. */
  hiddenAccounts: ReadonlySet<string>
  /** How far the clock is ahead, of the `Date` header and of everything that is dated. Milliseconds. */
  clockAheadMs: number
}

export class ForgeRepository {
  readonly id: number
  /** Without braces. */
  readonly uuid: string
  readonly host: ForgeHost
  readonly pool: ObjectPool
  readonly upstream: ForgeRepository | undefined
  /** A bare repository that git can serve: its refs are those of now. */
  readonly folder: string
  readonly createdAt: number
  /** `acme/app`, or with groups between: `acme/tools/app`. */
  slug: string
  isPrivate: boolean
  defaultBranch: string
  deletedAt: number | undefined
  /** Oldest first. What a host shows of it is the host's business. Taking entries out makes gaps. */
  readonly pushes: Push[] = []
  readonly answering: Answering = {
    logLagMs: 0,
    logStatus: 200,
    replicaLagMs: 0,
    frozenAt: undefined,
    isDated: true,
    clockAheadMs: 0,
    hiddenAccounts: new Set(),
  }
  readonly pullRequests: PullRequests
  readonly issues: Issues
  readonly releases: Releases
  readonly checks: Checks
  /** What each ref holds: `refs/heads/main`. */
  readonly refs = new Timelines<string, string>()
  readonly #numbers = { shared: 0, pullRequest: 0, issue: 0 }
  #batches = 0

  private constructor(
    given: GivenIdentity,
    { isPrivate = false, defaultBranch = 'main', createdAt }: ForgeRepositoryOptions,
  ) {
    this.host = given.host
    this.id = given.host.nextId()
    this.uuid = uuidOf(this.id)
    this.slug = given.slug
    this.pool = given.pool
    this.upstream = given.upstream
    this.folder = join(given.root, `${this.id}.git`)
    this.createdAt = createdAt ?? given.host.now()
    this.isPrivate = isPrivate
    this.defaultBranch = defaultBranch
    this.pullRequests = new PullRequests(this)
    this.issues = new Issues(this)
    this.releases = new Releases(this)
    this.checks = new Checks(this)
    this.pool.repositories.push(this)
  }

  /** A stand-in's `createRepository` and `fork` call it. */
  static async create(given: GivenIdentity, options: ForgeRepositoryOptions = {}): Promise<ForgeRepository> {
    const repository = new ForgeRepository(given, options)
    const { folder, defaultBranch, pool } = repository
    await initBare(folder, defaultBranch, '[uploadpack]\n\tallowAnySHA1InWant = true\n\tallowFilter = true\n')
    await mkdir(join(folder, 'objects', 'info'))
    await writeFile(join(folder, 'objects', 'info', 'alternates'), `${join(pool.folder, 'objects')}\n`)
    return repository
  }

  /** By the host's clock. */
  now(): number {
    return this.host.now() + this.answering.clockAheadMs
  }

  /** What answers show of it: all, or what a replica that is behind has. @param until a time of one's own */
  asOf(until = this.#shownUntil()): RepositoryState {
    return stateOf(this, until)
  }

  #shownUntil(): number {
    const { replicaLagMs, frozenAt } = this.answering
    if (frozenAt !== undefined) return frozenAt
    return replicaLagMs === 0 ? NOW : this.now() - replicaLagMs
  }

  /** Of the next pull request or issue. */
  nextNumber(kind: 'pullRequest' | 'issue'): number {
    return ++this.#numbers[this.host.sharesNumbers ? 'shared' : kind]
  }

  /** A commit that only its author has: not pushed. */
  async commit(options?: CommitOptions): Promise<string> {
    return this.pool.commit(options)
  }

  /** The host gets the commit, and no branch has it. */
  async hold(sha: string, { at = this.now() }: Act = {}): Promise<void> {
    await this.pool.publish(sha, at)
  }

  /**
   * Moves a branch, and logs it. The head of pull requests from this branch goes with it. Rejects what is no fast-forward, unless
   * forced, and a branch whose name is the folder of another one's.
   */
  async push(branch: string, sha: string, options: PushOptions = {}): Promise<void> {
    await this.pushAll([{ branch, sha }], options)
  }

  /** Several branches in one push. */
  async pushAll(
    moves: readonly { readonly branch: string; readonly sha: string }[],
    { force = false, as = 'push', by = 'agent', at = this.now() }: PushOptions = {},
  ): Promise<void> {
    const batch = ++this.#batches
    for (const { branch, sha } of moves) {
      const ref = `refs/heads/${branch}`
      const before = this.refs.get(ref, NOW) ?? NO_COMMIT
      await this.pool.store(sha)
      const kind = await this.#kindOf(before, sha, as)
      if (kind === 'force' && !force) throw new Error(`not a fast-forward: ${branch}`)
      await writeRef(this.folder, ref, sha)
      await this.pool.publish(sha, at)
      this.#log({ ref, before, after: sha, at, by, kind, batch })
      for (const { pullRequests } of this.pool.repositories) await pullRequests.follow(this, branch, sha, { by, at })
    }
  }

  async #kindOf(before: string, after: string, as: 'push' | 'merge'): Promise<PushKind> {
    if (before === NO_COMMIT) return 'create'
    return (await this.pool.isAncestor(before, after)) ? as : 'force'
  }

  async deleteBranch(branch: string, act: Act = {}): Promise<void> {
    await this.#delete(`refs/heads/${branch}`, act)
  }

  /** The id that the tag's ref holds: the tag object's when it is annotated, else the commit's. Moves a tag that there is. */
  async tag(name: string, sha: string, options: Act & { annotated?: boolean; date?: Date } = {}): Promise<string> {
    const { annotated = false, date, at = this.now(), by = 'agent' } = options
    const ref = `refs/tags/${name}`
    const before = this.refs.get(ref, NOW) ?? NO_COMMIT
    await this.pool.publish(sha, at)
    const after = annotated ? await this.pool.annotate(name, sha, at, date) : sha
    await writeRef(this.folder, ref, after)
    this.#log({ ref, before, after, at, by, kind: before === NO_COMMIT ? 'create' : 'force', batch: ++this.#batches })
    return after
  }

  async deleteTag(name: string, act: Act = {}): Promise<void> {
    await this.#delete(`refs/tags/${name}`, act)
  }

  async #delete(ref: string, { at = this.now(), by = 'agent' }: Act): Promise<void> {
    const before = this.refs.get(ref, NOW)
    if (before === undefined) throw new Error(`no such ref: ${ref}`)
    await deleteRef(this.folder, ref)
    this.#log({ ref, before, after: NO_COMMIT, at, by, kind: 'delete', batch: ++this.#batches })
  }

  #log(push: Omit<Push, 'id'>): void {
    this.refs.set(push.ref, push.at, push.after === NO_COMMIT ? undefined : push.after)
    this.pushes.push({ ...push, id: this.host.nextId() })
  }

  /** So many pushes of nothing new, now: they fill the log. */
  fillLog(branch: string, count: number): void {
    const ref = `refs/heads/${branch}`
    const tip = this.refs.get(ref, NOW)!
    for (let i = 0; i < count; i++) {
      this.#log({ ref, before: tip, after: tip, at: this.now(), by: 'agent', kind: 'push', batch: ++this.#batches })
    }
  }

  /** Newest first: what the push log lists by now. */
  listed(): Push[] {
    const until = this.now() - this.answering.logLagMs
    return this.pushes.filter(({ at }) => at <= until).toReversed()
  }

  /** Branches merged by a merge commit, or squashed into a new one, without a pull request. The id of the commit that came of it. */
  async merge(from: string, into: string, { squash = false } = {}): Promise<string> {
    const { tip } = this.asOf(NOW)
    const [theirs, ours] = [tip(from)!, tip(into)!]
    const sha = await this.commit({ parents: squash ? [ours] : [ours, theirs] })
    await this.push(into, sha, { as: 'merge' })
    return sha
  }
}

interface GivenIdentity {
  readonly host: ForgeHost
  readonly slug: string
  readonly pool: ObjectPool
  readonly upstream?: ForgeRepository
  /** The folder of the stand-in's repositories. */
  readonly root: string
}

/** The same for the same number. */
function uuidOf(id: number): string {
  const hex = createHash('sha256').update(`repository ${id}`).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
