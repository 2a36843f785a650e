/** What has to be agreed before this host signs on the database as it is. */
import type { LogHost } from '../../storage/log-hosts.ts'
import type { LogState } from '../../storage/log-state.ts'

/** A host that ran, and its last process as the database knows it. */
export type RanHost = Pick<LogHost, 'hostId' | 'process'>

/** What was there before a host compared. */
export interface Round {
  readonly hosts: readonly LogHost[]
  /** Another host runs that knows this log. */
  isKnownElsewhere(logId: string): boolean
}

/** What the memories of this host say of the log, which none of them contradicts. */
export interface Memories {
  /** One has a head of it. */
  readonly knowLog: boolean
  /** One has its newest head. */
  readonly knowNewest: boolean
  /** One that does not share the fate of the database has its newest head. */
  readonly proveNewest: boolean
}

/** Nothing that this host can ask remembers the log, and the database is another one than before: a dump, a clone, or a standby. */
export const OTHER_DATABASE =
  'the database was restarted or replaced, and this host remembers nothing of its log: it waits for a host that does. Where none is left, restore the newest database, or begin another log with: claimcheck log new. Where HEAD_MEMORY proves that this is the newest, claimcheck log resume goes on with it'

export interface LogAgreement {
  /** Call it before comparing. */
  begin(): Promise<Round>
  /** Call it after comparing. Tells other hosts of it. @returns what this host waits for; undefined: it may sign */
  settle(round: Round, log: LogState, memories: Memories): Promise<string | undefined>
  /** What the database, or the file that it is in, must be now for an append to this log. */
  isBound(log: LogState): boolean
  /** Binds the log to the database as it is, because an operator says that it is the newest. False: it changed meanwhile. */
  confirm(log: LogState): Promise<boolean>
  /** The file that a new log is bound to; undefined: the database says. */
  file(): string | undefined
  /** The hosts that ran on the database before it was another one; undefined: it does not say. */
  ranBefore(log: LogState): Promise<readonly RanHost[] | undefined>
  /** Others wait no more for a host that is gone for good. @throws ServiceError `not_found` for one that is not silent; `conflict` where hosts share no database */
  forget(hostId: string): Promise<void>
  /** Others wait for this host no more. */
  leave(): Promise<void>
}
