/** libfaketime, where it is installed: it sets the clock of the system for one program. */
import { existsSync, readdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const LIBRARIES = '/usr/lib'

function findLibrary(): string | undefined {
  const folders = existsSync(LIBRARIES)
    ? [LIBRARIES, ...readdirSync(LIBRARIES).map((name) => join(LIBRARIES, name))]
    : []
  return folders.map((folder) => join(folder, 'faketime', 'libfaketime.so.1')).find(existsSync)
}

const library = findLibrary()

/** The options of a test that needs it. */
export const WITH_FAKETIME = { skip: library ? false : 'libfaketime is missing: apt-get install faketime' }

export interface FakeClock {
  /** Of the program that has this clock. */
  readonly env: Readonly<Record<string, string>>
  /** Sets the clock so many seconds ahead of the true time, or behind it. */
  set(seconds: number): void
}

/** @param monotonicToo its monotonic clock goes with the other one, as no real one does */
export function fakeClock(folder: string, { monotonicToo = false } = {}): FakeClock {
  const file = join(folder, 'faketime')
  const set = (seconds: number) => {
    // At once: the program may read it in the middle of a write.
    writeFileSync(`${file}.next`, `${seconds < 0 ? '' : '+'}${seconds}\n`)
    renameSync(`${file}.next`, file)
  }
  set(0)
  const env = {
    LD_PRELOAD: library!,
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_NO_CACHE: '1',
    ...(monotonicToo ? {} : { FAKETIME_DONT_FAKE_MONOTONIC: '1', DONT_FAKE_MONOTONIC: '1' }),
  }
  return { env, set }
}
