/** Gathers the checks of one verifier that wait for one destination with the same credentials, so that one read serves many. */
import { setImmediate } from 'node:timers'
import { DestinationError, isDestinationError } from '@claimcheck/core/plugin'
import { type CheckCall, PluginEndedError } from './hosted.ts'
import type { OpaqueNames } from './opaque-names.ts'

/** Checks claims in one go, with the requests of the first. @returns what the plugin returned, which nobody has checked yet */
export type CheckMany = (calls: readonly CheckCall[]) => Promise<unknown>

interface Member {
  readonly call: CheckCall
  /** In characters of JSON. */
  readonly size: number
  resolve(seen: unknown): void
  reject(error: unknown): void
}

interface Lane {
  readonly waiting: Member[]
  /** Batches that are made again, each for itself. */
  readonly again: Member[][]
}

const MOST_MEMBERS = 100
/** What a batch may send to a plugin's process. A claim alone may be larger. */
const MOST_CHARACTERS = 2 * 1024 * 1024

/**
 * Checks that come while a batch runs are the next batch, so that nobody gets an answer that was asked for before its check began. Each
 * check keeps its own time and its own failure. All checks of a batch are of one workspace. A batch makes its requests as its first member; when that member's limits end it, the
 * others are made again without it.
 */
export function batched(checkMany: CheckMany, names: OpaqueNames): (call: CheckCall) => Promise<unknown> {
  const lanes = new Map<string, Lane>()

  async function run(name: string, lane: Lane): Promise<void> {
    for (let batch = nextBatch(lane); batch.length > 0; batch = nextBatch(lane)) await make(batch, lane)
    lanes.delete(name)
  }

  async function make(batch: readonly Member[], lane: Lane): Promise<void> {
    const [leader, ...others] = batch as [Member, ...Member[]]
    const { requests } = leader.call
    let returned: unknown
    try {
      returned = await untilAborted(checkMany(batch.map(({ call }) => call)), leader.call.timer.signal)
      if (!Array.isArray(returned) || returned.length !== batch.length) {
        throw new TypeError(`checkMany has to return a list of ${batch.length}, one for each claim`)
      }
    } catch (error) {
      if (error instanceof PluginEndedError && others.length > 0) {
        // One of them did it.
        const half = Math.ceil(batch.length / 2)
        lane.again.unshift(batch.slice(0, half), batch.slice(half))
        return
      }
      // Its limits say nothing of the others.
      const isOver = requests.isSpent() && requests.breach() === undefined
      if (isOver) lane.again.unshift(others)
      for (const { reject } of isOver ? [leader] : batch) reject(error)
      return
    }
    const breach = requests.breach()
    const repeated: Member[] = []
    for (const [index, member] of batch.entries()) {
      try {
        if (breach) throw breach
        const seen: unknown = returned[index]
        if (seen instanceof Error) throw seen
        // What the answers tell of clocks and ages holds for all whom they served.
        if (member !== leader) member.call.requests.inherit(requests.readings())
        member.resolve(seen)
      } catch (error) {
        if (member !== leader && requests.isSpent() && isDestinationError(error)) repeated.push(member)
        else member.reject(error)
      }
    }
    if (repeated.length > 0) lane.again.unshift(repeated)
  }

  return (call) =>
    new Promise((resolve, reject) => {
      const name = JSON.stringify([call.origin, call.tenant.workspaceId, names.cacheKey(call.connection)])
      const size = JSON.stringify([call.claim, call.previous]).length
      const lane = lanes.get(name) ?? { waiting: [], again: [] }
      lane.waiting.push({ call, size, resolve, reject })
      if (lanes.has(name)) return
      lanes.set(name, lane)
      // Those that come at the same time are one batch.
      setImmediate(() => void run(name, lane))
    })
}

/** A plugin that ignores its signal holds up nobody else. */
function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const expire = () => reject(new DestinationError('timeout'))
    signal.addEventListener('abort', expire, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', expire))
  })
}

/** Empty when nobody waits. */
function nextBatch({ waiting, again }: Lane): Member[] {
  for (;;) {
    const batch = (again.shift() ?? take(waiting)).filter(isRunning)
    if (batch.length > 0 || (again.length === 0 && waiting.length === 0)) return batch
  }
}

function take(waiting: Member[]): Member[] {
  let characters = 0
  const end = waiting.findIndex(({ size }, index) => {
    characters += size
    return index === MOST_MEMBERS || (index > 0 && characters > MOST_CHARACTERS)
  })
  return waiting.splice(0, end === -1 ? waiting.length : end)
}

/** Nobody waits for a check whose time is over. */
function isRunning({ call, reject }: Member): boolean {
  if (!call.requests.isSpent()) return true
  reject(new DestinationError('timeout'))
  return false
}
