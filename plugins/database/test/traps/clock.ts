/** A clock that real database servers on this machine go by: libfaketime gives them the time that a file says. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const LIBRARIES = ['x86_64', 'aarch64'].map((machine) => `/usr/lib/${machine}-linux-gnu/faketime/libfaketimeMT.so.1`)
const machineNow = Date.now.bind(Date)

/** The reason no server here can go by another clock; undefined if it can. */
export function clockProblem(): string | undefined {
  return LIBRARIES.some((file) => existsSync(file))
    ? undefined
    : 'libfaketime is not installed: apt-get install faketime'
}

export type ServerClock = ReturnType<typeof createServerClock>

export function createServerClock() {
  const folder = mkdtempSync(join(tmpdir(), 'claimcheck-clock-'))
  const file = join(folder, 'time')
  writeFileSync(file, '+0')
  return {
    /** Environment of a server that goes by this clock. */
    env: {
      LD_PRELOAD: LIBRARIES.find((one) => existsSync(one)),
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    },
    folder,
    /** Sets the clock, which goes on from that moment. */
    set(moment: number): void {
      const seconds = (moment - machineNow()) / 1000
      writeFileSync(file, `${seconds < 0 ? '' : '+'}${seconds.toFixed(3)}`)
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** Lets this process take its own time from a clock, too: the kit counts a database's time from the machine's. */
export async function byClock<T>(now: () => number, run: () => Promise<T>): Promise<T> {
  Date.now = now
  try {
    return await run()
  } finally {
    Date.now = machineNow
  }
}
