/** The storage adapter of oidc-provider: stores its models as OAuth records. */
import type { Instant } from '@claimcheck/core/rules'
import type { Adapter, AdapterPayload, Interaction, KoaContextWithOIDC } from 'oidc-provider'
import type { Acting } from '../../base/actor.ts'
import type { Storage } from '../../storage/storage.ts'
import type { Library } from './library.ts'
import { isMachineId, machineScopes } from './machines.ts'
import {
  type NewRecord,
  type OAuthRecords,
  type Payload,
  REFRESH_TOKEN,
  REPEATABLE_MS,
  type RecordAudit,
  type StoredRecord,
} from './records.ts'
import type { Rotation } from './rotation.ts'
import { scopesAskedAgain } from './scopes.ts'
import { translateStorageErrors } from './storage-errors.ts'

/** The prompt of the library for a person who is not signed in. */
export const SIGN_IN = 'login'
// Only registered clients have no expiry in the library. A client expires here unless a person allows it.
const UNUSED_CLIENT_TTL_MS = 7 * 24 * 60 * 60_000

interface AdapterParts {
  readonly library: Library
  readonly records: OAuthRecords
  readonly rotation: Pick<Rotation, 'current'>
  readonly storage: Pick<Storage, 'read' | 'write'>
  readonly now: () => Instant
  readonly actingIn: (ctx: KoaContextWithOIDC | undefined) => Acting
  /** Makes the audit trail's record of a grant that is being stored. */
  readonly grantAudit: (grantId: string) => RecordAudit | undefined
}

/** Makes the adapter of each model; the library calls the returned function once for each. */
export function adapterFactory(parts: AdapterParts): (model: string) => Adapter {
  const { library, records, rotation, storage, now, actingIn, grantAudit } = parts
  const { errors, Provider } = library
  const translated = translateStorageErrors(errors)
  /** The client and address of the request in which the library calls the adapter. */
  const acting = () => actingIn(Provider.ctx)

  /** Converts the expiry to this host's clock, with which the library compares it; records use the database's clock. */
  function toPayload({ payload, consumedAt, expiresAt }: StoredRecord): AdapterPayload {
    return {
      ...payload,
      ...(expiresAt === null || payload.exp === undefined
        ? {}
        : { exp: Math.floor(Date.now() / 1000) + Math.ceil((expiresAt - now()) / 1000) }),
      ...(consumedAt === null ? {} : { consumed: Math.floor(consumedAt / 1000) }),
    } as AdapterPayload
  }

  /** Finds a machine as a client of the library, which only reads machines. */
  async function findMachine(clientId: string): Promise<AdapterPayload | undefined> {
    const [machine] = await storage.read.machines.byIds([clientId])
    if (!machine || machine.revokedAt !== null) return undefined
    return {
      client_id: clientId,
      client_name: machine.name,
      client_secret: machine.secretHash,
      grant_types: ['client_credentials'],
      response_types: [],
      redirect_uris: [],
      scope: machineScopes(machine).join(' '),
    }
  }

  async function find(model: string, id: string): Promise<AdapterPayload | undefined> {
    if (model === 'Client' && isMachineId(id)) return findMachine(id)
    const record = await records.find(model, id)
    if (!record) return undefined
    if (model !== REFRESH_TOKEN || !rotation.current()) return toPayload(record)
    const { params } = Provider.ctx!.oidc
    if (params) params.scope = scopesAskedAgain(record.payload.scope, params.scope)
    // A record that is marked as consumed would have the library end the grant: whether this is a repeat is decided where the token is used up.
    const { consumedAt } = record
    const mayBeRepeat = consumedAt !== null && now() - consumedAt < REPEATABLE_MS
    return toPayload(mayBeRepeat ? { ...record, consumedAt: null } : record)
  }

  function registrationAudit(id: string, { client_name: name, redirect_uris: uris }: Payload): RecordAudit {
    const by: Acting = { actor: { kind: 'application', id }, address: acting().address }
    const details = { name: String(name ?? '').slice(0, 200), redirect_uris: [uris].flat().join(' ').slice(0, 1000) }
    return async (tx) => tx.audit.record({ event: 'application.registered', at: now(), by, subject: id, details })
  }

  function auditOf(model: string, id: string, payload: Payload): RecordAudit | undefined {
    if (model === 'Client') return registrationAudit(id, payload)
    return model === 'Grant' ? grantAudit(id) : undefined
  }

  async function upsert(model: string, id: string, payload: AdapterPayload, ttlSeconds: unknown): Promise<void> {
    const ttlMs = typeof ttlSeconds === 'number' ? ttlSeconds * 1000 : UNUSED_CLIENT_TTL_MS
    const stored = payload as Payload
    const record: NewRecord = { model, id, payload: stored, ttlMs, recordAudit: auditOf(model, id, stored) }
    // Requests are not stored until a person is there: the address of the sign-in page holds them.
    if (model === 'Interaction' && isUnanswered(payload)) return
    const refresh = rotation.current()
    if (refresh?.used !== undefined) {
      refresh.issued.push(record)
      return
    }
    await translated(() => records.put(record))
    if (model !== 'ClientCredentials') return
    await translated(() => storage.write((tx) => tx.machines.used(String(payload.clientId), now())))
  }

  async function consume(model: string, id: string): Promise<void> {
    const refresh = rotation.current()
    if (refresh && model === REFRESH_TOKEN) {
      refresh.used = id
      return
    }
    // When two requests present the same code or refresh token at the same time, the library passes both.
    if (!(await translated(() => records.consume(model, id, acting())))) throw new errors.InvalidGrant('already used')
  }

  function endGrant(grantId: string): Promise<void> {
    const isReturned = Provider.ctx?.oidc.route === 'revocation'
    const why = isReturned ? 'application.returned' : 'application.token_reused'
    return translated(() => records.endGrant(grantId, why, acting()))
  }

  return (model) => {
    if (model === 'Session') return NO_SESSIONS
    return {
      find: (id) => translated(() => find(model, id)),
      upsert: (id, payload, ttlSeconds) => upsert(model, id, payload, ttlSeconds),
      consume: (id) => consume(model, id),
      // A grant ends in the library by all of its models at once, its own included: the first one records it.
      destroy: (id) => (model === 'Grant' ? endGrant(id) : translated(() => records.remove(model, id))),
      revokeByGrantId: endGrant,
      findByUid: async () => undefined,
      findByUserCode: async () => undefined,
    }
  }
}

/** Tells whether a request of the library waits for a person, and has no answer yet. */
function isUnanswered(payload: AdapterPayload): boolean {
  const { prompt, result } = payload as Partial<Interaction>
  return prompt?.name === SIGN_IN && result === undefined
}

/**
 * An adapter that stores no sessions of the library: the console's session identifies the person at each request. A session of the library would
 * outlive the console's session, and then act for the next person at the same browser.
 */
const NO_SESSIONS: Adapter = {
  find: async () => undefined,
  findByUid: async () => undefined,
  findByUserCode: async () => undefined,
  upsert: async () => {},
  consume: async () => {},
  destroy: async () => {},
  revokeByGrantId: async () => {},
}
