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

/** Functions that make each service on first use, from the services that their parameters name. */
// biome-ignore lint/suspicious/noExplicitAny: each names the services that it needs; `host/types.ts` holds them against what there is
export type Factories = Readonly<Record<string, (services: any) => unknown>>

/** Runs `work` on the installation of this environment, then closes it. A server may run on it at the same time. */
export type WithServices<S> = <T>(
  work: (services: S) => Promise<T>,
  options?: {
    /** True to load the plugins. */
    readonly plugins?: boolean
    /** True to leave the database as it is, also where it takes no writes. */
    readonly asIs?: boolean
    /** Variables that override those of this environment. */
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

/** A server at an address of its own, beside the service's. */
export interface Listener {
  readonly name: string
  readonly url: string
  close(): Promise<void>
}

/** A page of the documentation, made from Markdown. */
export interface Page {
  /** The title of the chapter that the page ends. */
  readonly chapter: string
  /** The page's path below `/docs/`. */
  readonly path: string
  /** The file's path in the repository, to which the page's links are relative. */
  readonly file: string
  /** The file from which the page is read. */
  readonly url: URL
}

/** The reason that a host cannot do all of its work. If it still serves requests, the load balancer keeps it. */
export interface NotReady {
  readonly problem: string
  readonly serves: boolean
}

/** A feature of the service. @typeParam S the services that it uses */
// biome-ignore lint/suspicious/noExplicitAny: features with different needs are in one list
export interface Feature<S = any> {
  readonly name: string
  /** Names of features that this one cannot do without: when one of them is left out, so is this one. */
  readonly needs?: readonly string[]
  /** True for a feature whose routes and workers operators may leave out. Its tables, services and commands stay. */
  readonly isOptional?: true
  readonly config?: ConfigSection
  /** The tables of the feature. They stay when an operator leaves it out: migrations, copy, erasure and doctor go by them. */
  readonly stored?: Stored
  /** The audit events of the feature, each with words that complete "ACTOR ...". */
  readonly auditWords?: AuditWords
  readonly services?: () => Promise<Factories>
  /** Names of the services with a `close` for the end of the process. */
  readonly closes?: readonly string[]
  /** Prepares the feature before the service listens, one feature after the other. */
  readonly prepare?: (services: S) => Promise<void>
  readonly access?: (services: S) => Partial<Access>
  readonly routes?: (services: S) => Promise<readonly RouteGroup[]>
  readonly listen?: (services: S) => Promise<Listener | undefined>
  readonly workers?: (services: S) => readonly Worker[]
  /** Resolves when all work that the feature's workers and requests left under way is done. */
  readonly idle?: (services: S) => Promise<void>
  /** Joins each transaction that records audit events; gets their entries. */
  readonly onAudit?: (services: S) => ((tx: Writes, entries: readonly NewAuditEntry[]) => Promise<void>) | undefined
  readonly readiness?: (services: S) => Promise<NotReady | undefined>
  /** Warns of states that would lose data in a disaster. */
  readonly warnings?: (services: S) => Promise<readonly string[]>
  readonly metrics?: (services: S) => Watch
  readonly pages?: readonly Page[]
  // biome-ignore lint/suspicious/noExplicitAny: each command names the services that it uses
  readonly commands?: (program: Command, withServices: WithServices<any>, own: Program) => void
}
