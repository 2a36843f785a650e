/** The routes of the command line: it exchanges its token for a key, and gives the key back. They belong to signing in, and OpenAPI does not list them. */

import { Type } from '@claimcheck/core/plugin'
import { formatInstant } from '@claimcheck/core/rules'
import type { Acting } from '../../../base/actor.ts'
import { ServiceError } from '../../../base/errors.ts'
import { credentialOf } from '../../../http/credential.ts'
import type { App } from '../../../http/instance.ts'
import { MAX_NAME_LENGTH } from '../../../names/names.ts'
import type { KeyService } from '../../workspaces/keys.ts'
import type { KeyExchange } from '../key-exchange.ts'

const Body = Type.Object(
  { name: Type.String({ minLength: 1, maxLength: MAX_NAME_LENGTH }) },
  { additionalProperties: false },
)

/** Adds the route that makes a key. Its scope accepts tokens of applications, and no keys: a key does not multiply itself. */
export function issuedKeyRoutes(app: App, keyExchange: KeyExchange): void {
  app.post('/v1/keys', { schema: { hide: true, body: Body } }, async (request, reply) => {
    const credential = credentialOf(request)
    if (credential.kind !== 'oauth') throw new ServiceError('forbidden', 'a key makes no other key')
    const { name } = request.body as { readonly name: string }
    const issued = await keyExchange.exchange(credential, name, request.ip)
    const { id, key, workspaceId: workspace_id, expiresAt } = issued
    reply.code(201).header('cache-control', 'no-store')
    return reply.send({ id, key, workspace_id, name: issued.name, expires_at: formatInstant(expiresAt) })
  })
}

/** Adds the route by which the holder of a key ends it. Its scope accepts keys alone. */
export function ownKeyRoutes(app: App, keys: Pick<KeyService, 'revoke'>): void {
  app.post('/v1/keys/self/revoke', { schema: { hide: true } }, async (request, reply) => {
    const credential = credentialOf(request)
    if (credential.kind !== 'key') throw new ServiceError('forbidden', 'only a key can be given back')
    const by: Acting = { actor: { kind: 'key', id: credential.keyId }, address: request.ip }
    await keys.revoke(credential.keyId, credential.workspaceId, by)
    return reply.code(204).send()
  })
}
