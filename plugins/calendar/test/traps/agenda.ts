/** Google calendars as they are at each moment: events that are made, changed, deleted, restored, imported and moved in their order. */
import { createHash } from 'node:crypto'

export const CALENDAR = 'c_1888team@group.calendar.google.com'
export const OTHER_CALENDAR = 'c_1999plan@group.calendar.google.com'
export const CREATOR = 'ann@acme.example'

export interface When {
  readonly date?: string
  readonly dateTime?: string
  readonly timeZone?: string
}

export interface GoogleEvent {
  readonly id: string
  readonly iCalUID: string
  readonly calendar: string
  readonly status: 'confirmed' | 'tentative' | 'cancelled'
  /** Milliseconds; a text is told as it is, undefined not at all. */
  readonly created: number | string | undefined
  readonly updated: number
  readonly start: When | undefined
  readonly end: When | undefined
  readonly organizer: string
  readonly recurrence?: readonly string[] | undefined
  readonly recurringEventId?: string | undefined
  readonly originalStartTime?: When | undefined
  /** Fields beside the usual ones; undefined takes a usual one away. */
  readonly extra: Readonly<Record<string, unknown>>
}

/** The usual event: half an hour on a Monday, told in the calendar's zone. */
export const AT: { readonly start: When; readonly end: When } = {
  start: { dateTime: '2026-03-16T15:00:00+01:00', timeZone: 'Europe/Berlin' },
  end: { dateTime: '2026-03-16T15:30:00+01:00', timeZone: 'Europe/Berlin' },
}
export const ELSEWHEN: typeof AT = {
  start: { dateTime: '2026-03-17T10:00:00+01:00', timeZone: 'Europe/Berlin' },
  end: { dateTime: '2026-03-17T10:30:00+01:00', timeZone: 'Europe/Berlin' },
}

export const ID = '7kukuqrfedlm2f9t0vb1d9c3q4'
export const UID = `${ID}@google.com`

/** An id as Google makes them, the same for the same name. */
export function idOf(name: string): string {
  const letters = '0123456789abcdefghijklmnopqrstuv'
  return [...createHash('sha256').update(name).digest()]
    .slice(0, 26)
    .map((byte) => letters[byte % 32])
    .join('')
}

/** The id that an import gives an event: its UID in base32hex behind an underscore. */
export function importedIdOf(uid: string): string {
  const letters = '0123456789abcdefghijklmnopqrstuv'
  let bits = [...Buffer.from(uid)].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  bits = bits.padEnd(Math.ceil(bits.length / 5) * 5, '0')
  return `_${bits.replace(/.{5}/g, (five) => letters[Number.parseInt(five, 2)]!)}`
}

export type Given = Partial<Omit<GoogleEvent, 'created' | 'updated'>> & {
  readonly created?: number | string | undefined
}
type Events = Map<string, GoogleEvent>

export class Agenda {
  readonly #start: number
  readonly #steps: { readonly at: number; readonly apply: (events: Events) => void }[] = []

  constructor(start: number) {
    this.#start = start
  }

  /** All events until a moment, deleted ones included, oldest first. */
  at(now: number): readonly GoogleEvent[] {
    const events: Events = new Map()
    for (const { at, apply } of this.#steps) if (at <= now) apply(events)
    return [...events.values()]
  }

  /** Makes an event, as events.insert does: its times are the server's. */
  insert(afterMs: number, given: Given = {}): this {
    const at = this.#start + afterMs
    const { id = ID, calendar = CALENDAR } = given
    return this.#then(afterMs, (events) => {
      // A deleted event keeps its id: another one is refused with 409.
      if (events.has(keyOf(calendar, id))) throw new Error(`${id} was given out already`)
      events.set(keyOf(calendar, id), eventOf({ id, calendar, ...given }, at))
    })
  }

  /** Changes an event, which gives it another time of its last change, and no other time of its making. */
  patch(afterMs: number, change: Given, id = ID, calendar = CALENDAR): this {
    return this.#change(afterMs, id, calendar, () => change)
  }

  /** Deletes an event: it stays as a cancelled one. */
  cancel(afterMs: number, id = ID, calendar = CALENDAR): this {
    return this.#change(afterMs, id, calendar, () => ({ status: 'cancelled' }))
  }

  restore(afterMs: number, id = ID, calendar = CALENDAR): this {
    return this.#change(afterMs, id, calendar, () => ({ status: 'confirmed' }))
  }

  /** Takes a cancelled event away for good, as happens eventually. */
  purge(afterMs: number, id = ID, calendar = CALENDAR): this {
    return this.#then(afterMs, (events) => {
      if (events.get(keyOf(calendar, id))?.status !== 'cancelled') throw new Error(`${id} is not cancelled`)
      events.delete(keyOf(calendar, id))
    })
  }

  /** Moves an event to another calendar: it keeps its id and the time of its making, and leaves a bare cancelled one behind. */
  move(afterMs: number, from: string, to: string, id = ID): this {
    const at = this.#start + afterMs
    return this.#then(afterMs, (events) => {
      const event = requireEvent(events, from, id)
      events.set(keyOf(to, id), { ...event, calendar: to, organizer: to, updated: at })
      events.set(keyOf(from, id), { ...event, status: 'cancelled', updated: at, start: undefined, end: undefined })
    })
  }

  /** Invites another calendar: its copy has the id, the organizer and the time of making of the original. */
  invite(afterMs: number, from: string, to: string, id = ID): this {
    const at = this.#start + afterMs
    return this.#then(afterMs, (events) => {
      const event = { ...requireEvent(events, from, id), updated: at }
      events.set(keyOf(from, id), event)
      events.set(keyOf(to, id), { ...event, calendar: to })
    })
  }

  #change(afterMs: number, id: string, calendar: string, change: (event: GoogleEvent) => Given): this {
    const at = this.#start + afterMs
    return this.#then(afterMs, (events) => {
      const event = requireEvent(events, calendar, id)
      const given = change(event)
      if (event.status === 'cancelled' && given.status !== 'confirmed') throw new Error(`${id} is cancelled`)
      events.set(keyOf(calendar, id), { ...event, ...given, updated: at, extra: { ...event.extra, ...given.extra } })
    })
  }

  #then(afterMs: number, apply: (events: Events) => void): this {
    const at = this.#start + afterMs
    if (at < (this.#steps.at(-1)?.at ?? at)) throw new Error('events come in their order')
    this.#steps.push({ at, apply })
    this.at(at)
    return this
  }
}

function eventOf(given: Given & { readonly id: string; readonly calendar: string }, at: number): GoogleEvent {
  return {
    iCalUID: `${given.id}@google.com`,
    status: 'confirmed',
    ...AT,
    organizer: given.calendar,
    extra: {},
    ...given,
    // The time of making has whole seconds, that of the last change milliseconds.
    created: 'created' in given ? given.created : Math.floor(at / 1000) * 1000,
    updated: at,
  }
}

function keyOf(calendar: string, id: string): string {
  return `${calendar} ${id}`
}

function requireEvent(events: Events, calendar: string, id: string): GoogleEvent {
  const event = events.get(keyOf(calendar, id))
  if (!event) throw new Error(`there is no ${id}`)
  return event
}
