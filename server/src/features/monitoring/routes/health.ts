/** The routes for health checks: whether the process is alive, and whether it can do its work. */
import { Type } from '@claimcheck/core/plugin'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Readiness } from '../../../host/monitoring.ts'
import type { App } from '../../../http/instance.ts'
import { errors } from '../../../http/route.ts'

const ReadinessBody = Type.Object(
  {
    ok: Type.Boolean(),
    problems: Type.Array(Type.String()),
    warnings: Type.Array(Type.String(), {
      description: 'What would lose data in a disaster, and plugins that do not run: their claims wait.',
    }),
  },
  { title: 'Readiness' },
)

type Ready = () => Promise<Readiness>

/**
 * Adds the routes.
 * @param readReady the readiness for reads alone
 */
export function healthRoutes(app: App, ready: Ready, readReady: Ready): void {
  const tags = ['Health']

  app.get('/healthz', {
    config: { cost: 'small', isProbe: true },
    schema: {
      operationId: 'getHealth',
      tags,
      summary: 'Check that the process is alive',
      response: { 200: Type.Object({ status: Type.Literal('ok') }, { title: 'Health' }), ...errors(400) },
    },
    handler: async () => ({ status: 'ok' as const }),
  })

  app.get('/readyz', {
    config: { isProbe: true },
    schema: {
      operationId: 'getReadiness',
      tags,
      summary: 'Check that the service can do its work',
      description:
        '503 with the reasons while claims cannot be stored: the database takes no writes or cannot be read, the host is read-only, or the time is in doubt.',
      response: { 200: ReadinessBody, ...errors(400), 503: ReadinessBody },
    },
    handler: answer(ready),
  })

  app.get('/readyz/read', {
    config: { isProbe: true },
    schema: {
      operationId: 'getReadReadiness',
      tags,
      summary: 'Check that receipts and the log can be read',
      description: '200 also while claims cannot be stored. Load balancers route reads by it.',
      response: { 200: ReadinessBody, ...errors(400), 503: ReadinessBody },
    },
    handler: answer(readReady),
  })
}

function answer(ready: Ready) {
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const { ok, problems, warnings } = await ready().catch((error: unknown): Readiness => {
      request.log.error({ reqId: request.id, err: error }, 'cannot determine readiness')
      return { ok: false, problems: ['cannot determine readiness'], reasons: [], warnings: [] }
    })
    return reply.code(ok ? 200 : 503).send({ ok, problems: [...problems], warnings: [...warnings] })
  }
}
