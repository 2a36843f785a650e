/**
 * No claim makes hidden classes of its own. In Node.js 20 each object does whose literal begins with a spread and then adds members: it
 * takes a twentieth of a claim's time, and what reads such objects takes several times as long.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Submitted } from './submitting.ts'

/** Each group of claims may make some, and V8 a few when it compiles again. */
const MOST_FOR_A_CLAIM = 0.5
/** V8's log counts from a moment that is a little later than the process's own. */
const LATER_MS = 100

t.test('no claim makes hidden classes of its own', async (t) => {
  const logfile = join(t.testdir(), 'v8.log')
  const execArgv = ['--log-maps', '--no-logfile-per-isolate', `--logfile=${logfile}`]
  const child = fork(new URL('./submitting.js', import.meta.url), { execArgv })
  const exited = once(child, 'exit')
  const ended = exited.then(([code]) => Promise.reject(new Error(`the process ended with ${code}`)))
  const [{ claims, since }] = (await Promise.race([once(child, 'message'), ended])) as [Submitted]
  ended.catch(() => {})
  await exited
  const made = readFileSync(logfile, 'latin1').split('\n').map(readLine).filter(isMade)
  t.ok(made.length > 100, 'V8 has logged the classes that it made')
  const counted = made.filter(({ atMs }) => atMs >= since - LATER_MS)
  const places = [...new Set(counted.map(({ place }) => place))].join(', ')
  t.ok(counted.length <= MOST_FOR_A_CLAIM * claims, `${claims} claims made ${counted.length}, at ${places}`)
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
