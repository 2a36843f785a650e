/** The issues of a scripted tracker, and what there is of them at each moment: transitions, edits, moves, deletion and concealment in their order. */

export interface Status {
  readonly id: string
  readonly name: string
  /** The category, by the provider's own word. */
  readonly category: string
}

export interface Item {
  readonly field: 'status' | 'summary' | 'key' | 'assignee' | 'custom' | 'resolution'
  readonly from: string | null
  readonly to: string | null
}

/** One entry of an issue's history. */
export interface Change {
  readonly id: number
  readonly at: number
  /** Undefined for a change that names no account. */
  readonly by: string | undefined
  readonly items: readonly Item[]
  readonly isPrivate: boolean
  readonly hasNotes: boolean
}

export interface Issue {
  /** The order in which it was made, from 1. */
  readonly number: number
  readonly key: string
  readonly earlierKeys: readonly string[]
  readonly madeAt: number
  /** The time of its making that an import gave it. */
  readonly dated: number | undefined
  readonly madeBy: string
  readonly madeIn: string
  readonly status: string
  readonly resolvedAt: number | undefined
  readonly changes: readonly Change[]
  readonly isHidden: boolean
  readonly isArchived: boolean
  readonly isTrashed: boolean
}

export interface Snapshot {
  readonly issues: readonly Issue[]
  readonly statuses: ReadonlyMap<string, Status>
  /** Statuses that lists no longer have. */
  readonly unlisted: ReadonlySet<string>
  /** Current keys of projects, by the ones that they had. */
  readonly projects: ReadonlyMap<string, string>
}

export interface Place {
  readonly start: number
  readonly key: string
  readonly person: string
  readonly agent: string
  readonly first: string
  readonly statuses: readonly Status[]
}

interface Deed {
  /** Defaults to the usual issue. */
  readonly key?: string
  /** Null for a change that names no account; the agent when left out. */
  readonly by?: string | null
}

export interface Making extends Deed {
  readonly status?: string
  readonly dated?: number
}

export interface Moving extends Deed {
  /** Changes that come in the same entry. */
  readonly beside?: readonly Item[]
  readonly isPrivate?: boolean
  readonly hasNotes?: boolean
  /** Leaves no entry in the history. */
  readonly isSilent?: boolean
}

interface State {
  readonly issues: Map<string, Issue>
  readonly statuses: Map<string, Status>
  readonly unlisted: Set<string>
  readonly projects: Map<string, string>
  made: number
  changed: number
}

type Step = (state: State) => void

export class Tracker {
  readonly #place: Place
  readonly #steps: { readonly at: number; readonly apply: Step }[] = []

  constructor(place: Place) {
    this.#place = place
  }

  /** The tracker as it is at a moment. */
  at(now: number): Snapshot {
    const statuses = new Map(this.#place.statuses.map((status) => [status.id, status]))
    const state: State = { issues: new Map(), statuses, unlisted: new Set(), projects: new Map(), made: 0, changed: 0 }
    for (const { at, apply } of this.#steps) if (at <= now) apply(state)
    return { ...state, issues: [...state.issues.values()] }
  }

  make(afterMs: number, { key, by, status, dated }: Making = {}): this {
    const { key: usual, person, first } = this.#place
    return this.#then(afterMs, (state, at) => {
      const name = key ?? usual
      if (state.issues.has(name)) throw new Error(`${name} is there already`)
      const madeIn = status ?? first
      state.issues.set(name, {
        number: ++state.made,
        key: name,
        earlierKeys: [],
        madeAt: at,
        dated,
        madeBy: by ?? person,
        madeIn,
        status: madeIn,
        resolvedAt: undefined,
        changes: [],
        isHidden: false,
        isArchived: false,
        isTrashed: false,
      })
    })
  }

  /** Takes an issue to another status. */
  move(afterMs: number, status: string, moving: Moving = {}): this {
    const { by, beside = [], isPrivate = false, hasNotes = false, isSilent = false } = moving
    return this.#change(afterMs, moving, (issue, entry) => {
      if (issue.status === status) throw new Error(`${issue.key} is in ${status} already`)
      const items: Item[] = [{ field: 'status', from: issue.status, to: status }, ...beside]
      const changes = isSilent ? issue.changes : [...issue.changes, { ...entry(by), items, isPrivate, hasNotes }]
      return { status, changes }
    })
  }

  /** Adds entries of the history that change no status. */
  edit(afterMs: number, count = 1, { items, ...deed }: Deed & { readonly items?: readonly Item[] } = {}): this {
    const summary: Item = { field: 'summary', from: 'Rotate the keys', to: 'Rotate the signing keys' }
    return this.#change(afterMs, deed, (issue, entry) => {
      const one = () => ({ ...entry(deed.by), items: items ?? [summary], isPrivate: false, hasNotes: false })
      return { changes: [...issue.changes, ...Array.from({ length: count }, one)] }
    })
  }

  /** Sets the date of resolution, which says nothing about the status. */
  resolve(afterMs: number): this {
    const item: Item = { field: 'resolution', from: null, to: '10000' }
    return this.#change(afterMs, {}, (issue, entry, at) => ({
      resolvedAt: at,
      changes: [...issue.changes, { ...entry(undefined), items: [item], isPrivate: false, hasNotes: false }],
    }))
  }

  /** Takes an issue to another project or team, which gives it another key. */
  transfer(afterMs: number, key: string, { status, ...deed }: Deed & { readonly status?: string } = {}): this {
    return this.#then(afterMs, (state, at) => {
      const issue = this.#issueIn(state, deed)
      if (state.issues.has(key)) throw new Error(`${key} is there already`)
      const moved: Item[] = status === undefined ? [] : [{ field: 'status', from: issue.status, to: status }]
      const items: Item[] = [{ field: 'key', from: issue.key, to: key }, ...moved]
      const entry = { ...this.#entry(state, at, deed.by), items, isPrivate: false, hasNotes: false }
      state.issues.delete(issue.key)
      state.issues.set(key, {
        ...issue,
        key,
        status: status ?? issue.status,
        earlierKeys: [...issue.earlierKeys, issue.key],
        changes: [...issue.changes, entry],
      })
    })
  }

  remove(afterMs: number, deed: Deed = {}): this {
    return this.#then(afterMs, (state) => {
      state.issues.delete(this.#issueIn(state, deed).key)
    })
  }

  /** Sets marks of an issue, such as one that hides it. */
  mark(afterMs: number, marks: Partial<Pick<Issue, 'isHidden' | 'isArchived' | 'isTrashed'>>, deed: Deed = {}): this {
    return this.#change(afterMs, deed, () => marks)
  }

  /** Makes an entry of the history private, counted from the latest. */
  conceal(afterMs: number, fromLast = 0): this {
    return this.#change(afterMs, {}, ({ changes }) => {
      const index = changes.length - 1 - fromLast
      if (index < 0) throw new Error('there is no such entry')
      return { changes: changes.map((one, at) => (at === index ? { ...one, isPrivate: true, hasNotes: true } : one)) }
    })
  }

  /** Changes a status itself, such as its category. */
  redefine(afterMs: number, id: string, change: Partial<Omit<Status, 'id'>>): this {
    return this.#then(afterMs, ({ statuses }) => {
      const status = statuses.get(id)
      if (!status) throw new Error(`there is no status ${id}`)
      statuses.set(id, { ...status, ...change })
    })
  }

  /** Takes a status out of the lists. Nothing may be in it. */
  unlist(afterMs: number, id: string): this {
    return this.#then(afterMs, ({ issues, unlisted }) => {
      if ([...issues.values()].some(({ status }) => status === id)) throw new Error(`${id} is in use`)
      unlisted.add(id)
    })
  }

  /** Gives a project another key, and with it each of its issues. */
  rename(afterMs: number, from: string, to: string): this {
    return this.#then(afterMs, ({ issues, projects }) => {
      projects.set(from, to)
      for (const issue of [...issues.values()]) {
        if (!issue.key.startsWith(`${from}-`)) continue
        const key = issue.key.replace(from, to)
        issues.delete(issue.key)
        issues.set(key, { ...issue, key, earlierKeys: [...issue.earlierKeys, issue.key] })
      }
    })
  }

  #issueIn({ issues }: State, { key = this.#place.key }: Deed): Issue {
    const issue = issues.get(key) ?? [...issues.values()].find(({ earlierKeys }) => earlierKeys.includes(key))
    if (!issue) throw new Error(`there is no ${key}`)
    return issue
  }

  #entry(state: State, at: number, by: string | null | undefined): Pick<Change, 'id' | 'at' | 'by'> {
    return { id: ++state.changed, at, by: by === null ? undefined : (by ?? this.#place.agent) }
  }

  #change(
    afterMs: number,
    deed: Deed,
    change: (
      issue: Issue,
      entry: (by: string | null | undefined) => Pick<Change, 'id' | 'at' | 'by'>,
      at: number,
    ) => Partial<Issue>,
  ): this {
    return this.#then(afterMs, (state, at) => {
      const issue = this.#issueIn(state, deed)
      state.issues.set(issue.key, { ...issue, ...change(issue, (by) => this.#entry(state, at, by), at) })
    })
  }

  #then(afterMs: number, apply: (state: State, at: number) => void): this {
    const at = this.#place.start + afterMs
    if (at < (this.#steps.at(-1)?.at ?? at)) throw new Error('deeds come in their order')
    this.#steps.push({ at, apply: (state) => apply(state, at) })
    this.at(at)
    return this
  }
}
