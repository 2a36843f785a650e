/** The command that submits a first claim. It needs only a key. */
import { formatInstant, type Instant, type JsonValue } from '@claimcheck/core'
import type { TSchema } from 'typebox'

interface FirstClaim {
  /** Where the service is. */
  readonly origin: string
  /** A key, or a placeholder for one. */
  readonly key: string
  /** Undefined where no plugin offers an action. */
  readonly profile: Claimable | undefined
  readonly now: Instant
}

interface Claimable {
  readonly action: string
  readonly target: TSchema
  readonly params: TSchema
}

// The API takes unknown actions, too.
const UNKNOWN: Claimable = { action: 'example.thing.done', target: {}, params: { type: 'object' } }

export function firstClaimCommand({ origin, key, profile = UNKNOWN, now }: FirstClaim): string {
  const claim = {
    // One ID for each key: the same ID again would be the same claim.
    client_claim_id: `first-claim-${key.slice(-4)}`,
    agent_id: 'my-agent',
    action: profile.action,
    target: exampleOf(profile.target as Example, 'target'),
    params: exampleOf(profile.params as Example, 'params'),
    claimed_at: formatInstant(now),
  }
  return [
    `curl ${quoted(`${origin}/v1/claims`)} \\`,
    `  -H ${quoted(`Authorization: Bearer ${key}`)} \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d ${quoted(JSON.stringify(claim, null, 2).replaceAll('\n', '\n  '))}`,
  ].join('\n')
}

interface Example {
  readonly type?: string
  readonly examples?: readonly JsonValue[]
  readonly default?: JsonValue
  readonly const?: JsonValue
  readonly enum?: readonly JsonValue[]
  readonly anyOf?: readonly Example[]
  readonly properties?: Readonly<Record<string, Example>>
  readonly required?: readonly string[]
}

/** The example of the schema, or else a placeholder of the right type. */
function exampleOf(schema: Example, name: string): JsonValue {
  const given = schema.examples?.[0] ?? schema.default ?? schema.const ?? schema.enum?.[0]
  if (given !== undefined) return given
  if (schema.anyOf?.[0]) return exampleOf(schema.anyOf[0], name)
  if (schema.properties) {
    const { properties, required = [] } = schema
    return Object.fromEntries(required.map((key) => [key, exampleOf(properties[key] ?? {}, key)]))
  }
  return BY_TYPE[schema.type ?? ''] ?? `<${name}>`
}

const BY_TYPE: Readonly<Record<string, JsonValue>> = { integer: 1, number: 1, boolean: true, array: [], object: {} }

/** Quoted for a POSIX shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
