/** A row of the trap table: what happens in a database, what is claimed of it, and the verdict that is right. */
import { createHmac } from 'node:crypto'
import { type Kind, nearDeadline, row, type TrapRow } from '../../../../test/traps/verifier-table.ts'
import type { Behind } from './door.ts'
import type { MariadbName, MariadbServers } from './mariadb.ts'
import type { PostgresName, PostgresServers } from './postgres.ts'

export const SECOND = 1000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

export type ServerName = PostgresName | MariadbName

/** A session that stays open, as an agent's with a transaction that goes on. */
export interface Session {
  query(sql: string): Promise<unknown>
  end(): Promise<unknown>
}

/** All that an event can change. */
export interface World {
  readonly postgres: PostgresServers
  readonly mariadb: MariadbServers | undefined
  readonly sessions: Map<string, Session>
  /** Leads the connection's address elsewhere. */
  lead(to: ServerName | Behind): void
  /** Sets by how much the servers' clock is ahead. */
  setAhead(ms: number): void
  /** Keeps the replica from following, or lets it. */
  pauseReplica(isPaused: boolean): Promise<void>
  /** Waits for no replica any more. */
  leaveBehind(): void
}

export interface Event {
  readonly atMs: number
  happen(world: World): Promise<void>
}

/** What happens at the place, in its order. */
export class Story {
  readonly events: Event[] = []
  readonly #server: ServerName

  constructor(server: ServerName = 'main') {
    this.#server = server
  }

  sql(atMs: number, sql: string, server = this.#server): this {
    return this.happens(atMs, async ({ postgres, mariadb }) => {
      if (server === 'mariadb' || server === 'follower') await mariadb!.run(sql, server)
      else await postgres.run(server, sql)
    })
  }

  /** Begins a transaction in a session of its own. */
  begin(atMs: number, sql: string): this {
    return this.happens(atMs, async ({ postgres, mariadb, sessions }) => {
      const session: Session =
        this.#server === 'main' || this.#server === 'plain'
          ? await postgres.session(this.#server)
          : await mariadb!.session()
      sessions.set('open', session)
      await session.query('BEGIN')
      await session.query(sql)
    })
  }

  end(atMs: number, how: 'COMMIT' | 'ROLLBACK'): this {
    return this.happens(atMs, async ({ sessions }) => {
      await sessions.get('open')!.query(how)
    })
  }

  lead(atMs: number, to: ServerName | Behind): this {
    return this.happens(atMs, async (world) => world.lead(to))
  }

  clock(atMs: number, aheadMs: number): this {
    return this.happens(atMs, async (world) => world.setAhead(aheadMs))
  }

  /** Keeps the replica of the row from following, or lets it. */
  replica(atMs: number, does: 'pause' | 'resume'): this {
    return this.happens(atMs, (world) => world.pauseReplica(does === 'pause'))
  }

  /** Changes how the follower follows. */
  follower(atMs: number, sql: string): this {
    return this.sql(atMs, sql, 'follower').happens(atMs, async (world) => world.leaveBehind())
  }

  happens(atMs: number, happen: Event['happen']): this {
    if (atMs < (this.events.at(-1)?.atMs ?? atMs)) throw new Error('events come in their order')
    this.events.push({ atMs, happen })
    return this
  }
}

export interface KeyPart {
  readonly column: string
  readonly value: string
}

export interface Scene {
  readonly story: Story
  /** Where the connection's address leads at first. Defaults to `main`. */
  readonly at?: ServerName | Behind
  /** The replica that has to have followed at each look. Defaults to the one that is read. */
  readonly replica?: 'replica' | 'follower'
  /** The table with its schema; of MySQL, with its database. */
  readonly table?: string
  /** The name of the connection that the target names. */
  readonly named?: string
  readonly key?: readonly KeyPart[]
  /** The claimed values, of which the claim has fingerprints; null for NULL. */
  readonly columns?: Readonly<Record<string, string | null>>
  /** Params that are given as they are, instead of those that the agent makes. */
  readonly params?: Readonly<Record<string, unknown>>
  /** Options of the connection that differ from the usual ones; null to leave one out. */
  readonly connection?: Readonly<Record<string, string | null>>
  /** When the agent says that it did it; the start, when left out. */
  readonly claimedMs?: number
  /** A second after the claim, when left out. */
  readonly submittedMs?: number
  readonly deadlineMs?: number
  /** The moment of the first look of a host that is busy. */
  readonly idleUntilMs?: number
}

export interface Row extends TrapRow<Scene> {
  readonly provider: 'postgres' | 'mysql'
  /** The rules blame over what came and went between two looks that are close. */
  readonly isExcused?: boolean
}

export const TRUE: Kind = ['in time', 'verified']
/** It was done, and a verifier may find that it cannot tell. */
export const TRUE_OR_UNTOLD: Kind = ['in time', 'verified', 'unverifiable']
export const TRUE_UNTOLD: Kind = ['in time', 'unverifiable', 'refused']
export const FAILED: Kind = ['never', 'failed']
/** It was not done, and blame may be more than what is seen. */
export const NOT_DONE: Kind = ['never', 'unverifiable', 'failed']
export const NEVER_UNTOLD: Kind = ['never', 'unverifiable', 'refused']
export const REFUSED: Kind = ['never', 'refused', 'unverifiable', 'failed']
export const OTHER: Kind = ['other', 'mismatch', 'failed']
export const OTHER_OR_UNTOLD: Kind = ['other', 'unverifiable', 'mismatch', 'failed']
export const LATE: Kind = ['late', 'late']
export const LATE_UNTOLD: Kind = ['late', 'unverifiable', 'late', 'failed']
export const UNKNOWABLE: Kind = ['unknowable', 'unverifiable']

export function rowsOf(provider: Row['provider']) {
  return (kind: Kind, title: string, why: string, scene: () => Scene, isExcused = false): Row => {
    const near = nearDeadline(kind, { late: 3 * HOUR, other: 12 * MINUTE })
    return { provider, isExcused, ...row(kind, title, why, () => ({ ...near, ...scene() })) }
  }
}

export const NAME = 'orders-db'
export const FINGERPRINT_KEY = 'shared-key-of-agents-0123456789'
/** Values of rows that no fact, error or log may show. */
export const PRIVATE = ['Ada Lovelace', '4111 1111 1111 1111']

export const by = (...parts: readonly (readonly [column: string, value: string])[]): readonly KeyPart[] =>
  parts.map(([column, value]) => ({ column, value }))

export function targetOf({ named = NAME, table = 'public.orders' }: Pick<Scene, 'named' | 'table'>): string {
  return `${named}/${table}`
}

/** The keyed fingerprint as an agent makes it. */
export function fingerprintOf(
  scene: Pick<Scene, 'named' | 'table' | 'key'>,
  column: string,
  value: string | null,
  key = FINGERPRINT_KEY,
): string {
  const lines = [targetOf(scene), column, ...(scene.key ?? ID).map((part) => part.value)]
  const text = [...lines, value === null ? 'null' : `=${value}`].join('\n')
  return `hmac-sha256:${createHmac('sha256', key).update(`claimcheck.fingerprint:${text}`).digest('hex')}`
}

export const ID = by(['id', '7'])

export function paramsOf(scene: Scene): Readonly<Record<string, unknown>> {
  const { key = ID, columns } = scene
  const claimed = Object.entries(columns ?? {}).map(([column, value]) => ({
    column,
    fingerprint: fingerprintOf(scene, column, value),
  }))
  return scene.params ?? { key, ...(columns && { columns: claimed }) }
}
