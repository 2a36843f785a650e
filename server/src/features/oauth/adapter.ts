/** The storage adapter of oidc-provider: stores its models as OAuth records. */
import type { Instant } from '@claimcheck/core/rules'
import type { Adapter, AdapterPayload, Interaction } from 'oidc-provider'
import type { Acting } from '../../base/actor.ts'
import type { Library } from './library.ts'
import { isMachineId } from './machines.ts'
import {
  type GrantEnd,
  type OAuthRecords,
  type Payload,
  REFRESH_TOKEN,
  REPEATABLE_MS,
  type RecordAudit,
  type StoredRecord,
} from './records.ts'
import type { Rotation } from './rotation.ts'
import { translateStorageErrors } from './storage-errors.ts'

/** What the library asks a person for who is not signed in. */
export const SIGN_IN = 'login'
// Only registered clients have no expiry in the library. A client expires here unless a person allows it.
const UNUSED_CLIENT_TTL_MS = 7 * 24 * 60 * 60_000

interface AdapterOptions {
  readonly records: OAuthRecords
  readonly rotation: Pick<Rotation, 'current'>
  readonly errors: Library['errors']
  readonly machines: MachineClients
  readonly now: () => Instant
  /** Who sent the request in which the library calls the adapter. */
  readonly acting: () => Acting
  /** Why the library ends a grant in this request. */
  readonly grantEnd: () => GrantEnd
  /** Called with a refresh token that a client presents. */
  readonly refreshing: (token: Payload) => void
  /** What the audit trail records of a new record. */
  readonly recordAudit: (model: string, id: string, payload: Payload) => RecordAudit | undefined
}

/** Where the clients of machines are: the library only reads them. */
export interface MachineClients {
  find(clientId: string): Promise<AdapterPayload | undefined>
  used(clientId: string): Promise<void>
}

/** The library calls the returned function once for each of its models. */
export function adapterFactory(options: AdapterOptions): (model: string) => Adapter {
  const { records, rotation, errors, machines, now, acting, grantEnd, refreshing, recordAudit } = options

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

  const translated = translateStorageErrors(errors)

  return (model) => {
    if (model === 'Session') return NO_SESSIONS
    return {
      find: (id) =>
        translated(async () => {
          if (model === 'Client' && isMachineId(id)) return machines.find(id)
          const record = await records.find(model, id)
          if (!record) return undefined
          if (model !== REFRESH_TOKEN || !rotation.current()) return toPayload(record)
          refreshing(record.payload)
          // The library would end the grant: whether this is a repeat is decided where the token is used up.
          const { consumedAt } = record
          const mayBeRepeat = consumedAt !== null && now() - consumedAt < REPEATABLE_MS
          return toPayload(mayBeRepeat ? { ...record, consumedAt: null } : record)
        }),
      upsert: (id, payload, ttlSeconds) => {
        const ttlMs = typeof ttlSeconds === 'number' ? ttlSeconds * 1000 : UNUSED_CLIENT_TTL_MS
        const record = {
          model,
          id,
          payload: payload as Payload,
          ttlMs,
          recordAudit: recordAudit(model, id, payload as Payload),
        }
        // Nothing is stored for a request until a person is there: the address of the sign-in page holds it.
        if (model === 'Interaction' && isUnanswered(payload)) return Promise.resolve()
        const refresh = rotation.current()
        if (refresh?.used !== undefined) {
          refresh.issued.push(record)
          return Promise.resolve()
        }
        return translated(async () => {
          await records.put(record)
          if (model === 'ClientCredentials') await machines.used(String(payload.clientId))
        })
      },
      async consume(id) {
        const refresh = rotation.current()
        if (refresh && model === REFRESH_TOKEN) {
          refresh.used = id
          return
        }
        // When two requests present the same code or refresh token at the same time, the library passes both.
        if (!(await translated(() => records.consume(model, id, acting()))))
          throw new errors.InvalidGrant('already used')
      },
      // The library ends a grant by all of its models at once, its own included: the first one records it.
      destroy: (id) =>
        translated(() => (model === 'Grant' ? records.endGrant(id, grantEnd(), acting()) : records.remove(model, id))),
      revokeByGrantId: (grantId) => translated(() => records.endGrant(grantId, grantEnd(), acting())),
      findByUid: async () => undefined,
      findByUserCode: async () => undefined,
    }
  }
}

/** The library asks for a person, and does not store the answer. */
function isUnanswered(payload: AdapterPayload): boolean {
  const { prompt, result } = payload as Partial<Interaction>
  return prompt?.name === SIGN_IN && result === undefined
}

/**
 * Stores no sessions of the library: the console's session identifies the person at each request. A session of the library would outlive
 * the console's session, and then act for the next person at the same browser.
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
