/** A repository of the GitHub stand-in: refs and a push log over an object store that its forks share. */
import { constants } from 'node:fs'
import { copyFile, mkdir, readFile } from 'node:fs/promises'
import { dirname, join, normalize } from 'node:path'
import { type CommitOptions, git, initBare, tryGit, writeCommit } from './git.ts'
import type { Activity, ShownCommit, ShownRepository } from './github-answers.ts'

export const NO_COMMIT = '0'.repeat(40)

/** The object store of a repository and its forks. */
export interface Network {
  /** A bare repository; the refs of repository 7 are under `refs/7/`. */
  readonly store: string
  /** Where commits are made before they are pushed. */
  readonly workshop: string
  readonly repositories: GitHubRepository[]
  /** When each object came into the store, by the host's clock. */
  readonly publishedAt: Map<string, number>
}

export async function createNetwork(folder: string): Promise<Network> {
  const store = join(folder, 'store.git')
  const network = { store, workshop: join(folder, 'workshop.git'), repositories: [], publishedAt: new Map() }
  for (const path of [network.store, network.workshop]) await initBare(path)
  return network
}

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
  commit(options?: CommitOptions): Promise<string> {
    return writeCommit(this.network.workshop, options)
  }

  /** Moves a branch, and logs it by the host's clock. Rejects a push that is no fast-forward, unless forced. */
  async push(
    branch: string,
    sha: string,
    { force = false, as = 'push', by = 'agent', at = this.now() }: PushOptions = {},
  ): Promise<void> {
    const before = this.#tipAt(branch, Number.POSITIVE_INFINITY) ?? NO_COMMIT
    const type = before === NO_COMMIT ? 'branch_creation' : await this.#typeOf(before, sha, as)
    if (type === 'force_push' && !force) throw new Error(`not a fast-forward: ${branch}`)
    await publish(this.network, sha, at, this.#ref(branch))
    this.#log(branch, before, sha, { type, by, at })
  }

  async deleteBranch(branch: string): Promise<void> {
    const before = this.#tipAt(branch, Number.POSITIVE_INFINITY)
    if (before === undefined) throw new Error(`no such branch: ${branch}`)
    await git(this.network.store, ['update-ref', '-d', this.#ref(branch)])
    this.#log(branch, before, NO_COMMIT, { type: 'branch_deletion', by: 'agent', at: this.now() })
  }

  /** The host gets the commit, and no branch has it. */
  async hold(sha: string): Promise<void> {
    await publish(this.network, sha, this.now())
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
    const { workshop } = this.network
    const object = annotated ? await git(workshop, ['mktag'], { input: tagObject(name, sha) }) : sha
    await publish(this.network, object, this.now(), `refs/${this.id}/tags/${name}`)
    return object
  }

  /** As the replica has it that answers. */
  async tip(branch: string): Promise<string | undefined> {
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
  async object(ref: string): Promise<{ type: string; sha: string } | undefined> {
    const { store } = this.network
    if (ref.startsWith('heads/')) {
      const sha = this.#tipAt(ref.slice('heads/'.length), this.#shownUntil())
      return sha === undefined ? undefined : { type: 'commit', sha }
    }
    const path = normalize(join(store, 'refs', String(this.id), ref))
    if (!path.endsWith(`/${ref}`)) return undefined
    // Nothing packs the refs, and to read one takes less than to start git.
    const text = await readFile(path, 'utf8').catch(() => undefined)
    const sha = text?.trim()
    return sha === undefined ? undefined : { type: await git(store, ['cat-file', '-t', sha]), sha }
  }

  async branches(): Promise<{ name: string; sha: string }[]> {
    const names = [...new Set(this.#moves.map(({ branch }) => branch))]
    return names.flatMap((name) => {
      const sha = this.#tipAt(name, this.#shownUntil())
      return sha === undefined ? [] : [{ name, sha }]
    })
  }

  async isEmpty(): Promise<boolean> {
    return (await git(this.network.store, ['for-each-ref', `refs/${this.id}/`])) === ''
  }

  /**
   * The commit that a branch, tag, full or short id, or `owner:branch` names. As at GitHub, an id may be any
   * object's of the whole network.
   */
  async resolve(name: string): Promise<string | undefined> {
    const [owner, theirBranch] = name.split(':')
    const fork = theirBranch && this.network.repositories.find(({ slug }) => slug.startsWith(`${owner}/`))
    if (fork) return fork.tip(theirBranch)
    const object = (await this.object(`heads/${name}`)) ?? (await this.object(`tags/${name}`))
    const rev = object?.sha ?? (/^[0-9a-f]{4,40}$/.test(name) ? name : undefined)
    const sha = rev && (await tryGit(this.network.store, ['rev-parse', '--verify', '--quiet', `${rev}^{commit}`]))
    return sha && (this.network.publishedAt.get(sha) ?? 0) <= this.#shownUntil() ? sha : undefined
  }

  async commits(revisions: readonly string[]): Promise<ShownCommit[]> {
    const args = ['log', '--reverse', '--no-show-signature', `--format=${COMMIT_FORMAT}`, ...revisions, '--']
    const text = await git(this.network.store, args)
    return text.split('\u0001').filter(Boolean).map(toCommit)
  }

  async count(range: string): Promise<number> {
    return Number(await git(this.network.store, ['rev-list', '--count', range]))
  }

  async mergeBase(a: string, b: string): Promise<string | undefined> {
    return tryGit(this.network.store, ['merge-base', a, b])
  }

  #ref(branch: string): string {
    return `refs/${this.id}/heads/${branch}`
  }

  async #typeOf(before: string, after: string, as: 'push' | 'pr_merge') {
    const base = await tryGit(this.network.workshop, ['merge-base', before, after])
    return base === before ? as : 'force_push'
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

/** Copies to the store what a ref is to hold, and sets the ref. `git push` does the same, with eight processes instead of two. */
async function publish(
  { workshop, store, publishedAt }: Network,
  object: string,
  at: number,
  ref?: string,
): Promise<void> {
  const list = await git(workshop, ['rev-list', '--objects', '--no-object-names', object])
  for (const id of new Set([object, ...list.split('\n')])) {
    if (!publishedAt.has(id)) publishedAt.set(id, at)
    const path = join('objects', id.slice(0, 2), id.slice(2))
    await mkdir(dirname(join(store, path)), { recursive: true })
    await copyFile(join(workshop, path), join(store, path), constants.COPYFILE_EXCL).catch(unlessThere)
  }
  if (ref !== undefined) await git(store, ['update-ref', ref, object])
}

/** Objects do not change, and the empty tree is in no store. */
function unlessThere(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST' && error.code !== 'ENOENT') throw error
}

const COMMIT_FORMAT = '%x01%H%x00%T%x00%P%x00%an%x00%ae%x00%aI%x00%cn%x00%ce%x00%cI%x00%B'

function toCommit(text: string): ShownCommit {
  const [sha, tree, parents, an, ae, ad, cn, ce, cd, message] = text.split('\0') as string[]
  return {
    sha: sha!,
    tree: tree!,
    parents: parents!.split(' ').filter(Boolean),
    author: { name: an!, email: ae!, date: ad! },
    committer: { name: cn!, email: ce!, date: cd! },
    message: message!.trim(),
  }
}

function tagObject(name: string, sha: string): string {
  return `object ${sha}\ntype commit\ntag ${name}\ntagger Agent <agent@example.com> 0 +0000\n\n${name}\n`
}
