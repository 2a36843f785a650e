/** A repository of images as a function of time: what a registry shows at a moment follows from what was scripted. */
import type { Document, Pushed } from './images.ts'

export const SECOND = 1000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

/** Times are counted from the moment of the deed. */
type Moment = number

interface Stored {
  readonly document: Document
  readonly from: Moment
  until: Moment
}

export class Repository {
  readonly name: string
  readonly #manifests: Stored[] = []
  readonly #blobs = new Map<string, Document>()
  readonly #moves: { readonly tag: string; readonly digest: string | undefined; readonly at: Moment }[] = []

  constructor(name: string) {
    this.name = name
  }

  /** Uploads an image with all that it names, and gives it tags. */
  push(at: Moment, pushed: Pushed, ...tags: readonly string[]): this {
    for (const child of pushed.children) this.push(at, child)
    for (const blob of pushed.blobs) this.#blobs.set(blob.digest, blob)
    this.#manifests.push({ document: pushed, from: at, until: Number.POSITIVE_INFINITY })
    for (const tag of tags) this.#moves.push({ tag, digest: pushed.digest, at })
    return this
  }

  /** Gives a tag to what was uploaded before. */
  retag(at: Moment, tag: string, digest: string): this {
    this.#moves.push({ tag, digest, at })
    return this
  }

  untag(at: Moment, tag: string): this {
    this.#moves.push({ tag, digest: undefined, at })
    return this
  }

  /** Deletes a manifest, as a garbage collector does. */
  drop(at: Moment, digest: string): this {
    for (const stored of this.#manifests) if (stored.document.digest === digest) stored.until = at
    return this
  }

  manifest(digest: string, at: Moment): Document | undefined {
    return this.#manifests.find(({ document, from, until }) => document.digest === digest && from <= at && at < until)
      ?.document
  }

  blob(digest: string): Document | undefined {
    return this.#blobs.get(digest)
  }

  /** The digest of a tag; undefined where there is none. */
  tagged(tag: string, at: Moment): string | undefined {
    return this.#moves
      .filter((move) => move.tag === tag && move.at <= at)
      .toSorted(byTime)
      .at(-1)?.digest
  }

  hadTag(tag: string, at: Moment): boolean {
    return this.#moves.some((move) => move.tag === tag && move.at <= at)
  }

  tags(at: Moment): readonly string[] {
    const all = new Set(this.#moves.map(({ tag }) => tag))
    return [...all].filter((tag) => this.tagged(tag, at) !== undefined).sort()
  }

  /** Tells whether a tag leads to a manifest, as an image or as a part of an index. */
  isAlive(digest: string, at: Moment): boolean {
    return this.tags(at).some((tag) => {
      const tip = this.tagged(tag, at)!
      return tip === digest || (this.manifest(tip, at)?.bytes.includes(digest) ?? false)
    })
  }
}

function byTime(one: { at: Moment }, other: { at: Moment }): number {
  return one.at - other.at
}
