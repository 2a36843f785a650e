/** Delays refusals, so that requests at full speed cost the host little. */
import type { Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import type { OwnCounts } from './counters.ts'

/** The refusals in a minute that a network or an account gets at once. Each further one is delayed. */
const REFUSED_AT_ONCE = 100
const HELD_MS = { least: 1000, most: 3000 }
const MOST_HELD = 1000

export type Hold = (client: string, socket: Socket) => Promise<void>

/** Makes a function that delays a refusal: a client that asks at full speed then asks every other second on each of its connections. */
export function createHold(own: OwnCounts): Hold {
  const held = new WeakSet<Socket>()
  let count = 0

  return async (client, socket) => {
    if (own.add('refused', client).count <= REFUSED_AT_ONCE) return
    if (held.has(socket)) {
      // A client that sends requests without waiting for answers loses its connection.
      socket.destroy()
      return
    }
    if (count >= MOST_HELD) return
    held.add(socket)
    count++
    socket.pause()
    // Random delays, or all requests that one client has open would be answered at once.
    await setTimeout(HELD_MS.least + Math.random() * (HELD_MS.most - HELD_MS.least))
    socket.resume()
    held.delete(socket)
    count--
  }
}
