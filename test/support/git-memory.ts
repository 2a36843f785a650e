/** What the processes of git that work below a folder take of this machine's memory. */
import { readdir, readFile, readlink } from 'node:fs/promises'
import { setTimeout } from 'node:timers/promises'

export interface Taken {
  /** The most that they held together, and that one of them held or reserved. Bytes. */
  readonly together: number
  readonly one: number
  readonly reserved: number
  /** The most groups of processes at a time: one for each run. */
  readonly runs: number
}

/** Watches them while the work goes on. */
export async function watchGit<T>(folder: string, work: () => Promise<T>): Promise<{ result: T; taken: Taken }> {
  const taken = { together: 0, one: 0, reserved: 0, runs: 0 }
  const state = { isOver: false }
  const watching = watch(folder, taken, state)
  try {
    return { result: await work(), taken }
  } finally {
    state.isOver = true
    await watching
  }
}

async function watch(folder: string, taken: { -readonly [K in keyof Taken]: Taken[K] }, state: { isOver: boolean }) {
  while (!state.isOver) {
    const found = (await processes()).filter(({ at }) => at.startsWith(folder))
    taken.together = Math.max(
      taken.together,
      found.reduce((sum, { held }) => sum + held, 0),
    )
    for (const { held, reserved } of found) {
      taken.one = Math.max(taken.one, held)
      taken.reserved = Math.max(taken.reserved, reserved)
    }
    taken.runs = Math.max(taken.runs, new Set(found.map(({ group }) => group)).size)
    await setTimeout(5)
  }
}

async function processes() {
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const found = await Promise.all(ids.map((id) => describe(id).catch(() => undefined)))
  return found.filter((one) => one !== undefined)
}

async function describe(id: string) {
  const at = await readlink(`/proc/${id}/cwd`)
  const [status, stat] = await Promise.all(['status', 'stat'].map((name) => readFile(`/proc/${id}/${name}`, 'latin1')))
  const bytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status!)?.[1] ?? 0) * 1024
  // proc(5): after the program's name in parentheses come the state, the parent and the group.
  const group = stat!.slice(stat!.lastIndexOf(')') + 2).split(' ')[2]!
  return { at, group, held: bytes('VmHWM'), reserved: bytes('VmPeak') }
}
