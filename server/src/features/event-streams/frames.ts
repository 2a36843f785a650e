/** Writes events as server-sent events (HTML, 9.2.5). */
import type { EventPage, NumberedEvent } from './pages.ts'

/** The least and the most milliseconds after which a client connects again: a restart must not bring all of them at once. */
const RETRY_MS = { least: 2000, most: 6000 }

/** An id without data sends no event, and moves the number with which the client goes on. */
export function beat(number: number): string {
  return `id: ${number}\n:\n\n`
}

export function opening(number: number): string {
  const retryMs = RETRY_MS.least + Math.floor(Math.random() * (RETRY_MS.most - RETRY_MS.least))
  return `retry: ${retryMs}\n${beat(number)}`
}

export function eventFrame({ number, event }: NumberedEvent): string {
  return `id: ${number}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
}

export function gapFrame({ from, to }: NonNullable<EventPage['gap']>): string {
  return `id: ${to}\nevent: gap\ndata: ${JSON.stringify({ from: String(from), to: String(to) })}\n\n`
}
