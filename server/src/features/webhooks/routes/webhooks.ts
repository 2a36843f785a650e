/** The routes that list webhooks and their deliveries, and send a delivery again. */
import { WebhookDelivery, WebhookDeliveryList, WebhookDeliveryQuery, WebhookList } from '@claimcheck/core/api'
import { ServiceError } from '../../../base/errors.ts'
import { credentialOf } from '../../../http/credential.ts'
import type { App } from '../../../http/instance.ts'
import { errors, isId, NEEDS_KEY } from '../../../http/route.ts'
import type { Webhooks } from '../webhooks.ts'
import { fromDeliveryQuery, toDeliveryList, toWebhookDelivery, toWebhookList } from '../wire.ts'

type WithDelivery = { Params: { delivery_id: string } }

export function webhookRoutes(app: App, webhooks: Webhooks): void {
  const tags = ['Webhooks']

  app.get('/v1/webhooks', {
    schema: {
      operationId: 'listWebhooks',
      tags,
      summary: "List the workspace's webhooks, oldest first",
      security: NEEDS_KEY,
      response: { 200: WebhookList, ...errors(401, 403, 429, 503) },
    },
    handler: async (request) => toWebhookList(await webhooks.list(credentialOf(request).workspaceId)),
  })

  app.get('/v1/webhooks/deliveries', {
    schema: {
      operationId: 'listWebhookDeliveries',
      tags,
      summary: 'List deliveries of events to webhooks, newest event first',
      security: NEEDS_KEY,
      querystring: WebhookDeliveryQuery,
      response: { 200: WebhookDeliveryList, ...errors(400, 401, 403, 422, 429, 503) },
    },
    handler: async (request) => {
      const filter = fromDeliveryQuery(request.query)
      return toDeliveryList(await webhooks.deliveries(credentialOf(request).workspaceId, filter), filter)
    },
  })

  app.get<WithDelivery>('/v1/webhooks/deliveries/:delivery_id', {
    schema: {
      operationId: 'getWebhookDelivery',
      tags,
      summary: 'Read what became of a delivery',
      security: NEEDS_KEY,
      response: { 200: WebhookDelivery, ...errors(401, 403, 404, 429, 503) },
    },
    handler: async (request) => {
      const { delivery_id: id } = request.params
      const found = isId(id) ? await webhooks.delivery(credentialOf(request).workspaceId, id) : undefined
      if (!found) throw noDelivery()
      return toWebhookDelivery(found)
    },
  })

  app.post<WithDelivery>('/v1/webhooks/deliveries/:delivery_id/resend', {
    schema: {
      operationId: 'resendWebhookDelivery',
      tags,
      summary: 'Send a delivery again, with the same webhook-id',
      description: 'Also one that arrived. It is sent soon, and tried again for three days.',
      security: NEEDS_KEY,
      response: { 202: WebhookDelivery, ...errors(400, 401, 403, 404, 429, 503) },
    },
    handler: async (request, reply) => {
      const { delivery_id: id } = request.params
      if (!isId(id)) throw noDelivery()
      const delivery = await webhooks.sendAgain(credentialOf(request).workspaceId, id)
      reply.code(202)
      return toWebhookDelivery(delivery)
    },
  })
}

function noDelivery(): ServiceError {
  return new ServiceError('not_found', 'there is no such delivery')
}
