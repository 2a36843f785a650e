/** Measures how long a tenant waits while others send load, in processor time, which on a quiet machine is the time that passes. */
import { connect } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { claimsOf, type Target } from './claims.ts'
import { type Figure, figure } from './figure.ts'
import type { Served } from './process.ts'
import { quantile } from './statistics.ts'

/** Tokens are counted by the minute: an attacker has all of its tokens at the beginning. */
const MINUTE_MS = 60_000
/** The worst hundredth of a minute is a handful of claims, and differs from minute to minute. */
const ROUNDS = 2
const MOST = 1.5

type Counts = Readonly<Record<string, number>>

export interface Attack {
  /** @returns how often each answer was given */
  stop(): Counts | Promise<Counts>
}

interface Compared {
  readonly served: Served
  readonly target: Target
  readonly everyMs: number
  /** The attacker, such as: a network at full speed. */
  readonly attacker: string
  begin(): Attack
}

/** Minutes alone and minutes beside the attack, in turn. */
export async function compareWaits({ served, target, everyMs, attacker, begin }: Compared): Promise<Figure[]> {
  const alone: number[] = []
  const beside: number[] = []
  const answers: Record<string, number> = {}
  for (let round = 0; round < ROUNDS; round++) {
    await minuteBegins()
    alone.push(...(await waits(served, target, everyMs)))
    await minuteBegins()
    const attack = begin()
    beside.push(...(await waits(served, target, everyMs)))
    for (const [answer, count] of Object.entries(await attack.stop())) answers[answer] = (answers[answer] ?? 0) + count
  }
  const [before, after] = [quantile(alone, 0.99), quantile(beside, 0.99)]
  const what = 'POST of a claim (p99), in processor time'
  return [
    figure(`${what}: alone`, before, 'ms'),
    figure(`${what}: beside ${attacker}`, after, 'ms'),
    figure(`${what}: beside ${attacker}, ratio to alone`, after / before, '', { atMost: MOST }),
    ...Object.entries(answers)
      .toSorted()
      .map(([answer, count]) => figure(`answers to ${attacker}: ${answer}`, count, '')),
  ]
}

const minuteBegins = () => setTimeout(MINUTE_MS - (Date.now() % MINUTE_MS))

/** Sends one claim after the other for a minute, and measures for each what the answering thread works while it waits. */
async function waits(served: Served, { url, key }: Target, everyMs: number): Promise<number[]> {
  const end = performance.now() + MINUTE_MS
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
