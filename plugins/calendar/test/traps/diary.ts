/** Calendars of a scripted CalDAV server, and what is in them at each moment: objects that are put, moved, removed and restored in their order. */

/** An object of a calendar: a file with one event and its exceptions. */
export interface Item {
  readonly name: string
  readonly content: string
  /** The time that the server tells as the last modification. */
  readonly modifiedAt: number
}

export interface Collection {
  readonly kind: 'calendar' | 'addressbook' | 'trash'
  readonly items: ReadonlyMap<string, Item>
  /** Calendars at one path are told apart by it, where one was made again. */
  readonly madeAt: number
}

type Collections = ReadonlyMap<string, Collection>
type Step = (collections: Map<string, Collection>, at: number) => void

export class Diary {
  readonly #start: number
  readonly #steps: { readonly at: number; readonly apply: Step }[] = []

  /** @param calendars paths of calendars that are there from the beginning */
  constructor(start: number, ...calendars: readonly string[]) {
    this.#start = start
    for (const path of calendars) this.#steps.push({ at: Number.NEGATIVE_INFINITY, apply: made(path, 'calendar') })
  }

  at(now: number): Collections {
    const collections = new Map<string, Collection>()
    for (const { at, apply } of this.#steps) if (at <= now) apply(collections, at)
    return collections
  }

  make(afterMs: number, path: string, kind: Collection['kind'] = 'calendar'): this {
    return this.#then(afterMs, made(path, kind))
  }

  /** Removes a calendar with all that is in it. */
  drop(afterMs: number, path: string): this {
    return this.#then(afterMs, (collections) => {
      if (!collections.delete(path)) throw new Error(`there is no ${path}`)
    })
  }

  /**
   * Puts an object, new or in place of another.
   * @param modifiedMs the time of modification that a restored file keeps; that of the deed when left out
   */
  put(afterMs: number, path: string, name: string, content: string, modifiedMs = afterMs): this {
    const modifiedAt = this.#start + modifiedMs
    return this.#then(afterMs, (collections) => change(collections, path, { put: { name, content, modifiedAt } }))
  }

  remove(afterMs: number, path: string, name: string): this {
    return this.#then(afterMs, (collections) => {
      itemOf(collections, path, name)
      change(collections, path, { remove: name })
    })
  }

  /** Moves an object as MOVE does: a renamed file keeps its time of modification. */
  move(afterMs: number, [path, name]: readonly [string, string], [toPath, toName]: readonly [string, string]): this {
    return this.#then(afterMs, (collections) => {
      const item = itemOf(collections, path, name)
      change(collections, path, { remove: name })
      change(collections, toPath, { put: { ...item, name: toName } })
    })
  }

  #then(afterMs: number, apply: Step): this {
    const at = this.#start + afterMs
    if (at < (this.#steps.at(-1)?.at ?? at)) throw new Error('events come in their order')
    this.#steps.push({ at, apply })
    this.at(at)
    return this
  }
}

function made(path: string, kind: Collection['kind']): Step {
  return (collections, madeAt) => {
    if (collections.has(path)) throw new Error(`${path} is there already`)
    collections.set(path, { kind, items: new Map(), madeAt })
  }
}

function itemOf(collections: Collections, path: string, name: string): Item {
  const item = collections.get(path)?.items.get(name)
  if (!item) throw new Error(`there is no ${path}/${name}`)
  return item
}

function change(
  collections: Map<string, Collection>,
  path: string,
  { put, remove }: { readonly put?: Item; readonly remove?: string },
): void {
  const collection = collections.get(path)
  if (!collection) throw new Error(`there is no ${path}`)
  const items = new Map(collection.items)
  if (remove !== undefined) items.delete(remove)
  if (put) items.set(put.name, put)
  collections.set(path, { ...collection, items })
}
