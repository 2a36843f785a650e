/** What has to be agreed before this host signs on the database as it is. */
import type { LogHost } from '../../storage/log-hosts.ts'
import type { LogState } from '../../storage/log-state.ts'

/** What was there before a host compared. */
export interface Round {
  readonly hosts: readonly LogHost[]
}

/** What the memories of this host say of the log, which none of them contradicts. */
export interface Memories {
  /** One has its newest head. */
  readonly knowNewest: boolean
  /** One that does not share the fate of the database has its newest head. */
  readonly proveNewest: boolean
}

export interface LogAgreement {
  /** Call it before comparing. */
  begin(): Promise<Round>
  /** Call it after comparing. Tells other hosts of it. @returns what this host waits for; undefined: it may sign */
  settle(round: Round, log: LogState, memories: Memories): Promise<string | undefined>
  /** What the database, or the file that it is in, must be now for an append to this log. */
  isBound(log: LogState): boolean
  /** Binds the log to the database as it is, because an operator says that it is the newest. */
  confirm(log: LogState): Promise<void>
  /** The file that a new log is bound to; undefined: the database says. */
  file(): string | undefined
  /** Others wait for this host no more. */
  leave(): Promise<void>
}
