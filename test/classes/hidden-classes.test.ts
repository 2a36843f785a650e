/**
 * No claim makes hidden classes of its own. In Node.js 20 each object does whose literal begins with a spread and then adds members. Ten
 * such literals took a fifth of a claim's time.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Submitted } from './submitting.ts'

/** At one place: each group of claims may make some, and what goes on beside them makes many, each at another place. */
const MOST_FOR_A_CLAIM = 0.25
/** V8's log counts from a moment that is a little later than the process's own. */
const LATER_MS = 100

t.test('no claim makes hidden classes of its own', async (t) => {
  const logfile = join(t.testdir(), 'v8.log')
  const execArgv = ['--log-maps', '--no-logfile-per-isolate', `--logfile=${logfile}`]
  const child = fork(new URL('./submitting.js', import.meta.url), { execArgv })
  const exited = once(child, 'exit')
  const ended = exited.then(([code]) => Promise.reject(new Error(`the process ended with ${code}`)))
  const [{ claims, since, until }] = (await Promise.race([once(child, 'message'), ended])) as [Submitted]
  ended.catch(() => {})
  const [code] = await exited
  t.equal(code, 0)
  const made = readFileSync(logfile, 'latin1').split('\n').map(readLine).filter(isMade)
  t.ok(made.length > 100, 'V8 has logged the classes that it made')
  const counts = new Map<string, number>()
  for (const { atMs, place } of made) {
    if (atMs >= since - LATER_MS && atMs <= until) counts.set(place, (counts.get(place) ?? 0) + 1)
  }
  const often = [...counts].filter(([, count]) => count > MOST_FOR_A_CLAIM * claims)
  t.strictSame(often, [], `places at which ${claims} claims made classes, and how many`)
})

/** `map,Transition,15884287,0x…,0x…,0x…,6,21,,_value`: the kind, microseconds, three addresses, line and column, the reason, the member. */
function readLine(line: string) {
  const [event, kind = '', micros, , , , row, column, , member] = line.split(',')
  return { event, kind, atMs: Number(micros) / 1000, place: `${row}:${column} ${member}` }
}

/** Other kinds of lines tell of classes that are there already. */
function isMade({ event, kind }: ReturnType<typeof readLine>): boolean {
  return event === 'map' && ['InitialMap', 'Transition', 'Normalize', 'SlowToFast'].includes(kind)
}
