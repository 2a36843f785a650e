/** The route of the key document. */
import { KeyDocument } from '@claimcheck/core/api'
import type { App } from '../../../http/instance.ts'
import { errors, JSON_TYPE, jsonText } from '../../../http/route.ts'

export function keyRoutes(app: App, keyDocument: () => Promise<object | string>): void {
  app.get('/.well-known/poaw-keys.json', {
    schema: {
      operationId: 'getKeys',
      tags: ['Keys'],
      summary: 'Read the keys that verify receipts and tree heads',
      response: { 200: jsonText(KeyDocument), ...errors(429, 503) },
    },
    handler: async (_request, reply) => {
      const document = await keyDocument()
      return reply.type(JSON_TYPE).send(typeof document === 'string' ? document : JSON.stringify(document))
    },
  })
}
