/** How long a tenant waits while others send load, in processor time: on a quiet machine it is the time that passes. */
import { connect } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { claimsOf, type Target } from './claims.ts'
import type { Served } from './process.ts'

/** Tokens are counted by the minute: those who ask for much have all of theirs at its beginning. */
const MEASURED_MS = 60_000

/** One claim after the other for a minute, and for each what the thread that answers works while it waits. */
export async function waits(served: Served, { url, key }: Target, everyMs: number): Promise<number[]> {
  const end = performance.now() + MEASURED_MS
  const taken: number[] = []
  const { request } = claimsOf({ url, key }, 'test.outcome.reach')
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port), noDelay: true })
  while (performance.now() < end) {
    const before = served.threadMs()
    const answered = new Promise<string>((resolve, reject) => {
      socket.once('data', (chunk) => resolve(String(chunk)))
      socket.once('error', reject)
    })
    socket.write(request())
    const answer = await answered
    if (!answer.startsWith('HTTP/1.1 2')) throw new Error(`not the answer that is measured: ${answer}`)
    taken.push(served.threadMs() - before)
    socket.removeAllListeners()
    await setTimeout(everyMs)
  }
  socket.destroy()
  return taken
}
