/** The description of a feature: plain data, and functions that load what they need when they are called. The host composes features and knows none by name. */
import type { Command } from 'commander'
import type { AuditWords } from '../base/audit-events.ts'
import type { Worker } from '../base/worker.ts'
import type { HostConfig } from '../config/config.ts'
import type { ConfigSection, Env } from '../config/section.ts'
import type { Access, RouteGroup } from '../http/app.ts'
import type { NewAuditEntry } from '../storage/audit-trail.ts'
import type { Schema, Stored } from '../storage/schema.ts'
import type { Writes } from '../storage/storage.ts'
import type { Watch } from './monitoring.ts'

/** Makes each service on first use, of the services that its parameter names. */
// biome-ignore lint/suspicious/noExplicitAny: each names the services that it needs; `host/types.ts` holds them against what there is
export type Factories = Readonly<Record<string, (services: any) => unknown>>

/** Runs `work` on the installation of this environment, and closes it. A server may run on it at the same time. */
export type WithServices<S> = <T>(
  work: (services: S) => Promise<T>,
  options?: {
    /** Loads the plugins. */
    readonly plugins?: boolean
    /** Leaves the database as it is, also where it takes no writes. */
    readonly asIs?: boolean
    /** Overrides variables of this environment. */
    readonly env?: Env
  },
) => Promise<T>

/** Reads the configuration of an environment, in the working directory. @throws ConfigError */
export type LoadConfig = (env: Env) => HostConfig

/** The parts of the program that commands find beside services: they may work without a database. */
export interface Program {
  readonly loadConfig: LoadConfig
  readonly schema: Schema
}

/** A server at an address of its own, which runs beside the service's. */
export interface Listener {
  readonly name: string
  readonly url: string
  close(): Promise<void>
}

/** A page of the documentation, made from Markdown. */
export interface Page {
  /** The title of the chapter at whose end it is. */
  readonly chapter: string
  /** Below `/docs/`. */
  readonly path: string
  /** The path in the repository, to which its links are relative. */
  readonly file: string
  /** The file from which it is read. */
  readonly url: URL
}

/** The reason that a host cannot do all of its work. Where it still serves requests, the load balancer keeps it. */
export interface NotReady {
  readonly problem: string
  readonly serves: boolean
}

/** @typeParam S the services that it uses */
// biome-ignore lint/suspicious/noExplicitAny: features with different needs are in one list
export interface Feature<S = any> {
  readonly name: string
  /** Features without whose routes and workers its own make no sense: when one is left out, so is this. */
  readonly needs?: readonly string[]
  /** Operators may leave out its routes and workers. Its tables, services and commands stay. */
  readonly isOptional?: true
  readonly config?: ConfigSection
  /** Stays when an operator leaves the feature out: migrations, copy, erasure and doctor go by it. */
  readonly stored?: Stored
  /** The events that it records, each with words that complete "ACTOR ...". */
  readonly auditWords?: AuditWords
  readonly services?: () => Promise<Factories>
  /** The services that have a `close` for the end of the process. */
  readonly closes?: readonly string[]
  /** Runs before the service listens, one feature after the other. */
  readonly prepare?: (services: S) => Promise<void>
  readonly access?: (services: S) => Partial<Access>
  readonly routes?: (services: S) => Promise<readonly RouteGroup[]>
  readonly listen?: (services: S) => Promise<Listener | undefined>
  readonly workers?: (services: S) => readonly Worker[]
  /** Resolves when what its workers and requests left under way is done. */
  readonly idle?: (services: S) => Promise<void>
  /** Joins each transaction that records audit events, with the entries. */
  readonly onAudit?: (services: S) => ((tx: Writes, entries: readonly NewAuditEntry[]) => Promise<void>) | undefined
  readonly readiness?: (services: S) => Promise<NotReady | undefined>
  /** Warnings of what would lose data in a disaster. */
  readonly warnings?: (services: S) => Promise<readonly string[]>
  readonly metrics?: (services: S) => Watch
  readonly pages?: readonly Page[]
  // biome-ignore lint/suspicious/noExplicitAny: each command names the services that it uses
  readonly commands?: (program: Command, withServices: WithServices<any>, own: Program) => void
}
