/** For whoever watches over the process: is it alive, and can it do its work. */
import { Type } from 'typebox'
import type { App } from '../instance.ts'

export interface Readiness {
  readonly ok: boolean
  readonly problems: readonly string[]
}

const ReadinessBody = Type.Object({ ok: Type.Boolean(), problems: Type.Array(Type.String()) }, { title: 'Readiness' })

export function healthRoutes(app: App, readiness: () => Promise<Readiness>): void {
  const tags = ['Health']

  app.get('/healthz', {
    schema: {
      operationId: 'getHealth',
      tags,
      summary: 'The process answers',
      response: { 200: Type.Object({ status: Type.Literal('ok') }, { title: 'Health' }) },
    },
    handler: async () => ({ status: 'ok' as const }),
  })

  app.get('/readyz', {
    schema: {
      operationId: 'getReadiness',
      tags,
      summary: 'The service can do its work',
      response: { 200: ReadinessBody, 503: ReadinessBody },
    },
    handler: async (request, reply) => {
      const { ok, problems } = await readiness().catch((error: unknown): Readiness => {
        request.log.error({ err: error }, 'readiness could not be told')
        return { ok: false, problems: ['readiness could not be told'] }
      })
      return reply.code(ok ? 200 : 503).send({ ok, problems: [...problems] })
    },
  })
}
