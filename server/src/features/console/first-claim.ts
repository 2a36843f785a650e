/** The command that submits a first claim, with only a key, and the action that it claims. */

import type { ActionProfile } from '@claimcheck/core/plugin'
import type { JsonValue } from '@claimcheck/core/rules'
import type { TSchema } from 'typebox'
import type { Property } from '../../base/schema-properties.ts'
import type { Registry } from '../../plugins/registry.ts'

interface FirstClaim {
  /** The address of the service. */
  readonly origin: string
  /** A key, or `$KEY` for one that the shell has. */
  readonly key: string
  /** The action to claim; undefined where no plugin offers one. */
  readonly profile: Claimable | undefined
}

interface Claimable {
  readonly action: string
  readonly target: TSchema
  readonly params: TSchema
}

// Unknown actions are accepted by the API, too.
const UNKNOWN: Claimable = { action: 'example.thing.done', target: {}, params: { type: 'object' } }

/** Chooses an action that the workspace can read: through its newest connection, else without any. One without params works as it is. */
export function firstProfile(
  registry: Pick<Registry, 'profiles' | 'actionsFor' | 'publicActions'>,
  providers: readonly string[],
): ActionProfile | undefined {
  const all = registry.profiles()
  const profilesOf = (actions: readonly string[]) => all.filter(({ action }) => actions.includes(action))
  const [connected] = providers.toReversed().flatMap((provider) => profilesOf(registry.actionsFor(provider)))
  const readable = profilesOf(registry.publicActions())
  return connected ?? readable.find(needsNoParams) ?? readable[0] ?? all[0]
}

function needsNoParams({ params }: ActionProfile): boolean {
  const { required = [] } = params as Property
  return required.length === 0
}

/** Makes a command that claims anew at each run: the shell tells the time, and makes an ID of it. */
export function firstClaimCommand({ origin, key, profile = UNKNOWN }: FirstClaim): string {
  const fields: [name: string, text: string][] = [
    ['client_claim_id', `"first-claim-${byShell('date +%s')}"`],
    ['agent_id', '"my-agent"'],
    ['action', inQuotes(profile.action)],
    ['target', inQuotes(exampleOf(profile.target as Property, 'target'))],
    ['params', inQuotes(exampleOf(profile.params as Property, 'params'))],
    ['claimed_at', `"${byShell('date -u +%Y-%m-%dT%H:%M:%SZ')}"`],
  ]
  return [
    `curl ${quoted(`${origin}/v1/claims`)} \\`,
    `  -H "Authorization: Bearer ${key}" \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d '{`,
    fields.map(([name, text]) => `    "${name}": ${text}`).join(',\n'),
    `  }'`,
  ].join('\n')
}

/** Inserts the output of a command into a text between single quotes. */
function byShell(command: string): string {
  return `'"$(${command})"'`
}

/** Returns the example of the schema, or else a placeholder of the right type. */
function exampleOf(schema: Property, name: string): JsonValue {
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

/** Quotes a text for a POSIX shell. */
function quoted(text: string): string {
  return `'${escaped(text)}'`
}

/** Writes JSON into a text between single quotes. */
function inQuotes(value: JsonValue): string {
  return escaped(JSON.stringify(value, null, 2).replaceAll('\n', '\n    '))
}

function escaped(text: string): string {
  return text.replaceAll("'", `'\\''`)
}
