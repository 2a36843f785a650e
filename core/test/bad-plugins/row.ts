/** A bad plugin: one planted fault, and the kit's check that must find it. */
import type { Plugin } from '@claimcheck/core/plugin'
import type { Situation } from './tracker.ts'

/** The way in which it reads: by requests, by requests that the host signs, gets tokens for or answers a challenge for, by calls, or over a connection that is no HTTP. */
export type Way = 'requests' | 'signatures' | 'tokens' | 'challenges' | 'calls' | 'lines'

export type BadPlugin = readonly [
  /** The name of the check. */
  caughtBy: string,
  /** What is wrong with it, as `a plugin that ...`. */
  what: string,
  plugin: () => Plugin,
  more?: {
    /** In which it shows. `closed`, when left out. */
    readonly situations?: readonly Situation[]
    /** `requests`, when left out. */
    readonly way?: Way
    /** The kit waits long before it is sure. */
    readonly takesLong?: true
  },
]

export function readingBy(way: Way, rows: readonly BadPlugin[]): readonly BadPlugin[] {
  return rows.map(([caughtBy, what, plugin, more]) => [caughtBy, what, plugin, { way, ...more }])
}
