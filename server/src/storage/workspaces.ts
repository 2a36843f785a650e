/** Workspaces, their API keys and their connections, as rows. */
import type { Instant, JsonObject } from '@claimcheck/core'
import type { Knex } from 'knex'
import { nullableNumber, type Row } from './rows.ts'

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

export function workspaceReads(db: Knex) {
  return {
    async byIdOrName(idOrName: string): Promise<WorkspaceRow | undefined> {
      const row = await db('workspaces').where('id', idOrName).orWhere('name', idOrName).first()
      return row && toWorkspace(row)
    },
    async any(): Promise<boolean> {
      return (await db('workspaces').first('id')) !== undefined
    },
  }
}

export function workspaceWrites(db: Knex) {
  return {
    ...workspaceReads(db),
    /** False when the name is taken. */
    async insert(workspace: WorkspaceRow): Promise<boolean> {
      const { id, name, createdAt } = workspace
      const inserted = await db('workspaces')
        .insert({ id, name, created_at: createdAt })
        .onConflict('name')
        .ignore()
        .returning('id')
      return inserted.length === 1
    },
  }
}

export function keyReads(db: Knex) {
  return {
    async byHashes(keyHashes: readonly string[]): Promise<ApiKeyRow[]> {
      const marks = keyHashes.map(() => '?').join(',')
      const rows: Row[] = await db.raw(`SELECT * FROM api_keys WHERE key_hash IN (${marks})`, [...keyHashes])
      return rows.map(toKey)
    },
    async list(workspaceId?: string): Promise<ApiKeyRow[]> {
      const query = db('api_keys').orderBy(['created_at', 'id'])
      return (await (workspaceId ? query.where('workspace_id', workspaceId) : query)).map(toKey)
    },
  }
}

export function keyWrites(db: Knex) {
  return {
    ...keyReads(db),
    async insert(key: ApiKeyRow): Promise<void> {
      await db('api_keys').insert({
        id: key.id,
        workspace_id: key.workspaceId,
        name: key.name,
        key_hash: key.keyHash,
        last_four: key.lastFour,
        created_at: key.createdAt,
        revoked_at: key.revokedAt,
      })
    },
    /** Revokes for good: a second revocation keeps the first one's time. Undefined for an unknown id. */
    async revoke(id: string, at: Instant): Promise<ApiKeyRow | undefined> {
      await db('api_keys').where({ id }).whereNull('revoked_at').update({ revoked_at: at })
      const row = await db('api_keys').where({ id }).first()
      return row && toKey(row)
    },
  }
}

export function connectionReads(db: Knex) {
  return {
    /** Oldest first; of all workspaces when none is named. */
    async active(workspaceIds?: readonly string[]): Promise<ConnectionRow[]> {
      const query = db('connections').whereNull('disconnected_at').orderBy(['connected_at', 'id'])
      return (await (workspaceIds ? query.whereIn('workspace_id', workspaceIds) : query)).map(toConnection)
    },
    async activeById(id: string): Promise<ConnectionRow | undefined> {
      const row = await db('connections').where({ id }).whereNull('disconnected_at').first()
      return row && toConnection(row)
    },
  }
}

export function connectionWrites(db: Knex) {
  return {
    ...connectionReads(db),
    async insert(connection: ConnectionRow): Promise<void> {
      await db('connections').insert({
        id: connection.id,
        workspace_id: connection.workspaceId,
        provider: connection.provider,
        options: JSON.stringify(connection.options),
        sealed_secrets: JSON.stringify(connection.sealedSecrets),
        scopes: JSON.stringify(connection.scopes),
        connected_at: connection.connectedAt,
        disconnected_at: connection.disconnectedAt,
      })
    },
    /** Forgets the secrets with it. False when there is no such active connection. */
    async disconnect(id: string, at: Instant): Promise<boolean> {
      const changed = await db('connections')
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
