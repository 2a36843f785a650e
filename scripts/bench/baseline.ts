/** What the framework alone can do: a Fastify route that validates the same body by the same schema, and answers. Started by the benchmark. */
import { ClaimRequest } from '@claimcheck/core/api'
import { validator } from '@claimcheck/server/validation'
import { fastify } from 'fastify'
import type { TSchema } from 'typebox'

const app = fastify()
app.setValidatorCompiler<TSchema>(({ schema }) => {
  const check = validator(schema)
  return (body: unknown) => (check(body, []).length === 0 ? { value: body } : { error: new Error('not valid') })
})
app.post('/v1/claims', { schema: { body: ClaimRequest } }, async (_request, reply) =>
  reply.code(202).send({ claim_id: 'clm_0', created: true, state: 'queued', attempts: 0, receipt_id: null }),
)
await app.listen({ host: '127.0.0.1', port: 0 })
process.send!({ url: app.listeningOrigin })
