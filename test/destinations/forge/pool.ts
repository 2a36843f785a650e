/**
 * The objects that a repository and its forks share, in a real bare repository, as hosts keep them. A commit that its author
 * has made is not in it, and unknown to the host, until it is pushed. What is asked of histories, git answers; such answers
 * never change, and are remembered.
 */
import { git } from '../git.ts'
import {
  type CommitOptions,
  type GitObject,
  initBare,
  type NewCommit,
  newCommit,
  tagObject,
  writeObject,
} from '../objects.ts'
import type { ForgeRepository } from './model.ts'

export type ForgeCommit = Omit<NewCommit, 'objects'>

interface Made extends NewCommit {
  readonly content?: string
}

export class ObjectPool {
  /** A bare repository without refs. */
  readonly folder: string
  /** The repository and its forks, also those that are deleted. */
  readonly repositories: ForgeRepository[] = []
  readonly #made = new Map<string, Made>()
  /** Annotated tags, and the commits that they name. */
  readonly #annotated = new Map<string, string>()
  /** When each commit or tag came to the host, by its clock. */
  readonly #publishedAt = new Map<string, number>()
  readonly #stored = new Set<string>()
  readonly #answers = new Map<string, Promise<readonly string[]>>()
  readonly #histories = new Map<string, Promise<ReadonlySet<string>>>()

  private constructor(folder: string) {
    this.folder = folder
  }

  static async create(folder: string): Promise<ObjectPool> {
    await initBare(folder)
    return new ObjectPool(folder)
  }

  /** A commit that only its author has. Its parents must be of this pool. */
  commit(options: CommitOptions = {}): string {
    const made = newCommit(options)
    const { content } = options
    this.#made.set(made.sha, content === undefined ? made : { ...made, content })
    return made.sha
  }

  /** The same change on other parents, as a rebase makes it. Only its author has it. */
  recommit(sha: string, parents: readonly string[], date: Date, message = this.show(sha).message): string {
    const { content } = this.#made.get(sha)!
    return this.commit({ parents, message, date, ...(content === undefined ? {} : { content }) })
  }

  show(sha: string): ForgeCommit {
    const { objects: _, ...shown } = this.#made.get(sha)!
    return shown
  }

  /** Writes it into the object store, with all that it builds on. Nobody is shown it before it is published. */
  async store(sha: string): Promise<void> {
    for (const one of this.#reach(sha, this.#stored)) {
      for (const object of this.#made.get(one)!.objects) await this.#write(object)
      this.#stored.add(one)
    }
  }

  /** The host gets it, with all that it builds on. */
  async publish(sha: string, at: number): Promise<void> {
    await this.store(sha)
    for (const one of this.#reach(sha, this.#publishedAt)) this.#publishedAt.set(one, at)
  }

  /** An annotated tag of a commit. Its id. @param date written by its author */
  async annotate(name: string, sha: string, at: number, date?: Date): Promise<string> {
    await this.publish(sha, at)
    const object = tagObject(name, sha, date)
    await this.#write(object)
    this.#annotated.set(object.id, sha)
    if (!this.#publishedAt.has(object.id)) this.#publishedAt.set(object.id, at)
    return object.id
  }

  /** The commit that an id names by itself or as an annotated tag's. */
  peel(id: string): string {
    return this.#annotated.get(id) ?? id
  }

  typeOf(id: string): 'commit' | 'tag' {
    return this.#annotated.has(id) ? 'tag' : 'commit'
  }

  /** Whether the host knows the commit or tag by then, from a push to whichever repository of the pool. */
  has(id: string, until: number): boolean {
    const at = this.#publishedAt.get(id)
    return at !== undefined && at <= until
  }

  /** The id that an id, or the beginning of one, is of; undefined where the host has none or several. */
  async complete(id: string, until: number): Promise<string | undefined> {
    if (this.#publishedAt.has(id)) return this.has(id, until) ? id : undefined
    if (!/^[0-9a-f]{4,39}$/.test(id)) return undefined
    const found = await git(this.folder, ['rev-parse', `--disambiguate=${id}`])
    const known = found.split('\n').filter((one) => this.has(one, until))
    return known.length === 1 ? known[0] : undefined
  }

  /** Whether `older` is `newer` or one of its ancestors. */
  async isAncestor(older: string, newer: string): Promise<boolean> {
    // Most pushes go one step further: that needs no program.
    if (older === newer || this.show(newer).parents.includes(older)) return true
    return (await this.history(newer)).has(older)
  }

  /** The best common ancestors as `git merge-base --all` gives them; none where the histories are unrelated. */
  async mergeBases(a: string, b: string): Promise<readonly string[]> {
    if (await this.isAncestor(a, b)) return [a]
    return this.#ask(`bases ${a} ${b}`, ['merge-base', '--all', a, b])
  }

  async mergeBase(a: string, b: string): Promise<string | undefined> {
    return (await this.mergeBases(a, b))[0]
  }

  /** What `head` has and `base` has not, parents first. */
  async between(base: string, head: string): Promise<readonly string[]> {
    const known = new Set(this.#reach(base))
    if (known.has(head)) return []
    return [...(await this.history(head))].filter((sha) => !known.has(sha)).toReversed()
  }

  /** A commit and all that it builds on, parents last. One run of git for each commit that is asked about. */
  history(sha: string): Promise<ReadonlySet<string>> {
    const known =
      this.#histories.get(sha) ?? this.#lines(['rev-list', '--topo-order', sha]).then((lines) => new Set(lines))
    this.#histories.set(sha, known)
    return known
  }

  #ask(question: string, args: readonly string[]): Promise<readonly string[]> {
    const known = this.#answers.get(question) ?? this.#lines(args)
    this.#answers.set(question, known)
    return known
  }

  async #lines(args: readonly string[]): Promise<readonly string[]> {
    try {
      return (await git(this.folder, args)).split('\n').filter(Boolean)
    } catch (error) {
      // git merge-base finds none.
      if ((error as { code?: unknown }).code === 1 && (error as { stderr?: unknown }).stderr === '') return []
      throw error
    }
  }

  #write(object: GitObject): Promise<void> {
    return writeObject(this.folder, object)
  }

  /** A commit and all that it builds on, in no order, but for what `known` has and what that builds on. */
  #reach(sha: string, known: { has(sha: string): boolean } = new Set()): string[] {
    const found = new Set<string>()
    const queue = [sha]
    for (let one = queue.pop(); one !== undefined; one = queue.pop()) {
      if (found.has(one) || known.has(one)) continue
      const made = this.#made.get(one)
      if (!made) throw new Error(`nobody made this commit: ${one}`)
      found.add(one)
      queue.push(...made.parents)
    }
    return [...found]
  }
}
