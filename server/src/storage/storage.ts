/** The interface of storage for services: reads at any time, writes in transactions. */

import { agentWatchReads, agentWatchWrites } from './agent-watches.ts'
import { allowedOriginReads, allowedOriginWrites } from './allowed-origins.ts'
import { anchorReads, anchorWrites } from './anchors.ts'
import { auditTrailReads, auditTrailWrites } from './audit-trail.ts'
import { applyChanges, type Changes } from './changes.ts'
import { claimReads, claimWrites } from './claims.ts'
import { databaseClock } from './clock.ts'
import { connectionHealthWrites } from './connection-health.ts'
import { counterWrites } from './counters.ts'
import type { Db } from './db.ts'
import type { SharedStatements } from './dialect.ts'
import { doctorReads } from './doctor-reads.ts'
import { durability } from './durability.ts'
import { erasureReads, erasureWrites, type WithErasures } from './erasures.ts'
import { eventReads, eventWrites } from './events.ts'
import { hintReads, hintWrites } from './hints.ts'
import { holderReads, holderWrites } from './holders.ts'
import { hostPluginRows } from './host-plugins.ts'
import { leaseWrites } from './leases.ts'
import { logReads, logWrites } from './log.ts'
import { logHosts } from './log-hosts.ts'
import { lostReceiptReads, lostReceiptWrites } from './lost-receipts.ts'
import { machineReads, machineWrites } from './machines.ts'
import { mailReads, mailWrites } from './mails.ts'
import { memberReads, memberWrites, userReads, userWrites } from './people.ts'
import { profileSettingsReads, profileSettingsWrites } from './profile-settings.ts'
import { recordReads, recordWrites } from './records.ts'
import type { PublishedReads } from './replica.ts'
import { retentionReads, retentionWrites } from './retentions.ts'
import { revisitReads, revisitWrites } from './revisits.ts'
import { sealedReads, sealedWrites } from './sealed-columns.ts'
import { secondStepReads, secondStepWrites } from './second-steps.ts'
import {
  identityReads,
  identityWrites,
  linkReads,
  linkWrites,
  passkeyReads,
  passkeyWrites,
  sessionReads,
  sessionWrites,
} from './sign-in.ts'
import { throttleReads, throttleWrites } from './throttles.ts'
import { webhookReads, webhookWrites } from './webhooks.ts'
import {
  connectionReads,
  connectionWrites,
  keyReads,
  keyWrites,
  workspaceReads,
  workspaceWrites,
} from './workspaces.ts'

export type Reads = ReturnType<typeof reads>
export type Writes = ReturnType<typeof writes>
export type Shared = ReturnType<typeof shared>

export interface Storage {
  /** The name of the package or module that speaks to the database. */
  readonly driver: string
  readonly read: Reads
  /** Reads of the public log and receipts: at a replica where there is one and it has them, else at the primary. */
  readonly published: PublishedReads
  /** Tells whether there is a replica that does not answer, so that the primary does. */
  isReplicaAway(): boolean
  /**
   * Runs a transaction: everything that `work` writes happens or nothing does; it is on disk when this returns. Writers may run side by side: one
   * that appends to the log takes `tx.log.lock()` first.
   * @throws StorageError `unavailable`: when the connection breaks at the end, the writes may have happened
   */
  write<T>(work: (tx: Writes) => Promise<T>, options?: WriteOptions): Promise<T>
  /**
   * Makes the changes in a transaction of one statement, which is on disk when this returns.
   * @throws StorageError `unavailable`, as `write` does; another error when the log or a claim differs from what the changes expect, and then nothing
   * was changed
   */
  apply(changes: Changes): Promise<void>
  /** Registers a listener, which gets the workspaces of events that this process has stored. */
  onEvents(listener: EventListener): void
  /** The results of the last writes. */
  readonly writing: Writing
  /** Reads the use of the connections, for monitoring. */
  readonly use: () => StorageUse
  /** The file of the database, where one host has it to itself. */
  readonly file: string | undefined
  /** Rows other than the data that hosts share, without transactions; absent where one host has the database to itself. */
  readonly shared: Shared | undefined
  /**
   * Takes deleted rows out of the files in which the database keeps changes for a while, where a statement can do that. False: a reader is in the
   * way, and a later call succeeds.
   */
  forgetDeleted(): Promise<boolean>
  /**
   * Writes the files of the tables whose content can be erased anew, so that nothing is left in them of what was deleted. Takes as long as the tables
   * are large, and writers wait meanwhile. False: a reader is in the way, and a later call succeeds.
   */
  rewrite(): Promise<boolean>
  close(): Promise<void>
}

export type EventListener = (workspaceIds: ReadonlySet<string>) => void

export interface WriteOptions {
  /** True for a write whose success proves that claims can be stored. */
  readonly proves?: boolean
}

export interface StorageUse {
  /** The number of the database's failures since the start, by their code. */
  readonly errors: ReadonlyMap<string, number>
  /** The time that all statements together waited for a connection since the start. */
  readonly waitedMs: number
  readonly pools: Readonly<Record<string, PoolUse>>
}

export interface PoolUse {
  readonly used: number
  readonly idle: number
  /** The number of statements and transactions that wait for a connection. */
  readonly waiting: number
  readonly most: number
}

export interface Writing {
  /** Returns when the oldest write that is under way began, by `performance.now`; undefined if none is. */
  pendingSince(): number | undefined
  /** Returns when the last write ended, and why the database did not take it; undefined before the first. */
  last(): { readonly at: number; readonly problem: string | undefined } | undefined
}

export type StorageErrorCode =
  | 'unavailable'
  | 'newer_schema'
  | 'older_schema'
  | 'not_empty'
  | 'corrupt'
  | 'no_driver'
  | 'encoding'

export class StorageError extends Error {
  override readonly name = 'StorageError'
  readonly code: StorageErrorCode
  /** True if the database was not reached, which may end by itself. */
  readonly mayReturn: boolean

  constructor(
    code: StorageErrorCode,
    message: string,
    { mayReturn = false, ...options }: { readonly cause?: unknown; readonly mayReturn?: boolean } = {},
  ) {
    super(message, options)
    this.code = code
    this.mayReturn = mayReturn
  }
}

export function reads(db: Db) {
  return {
    /** The database itself, for features beyond those of the service that keep rows in tables of their own. */
    db,
    users: userReads(db),
    members: memberReads(db),
    sessions: sessionReads(db),
    links: linkReads(db),
    passkeys: passkeyReads(db),
    identities: identityReads(db),
    secondSteps: secondStepReads(db),
    records: recordReads(db),
    workspaces: workspaceReads(db),
    keys: keyReads(db),
    machines: machineReads(db),
    mails: mailReads(db),
    throttles: throttleReads(db),
    connections: connectionReads(db),
    claims: claimReads(db),
    profileSettings: profileSettingsReads(db),
    log: logReads(db),
    lost: lostReceiptReads(db),
    erasures: erasureReads(db),
    retentions: retentionReads(db),
    allowedOrigins: allowedOriginReads(db),
    holders: holderReads(db),
    hints: hintReads(db),
    revisits: revisitReads(db),
    anchors: anchorReads(db),
    events: eventReads(db),
    agentWatch: agentWatchReads(db),
    webhooks: webhookReads(db),
    audit: auditTrailReads(db),
    sealed: sealedReads(db),
    doctor: doctorReads(db),
  }
}

export function writes(tx: Db, schema: WithErasures) {
  return {
    db: tx,
    users: userWrites(tx),
    members: memberWrites(tx),
    sessions: sessionWrites(tx),
    links: linkWrites(tx),
    passkeys: passkeyWrites(tx),
    identities: identityWrites(tx),
    secondSteps: secondStepWrites(tx),
    records: recordWrites(tx),
    workspaces: workspaceWrites(tx),
    keys: keyWrites(tx),
    machines: machineWrites(tx),
    mails: mailWrites(tx),
    connections: connectionWrites(tx),
    connectionHealth: connectionHealthWrites(tx),
    claims: claimWrites(tx),
    profileSettings: profileSettingsWrites(tx),
    log: logWrites(tx),
    lost: lostReceiptWrites(tx),
    erasures: erasureWrites(tx, schema),
    retentions: retentionWrites(tx),
    allowedOrigins: allowedOriginWrites(tx),
    holders: holderWrites(tx),
    hints: hintWrites(tx),
    revisits: revisitWrites(tx),
    anchors: anchorWrites(tx),
    events: eventWrites(tx),
    agentWatch: agentWatchWrites(tx),
    webhooks: webhookWrites(tx),
    leases: leaseWrites(tx),
    audit: auditTrailWrites(tx),
    sealed: sealedWrites(tx),
    throttles: throttleWrites(tx),
    /**
     * Applies changes.
     * @throws when the log or a claim differs from what the changes expect
     */
    apply: (changes: Changes) => applyChanges(tx, changes),
  }
}

export function shared(db: Db, statements: SharedStatements) {
  return {
    clock: databaseClock(db),
    counters: counterWrites(db, statements),
    logHosts: logHosts(db),
    hostPlugins: hostPluginRows(db),
    durability: durability(db, statements),
  }
}
