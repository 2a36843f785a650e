/** The issues of a repository: opened, closed for a reason, opened again, moved away, deleted. */
import { type CloseReason, EventLog, type ForgeEvent, type ForgeEventKind } from './events.ts'
import type { Act, ForgeRepository } from './model.ts'
import { NOW, Timelines } from './timeline.ts'

export interface Issue {
  /** Of all the host's issues. */
  readonly id: number
  /** In its repository. */
  readonly number: number
  readonly title: string
  readonly by: string
  readonly state: 'open' | 'closed'
  readonly reason?: CloseReason
  /** As the host gives them: some let people choose them. */
  readonly openedAt: number
  readonly updatedAt: number
  /** Of the last closing; absent while it is open. */
  readonly closedAt?: number
  readonly closedBy?: string
  readonly movedTo?: { readonly repository: ForgeRepository; readonly number: number }
  readonly isDeleted: boolean
}

/** @property shownAt the time that the host gives for it, where somebody could choose another one than `at` */
export interface ShownAct extends Act {
  readonly shownAt?: number
}

export class Issues {
  readonly #repository: ForgeRepository
  readonly #timelines = new Timelines<number, Issue>()
  readonly #events = new EventLog()

  constructor(repository: ForgeRepository) {
    this.#repository = repository
  }

  /** Its number. */
  open({ title, at = this.#repository.now(), by = 'agent', shownAt = at }: ShownAct & { title?: string } = {}): number {
    const number = this.#repository.nextNumber('issue')
    this.#timelines.set(number, at, {
      ...{ id: this.#repository.host.nextId(), number, title: title ?? `Issue ${number}`, by, state: 'open' },
      ...{ openedAt: shownAt, updatedAt: shownAt, isDeleted: false },
    })
    this.#log(number, 'opened', { at, by, shownAt })
    return number
  }

  close(
    number: number,
    {
      reason = 'completed',
      at = this.#repository.now(),
      by = 'agent',
      shownAt = at,
    }: ShownAct & { reason?: CloseReason } = {},
  ): void {
    this.#change(number, at, { state: 'closed', reason, closedAt: shownAt, closedBy: by, updatedAt: shownAt })
    this.#log(number, 'closed', { at, by, shownAt, reason })
  }

  /** Of one that is closed, and no event tells of it. */
  changeReason(number: number, reason: CloseReason, { at = this.#repository.now() }: Act = {}): void {
    this.#change(number, at, { reason })
  }

  reopen(number: number, { at = this.#repository.now(), by = 'agent', shownAt = at }: ShownAct = {}): void {
    const { closedAt: _, closedBy: __, reason: ___, ...rest } = this.#latest(number)
    this.#timelines.set(number, at, { ...rest, state: 'open', updatedAt: shownAt })
    this.#log(number, 'reopened', { at, by, shownAt })
  }

  /** Nothing but the time of its last change changes. */
  comment(number: number, { at = this.#repository.now(), by = 'agent', shownAt = at }: ShownAct = {}): void {
    this.#change(number, at, { updatedAt: shownAt })
    this.#log(number, 'commented', { at, by, shownAt })
  }

  /** So many labels, one after the other: events that say nothing of whether it is open. */
  label(number: number, count: number, { at = this.#repository.now(), by = 'agent' }: Act = {}): void {
    this.#change(number, at, { updatedAt: at })
    for (let i = 0; i < count; i++) this.#log(number, 'labeled', { at, by })
  }

  /** Its number at the other repository, where it goes on as it is. Here it only says where it went. */
  transfer(number: number, to: ForgeRepository, { at = this.#repository.now(), by = 'agent' }: Act = {}): number {
    const { state, reason, title, closedAt } = this.#latest(number)
    const theirs = to.issues.open({ title, at, by })
    if (state === 'closed') to.issues.close(theirs, { at, by, shownAt: closedAt!, ...(reason && { reason }) })
    this.#change(number, at, { movedTo: { repository: to, number: theirs } })
    this.#log(number, 'transferred', { at, by })
    return theirs
  }

  delete(number: number, { at = this.#repository.now(), by = 'agent' }: Act = {}): void {
    this.#change(number, at, { isDeleted: true })
    this.#log(number, 'deleted', { at, by })
  }

  get(number: number, until: number): Issue | undefined {
    return this.#timelines.get(number, until)
  }

  /** Oldest first, but for those that were moved away or deleted. */
  all(until: number): Issue[] {
    return this.#timelines
      .all(until)
      .map(([, issue]) => issue)
      .filter(({ isDeleted, movedTo }) => !isDeleted && movedTo === undefined)
  }

  /** Oldest first. */
  events(number: number, until: number): ForgeEvent[] {
    return this.#events.of(number, until)
  }

  #latest(number: number): Issue {
    const found = this.#timelines.get(number, NOW)
    if (!found) throw new Error(`no such issue: ${number}`)
    return found
  }

  #change(number: number, at: number, change: Partial<Issue>): void {
    this.#timelines.set(number, at, { ...this.#latest(number), ...change })
  }

  #log(number: number, kind: ForgeEventKind, about: ShownAct & Required<Act> & { reason?: CloseReason }): void {
    this.#events.add({ id: this.#repository.host.nextId(), number, kind, ...about })
  }
}
