/** Validates the definition of a plugin, and the result of its setup, before the service uses any of it. */

import {
  apiProblem,
  type CheckLimits,
  type CommandGrant,
  credentialProblems,
  davProblem,
  keywordProblems,
  type Manifest,
  type PluginParts,
  profileProblems,
  type SocketGrant,
  type SocketPort,
  type StatementGrant,
  socketProblems,
} from '@claimcheck/core/hosting'
import {
  type ActionProfile,
  type Anchorer,
  CEILING,
  type ConnectionType,
  type DavMethod,
  type HintSender,
  type Plugin,
  type SigningBackend,
  type Statement,
  type TSchema,
  Type,
  type Verifier,
} from '@claimcheck/core/plugin'
import type { Words } from '@claimcheck/core/receipts'
import { ACTION_PATTERN, COMPARATORS, knowsRules } from '@claimcheck/core/rules'
import { schemaProblem, validator } from '../base/validation.ts'
import { PATTERN_HELP } from '../base/validation-wording.ts'
import { queryProblem } from './graphql-query.ts'

/** Schemas of exactly the members that a type of the contract has. */
export type Form<T> = { readonly [Member in keyof Required<T>]: TSchema }
/** The members of a type that are no functions. */
type Data<T> = {
  [Member in keyof T as NonNullable<T[Member]> extends (...args: never[]) => unknown ? never : Member]: T[Member]
}

const text = Type.String({ minLength: 1 })
const objects = Type.Optional(Type.Array(Type.Object({})))

// Unknown members are refused, so that a misspelt one is reported.
const Parts = Type.Object(
  {
    verifiers: objects,
    connections: objects,
    anchorer: Type.Optional(Type.Object({})),
    signingBackend: Type.Optional(Type.Object({})),
    close: Type.Optional(Type.Unknown()),
  } satisfies Form<PluginParts>,
  { additionalProperties: false },
)
const PROVIDER_HELP =
  'write 1 to 64 lower-case letters, digits, underscores or dashes, and begin with a letter or digit'
const ACTION_HELP =
  'write three names with dots between them, such as acme.ticket.close: lower-case letters and digits, and no underscore before the first dot'
const PART = '[A-Za-z0-9_-]{1,64}(?:\\.[A-Za-z0-9_-]{1,64}){0,7}'
const partName = Type.String({ pattern: `^${PART}$` })
const HintProofData = Type.Object(
  {
    header: Type.String({ pattern: '^[a-z][a-z0-9-]{0,63}$' }),
    by: Type.Union([Type.Literal('hmac'), Type.Literal('secret')]),
  } satisfies Form<HintSender['proof']>,
  { additionalProperties: false },
)
const HintSenderData = Type.Object(
  {
    title: text,
    help: text,
    proof: HintProofData,
    each: Type.Optional(partName),
    targets: Type.Array(Type.String({ pattern: `^(?:[^{}]|\\{${PART}\\})+$`, maxLength: 500 }), {
      minItems: 1,
      maxItems: 20,
    }),
    params: Type.Optional(
      Type.Record(Type.String({ pattern: '^[A-Za-z0-9_]{1,64}$' }), Type.Array(partName, { maxItems: 20 })),
    ),
    skips: Type.Optional(Type.Record(partName, Type.Array(Type.String(), { maxItems: 50 }))),
  } satisfies Form<HintSender>,
  { additionalProperties: false },
)
const ConnectionTypeData = Type.Object({
  provider: Type.String({ pattern: '^[a-z0-9][a-z0-9_-]{0,63}$', [PATTERN_HELP]: PROVIDER_HELP }),
  title: text,
  help: text,
  options: Type.Object({ type: Type.Literal('object'), properties: Type.Object({}) }),
  credentials: Type.Optional(Type.Record(Type.String({ pattern: '^[A-Za-z0-9_-]{1,64}$' }), Type.Object({}))),
  refusesHidden: Type.Optional(Type.Literal(true)),
  identified: Type.Optional(Type.Literal(true)),
  hints: Type.Optional(Type.Array(HintSenderData, { maxItems: 10 })),
  trial: Type.Optional(
    Type.Object({ title: text, description: text, example: Type.Optional(text) }, { additionalProperties: false }),
  ),
} satisfies Form<Data<ConnectionType>>)
const AnchorerData = Type.Object({
  chain: text,
  scheme: text,
  intervalMs: Type.Integer({ minimum: 1 }),
  stuckAfterMs: Type.Integer({ minimum: 1 }),
} satisfies Form<Data<Anchorer>>)
const SigningBackendData = Type.Object({ name: text } satisfies Form<Data<SigningBackend>>)
const ANCHORER_METHODS = ['identity', 'account', 'prepare', 'sign', 'send', 'look']
const most = (maximum: number) => Type.Optional(Type.Integer({ minimum: 1, maximum }))
const VerifierData = Type.Object({
  providers: Type.Array(Type.String()),
  limits: Type.Optional(
    Type.Object(
      {
        requests: most(CEILING.requests),
        bodyBytes: most(CEILING.bodyBytes),
        timeMs: most(CEILING.timeMs),
      } satisfies Form<CheckLimits>,
      { additionalProperties: false },
    ),
  ),
} satisfies Form<Omit<Data<Verifier>, 'profile'>>)

// A name without a dot needs a port, or else a misspelt `target` would be one.
const HOST_PATTERN =
  '^(?:target|(?:connection|options)\\.[A-Za-z0-9_]+|(?:\\*\\.[a-z0-9-]+(?:\\.[a-z0-9-]+)*|[a-z0-9-]+(?:\\.[a-z0-9-]+)+)(?::[0-9]{1,5})?|[a-z0-9-]+:[0-9]{1,5})$'
const HOST_HELP =
  'write connection.<option> for the address that a workspace types into that option, options.<name>, target, or the name of a host, with its port where it has no dot'
const host = Type.String({ pattern: HOST_PATTERN, [PATTERN_HELP]: HOST_HELP, maxLength: 260 })
const names = Type.Optional(Type.Array(text))
const DavMethodData = Type.Object(
  {
    name: Type.String({ pattern: '^[a-z][a-z0-9_-]{0,63}$' }),
    method: Type.Union([Type.Literal('PROPFIND'), Type.Literal('REPORT')]),
    path: Type.String({ pattern: '^(?:/[^?#*\\s]*)?\\*?$', examples: ['/calendars/*'] }),
    depth: Type.Union([Type.Literal('0'), Type.Literal('1')]),
    body: Type.String({ minLength: 1, maxLength: 32_768 }),
  } satisfies Form<DavMethod>,
  { additionalProperties: false },
)
/** One schema and no union, so that a wrong port is one problem. */
const port = Type.Unsafe<SocketPort>({
  type: ['integer', 'string'],
  minimum: 1,
  maximum: 65_535,
  pattern: '^connection$',
  [PATTERN_HELP]: 'write the number of a port, or connection',
})
const tls = Type.Boolean()
const Commands = Type.Object(
  {
    port,
    tls: Type.Union([Type.Boolean(), Type.Literal('starttls')]),
    protocol: text,
    commands: Type.Array(text),
  } satisfies Form<CommandGrant>,
  { additionalProperties: false },
)
const Statements = Type.Object(
  {
    port,
    tls,
    protocol: text,
    statements: Type.Array(
      Type.Object(
        {
          name: text,
          text,
          parameters: Type.Optional(Type.Array(text)),
          identifiers: Type.Optional(Type.Record(Type.String(), Type.Enum(['table', 'column', 'columns']))),
        } satisfies Form<Statement>,
        { additionalProperties: false },
      ),
    ),
  } satisfies Form<StatementGrant>,
  { additionalProperties: false },
)
/** Schemas of a manifest's sockets, by their protocol. */
const SOCKETS: Readonly<Record<SocketGrant['protocol'], TSchema>> = {
  imap: Commands,
  postgres: Statements,
  mysql: Statements,
}
const Definition = Type.Object({
  name: Type.String({
    pattern: '^[a-z0-9][a-z0-9._-]{0,63}$',
    [PATTERN_HELP]:
      'write 1 to 64 lower-case letters, digits, dots, underscores or dashes, and begin with a letter or digit',
  }),
  options: Type.Object({ type: Type.Literal('object') }),
  manifest: Type.Object(
    {
      hosts: Type.Array(host),
      tokenHosts: Type.Optional(Type.Array(host)),
      methods: Type.Optional(
        Type.Object(
          {
            jsonRpc: names,
            graphql: names,
            dav: Type.Optional(Type.Array(DavMethodData)),
            paths: Type.Optional(
              Type.Array(Type.String({ pattern: '^/[^?#\\s]*$', examples: ['/api'] }), { minItems: 1 }),
            ),
          } satisfies Form<NonNullable<Manifest['methods']>>,
          { additionalProperties: false },
        ),
      ),
      sockets: Type.Optional(Type.Array(Type.Object({ protocol: Type.Enum(Object.keys(SOCKETS)) }))),
      programs: names,
    } satisfies Form<Manifest>,
    { additionalProperties: false },
  ),
})

/** Finds what is wrong with the definition of a plugin. */
export function definitionProblems(plugin: object): string[] {
  const { api } = plugin as { readonly api?: unknown }
  const outdated = apiProblem(api)
  if (outdated) return [`it ${outdated}`]
  const wrong = dataProblems(Definition, plugin, 'the plugin')
  return [
    ...wrong,
    ...functionProblems(plugin, ['setup'], [], 'the plugin'),
    ...(wrong.length > 0 ? [] : optionSchemaProblems((plugin as Plugin).options, 'the plugin')),
    ...(wrong.length > 0 ? [] : manifestProblems((plugin as Plugin).manifest)),
  ]
}

function manifestProblems({ hosts, tokenHosts = [], methods, sockets = [] }: Manifest): string[] {
  const wrong = sockets.flatMap((grant, index) =>
    dataProblems(SOCKETS[grant.protocol], grant, `the plugin.manifest.sockets.${index}`),
  )
  return [
    ...wrong,
    ...(wrong.length > 0 ? [] : socketProblems({ sockets })).map((problem) => `the plugin.manifest.${problem}`),
    ...(tokenHosts.includes('target') ? ['the plugin.manifest.tokenHosts: target gets no credentials'] : []),
    ...[...hosts, ...tokenHosts]
      .filter((host) => /^\*\.[^.]+$/.test(host))
      .map((host) => `the plugin.manifest.hosts: ${host} is all of a top-level domain`),
    ...(methods?.graphql ?? []).flatMap((text, index) => {
      const problem = queryProblem(text)
      return problem === undefined ? [] : [`the plugin.manifest.methods.graphql.${index}: ${problem}`]
    }),
    ...(methods?.dav ?? []).flatMap((method, index) => {
      const problem = davProblem(method)
      return problem === undefined ? [] : [`the plugin.manifest.methods.dav.${index}.body: ${problem}`]
    }),
  ]
}

/**
 * Finds what is wrong with the options of a plugin whose definition is in order.
 * @param given the options that the operator configured
 */
export function optionsProblems(
  { options }: { readonly options: TSchema },
  given: Readonly<Record<string, unknown>>,
): string[] {
  return validator(options)(given, ['with']).map(({ loc, msg }) => `${loc.join('.')}: ${msg}`)
}

/** Returns one line for each problem, which starts with the position of the mistake. */
export function partsProblems(parts: unknown): string[] {
  const wrong = dataProblems(Parts, parts, 'setup result')
  if (wrong.length > 0) return wrong
  const { verifiers = [], connections = [] } = parts as Readonly<Record<string, object[]>>
  const { anchorer, signingBackend } = parts as { readonly anchorer?: object; readonly signingBackend?: object }
  return [
    ...functionProblems(parts as object, [], ['close'], 'setup result'),
    ...connections.flatMap((type, index) => connectionProblems(type, `connections.${index}`)),
    ...verifiers.flatMap((verifier, index) => verifierProblems(verifier, `verifiers.${index}`)),
    ...(anchorer === undefined ? [] : anchorerProblems(anchorer, 'anchorer')),
    ...(signingBackend === undefined ? [] : signingBackendProblems(signingBackend, 'signingBackend')),
  ]
}

function connectionProblems(type: object, place: string): string[] {
  const wrong = dataProblems(ConnectionTypeData, type, place)
  return [
    ...wrong,
    ...(wrong.length > 0 ? [] : optionSchemaProblems((type as { options: TSchema }).options, place)),
    ...(wrong.length > 0 ? [] : credentialProblems(type as ConnectionType)).map(
      (problem) => `${place}.credentials.${problem}`,
    ),
    ...functionProblems(type, ['baseUrl', 'fits', 'probe'], [], place),
  ]
}

function optionSchemaProblems(options: TSchema, place: string): string[] {
  const refused = keywordProblems(options, 'options')
  if (refused.length > 0) return refused.map((problem) => `${place} ${problem}`)
  const problem = schemaProblem(options)
  return problem === undefined ? [] : [`${place}.options: the schema does not compile: ${problem}`]
}

function verifierProblems(verifier: object, place: string): string[] {
  return [
    ...dataProblems(VerifierData, verifier, place),
    ...functionProblems(verifier, ['check'], ['normalize', 'anonymousSource', 'destination'], place),
    ...problemsOfProfile((verifier as { profile?: unknown }).profile).map((problem) => `${place}.profile ${problem}`),
  ]
}

function anchorerProblems(anchorer: object, place: string): string[] {
  return [
    ...dataProblems(AnchorerData, anchorer, place),
    ...functionProblems(anchorer, ANCHORER_METHODS, ['attested'], place),
  ]
}

function signingBackendProblems(backend: object, place: string): string[] {
  return [
    ...dataProblems(SigningBackendData, backend, place),
    ...functionProblems(backend, ['keys', 'generate', 'sign'], [], place),
  ]
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

const actionName = Type.String({ pattern: ACTION_PATTERN, [PATTERN_HELP]: ACTION_HELP, maxLength: 128 })
const DAY_MS = 24 * 60 * 60_000
const windowMs = Type.Integer({ minimum: 1 })
const jsonSchema = (type: string) => Type.Object({ type: Type.Literal(type) })

const sentence = Type.Union([text, Type.Array(text, { minItems: 1 })])
const plain = Type.Union([Type.String(), Type.Integer(), Type.Boolean()])
const closed = { additionalProperties: false }
const shown = Type.Union([
  plain,
  Type.Array(plain, { minItems: 1 }),
  Type.Object({ atLeast: Type.Integer() }, closed),
  Type.Object({ not: plain }, closed),
])
const told = { tells: Type.Optional(Type.Enum(['same', 'other'])), default: Type.Optional(plain) }
const comparison = Type.Union([
  Type.Literal('none'),
  Type.Object({ fact: text, as: Type.Enum(COMPARATORS.filter((one) => one !== 'none')), ...told }, closed),
  Type.Object({ facts: Type.Array(text, { minItems: 1 }), are: plain, ...told }, closed),
])

const Profile = Type.Object({
  action: actionName,
  version: Type.String({ pattern: '^\\d+$', [PATTERN_HELP]: 'write digits only, such as 1' }),
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
  rulesVersion: Type.Integer(),
  ageMs: Type.Optional(Type.Integer({ minimum: 0, maximum: DAY_MS })),
  removedWithinMs: Type.Optional(Type.Integer({ minimum: 0 })),
  freshMs: Type.Optional(Type.Integer({ minimum: 0, maximum: 60_000 })),
  neverLate: Type.Optional(Type.Literal(true)),
  underWay: Type.Optional(Type.String()),
  settles: Type.Optional(Type.String()),
  shows: Type.Optional(Type.Record(Type.String(), shown)),
  compared: Type.Optional(Type.Record(Type.String(), comparison)),
  past: Type.Optional(Type.Array(text)),
  access: Type.Object({ permission: Type.String(), anonymous: Type.Boolean() }),
  words: Type.Object(
    {
      title: text,
      target: text,
      claim: sentence,
      outcomes: Type.Object(
        { verified: sentence, late: sentence, mismatch: sentence, failed: sentence },
        { additionalProperties: false },
      ),
      facts: Type.Optional(Type.Record(Type.String(), Type.Union([sentence, Type.Record(Type.String(), sentence)]))),
      found: Type.Optional(Type.Record(Type.String(), text)),
    } satisfies Form<Words>,
    { additionalProperties: false },
  ),
} satisfies Form<ActionProfile>)

/** Finds the problems of a profile, as phrases that follow "the profile". */
function problemsOfProfile(profile: unknown): string[] {
  const issues = validator(Profile)(profile, [])
  if (issues.length > 0) return issues.map(({ loc, msg }) => `has an invalid ${loc.join('.') || 'form'}: ${msg}`)
  const { toleranceMs, deadlineMs, maxDeadlineMs, ...schemas } = profile as ActionProfile
  const problems = profileProblems(profile as ActionProfile)
  const { rulesVersion } = profile as ActionProfile
  if (!knowsRules(rulesVersion)) problems.push(`has rulesVersion ${rulesVersion}, which this service does not know`)
  if (deadlineMs <= toleranceMs) problems.push('has a deadline that is not after the tolerance')
  if (maxDeadlineMs < deadlineMs) problems.push('has a maxDeadlineMs below its deadlineMs')
  // A schema with a refused keyword is not compiled.
  if (problems.length > 0) return problems
  for (const name of ['target', 'params', 'facts'] as const) {
    const problem = schemaProblem(schemas[name])
    if (problem !== undefined) problems.push(`has a ${name} schema that does not compile: ${problem}`)
  }
  return problems
}
