/** Workspaces, their API keys and their connections, as rows. */

import type { KnownIdentity } from '@claimcheck/core/hosting'
import type { Proven } from '@claimcheck/core/plugin'
import type { Instant, JsonObject } from '@claimcheck/core/rules'
import type { Payer } from '../base/payers.ts'
import { LOOKS_VERSION, looksOf } from '../names/confusables.ts'
import { type Db, runAll } from './db.ts'
import { allowanceSql, payerOfWorkspace } from './payers.ts'
import { columnsOf, insertIfNew, insertRows, selectRow, selectRows } from './rows.ts'
import { bigint, extended, instant, json, nullable, part, type RowOf, table, text } from './table.ts'

/** The requirement of a workspace for the sign-in of its members. */
export type SignInRule = 'any' | 'second_step' | 'passkey'

export const workspaces = table('workspaces', ['id'], {
  id: text('id'),
  name: text('name'),
  /** The account that pays for the workspace: its maker, or an owner who took it over since; null if it pays for itself. */
  paidBy: nullable(text('paid_by')),
  createdAt: instant('created_at'),
  signInRule: text<SignInRule>('sign_in_rule'),
  /**
   * The time when the workspace was deleted: it has no members, keys or connections since then, and its name is free. The row stays, because claims
   * refer to it.
   */
  deletedAt: nullable(instant('deleted_at')),
})

export const apiKeys = table('api_keys', ['id'], {
  id: text('id'),
  workspaceId: text('workspace_id'),
  name: text('name'),
  keyHash: text('key_hash'),
  lastFour: text('last_four'),
  /** The person who made the key; null for the command line. */
  createdBy: nullable(text('created_by')),
  createdAt: instant('created_at'),
  lastUsedAt: nullable(instant('last_used_at')),
  lastAddress: nullable(text('last_address')),
  expiresAt: nullable(instant('expires_at')),
  /** Networks in CIDR notation from which the key is accepted; empty for any. */
  networks: json<readonly string[]>('networks'),
  /** The agents that the key is bound to; null for a key that claims for all agents that are not bound. */
  agentIds: nullable(json<readonly string[]>('agent_ids')),
  /** The key that a rotation made in place of this one. */
  replacedBy: nullable(text('replaced_by')),
  revokedAt: nullable(instant('revoked_at')),
})

/** The agents for which only keys that are bound to them may claim. An agent stays here when its keys end, until an owner releases it. */
export const boundAgents = table('bound_agents', ['workspaceId', 'agentId'], {
  workspaceId: text('workspace_id'),
  agentId: text('agent_id'),
  boundAt: instant('bound_at'),
})

/** The looks of bound agents (`confusables.ts`): a claim for an id that looks like one of them needs its key as well. */
export const boundLooks = table('bound_looks', ['workspaceId', 'look', 'agentId'], {
  workspaceId: text('workspace_id'),
  look: text('look'),
  agentId: text('agent_id'),
  /** The `LOOKS_VERSION` of the table by which the looks were made. */
  version: text('version'),
})

export type AddressVisibility = 'published' | 'withheld'

/**
 * The state of a connection: `works` and `reached` as a probe proves them; `refused`, when the destination refused the credentials, or did not show
 * with them what a check asked for.
 */
export type ConnectionState = Proven | 'refused'

/** The identity of a destination as the last trial that told one has it. */
export interface StoredIdentity extends KnownIdentity {
  readonly former: string | null
}

export const connections = table('connections', ['id'], {
  id: text('id'),
  workspaceId: text('workspace_id'),
  /** The connection's name; null for its usual one. */
  name: nullable(text('name')),
  provider: text('provider'),
  /** The options of the connection that are not secret. */
  options: json<JsonObject>('options'),
  /** The secret options of the connection, each sealed. */
  sealedSecrets: json<Readonly<Record<string, string>>>('sealed_secrets'),
  /** Tokens that refresh tokens brought, by the option of each, sealed. */
  sealedTokens: json<Readonly<Record<string, string>>>('sealed_tokens'),
  /** The sealed key of the id that receipts name instead of a withheld address; null once disconnected. */
  sourceKey: nullable(text('source_key')),
  /** The choice whether receipts name the base address of the connection's destination. */
  address: text<AddressVisibility>('address'),
  scopes: json<readonly string[]>('scopes'),
  /** Notes of the probe, for the owner. */
  notes: json<readonly string[]>('notes'),
  /** The person who made the connection; null for the command line. */
  connectedBy: nullable(text('connected_by')),
  connectedAt: instant('connected_at'),
  disconnectedAt: nullable(instant('disconnected_at')),
  lastReadAt: nullable(instant('last_read_at')),
  lastFailureAt: nullable(instant('last_failure_at')),
  /** The code of the last failure. */
  lastFailure: nullable(text('last_failure')),
  /** The state that trials and reads found; null for a connection that was stored without a trial that the destination answered. */
  state: nullable(text<ConnectionState>('state')),
  stateAt: nullable(instant('state_at')),
  /** The target that trials read through the connection: a repository, a package, a page. */
  trialTarget: nullable(text('trial_target')),
  /** The time when the credentials end, as the destination said. */
  expiresAt: nullable(instant('expires_at')),
  /** The identity of the destination, for a type that tells identities; null where no trial told one. */
  identity: nullable(json<StoredIdentity>('identity')),
})

export type WorkspaceRow = RowOf<typeof workspaces>
export type NewWorkspaceRow = Pick<WorkspaceRow, 'id' | 'name' | 'createdAt'> & Partial<Pick<WorkspaceRow, 'paidBy'>>
export type ApiKeyRow = RowOf<typeof apiKeys>
export type BoundAgentRow = RowOf<typeof boundAgents>
export type BoundLookRow = RowOf<typeof boundLooks>

const changeable = part(apiKeys, 'name', 'expiresAt', 'networks', 'agentIds', 'replacedBy', 'revokedAt')
/** The changeable columns of a key. */
export type KeyChanges = Partial<RowOf<typeof changeable>>
export type ConnectionRow = RowOf<typeof connections>

/** Codes of failures which say that the destination refuses a connection. */
export const REFUSALS: ReadonlySet<string> = new Set(['unauthorized', 'forbidden'])

const providerCounts = extended(part(connections, 'provider'), { count: bigint('count') })
/** A count of the active connections of one provider. */
export type ProviderCount = RowOf<typeof providerCounts>

const found = part(connections, 'scopes', 'notes', 'state', 'stateAt', 'trialTarget', 'expiresAt', 'identity')
/** The result of a trial. */
export type Found = RowOf<typeof found>

/** A key that was looked up to authenticate a request. */
export interface FoundKeyRow extends ApiKeyRow {
  /** True if the key's workspace has bound agents. */
  readonly bindsAgents: boolean
  readonly payer: Payer
}

const ACTIVE = 'WHERE disconnected_at IS NULL'
const THERE = 'deleted_at IS NULL'

/** Reads of workspaces, without deleted ones. */
export function workspaceReads(db: Db) {
  return {
    async byIdOrName(idOrName: string): Promise<WorkspaceRow | undefined> {
      return selectRow(db, workspaces, `WHERE (id = ? OR name = ?) AND ${THERE}`, [idOrName, idOrName])
    },
    /** Finds the payer of a workspace; undefined when it does not exist. */
    async payer(id: string): Promise<Payer | undefined> {
      const [row] = await db.query(
        `SELECT ${payerOfWorkspace('workspaces.id')} AS payer FROM workspaces WHERE id = ?`,
        [id],
      )
      return row && String(row.payer)
    },
    /**
     * Lists the payers of the workspaces that the allowance of an account pays for.
     * @param but the id of a workspace that does not count
     */
    async payersOf(allowance: string, but = ''): Promise<Payer[]> {
      const sharing = `SELECT id FROM users WHERE id = ? OR ${allowanceSql('shares_with')} = ?`
      const sql = `SELECT ${payerOfWorkspace('workspaces.id')} AS payer FROM workspaces
        WHERE ${THERE} AND id <> ? AND paid_by IN (${sharing})`
      return (await db.query(sql, [but, allowance, allowance])).map(({ payer }) => String(payer))
    },
    async any(): Promise<boolean> {
      return (await db.query(`SELECT id FROM workspaces WHERE ${THERE} LIMIT 1`)).length > 0
    },
    async list(): Promise<WorkspaceRow[]> {
      return selectRows(db, workspaces, `WHERE ${THERE} ORDER BY name`)
    },
  }
}

export function workspaceWrites(db: Db) {
  return {
    ...workspaceReads(db),
    /** Lists the names of all other workspaces. Nobody takes another one until this transaction ends. */
    async lockNames(id: string): Promise<string[]> {
      await runAll(db, db.dialect.lockTables([workspaces.name]))
      return (await selectRows(db, workspaces, `WHERE ${THERE} AND id <> ?`, [id])).map(({ name }) => name)
    },
    /** Inserts a workspace. False when the name is taken. */
    async insert(workspace: NewWorkspaceRow): Promise<boolean> {
      return insertIfNew(db, workspaces, { paidBy: null, ...workspace, signInRule: 'any', deletedAt: null }, 'name')
    },
    /** Renames a workspace. False when another workspace has the name. */
    async rename(id: string, name: string): Promise<boolean> {
      // The lock keeps others from taking the name meanwhile.
      await runAll(db, db.dialect.lockTables([workspaces.name]))
      const holder = await selectRow(db, workspaces, 'WHERE name = ?', [name])
      if (holder && holder.id !== id) return false
      await db.table(workspaces.name).where({ id }).update({ name })
      return true
    },
    /** Reads a workspace, and locks it until this transaction ends, so that nothing comes into one that is being deleted. */
    async lock(id: string): Promise<WorkspaceRow | undefined> {
      return selectRow(db, workspaces, `WHERE id = ? AND ${THERE} ${db.dialect.forChange}`, [id])
    },
    async setPaidBy(id: string, userId: string): Promise<void> {
      await db.table(workspaces.name).where({ id }).update({ paid_by: userId })
    },
    async setSignInRule(id: string, rule: SignInRule): Promise<void> {
      await db.table(workspaces.name).where({ id }).update({ sign_in_rule: rule })
    },
    /** Deletes a workspace. Its name is its id from now on, which no other workspace has as a name. */
    async delete(id: string, at: Instant): Promise<void> {
      await db.table(workspaces.name).where({ id }).update({ name: id, deleted_at: at })
    },
  }
}

export function keyReads(db: Db) {
  return {
    async byHashes(keyHashes: readonly string[]): Promise<FoundKeyRow[]> {
      const binds = 'EXISTS (SELECT 1 FROM bound_agents WHERE bound_agents.workspace_id = api_keys.workspace_id)'
      const sql = `SELECT ${apiKeys.names}, CASE WHEN ${binds} THEN 1 ELSE 0 END AS binds_agents,
        ${payerOfWorkspace('api_keys.workspace_id')} AS payer FROM api_keys WHERE key_hash IN ${db.dialect.texts}`
      const rows = await db.query(sql, [JSON.stringify(keyHashes)])
      return rows.map((row) => ({
        ...apiKeys.read(row),
        bindsAgents: Number(row.binds_agents) === 1,
        payer: String(row.payer),
      }))
    },
    /** Lists the bound agents, by id. */
    async boundAgents(workspaceId?: string): Promise<BoundAgentRow[]> {
      const order = 'ORDER BY workspace_id, agent_id'
      return workspaceId === undefined
        ? selectRows(db, boundAgents, order)
        : selectRows(db, boundAgents, `WHERE workspace_id = ? ${order}`, [workspaceId])
    },
    /** Lists the bound agents that this one looks like, itself before others. */
    async boundLike(workspaceId: string, agentId: string): Promise<string[]> {
      const sql = `SELECT agent_id FROM (
        SELECT agent_id FROM bound_agents WHERE workspace_id = ? AND agent_id = ?
        UNION SELECT agent_id FROM bound_looks WHERE workspace_id = ? AND look IN ${db.dialect.texts}) AS alike
        ORDER BY CASE WHEN agent_id = ? THEN 0 ELSE 1 END, agent_id`
      const looks = JSON.stringify(looksOf(agentId))
      const rows = await db.query(sql, [workspaceId, agentId, workspaceId, looks, agentId])
      return rows.map((row) => String(row.agent_id))
    },
    async boundLooks(): Promise<BoundLookRow[]> {
      return selectRows(db, boundLooks, 'ORDER BY workspace_id, look, agent_id')
    },
    async byId(id: string): Promise<ApiKeyRow | undefined> {
      return selectRow(db, apiKeys, 'WHERE id = ?', [id])
    },
    async list(workspaceId?: string): Promise<ApiKeyRow[]> {
      const order = 'ORDER BY created_at, id'
      return workspaceId === undefined
        ? selectRows(db, apiKeys, order)
        : selectRows(db, apiKeys, `WHERE workspace_id = ? ${order}`, [workspaceId])
    },
  }
}

export function keyWrites(db: Db) {
  return {
    ...keyReads(db),
    async insert(key: ApiKeyRow): Promise<void> {
      await insertRows(db, apiKeys, [key])
    },
    /** Reads a key, and locks it until this transaction ends. */
    async lock(id: string): Promise<ApiKeyRow | undefined> {
      return selectRow(db, apiKeys, `WHERE id = ? ${db.dialect.forUpdate}`, [id])
    },
    async change(key: ApiKeyRow, changes: KeyChanges): Promise<ApiKeyRow> {
      const changed = { ...key, ...changes }
      await db.table(apiKeys.name).where({ id: key.id }).update(columnsOf(changeable, changed))
      return changed
    },
    async revokeAll(workspaceId: string, at: Instant): Promise<void> {
      await db.table('api_keys').where({ workspace_id: workspaceId }).whereNull('revoked_at').update({ revoked_at: at })
    },
    /** Notes a use of a key. When several hosts note one, the latest time stays. */
    async used(id: string, at: Instant, address: string): Promise<void> {
      const sql =
        'UPDATE api_keys SET last_used_at = ?, last_address = ? WHERE id = ? AND COALESCE(last_used_at, 0) < ?'
      await db.query(sql, [at, address, id, at])
    },
    /**
     * Binds agents before this transaction stores a key that is bound to them. No claim is stored meanwhile: each is stored either
     * before, or under the new rule. Returns those that were not bound.
     */
    async bindAgents(workspaceId: string, agentIds: readonly string[], at: Instant): Promise<readonly string[]> {
      if (agentIds.length === 0) return []
      await runAll(db, db.dialect.lockTables(['claims']))
      const before = await selectRows(
        db,
        boundAgents,
        `WHERE workspace_id = ? AND agent_id IN ${db.dialect.texts} ${db.dialect.forUpdate}`,
        [workspaceId, JSON.stringify(agentIds)],
      )
      const added = agentIds.filter((id) => !before.some(({ agentId }) => agentId === id))
      const rows = added.map((agentId) => ({ workspaceId, agentId, boundAt: at }))
      await insertRows(db, boundAgents, rows)
      await insertLooks(db, rows)
      return added
    },
    /** Makes the looks of all bound agents anew, for another table of confusable characters. Of two that look alike now, both stay bound. */
    async renewLooks(): Promise<void> {
      await runAll(db, db.dialect.lockTables(['claims']))
      await db.table(boundLooks.name).delete()
      await insertLooks(db, await selectRows(db, boundAgents, ''))
    },
    /** Reads a bound agent, and locks it until this transaction ends. */
    async lockAgent(workspaceId: string, agentId: string): Promise<BoundAgentRow | undefined> {
      const rest = `WHERE workspace_id = ? AND agent_id = ? ${db.dialect.forUpdate}`
      return selectRow(db, boundAgents, rest, [workspaceId, agentId])
    },
    async releaseAgent({ workspaceId, agentId }: BoundAgentRow): Promise<void> {
      const isAgent = { workspace_id: workspaceId, agent_id: agentId }
      await db.table(boundLooks.name).where(isAgent).delete()
      await db.table(boundAgents.name).where(isAgent).delete()
    },
  }
}

async function insertLooks(db: Db, agents: readonly BoundAgentRow[]): Promise<void> {
  const looks = agents.flatMap(({ workspaceId, agentId }) =>
    looksOf(agentId).map((look) => ({ workspaceId, look, agentId, version: LOOKS_VERSION })),
  )
  await insertRows(db, boundLooks, looks)
}

export function connectionReads(db: Db) {
  return {
    /** Lists active connections, oldest first; of all workspaces when none is named. */
    async active(workspaceIds?: readonly string[]): Promise<ConnectionRow[]> {
      const order = 'ORDER BY connected_at, id'
      return workspaceIds
        ? selectRows(db, connections, `${ACTIVE} AND workspace_id IN ${db.dialect.texts} ${order}`, [
            JSON.stringify(workspaceIds),
          ])
        : selectRows(db, connections, `${ACTIVE} ${order}`)
    },
    /**
     * Counts the active connections, those of them that the destination refuses, and those that failed when they were last read. A result that is
     * hidden from a connection is no failure of it.
     */
    async counts(): Promise<{ readonly active: number; readonly refused: number; readonly failing: number }> {
      const counted = (condition: string) => `COALESCE(SUM(CASE WHEN ${condition} THEN 1 ELSE 0 END), 0)`
      const [row] = await db.query(`SELECT COUNT(*) AS active, ${counted("state = 'refused'")} AS refused,
        ${counted("COALESCE(state, '') <> 'refused' AND last_failure_at >= COALESCE(last_read_at, 0) AND last_failure <> 'forbidden'")} AS failing
        FROM connections ${ACTIVE}`)
      return { active: Number(row!.active), refused: Number(row!.refused), failing: Number(row!.failing) }
    },
    /** Counts the active connections of each provider. */
    async countsByProvider(): Promise<ProviderCount[]> {
      const sql = `SELECT provider, COUNT(*) AS count FROM connections ${ACTIVE} GROUP BY provider ORDER BY provider`
      return (await db.query(sql)).map(providerCounts.read)
    },
    async byIds(ids: readonly string[]): Promise<ConnectionRow[]> {
      return selectRows(db, connections, `WHERE id IN ${db.dialect.texts}`, [JSON.stringify(ids)])
    },
    async activeById(id: string): Promise<ConnectionRow | undefined> {
      return selectRow(db, connections, `${ACTIVE} AND id = ?`, [id])
    },
  }
}

const WITHOUT_SECRETS = { sealed_secrets: '{}', sealed_tokens: '{}', source_key: null }

/** A read through a connection that failed. */
export interface ConnectionFailure {
  readonly askedAt: Instant
  readonly at: Instant
  readonly code: string
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
      await insertRows(db, connections, [connection])
    },
    /** Reads a connection, and locks it until this transaction ends. */
    async lock(id: string): Promise<ConnectionRow | undefined> {
      return selectRow(db, connections, `${ACTIVE} AND id = ? ${db.dialect.forUpdate}`, [id])
    },
    async storeTokens({ id }: ConnectionRow, sealedTokens: ConnectionRow['sealedTokens']): Promise<void> {
      await active(id).update({ sealed_tokens: JSON.stringify(sealedTokens) })
    },
    /** Replaces the secrets of an active connection. False when it is not active any more, or has other secrets than these. */
    async replaceSecrets({ id, sealedSecrets }: ConnectionRow, to: ConnectionRow): Promise<boolean> {
      const changed = await active(id)
        .where({ sealed_secrets: JSON.stringify(sealedSecrets) })
        .update({
          sealed_secrets: JSON.stringify(to.sealedSecrets),
          sealed_tokens: JSON.stringify(to.sealedTokens),
          source_key: to.sourceKey,
          ...columnsOf(found, to),
        })
      return changed === 1
    },
    /** Stores the result of a trial of an active connection, unless the connection has other secrets than these by now. */
    async tried({ id, sealedSecrets }: ConnectionRow, by: Found): Promise<void> {
      await active(id)
        .where({ sealed_secrets: JSON.stringify(sealedSecrets) })
        .update(columnsOf(found, by))
    },
    /** Replaces the options of a locked connection that are not secret. */
    async changeOptions(id: string, options: JsonObject): Promise<void> {
      await active(id).update({ options: JSON.stringify(options) })
    },
    /** Renames a connection. False when there is no such active connection, in this workspace where one is named. */
    async rename(id: string, name: string | null, workspaceId?: string): Promise<boolean> {
      return (await active(id, workspaceId).update({ name })) === 1
    },
    /** Disconnects a connection, and deletes its secrets. False when there is no such active connection, in this workspace where one is named. */
    async disconnect(id: string, at: Instant, workspaceId?: string): Promise<boolean> {
      const isDone = (await active(id, workspaceId).update({ disconnected_at: at, ...WITHOUT_SECRETS })) === 1
      if (isDone) await db.table('hint_addresses').where({ connection_id: id }).delete()
      return isDone
    },
    /** Disconnects all connections of a workspace, and deletes their secrets. */
    async disconnectAll(workspaceId: string, at: Instant): Promise<void> {
      const all = db.table('connections').where({ workspace_id: workspaceId }).whereNull('disconnected_at')
      await all.update({ disconnected_at: at, ...WITHOUT_SECRETS })
      await db.table('hint_addresses').where({ workspace_id: workspaceId }).delete()
    },
    /** Notes a successful read. When several hosts note one, the latest time stays. A connection that was refused before is reached again. */
    async wasRead(id: string, at: Instant): Promise<void> {
      const isOver = `state = 'refused' AND state_at < ?`
      const sql = `UPDATE connections SET last_read_at = ?, state = CASE WHEN ${isOver} THEN 'reached' ELSE state END,
        state_at = CASE WHEN ${isOver} THEN ? ELSE state_at END WHERE id = ? AND COALESCE(last_read_at, 0) < ?`
      await db.query(sql, [at, at, at, at, id, at])
    },
    /**
     * Notes a failed read. Refused credentials become the state of the connection, unless it was read since. A forbidden or missing target of a claim
     * is no more than the last failure: at places that hide, an agent's mistake looks the same. A refusal from before the newest trial may be one of
     * credentials that were replaced since.
     */
    async failed(id: string, { askedAt, at, code }: ConnectionFailure): Promise<void> {
      const isNewest = 'WHERE id = ? AND COALESCE(last_failure_at, 0) < ?'
      if (code !== 'unauthorized') {
        await db.query(`UPDATE connections SET last_failure_at = ?, last_failure = ? ${isNewest}`, [at, code, id, at])
        return
      }
      const begins = `COALESCE(state, '') <> 'refused' AND COALESCE(last_read_at, 0) <= ? AND COALESCE(state_at, 0) <= ?`
      const sql = `UPDATE connections SET last_failure_at = ?, last_failure = ?,
        state = CASE WHEN ${begins} THEN 'refused' ELSE state END, state_at = CASE WHEN ${begins} THEN ? ELSE state_at END ${isNewest}`
      await db.query(sql, [at, code, at, askedAt, at, askedAt, at, id, at])
    },
  }
}
