/** Gathers the checks of one verifier that wait for one destination with the same credentials, so that one read serves many. */
import { setImmediate } from 'node:timers'
import { DestinationError, isDestinationError } from '@claimcheck/core/plugin'
import { type CheckCall, PluginEndedError } from './hosted.ts'
import type { OpaqueNames } from './opaque-names.ts'

/**
 * Checks claims in one go, with the requests of the first.
 * @param isAlone true if one of them may end the process of the plugin
 * @returns the plugin's result, which nobody has checked yet
 */
export type CheckMany = (calls: readonly CheckCall[], isAlone: boolean) => Promise<unknown>

interface Member {
  readonly call: CheckCall
  /** The size of the claim and its previous reads in characters of JSON. */
  readonly size: number
  resolve(seen: unknown): void
  reject(error: unknown): void
}

interface Batch {
  readonly members: readonly Member[]
  /** True for a half of a batch that ended the process of its plugin. */
  readonly isAlone: boolean
}

const MOST_MEMBERS = 100
/** The most characters of claims that a batch sends to a plugin's process. A claim alone may be larger. */
const MOST_CHARACTERS = 2 * 1024 * 1024

/**
 * Batches checks: those that come while a batch runs are the next one, so that nobody gets an answer that was asked for before its check began. Each
 * check keeps its own time and its own failure. All checks of a batch are of one workspace. A batch makes its requests as its first member; when that
 * member's limits end it, the others are made again without it. A batch that ends the process of its plugin is halved, until the member is alone that
 * does it.
 */
export function batched(checkMany: CheckMany, names: OpaqueNames): (call: CheckCall) => Promise<unknown> {
  /** Waiting checks by their common origin, workspace and credentials. */
  const lanes = new Map<string, Member[]>()

  async function run(name: string, waiting: Member[]): Promise<void> {
    const repeated: Batch[] = []
    while (repeated.length > 0 || waiting.length > 0) {
      const { members, isAlone } = repeated.shift() ?? { members: take(waiting), isAlone: false }
      const running = members.filter(isRunning)
      if (running.length > 0) repeated.unshift(...(await make({ members: running, isAlone }, checkMany)))
    }
    lanes.delete(name)
  }

  return (call) =>
    new Promise((resolve, reject) => {
      const name = JSON.stringify([call.origin, call.tenant.workspaceId, names.cacheKey(call.connection)])
      const member = { call, size: JSON.stringify([call.claim, call.previous]).length, resolve, reject }
      const waiting = lanes.get(name)
      if (waiting) {
        waiting.push(member)
        return
      }
      const begun = [member]
      lanes.set(name, begun)
      // Checks that come at the same time are one batch.
      setImmediate(() => void run(name, begun))
    })
}

function take(waiting: Member[]): Member[] {
  let characters = 0
  const end = waiting.findIndex(({ size }, index) => {
    characters += size
    return index === MOST_MEMBERS || (index > 0 && characters > MOST_CHARACTERS)
  })
  return waiting.splice(0, end === -1 ? waiting.length : end)
}

/** Tells whether a check still has time. One whose time is over gets the error of a timeout. */
function isRunning({ call, reject }: Member): boolean {
  if (!call.requests.isSpent()) return true
  reject(new DestinationError('timeout'))
  return false
}

/**
 * Makes the checks of a batch.
 * @returns the batches to make again next
 */
async function make({ members, isAlone }: Batch, checkMany: CheckMany): Promise<readonly Batch[]> {
  const calls = members.map(({ call }) => call)
  try {
    const returned = await untilAborted(checkMany(calls, isAlone), calls[0]!.timer.signal)
    if (Array.isArray(returned) && returned.length === members.length) return giveOut(returned, members)
    throw new TypeError(`checkMany has to return a list of ${members.length}, one for each claim`)
  } catch (error) {
    return giveUp(error, members)
  }
}

/**
 * Hands out the results of a batch.
 * @returns checks to make again, because the limits of the first one ended its requests: those say nothing of the others
 */
function giveOut(returned: readonly unknown[], members: readonly Member[]): Batch[] {
  const [leader] = members as [Member, ...Member[]]
  const { requests } = leader.call
  const breach = requests.breach()
  const repeated: Member[] = []
  for (const [index, member] of members.entries()) {
    const seen = breach ?? returned[index]
    if (!(seen instanceof Error)) {
      // Clocks and ages in the answers hold for all checks that they served.
      if (member !== leader) member.call.requests.inherit(requests.readings())
      member.resolve(seen)
    } else if (member !== leader && requests.isSpent() && isDestinationError(seen)) repeated.push(member)
    else member.reject(seen)
  }
  return repeated.length > 0 ? [{ members: repeated, isAlone: false }] : []
}

/**
 * Rejects checks of a batch that failed.
 * @returns batches to make again, since the failure may not concern them
 */
function giveUp(error: unknown, members: readonly Member[]): Batch[] {
  const [leader, ...others] = members as [Member, ...Member[]]
  if (error instanceof PluginEndedError && others.length > 0) {
    const half = Math.ceil(members.length / 2)
    return [members.slice(0, half), members.slice(half)].map((part) => ({ members: part, isAlone: true }))
  }
  const { requests } = leader.call
  const isOver = requests.isSpent() && requests.breach() === undefined
  for (const { reject } of isOver ? [leader] : members) reject(error)
  return isOver && others.length > 0 ? [{ members: others, isAlone: false }] : []
}

/** Rejects when the signal aborts, so that a plugin that ignores its signal holds up nobody else. */
function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const expire = () => reject(new DestinationError('timeout'))
    signal.addEventListener('abort', expire, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', expire))
  })
}
