/** What the framework alone can do: a Fastify route that validates the same body and answers. Started by the benchmark. */
import { ClaimRequest } from '@claimcheck/core/api'
import { fastify } from 'fastify'

const app = fastify()
app.post('/v1/claims', { schema: { body: ClaimRequest } }, async (_request, reply) => {
  return reply.code(202).send({ claim_id: 'clm_0', created: true, state: 'queued', attempts: 0, receipt_id: null })
})
await app.listen({ host: '127.0.0.1', port: 0 })
process.send!({ url: app.listeningOrigin })
