/** The pull requests of a repository (merge requests, at GitLab), and the real commits that their merges make. */
import { writeRef } from '../objects.ts'
import { EventLog, type ForgeEvent, type ForgeEventKind } from './events.ts'
import type { Act, ForgeRepository } from './model.ts'
import { NOW, Timelines } from './timeline.ts'

export interface PullRequest {
  /** Of all the host's pull requests. */
  readonly id: number
  /** In its repository. */
  readonly number: number
  readonly title: string
  readonly by: string
  readonly state: 'open' | 'closed' | 'merged'
  readonly isDraft: boolean
  /** The host is merging it right now. */
  readonly isMerging: boolean
  /** The branch into which it goes or went. */
  readonly base: string
  /** The branch from which it comes; it may be gone. */
  readonly head: string
  /** Its repository, a fork or the same. Deleted, when `from.deletedAt` is a time. */
  readonly from: ForgeRepository
  readonly headSha: string
  /** The first one that it had. */
  readonly openedHead: string
  /** The tip of the base when it was opened, got its newest commit, or was merged. */
  readonly baseSha: string
  /** By the host's clock, as are the other times. */
  readonly openedAt: number
  readonly updatedAt: number
  /** Also when it was merged. */
  readonly closedAt?: number
  readonly closedBy?: string
  readonly mergedAt?: number
  readonly mergedBy?: string
  /** What the merge put on the base: the merge, the squashed commit, or the last one of a fast-forward or rebase. */
  readonly landed?: string
  readonly mergedHow?: MergeMethod | 'manually'
  /** A commit with two parents, where the merge made one. */
  readonly mergeCommit?: string
  /** Where it was squashed. */
  readonly squashCommit?: string
  /** A throw-away merge that no branch has, at hosts that make one. */
  readonly testMerge?: string
}

/** `squash-merge`: the squashed commit, and a merge commit of it, as GitLab can. */
export type MergeMethod = 'merge' | 'squash' | 'squash-merge' | 'fast-forward' | 'rebase'

export interface OpenPullRequest extends Act {
  readonly base?: string
  /** The branch. */
  readonly head: string
  /** The tip of `head`, when left out. A commit that was not pushed is given to the host. */
  readonly headSha?: string
  /** The fork that has the branch; the repository itself, when left out. */
  readonly from?: ForgeRepository
  readonly draft?: boolean
  readonly title?: string
}

type Change = Partial<Omit<PullRequest, 'id' | 'number' | 'by' | 'openedAt'>>

export class PullRequests {
  readonly #repository: ForgeRepository
  readonly #timelines = new Timelines<number, PullRequest>()
  readonly #events = new EventLog()

  constructor(repository: ForgeRepository) {
    this.#repository = repository
  }

  /** Its number. */
  async open(given: OpenPullRequest): Promise<number> {
    const repository = this.#repository
    const {
      base = repository.defaultBranch,
      head,
      from = repository,
      draft = false,
      at = repository.now(),
      by = 'agent',
    } = given
    const headSha = given.headSha ?? from.asOf(NOW).tip(head)
    const baseSha = repository.asOf(NOW).tip(base)
    if (headSha === undefined || baseSha === undefined) throw new Error(`no such branch: ${headSha ? base : head}`)
    await repository.pool.publish(headSha, at)
    const number = repository.nextNumber('pullRequest')
    const title = given.title ?? `Change ${number}`
    const testMerge = await this.#testMerge(baseSha, headSha, at)
    this.#timelines.set(number, at, {
      ...{ id: repository.host.nextId(), number, title, by, state: 'open', isDraft: draft, isMerging: false },
      ...{ base, head, from, headSha, openedHead: headSha, baseSha, openedAt: at, updatedAt: at, ...testMerge },
    })
    await this.#keepRef(number, headSha)
    this.#log(number, 'opened', { at, by })
    return number
  }

  async #updateHead(
    number: number,
    sha: string,
    { at = this.#repository.now(), by = 'agent' }: Act = {},
  ): Promise<void> {
    const { headSha, base } = this.#latest(number)
    const { pool } = this.#repository
    await pool.publish(sha, at)
    const baseSha = this.#repository.asOf(NOW).tip(base)!
    const testMerge = await this.#testMerge(baseSha, sha, at)
    this.#change(number, at, { headSha: sha, baseSha, ...testMerge })
    await this.#keepRef(number, sha)
    const kind = (await pool.isAncestor(headSha, sha)) ? 'head_moved' : 'head_forced'
    this.#log(number, kind, { at, by, sha, shas: [headSha, sha] })
  }

  /** Pushes move the head of open pull requests from their branch. Of repositories of one pool; `push` calls it. */
  async follow(from: ForgeRepository, branch: string, sha: string, act: Act): Promise<void> {
    for (const { number, state, head, from: theirs } of this.all(NOW)) {
      if (state === 'open' && theirs === from && head === branch) await this.#updateHead(number, sha, act)
    }
  }

  /** It goes into another branch now. */
  retarget(number: number, base: string, { at = this.#repository.now(), by = 'agent' }: Act = {}): void {
    const baseSha = this.#repository.asOf(NOW).tip(base)
    if (baseSha === undefined) throw new Error(`no such branch: ${base}`)
    const refs = [this.#latest(number).base, base] as const
    this.#change(number, at, { base, baseSha })
    this.#log(number, 'base_changed', { at, by, refs })
  }

  /** Nothing but the time of its last change changes, as a comment does it. */
  comment(number: number, { at = this.#repository.now(), by = 'agent' }: Act = {}): void {
    this.#change(number, at, {})
    this.#log(number, 'commented', { at, by })
  }

  /** So many labels, one after the other: events that say nothing of its state, base or head. */
  label(number: number, count: number, { at = this.#repository.now(), by = 'agent' }: Act = {}): void {
    this.#change(number, at, {})
    for (let i = 0; i < count; i++) this.#log(number, 'labeled', { at, by })
  }

  /** So many comments on single lines of its changes, which not every list has. */
  reviewLines(number: number, count: number, { at = this.#repository.now(), by = 'agent' }: Act = {}): void {
    for (let i = 0; i < count; i++) this.#log(number, 'line_reviewed', { at, by })
  }

  close(number: number, { at = this.#repository.now(), by = 'agent' }: Act = {}): void {
    this.#change(number, at, { state: 'closed', closedAt: at, closedBy: by })
    this.#log(number, 'closed', { at, by })
  }

  reopen(number: number, { at = this.#repository.now(), by = 'agent' }: Act = {}): void {
    const { closedAt: _, closedBy: __, ...rest } = this.#latest(number)
    this.#timelines.set(number, at, { ...rest, state: 'open', updatedAt: at })
    this.#log(number, 'reopened', { at, by })
  }

  /** The host has begun to merge it, and has not ended: GitLab's `locked`. `merge` ends it. */
  beginMerge(number: number, { at = this.#repository.now() }: Act = {}): void {
    this.#change(number, at, { isMerging: true })
  }

  /** Makes the commits, moves the base, and says so. What the merge put on the base. */
  async merge(
    number: number,
    { how = 'merge', at = this.#repository.now(), by = 'agent' }: Act & { how?: MergeMethod } = {},
  ): Promise<string> {
    const { state, base } = this.#latest(number)
    if (state !== 'open') throw new Error(`it is ${state}: ${number}`)
    const baseSha = this.#repository.asOf(NOW).tip(base)!
    const made = await this.#commitsOf(number, how, baseSha, new Date(at))
    await this.#repository.push(base, made.landed, { as: 'merge', at, by })
    this.#merged(number, { ...made, baseSha, mergedHow: how }, { at, by })
    return made.landed
  }

  /** The host says that it is merged, and names a commit: what people could do by hand at Gitea, or a push that had its commits. */
  async markMerged(
    number: number,
    sha: string,
    { at = this.#repository.now(), by = 'agent' }: Act = {},
  ): Promise<void> {
    await this.#repository.pool.publish(sha, at)
    this.#merged(number, { landed: sha, mergedHow: 'manually' }, { at, by })
  }

  get(number: number, until: number): PullRequest | undefined {
    return this.#timelines.get(number, until)
  }

  /** Oldest first. */
  all(until: number): PullRequest[] {
    return this.#timelines.all(until).map(([, pullRequest]) => pullRequest)
  }

  /** Oldest first. */
  events(number: number, until: number): ForgeEvent[] {
    return this.#events.of(number, until)
  }

  async #commitsOf(
    number: number,
    how: MergeMethod,
    baseSha: string,
    date: Date,
  ): Promise<Pick<PullRequest, 'landed' | 'mergeCommit' | 'squashCommit'> & { landed: string }> {
    const { pool } = this.#repository
    const { headSha, title } = this.#latest(number)
    const message = `${title} (#${number})`
    const mergeOf = (sha: string) => pool.recommit(sha, [baseSha, sha], date, `Merge ${message}`)
    const squashed = () => pool.recommit(headSha, [baseSha], date, message)
    switch (how) {
      case 'merge': {
        const mergeCommit = mergeOf(headSha)
        return { landed: mergeCommit, mergeCommit }
      }
      case 'squash': {
        const squashCommit = squashed()
        return { landed: squashCommit, squashCommit }
      }
      case 'squash-merge': {
        const squashCommit = squashed()
        const mergeCommit = mergeOf(squashCommit)
        return { landed: mergeCommit, mergeCommit, squashCommit }
      }
      case 'fast-forward': {
        if (!(await pool.isAncestor(baseSha, headSha))) throw new Error(`not a fast-forward: ${number}`)
        return { landed: headSha }
      }
      case 'rebase': {
        let landed = baseSha
        for (const sha of await pool.between(baseSha, headSha)) {
          if (pool.show(sha).parents.length < 2) landed = pool.recommit(sha, [landed], date)
        }
        return { landed }
      }
    }
  }

  #merged(number: number, change: Change, { at, by }: Required<Act>): void {
    this.#change(number, at, {
      ...{ state: 'merged', isMerging: false, mergedAt: at, mergedBy: by, closedAt: at, closedBy: by },
      ...change,
    })
    this.#log(number, 'merged', { at, by, ...(change.landed === undefined ? {} : { sha: change.landed }) })
  }

  async #testMerge(baseSha: string, headSha: string, at: number): Promise<Pick<PullRequest, 'testMerge'>> {
    const { pool, host } = this.#repository
    if (!host.makesTestMerges) return {}
    const testMerge = pool.recommit(headSha, [baseSha, headSha], new Date(at), `Merge ${headSha} into ${baseSha}`)
    await pool.publish(testMerge, at)
    return { testMerge }
  }

  async #keepRef(number: number, sha: string): Promise<void> {
    const ref = this.#repository.host.pullRef(number)
    if (ref !== undefined) await writeRef(this.#repository.folder, ref, sha)
  }

  #latest(number: number): PullRequest {
    const found = this.#timelines.get(number, NOW)
    if (!found) throw new Error(`no such pull request: ${number}`)
    return found
  }

  #change(number: number, at: number, change: Change): void {
    this.#timelines.set(number, at, { ...this.#latest(number), updatedAt: at, ...change })
  }

  #log(number: number, kind: ForgeEventKind, about: Required<Act> & Pick<ForgeEvent, 'refs' | 'sha' | 'shas'>): void {
    this.#events.add({ id: this.#repository.host.nextId(), number, kind, ...about })
  }
}
