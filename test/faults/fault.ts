/** What can happen to an installation, and what came of it. */
import type { Dialect } from '../support/database.ts'
import type { World } from './world.ts'

/** `pending`: it came true, and its `for` did not pass. */
export type AlertState = 'pending' | 'firing'

export interface Fault {
  readonly name: string
  readonly dialect: Dialect
  /** Why it cannot be played on this machine. */
  readonly skip?: string | false | undefined
  /** What it needs from the start. */
  readonly needs?: 'small disk' | 'clocks'
  /** Brings back what an old backup has: a host that goes on would fork the log. Until `mend`, every host must refuse. */
  readonly restores?: true
  /** Breaks something under load, and removes the cause again. */
  readonly play: (world: World) => Promise<void>
  /** What its alert comes to, where that is a promise: it stays pending where the fault is over before its `for`. */
  readonly alert?: { readonly name: string; readonly state: AlertState }
  /** What an operator does by hand until claims are taken again; without it, nothing. */
  readonly mend?: { readonly steps: readonly string[]; readonly run: (world: World) => Promise<void> }
}

export interface Report {
  readonly claims: number
  /** Acknowledged, and gone. */
  readonly lost: number
  readonly doubled: number
  readonly forked: number
  /** From the end of the cause, and of what an operator did, to a claim that each host took. */
  readonly recoveryMs: number
  /** What `/readyz` said while hosts were not ready. */
  readonly reasons: readonly string[]
  /** The alerts that came true; none where there is no Prometheus. */
  readonly alerts: ReadonlyMap<string, AlertState>
  readonly problems: readonly string[]
}
