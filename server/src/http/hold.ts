/** Holds refusals back, so that asking at full speed costs the host little. */
import type { Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import type { OwnCounts } from './counters.ts'

/** Refusals in a minute that a network or an account gets at once. Each further one is held. */
const REFUSED_AT_ONCE = 100
const HELD_MS = { least: 1000, most: 3000 }
const MOST_HELD = 1000

export type Hold = (client: string, socket: Socket) => Promise<void>

/** Holds a refusal back, so that a client that asks at full speed does so every other second on each of its connections. */
export function createHold(own: OwnCounts): Hold {
  const held = new WeakSet<Socket>()
  let count = 0

  return async (client, socket) => {
    if (own.add('refused', client).count <= REFUSED_AT_ONCE) return
    if (held.has(socket)) {
      // The client sends requests without waiting for answers.
      socket.destroy()
      return
    }
    if (count >= MOST_HELD) return
    held.add(socket)
    count++
    socket.pause()
    // At different times, or all that one client has open would be answered at once.
    await setTimeout(HELD_MS.least + Math.random() * (HELD_MS.most - HELD_MS.least))
    socket.resume()
    held.delete(socket)
    count--
  }
}
