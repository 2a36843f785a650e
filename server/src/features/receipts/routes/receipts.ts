/** The routes that serve a receipt and its evidence to anyone who has its id. */
import { Evidence, Receipt } from '@claimcheck/core/api'
import { ServiceError } from '../../../base/errors.ts'
import { prefersPage } from '../../../http/accept.ts'
import type { App } from '../../../http/instance.ts'
import { errors, isId, JSON_TYPE, jsonText } from '../../../http/route.ts'
import type { ReceiptService } from '../receipts.ts'

/**
 * Adds the routes.
 * @param pageOf makes the path of a receipt's page, for people who follow a link to the document; undefined if there is no page
 */
export function receiptRoutes(app: App, receipts: ReceiptService, pageOf?: (receiptId: string) => string): void {
  app.get<{ Params: { receipt_id: string } }>('/v1/receipts/:receipt_id', {
    schema: {
      operationId: 'getReceipt',
      tags: ['Receipts'],
      summary: 'Read a signed receipt with the proof that it is in the log',
      description: 'A client that prefers HTML to JSON, as browsers do, is sent to the page of the receipt.',
      response: { 200: jsonText(Receipt), ...(pageOf ? TO_THE_PAGE : {}), ...errors(404, 410, 429, 503) },
    },
    handler: async (request, reply) => {
      const { receipt_id } = request.params
      if (pageOf) {
        reply.header('vary', 'Accept')
        if (prefersPage(request.headers.accept)) return reply.redirect(pageOf(receipt_id), 303)
      }
      const receipt = isId(receipt_id) ? await receipts.get(receipt_id) : undefined
      if (receipt === undefined) throw new ServiceError('not_found', 'there is no such receipt')
      reply.type(JSON_TYPE)
      return receipt
    },
  })

  app.get<{ Params: { receipt_id: string } }>('/v1/receipts/:receipt_id/evidence', {
    schema: {
      operationId: 'getEvidence',
      tags: ['Receipts'],
      summary: 'Read the evidence of a receipt',
      description: 'The checks that the verdict follows from, byte for byte as the receipt signs their digest.',
      response: { 200: jsonText(Evidence), ...errors(404, 410, 429, 503) },
    },
    handler: async (request, reply) => {
      const { receipt_id } = request.params
      const evidence = isId(receipt_id) ? await receipts.evidence(receipt_id) : undefined
      if (evidence === undefined) throw new ServiceError('not_found', 'there is no evidence of such a receipt')
      reply.type(JSON_TYPE)
      return evidence
    },
  })
}

const TO_THE_PAGE = {
  303: { type: 'null', headers: { Location: { type: 'string', description: 'The page of the receipt.' } } },
}
