/**
 * The cells of one plugin: a process for each workspace that it works for. The attack: the author of a plugin owns a workspace, and has the
 * plugin keep what it sees of another one and tell it in a claim, ask with the other's credentials, or answer its checks. So a process that
 * got anything of a workspace works for no other one, and ends when its place is needed. No process is common to all workspaces, not even
 * for functions that ask nothing of the host: what such a function returns is stored in the claim of the workspace that called it.
 *
 * One process is started ahead. It has seen nothing but the operator's options, and becomes the next cell, so that a submission waits for
 * no start.
 */
import { setTimeout as setTimer } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { Places } from '../../base/places.ts'
import { PluginEndedError, type PluginState, type Tenant } from '../hosted.ts'
import { createSharedReadings, type SharedReadings } from './host-calls.ts'
import type { PluginProcess } from './plugin-process.ts'

/** The members of a process that cells use. */
export type CellProcess = Pick<PluginProcess, 'state' | 'available' | 'endedAt' | 'memoryMib' | 'end' | 'close'>

/** The process of one workspace, and what belongs to it. */
export interface Cell<P extends CellProcess = PluginProcess> {
  readonly process: P
  readonly shared: SharedReadings
}

export interface CellLimits {
  /** The most cells at a time, beside the process that is started ahead. */
  readonly most: number
  /** The limit of all processes of the plugin together, in MiB. */
  readonly memoryMib: number
}

interface CellsOptions<P extends CellProcess> extends CellLimits {
  /** The first process, which is set up already. */
  readonly first: P
  /** Starts another process of the plugin. */
  readonly start: () => P
  /** True for a plugin that gets no credentials of any workspace: one process works for all. */
  readonly isShared: boolean
}

type Kind = 'deciding' | 'brief' | 'usual'

interface Place<P extends CellProcess> {
  readonly cell: Cell<P>
  readonly payer: string
  /** The number of calls that the place works on, by kind. */
  readonly runs: Record<Kind, number>
  /** The time when the turn of the place began, after it rested. */
  turnAt: number
  /** The time since which the place has nothing to do. */
  idleAt: number
  /** Resolves when all work that is made again alone is over; undefined where there is none. */
  repeats: Promise<void> | undefined
}

interface Waiter<P extends CellProcess> {
  readonly tenant: Tenant
  readonly kind: Kind
  enter(place: Place<P>): void
  refuse(error: Error): void
}

/** The divisor of all places that gives those kept for checks that decide, and for brief calls. */
const KEPT = 4
/** The weight with which an account that is alone takes 3/4 of the places. */
const WEIGHT = 3
/** The time after which a cell that others wait for takes nothing new, and the one after which it takes no check that decides. */
const TURN_MS = 2000
const LONGEST_TURN_MS = 10_000
const IDLE_MS = 5 * 60_000
const LOOK_MS = 1000
/** The time for which an idle cell is not ended for another one: a claim has several calls, one after the other. */
const REST_MS = 300
/** The most processes that start at a time: starts take the processor from all others, and many workspaces may ask at once. */
const MOST_STARTS = 2
/** The time after which a start holds up no other one: it may never end. */
const LONGEST_START_MS = 10_000
/** The memory to plan for a process that did nothing yet. */
const NEW_MIB = 32
/** The name of the place whose process works for all workspaces. */
const COMMON = 'all'
const URGENCY: Readonly<Record<Kind, number>> = { deciding: 0, brief: 1, usual: 2 }

export class Cells<P extends CellProcess = PluginProcess> {
  readonly #options: CellsOptions<P>
  readonly #places = new Map<string, Place<P>>()
  readonly #waiters = new Set<Waiter<P>>()
  readonly #ending = new Set<Promise<void>>()
  readonly #timer = setInterval(() => this.#look(), LOOK_MS).unref()
  #ahead: P | undefined
  #usedMib = 0
  #starts = 1
  #starting = 0
  #evictions = 0
  #restartsOfEnded = 0
  #lastEndOfEnded: PluginState['lastEnd']
  #isClosed = false
  /** Times when the common process ended while it worked for a workspace. Nothing tells whose work ended it. */
  readonly #falls = new LRUCache<string, readonly number[]>({ max: 10_000 })

  constructor(options: CellsOptions<P>) {
    this.#options = options
    this.#ahead = options.first
  }

  /**
   * Works in the cell of the workspace, which stays as long as that takes. Waits for a place where all are taken. Work that went down with the
   * process is made again alone: nothing tells which of it ended the process.
   * @param until ends the waiting, and is only called if there is some
   * @throws PluginEndedError for work that ends the process alone; Error when `until` aborts first
   */
  async within<T>(
    tenant: Tenant,
    until: () => AbortSignal,
    work: (cell: Cell<P>, isAgain: boolean) => Promise<T>,
  ): Promise<T> {
    const { workspaceId } = tenant
    const isCommon = this.#options.isShared && !this.#places.has(workspaceId) && !this.#fallsOften(workspaceId)
    try {
      return await this.#inPlace(tenant, until, isCommon, async (place) => {
        while (place.repeats) await unlessAborted(place.repeats, until())
        return work(place.cell, false)
      })
    } catch (error) {
      if (!(error instanceof PluginEndedError)) throw error
      if (isCommon) this.#noteFall(workspaceId)
      return this.#alone(tenant, until, (cell) => work(cell, true))
    }
  }

  /**
   * Works while nothing else of the workspace does, in a cell of its own, one after the other. So work that ends a process again and again holds up
   * its own workspace only, also where one process works for all.
   */
  async #alone<T>(tenant: Tenant, until: () => AbortSignal, work: (cell: Cell<P>) => Promise<T>): Promise<T> {
    return this.#inPlace(tenant, until, false, async (place) => {
      for (;;) {
        const before = place.repeats
        const turn = before ? unlessAborted(before, until()) : Promise.resolve()
        const made = turn.then(() => work(place.cell))
        // A caller that gives up waiting leaves the order to the others.
        const over = Promise.allSettled([before, made]).then(() => {
          if (place.repeats === over) place.repeats = undefined
        })
        place.repeats = over
        try {
          return await made
        } catch (error) {
          // Earlier work in this cell may still be under way beside the first repeat.
          if (!(error instanceof PluginEndedError) || error.wasAlone) throw error
        }
      }
    })
  }

  async #inPlace<T>(
    tenant: Tenant,
    until: () => AbortSignal,
    isCommon: boolean,
    work: (place: Place<P>) => Promise<T>,
  ): Promise<T> {
    if (this.#isClosed) throw new Error(STOPPED)
    const kind = tenant.urgency ?? 'usual'
    const common = isCommon ? (this.#places.get(COMMON) ?? this.#add(COMMON, tenant)) : undefined
    const place = common ? begin(common, kind) : await this.#enter(tenant, kind, until)
    try {
      return await work(place)
    } finally {
      place.runs[kind]--
      if (!isWorking(place)) place.idleAt = performance.now()
      if (this.#waiters.size > 0) {
        this.#admit()
        // A timer may fire a moment early, so it gets a millisecond more.
        setTimeout(() => this.#admit(), REST_MS + 1).unref()
      }
    }
  }

  #noteFall(workspaceId: string): void {
    this.#falls.set(workspaceId, [...(this.#falls.get(workspaceId) ?? []).slice(1 - MOST_FALLS), performance.now()])
  }

  /** Tells whether the common process often ended while it worked for this workspace, which then has a process of its own. */
  #fallsOften(workspaceId: string): boolean {
    const falls = this.#falls.get(workspaceId) ?? []
    return falls.length >= MOST_FALLS && performance.now() - falls[0]! < IDLE_MS
  }

  /** The places of workspaces, without the common one. */
  #own(): Place<P>[] {
    return [...this.#places].flatMap(([name, place]) => (name === COMMON ? [] : place))
  }

  /** Tells whether the workspace has a process that takes its calls now. */
  isRunning(workspaceId: string): boolean {
    const place = this.#places.get(workspaceId) ?? this.#places.get(COMMON)
    const waits = [...this.#waiters].some(({ tenant }) => tenant.workspaceId === workspaceId)
    return !waits && place?.cell.process.state().status === 'running'
  }

  state(): PluginState {
    const processes = this.#processes()
    const states = processes.map((process) => process.state())
    const running = states.filter(({ status }) => status === 'running').length
    const lastEnd = lastEnded(processes)?.state().lastEnd ?? this.#lastEndOfEnded
    const status = running > 0 ? 'running' : 'restarting'
    return {
      status: this.#isClosed ? 'stopped' : status,
      restarts: this.#restartsOfEnded + states.reduce((sum, { restarts }) => sum + restarts, 0),
      ...(lastEnd === undefined ? {} : { lastEnd }),
      cells: {
        most: this.#options.isShared ? 1 : this.#options.most,
        memoryMib: this.#options.memoryMib,
        running,
        working: this.#working().length,
        waiting: this.#waiters.size,
        starts: this.#starts,
        evictions: this.#evictions,
      },
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearInterval(this.#timer)
    for (const waiter of this.#waiters) waiter.refuse(new Error(STOPPED))
    for (const process of this.#processes()) this.#end(process)
    this.#places.clear()
    this.#ahead = undefined
    await Promise.all(this.#ending)
  }

  #processes(): P[] {
    return [...[...this.#places.values()].map(({ cell }) => cell.process), ...(this.#ahead ? [this.#ahead] : [])]
  }

  #working(): Place<P>[] {
    return [...this.#places.values()].filter(isWorking)
  }

  /**
   * Waits for a place for a call.
   * @returns the place, in which the work has begun
   */
  async #enter(tenant: Tenant, kind: Kind, until: () => AbortSignal): Promise<Place<P>> {
    const place = this.#placeFor(tenant, kind)
    if (place) return begin(place, kind)
    return new Promise((resolve, reject) => {
      const signal = until()
      const expire = () => waiter.refuse(new Error('the plugin has no process free for this workspace'))
      const leave = () => {
        this.#waiters.delete(waiter)
        signal.removeEventListener('abort', expire)
      }
      const waiter: Waiter<P> = {
        tenant,
        kind,
        enter(place) {
          leave()
          resolve(begin(place, kind))
        },
        refuse(error) {
          leave()
          reject(error)
        },
      }
      this.#waiters.add(waiter)
      signal.addEventListener('abort', expire, { once: true })
      // An aborted signal sends no event.
      if (signal.aborted) expire()
    })
  }

  /** Admits waiting calls for which there is a place: checks that decide first, then accounts that have the fewest places. */
  #admit(): void {
    const now = performance.now()
    const working = placesOf(this.#own().filter(isWorking))
    const inOrder = [...this.#waiters].toSorted(
      (one, other) => URGENCY[one.kind] - URGENCY[other.kind] || working.compare(one.tenant.payer, other.tenant.payer),
    )
    for (const waiter of inOrder) {
      const place = this.#placeFor(waiter.tenant, waiter.kind, now)
      if (place) waiter.enter(place)
    }
  }

  /**
   * Finds the place in which a call may begin, if there is one.
   * @param now one time for all waiting calls: else a cell that is rested only a moment later goes to the call that comes second
   */
  #placeFor(tenant: Tenant, kind: Kind, now = performance.now()): Place<P> | undefined {
    const known = this.#places.get(tenant.workspaceId)
    if (known && !isRested(known, now) && this.#isTurnOver(known, tenant, kind, now)) return undefined
    const isBegun = known && (kind === 'usual' ? known.runs.usual > 0 : isWorking(known))
    if (!isBegun && !this.#hasRoom(tenant, kind)) return undefined
    return known ?? (this.#mayStart() && this.#makeRoom(now) ? this.#add(tenant.workspaceId, tenant) : undefined)
  }

  /** Tells whether a cell has worked for long while others wait. */
  #isTurnOver({ turnAt }: Place<P>, tenant: Tenant, kind: Kind, now: number): boolean {
    if (now - turnAt < (kind === 'deciding' ? LONGEST_TURN_MS : TURN_MS)) return false
    return [...this.#waiters].some((waiter) => waiter.tenant.workspaceId !== tenant.workspaceId)
  }

  /** Tells whether one more cell may work on a call of this kind. */
  #hasRoom({ payer }: Tenant, kind: Kind): boolean {
    const { most } = this.#options
    const working = this.#own().filter(isWorking)
    const [taken, all] =
      kind === 'usual'
        ? [working.filter(({ runs }) => runs.usual > 0), most - Math.floor(most / KEPT)]
        : [working, most]
    return placesOf(taken).mayTake(payer, all - taken.length, WEIGHT)
  }

  #mayStart(): boolean {
    return this.#ahead !== undefined || this.#starting < MOST_STARTS
  }

  #makeRoom(now: number): boolean {
    const { most, memoryMib } = this.#options
    const isFull = () => this.#own().length >= most || this.#usedMib + NEW_MIB > memoryMib
    while (this.#own().length > 0 && isFull()) if (!this.#evictIdle((place) => isRested(place, now))) return false
    return true
  }

  /** Ends an idle cell: of the account with the most places, the one that is idle the longest. An account with many takes from itself. */
  #evictIdle(isEnough: (place: Place<P>) => boolean): boolean {
    const held = placesOf(this.#own())
    const idle = [...this.#places].filter(([name, place]) => name !== COMMON && isEnough(place))
    const [first] = idle.toSorted(
      ([, one], [, other]) => held.compare(other.payer, one.payer) || one.idleAt - other.idleAt,
    )
    if (!first) return false
    this.#evict(...first)
    return true
  }

  #evict(workspaceId: string, { cell: { process } }: Place<P>): void {
    this.#places.delete(workspaceId)
    this.#evictions++
    this.#usedMib -= process.memoryMib()
    this.#end(process)
  }

  #end(process: P): void {
    const { restarts, lastEnd } = process.state()
    this.#restartsOfEnded += restarts
    this.#lastEndOfEnded = lastEnd ?? this.#lastEndOfEnded
    const ended = process.close().finally(() => this.#ending.delete(ended))
    this.#ending.add(ended)
  }

  #add(name: string, { payer }: Tenant): Place<P> {
    const process = this.#ahead ?? this.#start()
    this.#ahead = undefined
    const place = {
      cell: { process, shared: createSharedReadings() },
      payer,
      runs: { deciding: 0, brief: 0, usual: 0 },
      turnAt: performance.now(),
      idleAt: performance.now(),
      repeats: undefined,
    }
    this.#places.set(name, place)
    // The call that waits for this process goes first.
    if (!this.#options.isShared) setImmediate(() => this.#startAhead())
    return place
  }

  #startAhead(): void {
    if (!this.#isClosed && this.#starting < MOST_STARTS) this.#ahead ??= this.#start()
  }

  #start(): P {
    this.#starts++
    this.#usedMib += NEW_MIB
    this.#starting++
    const process = this.#options.start()
    void Promise.race([process.available(), setTimer(LONGEST_START_MS, undefined, { ref: false })]).then(() => {
      this.#starting--
      // Waiting calls go first, and take the process that is ahead.
      if (this.#waiters.size > 0) this.#admit()
      if (!this.#options.isShared) this.#startAhead()
    })
    return process
  }

  /** Ends cells that are idle for long, and keeps all processes together within their memory. */
  #look(): void {
    const { isShared, memoryMib } = this.#options
    for (const [name, place] of this.#places) {
      // A workspace that did not end the process by itself goes back to the common one.
      const idleMs =
        isShared && place.cell.process.state().restarts === 0 && !this.#fallsOften(name) ? REST_MS : IDLE_MS
      if (name !== COMMON && !isWorking(place) && performance.now() - place.idleAt > idleMs) this.#evict(name, place)
    }
    const measure = () => this.#processes().reduce((sum, process) => sum + process.memoryMib(), 0)
    for (
      this.#usedMib = measure();
      this.#usedMib > memoryMib && this.#evictIdle((place) => !isWorking(place));
      this.#usedMib = measure()
    );
    // When all cells work, the largest has more than its part and ends. Its checks are made again.
    if (this.#usedMib > memoryMib) largest(this.#processes())?.end('it took too much memory')
    if (this.#waiters.size > 0) this.#admit()
  }
}

/** The number of ends of the common process in `IDLE_MS` that give a workspace a process of its own. */
const MOST_FALLS = 4
const STOPPED = 'the plugin is stopped'

/**
 * Waits for work.
 * @throws Error when the signal aborts first
 */
function unlessAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const expire = () => reject(new Error('other calls of this workspace are made again first'))
    signal.addEventListener('abort', expire, { once: true })
    void work.then(resolve).finally(() => signal.removeEventListener('abort', expire))
    // An aborted signal sends no event.
    if (signal.aborted) expire()
  })
}

function isWorking({ runs }: Pick<Place<CellProcess>, 'runs'>): boolean {
  return runs.deciding + runs.brief + runs.usual > 0
}

function isRested(place: Pick<Place<CellProcess>, 'runs' | 'idleAt'>, now: number): boolean {
  return !isWorking(place) && now - place.idleAt >= REST_MS
}

function begin<P extends CellProcess>(place: Place<P>, kind: Kind): Place<P> {
  const now = performance.now()
  if (isRested(place, now)) place.turnAt = now
  place.runs[kind]++
  return place
}

function placesOf(cells: readonly { readonly payer: string }[]): Places {
  const places = new Places()
  for (const { payer } of cells) places.add(payer, 1)
  return places
}

function largest<P extends CellProcess>(processes: readonly P[]): P | undefined {
  return processes.toSorted((one, other) => other.memoryMib() - one.memoryMib())[0]
}

function lastEnded<P extends CellProcess>(processes: readonly P[]): P | undefined {
  const [last] = processes.toSorted((one, other) => other.endedAt - one.endedAt)
  return last && last.endedAt > Number.NEGATIVE_INFINITY ? last : undefined
}
