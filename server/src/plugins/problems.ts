/** Validates the result of a plugin's setup before the service uses it. */
import { ACTION_PATTERN, type ActionProfile } from '@claimcheck/core'
import { type Static, type TSchema, Type } from 'typebox'
import { validator } from '../base/validation.ts'

const text = Type.String({ minLength: 1 })
const objects = Type.Optional(Type.Array(Type.Object({})))

// Refuses unknown members, so that a misspelt one is reported.
const Parts = Type.Object(
  {
    verifiers: objects,
    connections: objects,
    anchorer: Type.Optional(Type.Object({})),
    close: Type.Optional(Type.Unknown()),
  },
  { additionalProperties: false },
)
const ConnectionTypeData = Type.Object({
  provider: Type.String({ pattern: '^[a-z0-9][a-z0-9_-]{0,63}$' }),
  title: text,
  help: text,
  options: Type.Object({ type: Type.Literal('object'), properties: Type.Object({}) }),
})
const AnchorerData = Type.Object({
  chain: text,
  scheme: text,
  intervalMs: Type.Integer({ minimum: 1 }),
  stuckAfterMs: Type.Integer({ minimum: 1 }),
})
const ANCHORER_METHODS = ['identity', 'account', 'prepare', 'sign', 'send', 'look']
const VerifierData = Type.Object({ providers: Type.Array(Type.String()) })

/** Returns one line for each problem, which starts with the position of the mistake. */
export function partsProblems(parts: unknown): string[] {
  const wrong = dataProblems(Parts, parts, 'setup result')
  if (wrong.length > 0) return wrong
  const { verifiers = [], connections = [] } = parts as Readonly<Record<string, object[]>>
  const { anchorer } = parts as { readonly anchorer?: object }
  return [
    ...functionProblems(parts as object, [], ['close'], 'setup result'),
    ...connections.flatMap((type, index) => connectionProblems(type, `connections.${index}`)),
    ...verifiers.flatMap((verifier, index) => verifierProblems(verifier, `verifiers.${index}`)),
    ...(anchorer === undefined ? [] : anchorerProblems(anchorer, 'anchorer')),
  ]
}

function connectionProblems(type: object, place: string): string[] {
  const wrong = dataProblems(ConnectionTypeData, type, place)
  const problem = wrong.length > 0 ? undefined : schemaProblem((type as { options: TSchema }).options)
  return [
    ...wrong,
    ...(problem === undefined ? [] : [`${place}.options: the schema does not compile: ${problem}`]),
    ...functionProblems(type, ['fits', 'probe'], [], place),
  ]
}

function verifierProblems(verifier: object, place: string): string[] {
  return [
    ...dataProblems(VerifierData, verifier, place),
    ...functionProblems(verifier, ['check'], ['normalize'], place),
    ...profileProblems((verifier as { profile?: unknown }).profile).map((problem) => `${place}.profile ${problem}`),
  ]
}

function anchorerProblems(anchorer: object, place: string): string[] {
  return [...dataProblems(AnchorerData, anchorer, place), ...functionProblems(anchorer, ANCHORER_METHODS, [], place)]
}

function dataProblems(schema: TSchema, value: unknown, place: string): string[] {
  return validator(schema)(value, [place]).map(({ loc, msg }) => `${loc.join('.')}: ${msg}`)
}

function functionProblems(
  value: object,
  required: readonly string[],
  optional: readonly string[],
  place: string,
): string[] {
  const kindOf = (name: string) => typeof (value as Record<string, unknown>)[name]
  const wrong = [
    ...required.filter((name) => kindOf(name) !== 'function'),
    ...optional.filter((name) => !['function', 'undefined'].includes(kindOf(name))),
  ]
  return wrong.map((name) => `${place}.${name}: should be a function`)
}

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

/** Phrases that follow "the profile". */
function profileProblems(profile: unknown): string[] {
  const issues = validator(Profile)(profile, [])
  if (issues.length > 0) return issues.map(({ loc, msg }) => `has an invalid ${loc.join('.') || 'form'}: ${msg}`)
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

/** The reason why a schema does not compile; undefined when it does. */
export function schemaProblem(schema: TSchema): string | undefined {
  try {
    validator(schema)
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}
