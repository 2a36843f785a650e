/** The bare framework: it reads and validates the same bodies, or sends a text as long as a receipt, and nothing else. */
import { claimRequest } from '@claimcheck/core/api'
import { acceptJsonBodies } from '@claimcheck/server/http/body'
import type { App } from '@claimcheck/server/http/instance'
import { compileValidator } from '@claimcheck/server/http/validate'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import { fastify } from 'fastify'
import scripted from '../../test/plugins/scripted.ts'
import { given, serve } from './process.ts'

const { answerBytes } = given<{ readonly answerBytes: number }>()
const { verifiers = [] } = await scripted.setup({ logger: console }, {})
const text = JSON.stringify({ state: 'decided', rest: '' }).replace(
  '""',
  (empty) => `"${'x'.repeat(answerBytes)}${empty[0]}`,
)

const app: App = fastify().withTypeProvider<TypeBoxTypeProvider>()
app.setValidatorCompiler(compileValidator)
acceptJsonBodies(app)
const body = claimRequest(verifiers.map(({ profile }) => profile))
app.post('/v1/claims', { schema: { body } }, (_request, reply) => reply.code(202).type('application/json').send(text))
app.get('/v1/receipts/:receipt_id', (_request, reply) => reply.type('application/json').send(text))
await app.listen({ host: '127.0.0.1', port: 0 })
serve(app.listeningOrigin, () => app.close())
