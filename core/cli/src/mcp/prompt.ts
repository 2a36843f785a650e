/** The prompt by which a person has an agent claim what it did: clients offer it as a command, and complete its arguments. */
import { Type } from '@claimcheck/core/plugin'
import { fromJsonSchema, type JsonSchemaType, type McpServer } from '@modelcontextprotocol/server'
import { shortText } from './data.ts'

const PROMPT = 'claim'

const ARGUMENTS = Type.Object({
  action: Type.String({ maxLength: 128, description: 'What was done: codehost.commit.push.' }),
  target: Type.Optional(Type.String({ maxLength: 512, description: 'Where it was done: acme/api.' })),
})

const argsSchema = fromJsonSchema<{ readonly action: string; readonly target?: string }>(
  JSON.parse(JSON.stringify(ARGUMENTS)) as JsonSchemaType,
)

export function addPrompt(server: McpServer): void {
  const title = 'Claim what was done'
  const description = 'Has the agent claim what it did, and say the verdict.'
  server.registerPrompt(PROMPT, { title, description, argsSchema }, ({ action, target }) => {
    const where = target === undefined ? '' : ` at ${shortText(target)}`
    const text = `Claim ${shortText(action)}${where} with submit_claim, for what you did already. Ask list_actions for its params. Then wait_for_claim, and tell me the verdict and the receipt.`
    return { messages: [{ role: 'user', content: { type: 'text', text } }] }
  })
}
