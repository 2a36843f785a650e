/** What oidc-provider stores, in our own storage. */
import type { Instant } from '@claimcheck/core'
import type { Adapter, AdapterPayload } from 'oidc-provider'
import type { Library } from './library.ts'
import type { OAuthRecords, Payload, StoredRecord } from './records.ts'
import { answersUnavailable } from './unavailable.ts'

// Applications that made themselves known, which is all that the library stores without an end: until somebody allows one.
const LASTS_UNUSED_MS = 7 * 24 * 60 * 60_000

interface AdapterOptions {
  readonly records: OAuthRecords
  readonly errors: Library['errors']
  readonly now: () => Instant
}

/** The library asks once for each of its models. */
export function adapterFactory({ records, errors, now }: AdapterOptions): (model: string) => Adapter {
  /** The library compares with this host's clock; what counts is ours. */
  function toPayload({ payload, consumedAt, expiresAt }: StoredRecord): AdapterPayload {
    return {
      ...payload,
      ...(expiresAt === null || payload.exp === undefined
        ? {}
        : { exp: Math.floor(Date.now() / 1000) + Math.ceil((expiresAt - now()) / 1000) }),
      ...(consumedAt === null ? {} : { consumed: Math.floor(consumedAt / 1000) }),
    } as AdapterPayload
  }

  const reached = answersUnavailable(errors)

  return (model) => {
    if (model === 'Session') return NOTHING_KEPT
    return {
      find: (id) =>
        reached(async () => {
          const record = await records.find(model, id)
          return record && toPayload(record)
        }),
      upsert: (id, payload, lastsSeconds) => {
        const lastsMs = typeof lastsSeconds === 'number' ? lastsSeconds * 1000 : LASTS_UNUSED_MS
        return reached(() => records.put(model, id, payload as Payload, lastsMs))
      },
      async consume(id) {
        // Of two who present one code or one refresh token at once, the library lets both through to here.
        if (!(await reached(() => records.consume(model, id)))) throw new errors.InvalidGrant('already used')
      },
      destroy: (id) => reached(() => records.remove(model, id)),
      revokeByGrantId: (grantId) => reached(() => records.endGrant(grantId)),
      findByUid: async () => undefined,
      findByUserCode: async () => undefined,
    }
  }
}

/**
 * Who somebody is, the console's session tells, each time anew. A session of the library's own would outlive it,
 * and answer for whoever comes next; so none is kept, and each request for authorization stands for itself.
 */
const NOTHING_KEPT: Adapter = {
  find: async () => undefined,
  findByUid: async () => undefined,
  findByUserCode: async () => undefined,
  upsert: async () => {},
  consume: async () => {},
  destroy: async () => {},
  revokeByGrantId: async () => {},
}
