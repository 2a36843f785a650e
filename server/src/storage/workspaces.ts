/** Workspaces, their API keys and their connections, as rows. */
import type { Instant, JsonObject } from '@claimcheck/core'
import type { Db, Row } from './db.ts'
import { type Columns, insertRows, names, nullableNumber, textsOf } from './rows.ts'

export interface WorkspaceRow {
  readonly id: string
  readonly name: string
  readonly createdAt: Instant
}

export interface ApiKeyRow {
  readonly id: string
  readonly workspaceId: string
  readonly name: string
  readonly keyHash: string
  readonly lastFour: string
  readonly createdAt: Instant
  readonly revokedAt: Instant | null
}

export interface ConnectionRow {
  readonly id: string
  readonly workspaceId: string
  readonly provider: string
  /** The options that are not secret. */
  readonly options: JsonObject
  /** The secret ones, each sealed. */
  readonly sealedSecrets: Readonly<Record<string, string>>
  readonly scopes: readonly string[]
  readonly connectedAt: Instant
  readonly disconnectedAt: Instant | null
}

const WORKSPACES: Columns = { id: 'text', name: 'text', created_at: 'bigint' }
const API_KEYS: Columns = {
  id: 'text',
  workspace_id: 'text',
  name: 'text',
  key_hash: 'text',
  last_four: 'text',
  created_at: 'bigint',
  revoked_at: 'bigint',
}
const CONNECTIONS: Columns = {
  id: 'text',
  workspace_id: 'text',
  provider: 'text',
  options: 'text',
  sealed_secrets: 'text',
  scopes: 'text',
  connected_at: 'bigint',
  disconnected_at: 'bigint',
}

const SELECT_WORKSPACES = `SELECT ${names(WORKSPACES)} FROM workspaces`
const SELECT_KEYS = `SELECT ${names(API_KEYS)} FROM api_keys`
const SELECT_ACTIVE = `SELECT ${names(CONNECTIONS)} FROM connections WHERE disconnected_at IS NULL`

export function workspaceReads(db: Db) {
  return {
    async byIdOrName(idOrName: string): Promise<WorkspaceRow | undefined> {
      const [row] = await db.query(`${SELECT_WORKSPACES} WHERE id = ? OR name = ?`, [idOrName, idOrName])
      return row && toWorkspace(row)
    },
    async any(): Promise<boolean> {
      return (await db.query('SELECT id FROM workspaces LIMIT 1')).length > 0
    },
  }
}

export function workspaceWrites(db: Db) {
  return {
    ...workspaceReads(db),
    /** False when the name is taken. */
    async insert({ id, name, createdAt }: WorkspaceRow): Promise<boolean> {
      const suffix = 'ON CONFLICT (name) DO NOTHING RETURNING id'
      return (await insertRows(db, 'workspaces', WORKSPACES, [[id, name, createdAt]], suffix)).length === 1
    },
  }
}

export function keyReads(db: Db) {
  return {
    async byHashes(keyHashes: readonly string[]): Promise<ApiKeyRow[]> {
      const sql = `${SELECT_KEYS} WHERE key_hash IN ${textsOf(db.dialect)}`
      return (await db.query(sql, [JSON.stringify(keyHashes)])).map(toKey)
    },
    async list(workspaceId?: string): Promise<ApiKeyRow[]> {
      const order = 'ORDER BY created_at, id'
      const rows = await (workspaceId === undefined
        ? db.query(`${SELECT_KEYS} ${order}`)
        : db.query(`${SELECT_KEYS} WHERE workspace_id = ? ${order}`, [workspaceId]))
      return rows.map(toKey)
    },
  }
}

export function keyWrites(db: Db) {
  return {
    ...keyReads(db),
    async insert({ id, workspaceId, name, keyHash, lastFour, createdAt, revokedAt }: ApiKeyRow): Promise<void> {
      const row = [id, workspaceId, name, keyHash, lastFour, createdAt, revokedAt]
      await insertRows(db, 'api_keys', API_KEYS, [row])
    },
    /** Revokes for good: a second revocation keeps the first one's time. Undefined for an unknown id. */
    async revoke(id: string, at: Instant): Promise<ApiKeyRow | undefined> {
      await db.table('api_keys').where({ id }).whereNull('revoked_at').update({ revoked_at: at })
      const [row] = await db.query(`${SELECT_KEYS} WHERE id = ?`, [id])
      return row && toKey(row)
    },
  }
}

export function connectionReads(db: Db) {
  return {
    /** Oldest first; of all workspaces when none is named. */
    async active(workspaceIds?: readonly string[]): Promise<ConnectionRow[]> {
      const order = 'ORDER BY connected_at, id'
      const rows = await (workspaceIds
        ? db.query(`${SELECT_ACTIVE} AND workspace_id IN ${textsOf(db.dialect)} ${order}`, [
            JSON.stringify(workspaceIds),
          ])
        : db.query(`${SELECT_ACTIVE} ${order}`))
      return rows.map(toConnection)
    },
    async activeById(id: string): Promise<ConnectionRow | undefined> {
      const [row] = await db.query(`${SELECT_ACTIVE} AND id = ?`, [id])
      return row && toConnection(row)
    },
  }
}

export function connectionWrites(db: Db) {
  return {
    ...connectionReads(db),
    async insert(connection: ConnectionRow): Promise<void> {
      const row = [
        connection.id,
        connection.workspaceId,
        connection.provider,
        JSON.stringify(connection.options),
        JSON.stringify(connection.sealedSecrets),
        JSON.stringify(connection.scopes),
        connection.connectedAt,
        connection.disconnectedAt,
      ]
      await insertRows(db, 'connections', CONNECTIONS, [row])
    },
    /** Forgets the secrets with it. False when there is no such active connection. */
    async disconnect(id: string, at: Instant): Promise<boolean> {
      const changed = await db
        .table('connections')
        .where({ id })
        .whereNull('disconnected_at')
        .update({ disconnected_at: at, sealed_secrets: '{}' })
      return changed === 1
    },
  }
}

function toWorkspace(row: Row): WorkspaceRow {
  return { id: String(row.id), name: String(row.name), createdAt: Number(row.created_at) }
}

function toKey(row: Row): ApiKeyRow {
  return {
    id: String(row.id),
    workspaceId: String(row.workspace_id),
    name: String(row.name),
    keyHash: String(row.key_hash),
    lastFour: String(row.last_four),
    createdAt: Number(row.created_at),
    revokedAt: nullableNumber(row.revoked_at),
  }
}

function toConnection(row: Row): ConnectionRow {
  return {
    id: String(row.id),
    workspaceId: String(row.workspace_id),
    provider: String(row.provider),
    options: JSON.parse(String(row.options)),
    sealedSecrets: JSON.parse(String(row.sealed_secrets)),
    scopes: JSON.parse(String(row.scopes)),
    connectedAt: Number(row.connected_at),
    disconnectedAt: nullableNumber(row.disconnected_at),
  }
}
