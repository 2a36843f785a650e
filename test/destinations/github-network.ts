/** The commits that a repository of the GitHub stand-in shares with its forks: those that an author has, and those that were published. */
import type { ShownCommit } from './github-answers.ts'
import type { GitHubRepository } from './github-repository.ts'
import { AUTHOR, type CommitOptions, newCommit, tagObject } from './objects.ts'

interface Kept extends ShownCommit {
  readonly at: number
}

export class Network {
  readonly repositories: GitHubRepository[] = []
  readonly #commits = new Map<string, Kept>()
  /** Annotated tags, and the commits that they name. */
  readonly #tags = new Map<string, string>()
  /** When each commit came to the host, by its clock. */
  readonly #publishedAt = new Map<string, number>()

  /** A commit that only its author has. */
  commit(options: CommitOptions = {}): string {
    const { sha, tree, parents, message, date } = newCommit(options)
    const signature = { ...AUTHOR, date: date.toISOString().replace('.000Z', 'Z') }
    const at = date.getTime()
    this.#commits.set(sha, { sha, tree, parents, message, author: signature, committer: signature, at })
    return sha
  }

  /** The host gets it, with all that it builds on. */
  publish(sha: string, at: number): void {
    for (const one of this.#reach(sha)) if (!this.#publishedAt.has(one)) this.#publishedAt.set(one, at)
  }

  /** An annotated tag of a published commit. Its id. */
  annotate(name: string, sha: string): string {
    const { id } = tagObject(name, sha)
    this.#tags.set(id, sha)
    return id
  }

  typeOf(id: string): 'commit' | 'tag' {
    return this.#tags.has(id) ? 'tag' : 'commit'
  }

  /** The published commit that an id, or the beginning of one, names by itself or as a tag's. */
  resolve(id: string, until: number): string | undefined {
    const ids = [...this.#publishedAt.keys(), ...this.#tags.keys()].filter((one) => one.startsWith(id))
    if (ids.length !== 1) return undefined
    const sha = this.#tags.get(ids[0]!) ?? ids[0]!
    return this.#publishedAt.get(sha)! <= until ? sha : undefined
  }

  show(sha: string): ShownCommit {
    return this.#commits.get(sha)!
  }

  /** What `head` has and `base` has not, oldest first, as `git log --reverse` lists it. */
  between(base: string, head: string): ShownCommit[] {
    const theirs = this.#reach(base)
    return [...this.#reach(head)]
      .filter((sha) => !theirs.has(sha))
      .map((sha) => this.show(sha))
      .toReversed()
  }

  /** The newest commit that both have, and that nothing else that both have builds on. */
  mergeBase(a: string, b: string): string | undefined {
    const theirs = this.#reach(b)
    const common = [...this.#reach(a)].filter((sha) => theirs.has(sha))
    const builtOn = new Set(common.flatMap((sha) => this.#commits.get(sha)!.parents))
    const [first, ...others] = common.filter((sha) => !builtOn.has(sha))
    const at = (sha: string) => this.#commits.get(sha)!.at
    return others.reduce((newest, sha) => (at(sha) > at(newest!) ? sha : newest), first)
  }

  /** A commit and all that it builds on: newest first, as `git log` walks. */
  #reach(from: string): Set<string> {
    const seen = new Set([from])
    const reached = new Set<string>()
    const queue = [from]
    for (let sha = queue.shift(); sha !== undefined; sha = queue.shift()) {
      reached.add(sha)
      for (const parent of this.#commits.get(sha)!.parents) {
        if (seen.has(parent)) continue
        seen.add(parent)
        const { at } = this.#commits.get(parent)!
        const older = queue.findIndex((other) => this.#commits.get(other)!.at < at)
        queue.splice(older === -1 ? queue.length : older, 0, parent)
      }
    }
    return reached
  }
}
