/** Listens to the events of a workspace: goes on where a connection broke off. */
import type { Event, EventGap, EventQuery } from '@claimcheck/core/api'
import { UnexpectedAnswerError } from './errors.ts'
import { createEventReader, type Message } from './event-reader.ts'
import { pause, pauseBefore } from './retry.ts'
import type { CallOptions } from './transport.ts'

/** Filters of events. `after` is the id of the last event that the program has; without it, events are those from now on. */
export type EventFilters = Partial<Omit<EventQuery, 'after' | 'limit'>> & {
  readonly after?: string | number | undefined
}

/** Tells that events from one id to another cannot be sent any more: read the claims once more. */
export interface GapEvent {
  readonly id: string
  readonly type: 'gap'
  readonly data: EventGap
}

/** The beginning of each connection. */
interface Opened {
  readonly type: 'opened'
}

/** Opens a stream, and yields its text as it comes. */
export type OpenStream = (path: string, options: CallOptions) => AsyncIterable<string>

/** Listens as `events` of the client does, and tells of each new connection. */
export type Listen = (
  filters?: EventFilters,
  options?: CallOptions,
) => AsyncGenerator<Event | GapEvent | Opened, void, undefined>

/** The pause after a stream that the service ended, if it named none. */
const USUAL_RETRY_MS = 3000

/** The place in the list of events, as the last connection left it. */
interface Place {
  last: string | undefined
  retryMs: number
  /** True if the last connection was answered with a stream. */
  wasOpened: boolean
}

/** @param retryForMs the time for which the first connection is tried; later ones are tried for ever */
export function createListen(open: OpenStream, retryForMs: number): Listen {
  return async function* listen({ after, ...filters } = {}, { signal } = {}) {
    const last = after === undefined ? undefined : String(after)
    const place: Place = { last, retryMs: USUAL_RETRY_MS, wasOpened: false }
    let limitMs = retryForMs
    let startedAt = performance.now()
    for (let tries = 1; ; tries++) {
      const error = yield* connection(open(pathOf(place.last, filters), { signal }), place)
      if (place.wasOpened) {
        tries = 1
        limitMs = Number.POSITIVE_INFINITY
        startedAt = performance.now()
      }
      const elapsedMs = performance.now() - startedAt
      const random = Math.random()
      // A service that stops ends its streams without an error, and says when to come again.
      const pauseMs = error === undefined ? place.retryMs : pauseBefore(error, { tries, elapsedMs, limitMs, random })
      if (pauseMs === undefined || signal?.aborted) throw error ?? signal?.reason
      await pause(pauseMs, signal)
    }
  }
}

/** Yields the events of one connection. Returns the error that ended it; undefined where the service ended it. */
async function* connection(
  pieces: AsyncIterable<string>,
  place: Place,
): AsyncGenerator<Event | GapEvent | Opened, unknown, undefined> {
  const readMessages = createEventReader()
  place.wasOpened = false
  try {
    for await (const piece of pieces) {
      for (const { id, retryMs, event } of readMessages(piece)) {
        if (!place.wasOpened) yield { type: 'opened' }
        place.wasOpened = true
        place.last = id ?? place.last
        place.retryMs = retryMs ?? place.retryMs
        if (event) yield read(event, place.last)
      }
    }
  } catch (error) {
    return error
  }
}

function pathOf(after: string | undefined, filters: EventFilters): string {
  const given = Object.entries({ after, ...filters }).filter((entry) => entry[1] !== undefined)
  return `/v1/events?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`
}

/** @throws UnexpectedAnswerError for what is no event of the service. A newer one may have more types of events, and more members. */
function read({ type, data }: NonNullable<Message['event']>, id = ''): Event | GapEvent {
  let value: unknown
  try {
    value = JSON.parse(data)
  } catch {
    // A text that is no JSON gets the error below.
  }
  if (typeof value !== 'object' || value === null)
    throw new UnexpectedAnswerError('the service sent an event that is none')
  return type === 'gap' ? { id, type, data: value as EventGap } : (value as Event)
}
