/** The command that submits a first claim: what stands in capitals is for the reader to replace. */
import { type ActionProfile, formatInstant, type Instant, type JsonObject, type JsonValue } from '@claimcheck/core'

interface Property {
  readonly type?: string
  readonly enum?: readonly JsonValue[]
  readonly const?: JsonValue
  readonly default?: JsonValue
  readonly examples?: readonly JsonValue[]
}

export function exampleCommand(origin: string, profile: ActionProfile | undefined, now: Instant): string {
  const claim = {
    client_claim_id: 'first-claim',
    agent_id: 'my-agent',
    action: profile?.action ?? 'ACTION',
    target: 'TARGET',
    params: profile ? exampleParams(profile) : {},
    claimed_at: formatInstant(now),
  }
  return [
    `curl ${origin}/v1/claims \\`,
    "  -H 'Authorization: Bearer KEY' \\",
    "  -H 'Content-Type: application/json' \\",
    `  -d ${quoted(JSON.stringify(claim, null, 2))}`,
  ].join('\n')
}

/** Of the params that have to be there. */
function exampleParams({ params }: ActionProfile): JsonObject {
  const { properties = {}, required = [] } = params as { properties?: Record<string, Property>; required?: string[] }
  return Object.fromEntries(required.map((name) => [name, exampleValue(name, properties[name] ?? {})]))
}

function exampleValue(
  name: string,
  { type, enum: values, const: value, default: given, examples }: Property,
): JsonValue {
  return value ?? examples?.[0] ?? given ?? values?.[0] ?? BY_TYPE[type ?? ''] ?? name.toUpperCase()
}

const BY_TYPE: Readonly<Record<string, JsonValue>> = { integer: 1, number: 1, boolean: true, object: {}, array: [] }

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}
