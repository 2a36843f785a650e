/** The route of events: as a stream that goes on, or as a list. */
import { EventList, EventQuery } from '@claimcheck/core/api'
import { Type } from '@claimcheck/core/plugin'
import type { FastifyReply } from 'fastify'
import { prefersJson } from '../../../http/accept.ts'
import type { Access } from '../../../http/app.ts'
import { bearerIn } from '../../../http/auth.ts'
import { COSTS } from '../../../http/costs.ts'
import { type Credential, credentialOf, payersOf } from '../../../http/credential.ts'
import { HttpError } from '../../../http/errors.ts'
import type { Gate } from '../../../http/gate.ts'
import type { App } from '../../../http/instance.ts'
import { errors } from '../../../http/route.ts'
import type { Scope } from '../../oauth/scopes.ts'
import { type EventPages, passes } from '../pages.ts'
import { lastEventId } from '../position.ts'
import type { EventStreams } from '../streams.ts'

interface EventRoutesParts {
  readonly eventPages: EventPages
  readonly eventStreams: EventStreams
  /** Returns the audience of tokens for the REST API. */
  readonly audience: () => string
  readonly gate: Gate
  readonly access: Pick<Access, 'keys' | 'tokens'>
}

const SCOPE: Scope = 'claims:read'
const CONNECTIONS: Scope = 'connections:read'
const DESCRIPTION =
  'With `Accept: application/json`, a list. Otherwise server-sent events: each has the number of the event as `id`, its type as `event`, and the event as `data`. A client that connects again sends the last `id` as `Last-Event-ID`. Numbers that cannot be sent are told by the event `gap`, with the data `{"from", "to"}`. Every 15 seconds there is a line with an `id` alone.'

export function eventRoutes(app: App, { eventPages, eventStreams, audience, gate, access }: EventRoutesParts): void {
  app.addHook('preClose', async () => eventStreams.endAll())

  app.get('/v1/events', {
    exposeHeadRoute: false,
    schema: {
      operationId: 'listenToEvents',
      tags: ['Events'],
      summary: 'Listen to what happens in the workspace',
      description: DESCRIPTION,
      security: [{ apiKey: [] }, { oauth: [SCOPE] }],
      querystring: EventQuery,
      response: {
        200: { content: { 'application/json': { schema: EventList }, 'text/event-stream': { schema: Type.String() } } },
        ...errors(400, 401, 403, 422, 429, 503),
      },
    },
    handler: async (request, reply) => {
      const credential = credentialOf(request)
      requireScope(credential, reply)
      const { after: given, limit, ...asked } = request.query
      const after = lastEventId(request) ?? given
      const { workspaceId, payer } = credential
      const filter = { ...asked, hidesConnections: !maySeeConnections(credential) }
      const pay = () => gate.takeMore(request, reply, payersOf(credential), COSTS.claim_list.tokens)
      if (!prefersJson(request.headers.accept)) {
        const text = bearerIn(request)
        const mayListen = questionOf(text, request.ip, credential)
        return eventStreams.open(reply, {
          workspaceId,
          payer,
          isCostly: credential.kind === 'oauth',
          after,
          filter,
          credential: `${text} ${request.ip}`,
          mayListen,
          pay,
        })
      }
      await pay()
      if (after === undefined) return { events: [], next: String(await eventPages.newest(workspaceId)) }
      const { gap, events, next } = await eventPages.read(workspaceId, after, limit)
      return {
        ...(gap && { gap: { from: String(gap.from), to: String(gap.to) } }),
        events: events.flatMap(({ event }) => (passes(event, filter) ? [event] : [])),
        next: String(next),
      }
    },
  })

  /** @throws HttpError 401 for a token that is meant for another server, 403 for one that does not permit this */
  function requireScope(credential: Credential, reply: FastifyReply): void {
    if (mayRead(credential)) return
    // RFC 6750 3.1.
    if (credential.kind === 'oauth' && credential.audience === audience()) {
      reply.header('www-authenticate', `Bearer error="insufficient_scope", scope="${SCOPE}"`)
      throw new HttpError(403, `the token has not the scope ${SCOPE}`)
    }
    reply.header('www-authenticate', 'Bearer error="invalid_token"')
    throw new HttpError(401, 'invalid or missing API key')
  }

  function mayRead(credential: Credential): boolean {
    return credential.kind === 'key' || (credential.audience === audience() && credential.scopes.includes(SCOPE))
  }

  /** Makes the question whether the credential of a stream still permits what it did. It keeps no more of the request than this. */
  function questionOf(text: string, address: string, credential: Credential) {
    const { kind, workspaceId } = credential
    const sawConnections = maySeeConnections(credential)
    return async () => {
      const found = await (kind === 'key' ? access.keys.authenticate(text, address) : access.tokens?.(text, address))
      if (found?.kind !== 'key' && found?.kind !== 'oauth') return false
      return found.workspaceId === workspaceId && mayRead(found) && (!sawConnections || maySeeConnections(found))
    }
  }
}

function maySeeConnections(credential: Credential): boolean {
  return credential.kind === 'key' || credential.scopes.includes(CONNECTIONS)
}
