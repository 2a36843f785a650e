/** Measures how far other programs took the machine, so that a reader knows what the figures are worth. */
import { readFileSync } from 'node:fs'
import { treeTime } from '@claimcheck/server/plugins/isolation/process-usage'
import { type Figure, figure } from './figure.ts'

const TICK_MS = 10

/** Returns what says how it was since the call. */
export function watchMachine(): () => Figure[] {
  const before = readMachine()
  return () => {
    const after = readMachine()
    const all = after.allMs - before.allMs
    const own = after.ownMs - before.ownMs
    return [
      figure('machine: processor time that others took', share(after.busyMs - before.busyMs - own, all), '%'),
      figure('machine: processor time that the hypervisor took', share(after.stolenMs - before.stolenMs, all), '%'),
    ]
  }
}

function share(part: number, whole: number): number {
  return (100 * Math.max(0, part)) / whole
}

function readMachine() {
  const [user, nice, system, idle, waiting, interrupts, softInterrupts, stolen] = readFileSync('/proc/stat', 'utf8')
    .split('\n', 1)[0]!
    .split(/ +/)
    .slice(1)
    .map((ticks) => TICK_MS * Number(ticks)) as [number, number, number, number, number, number, number, number]
  const busyMs = user + nice + system + interrupts + softInterrupts
  return { busyMs, stolenMs: stolen, allMs: busyMs + stolen + idle + waiting, ownMs: treeTime(process.pid) }
}
