/** What is wrong with an action profile, before a claim meets it. */
import { ACTION_PATTERN, type ActionProfile } from '@claimcheck/core'
import { type Static, type TSchema, Type } from 'typebox'
import { validator } from './validation.ts'

const actionName = Type.String({ pattern: ACTION_PATTERN, maxLength: 128 })
const windowMs = Type.Integer({ minimum: 1 })
const jsonSchema = (type: string) => Type.Object({ type: Type.Literal(type) })

const Profile = Type.Object({
  action: actionName,
  version: Type.String({ pattern: '^\\d+$' }),
  summary: Type.String({ minLength: 1 }),
  aliases: Type.Optional(
    Type.Record(
      Type.String({ pattern: ACTION_PATTERN }),
      Type.Object({ providers: Type.Array(Type.String(), { minItems: 1 }) }),
      { additionalProperties: false },
    ),
  ),
  target: jsonSchema('string'),
  params: jsonSchema('object'),
  facts: jsonSchema('object'),
  required: Type.Record(Type.String(), Type.Enum(['target', 'content'])),
  toleranceMs: windowMs,
  deadlineMs: windowMs,
  maxDeadlineMs: windowMs,
  lagMs: Type.Optional(Type.Integer({ minimum: 0 })),
  access: Type.Object({ permission: Type.String(), anonymous: Type.Boolean() }),
})

/** Phrases that complete "the profile …". */
export function profileProblems(profile: unknown): string[] {
  const issues = validator(Profile)(profile, [])
  if (issues.length > 0) return issues.map(({ loc, msg }) => `has a wrong ${loc.join('.') || 'form'}: ${msg}`)
  const { toleranceMs, deadlineMs, maxDeadlineMs, ...schemas } = profile as ActionProfile & Static<typeof Profile>
  const problems: string[] = []
  if (deadlineMs <= toleranceMs) problems.push('has a deadline that is not after the tolerance')
  if (maxDeadlineMs < deadlineMs) problems.push('has a maxDeadlineMs below its deadlineMs')
  for (const name of ['target', 'params', 'facts'] as const) {
    const problem = schemaProblem(schemas[name])
    if (problem !== undefined) problems.push(`has a ${name} schema that does not compile: ${problem}`)
  }
  return problems
}

/** Why nothing can be validated against a schema; undefined when it can. */
export function schemaProblem(schema: TSchema): string | undefined {
  try {
    validator(schema)
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}
