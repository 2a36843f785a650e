/** The releases of a repository: drafts, published ones, and their files. */
import type { Act, ForgeRepository } from './model.ts'
import { NOW, Timelines } from './timeline.ts'

export interface Release {
  readonly id: number
  readonly tag: string
  /** Where the tag is made when it is published and there is none: a branch or a commit. */
  readonly target: string
  readonly name: string
  readonly by: string
  readonly isDraft: boolean
  readonly isPrerelease: boolean
  /** When it was made, draft or not, by the host's clock. */
  readonly createdAt: number
  /** By the host's clock; absent while it is a draft. */
  readonly publishedAt?: number
  /** Chosen by its author, where the host lets them: past or future. */
  readonly releasedAt?: number
  readonly assets: readonly Asset[]
}

export interface Asset {
  readonly id: number
  readonly name: string
  /** Of the file, where its name is one to be shown. */
  readonly file?: string
  readonly size: number
  readonly at: number
  readonly by: string
}

export interface NewRelease extends Act {
  readonly tag: string
  readonly target?: string
  readonly name?: string
  readonly draft?: boolean
  readonly prerelease?: boolean
  readonly releasedAt?: number
}

export class Releases {
  readonly #repository: ForgeRepository
  readonly #timelines = new Timelines<number, Release>()

  constructor(repository: ForgeRepository) {
    this.#repository = repository
  }

  /** Its id. A published one makes its tag where there is none. */
  async create(given: NewRelease): Promise<number> {
    const { defaultBranch, host } = this.#repository
    const { at = this.#repository.now(), by = 'agent', tag, target = defaultBranch, name = tag } = given
    const { draft = false, prerelease = false, releasedAt } = given
    const id = host.nextId()
    this.#timelines.set(id, at, {
      ...{ id, tag, target, name, by, isDraft: true, isPrerelease: prerelease, createdAt: at, assets: [] },
      ...(releasedAt === undefined ? {} : { releasedAt }),
    })
    if (!draft) await this.publish(id, { at, by })
    return id
  }

  /** Of a draft. */
  async publish(id: number, { at = this.#repository.now(), by = 'agent' }: Act = {}): Promise<void> {
    const { tag, target } = this.#latest(id)
    const now = this.#repository.asOf(NOW)
    if (!now.tag(tag)) {
      const sha = await now.resolve(target)
      if (sha === undefined) throw new Error(`no such branch or commit: ${target}`)
      await this.#repository.tag(tag, sha, { at, by })
    }
    this.change(id, { isDraft: false, publishedAt: at }, { at })
  }

  /** Whatever else can be edited: its tag, its name, whether it is a draft again. */
  change(id: number, change: Partial<Omit<Release, 'id'>>, { at = this.#repository.now() }: Act = {}): void {
    this.#timelines.set(id, at, { ...this.#latest(id), ...change })
  }

  addAsset(
    id: number,
    name: string,
    { at = this.#repository.now(), by = 'agent', size = 1, file }: Act & { size?: number; file?: string } = {},
  ): void {
    const asset = { id: this.#repository.host.nextId(), name, size, at, by, ...(file !== undefined && { file }) }
    this.change(id, { assets: [...this.#latest(id).assets, asset] }, { at })
  }

  removeAsset(id: number, name: string, act: Act = {}): void {
    this.change(id, { assets: this.#latest(id).assets.filter((asset) => asset.name !== name) }, act)
  }

  /** Its tag stays. */
  delete(id: number, { at = this.#repository.now() }: Act = {}): void {
    this.#timelines.set(id, at, undefined)
  }

  get(id: number, until: number): Release | undefined {
    return this.#timelines.get(id, until)
  }

  /** Oldest first, drafts too. */
  all(until: number): Release[] {
    return this.#timelines.all(until).map(([, release]) => release)
  }

  #latest(id: number): Release {
    const found = this.#timelines.get(id, NOW)
    if (!found) throw new Error(`no such release: ${id}`)
    return found
  }
}
