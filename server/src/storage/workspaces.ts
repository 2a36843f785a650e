/** Workspaces, their API keys and their connections, as rows. */
import type { Instant, JsonObject } from '@claimcheck/core'
import type { Db, Row } from './db.ts'
import { type Columns, insertRows, names, nullableNumber, nullableText, textsOf } from './rows.ts'

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
  /** null: the command line. */
  readonly createdBy: string | null
  readonly createdAt: Instant
  readonly lastUsedAt: Instant | null
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
  /** What the probe said, for the owner. */
  readonly notes: readonly string[]
  /** null: the command line. */
  readonly connectedBy: string | null
  readonly connectedAt: Instant
  readonly disconnectedAt: Instant | null
  readonly lastReadAt: Instant | null
  readonly lastFailureAt: Instant | null
  /** Why: a code. */
  readonly lastFailure: string | null
}

const WORKSPACES: Columns = { id: 'text', name: 'text', created_at: 'bigint' }
const API_KEYS: Columns = {
  id: 'text',
  workspace_id: 'text',
  name: 'text',
  key_hash: 'text',
  last_four: 'text',
  created_by: 'text',
  created_at: 'bigint',
  last_used_at: 'bigint',
  revoked_at: 'bigint',
}
const CONNECTIONS: Columns = {
  id: 'text',
  workspace_id: 'text',
  provider: 'text',
  options: 'text',
  sealed_secrets: 'text',
  scopes: 'text',
  notes: 'text',
  connected_by: 'text',
  connected_at: 'bigint',
  disconnected_at: 'bigint',
  last_read_at: 'bigint',
  last_failure_at: 'bigint',
  last_failure: 'text',
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
    async list(): Promise<WorkspaceRow[]> {
      return (await db.query(`${SELECT_WORKSPACES} ORDER BY name`)).map(toWorkspace)
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
    async insert(key: ApiKeyRow): Promise<void> {
      const { id, workspaceId, name, keyHash, lastFour, createdBy, createdAt, lastUsedAt, revokedAt } = key
      const row = [id, workspaceId, name, keyHash, lastFour, createdBy, createdAt, lastUsedAt, revokedAt]
      await insertRows(db, 'api_keys', API_KEYS, [row])
    },
    /** Revokes for good: a second revocation keeps the first one's time. Undefined for an unknown id, or one of another workspace. */
    async revoke(id: string, at: Instant, workspaceId?: string): Promise<ApiKeyRow | undefined> {
      const which = { id, ...(workspaceId === undefined ? {} : { workspace_id: workspaceId }) }
      await db.table('api_keys').where(which).whereNull('revoked_at').update({ revoked_at: at })
      const [row] = await db.table('api_keys').where(which).select(Object.keys(API_KEYS))
      return row && toKey(row)
    },
    /** Of several hosts the latest stands. */
    async used(id: string, at: Instant): Promise<void> {
      await db.query('UPDATE api_keys SET last_used_at = ? WHERE id = ? AND COALESCE(last_used_at, 0) < ?', [
        at,
        id,
        at,
      ])
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
  const active = (id: string, workspaceId?: string) =>
    db
      .table('connections')
      .where({ id, ...(workspaceId === undefined ? {} : { workspace_id: workspaceId }) })
      .whereNull('disconnected_at')

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
        JSON.stringify(connection.notes),
        connection.connectedBy,
        connection.connectedAt,
        connection.disconnectedAt,
        connection.lastReadAt,
        connection.lastFailureAt,
        connection.lastFailure,
      ]
      await insertRows(db, 'connections', CONNECTIONS, [row])
    },
    /** What an active connection is read with from now on. False when it is that no more, or has other secrets than these. */
    async replaceSecrets({ id, sealedSecrets }: ConnectionRow, to: ConnectionRow): Promise<boolean> {
      const changed = await active(id)
        .where({ sealed_secrets: JSON.stringify(sealedSecrets) })
        .update({
          sealed_secrets: JSON.stringify(to.sealedSecrets),
          scopes: JSON.stringify(to.scopes),
          notes: JSON.stringify(to.notes),
        })
      return changed === 1
    },
    /** Forgets the secrets with it. False when there is no such active connection, in this workspace where one is named. */
    async disconnect(id: string, at: Instant, workspaceId?: string): Promise<boolean> {
      return (await active(id, workspaceId).update({ disconnected_at: at, sealed_secrets: '{}' })) === 1
    },
    /** Of several hosts the latest stands. */
    async wasRead(id: string, at: Instant): Promise<void> {
      const sql = 'UPDATE connections SET last_read_at = ? WHERE id = ? AND COALESCE(last_read_at, 0) < ?'
      await db.query(sql, [at, id, at])
    },
    async failed(id: string, at: Instant, code: string): Promise<void> {
      const sql =
        'UPDATE connections SET last_failure_at = ?, last_failure = ? WHERE id = ? AND COALESCE(last_failure_at, 0) < ?'
      await db.query(sql, [at, code, id, at])
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
    createdBy: nullableText(row.created_by),
    createdAt: Number(row.created_at),
    lastUsedAt: nullableNumber(row.last_used_at),
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
    notes: JSON.parse(String(row.notes)),
    connectedBy: nullableText(row.connected_by),
    connectedAt: Number(row.connected_at),
    disconnectedAt: nullableNumber(row.disconnected_at),
    lastReadAt: nullableNumber(row.last_read_at),
    lastFailureAt: nullableNumber(row.last_failure_at),
    lastFailure: nullableText(row.last_failure),
  }
}
