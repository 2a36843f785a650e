/** Finds mistakes in a profile's comparisons of facts with claims: names that it does not have, and values that can never be equal. */
import type { ActionProfile, Comparison, Shown } from '../profile.ts'

type Schema = Readonly<Record<string, unknown>>

/**
 * Lists the mistakes in a profile's comparisons.
 * @param profile a profile whose schemas have the form of the contract
 * @returns phrases that follow "the profile"
 */
export function comparisonProblems({
  target,
  params,
  facts,
  shows = {},
  compared = {},
  past = [],
  words,
}: ActionProfile): string[] {
  const fields: Readonly<Record<string, Schema>> = { ...membersOf(params), target: target as unknown as Schema }
  const own = membersOf(facts)
  return [
    ...Object.entries(shows).flatMap(([name, shown]) =>
      Object.hasOwn(own, name)
        ? shownProblems(name, shown, own[name]!)
        : [`shows the fact ${name}, which it does not have`],
    ),
    ...Object.entries(compared).flatMap(([field, comparison]) => {
      if (!Object.hasOwn(fields, field)) return [`compares ${field}, which is no param and not the target`]
      return comparison === 'none' ? [] : comparedProblems(field, comparison, fields[field]!, own)
    }),
    ...past.flatMap((name) =>
      own[name]?.format === 'date-time' ? [] : [`has ${name} in past, which is no fact with the format date-time`],
    ),
    ...Object.entries(words.found ?? {})
      .filter(([field, fact]) => field !== 'target' && Object.hasOwn(fields, field) && Object.hasOwn(own, fact))
      .flatMap(([field, fact]) => typeProblems(`words.found`, field, fields[field]!, fact, own[fact]!)),
  ]
}

function membersOf(schema: unknown): Readonly<Record<string, Schema>> {
  return ((schema as Schema).properties ?? {}) as Readonly<Record<string, Schema>>
}

function shownProblems(name: string, shown: Shown, fact: Schema): string[] {
  const types = typesOf(fact)
  const values = valuesOf(shown)
  const isPossible = values.length > 0 && values.some((value) => isOf(value, types))
  return isPossible ? [] : [`shows the fact ${name} as ${JSON.stringify(shown)}, which it never is`]
}

function valuesOf(shown: Shown): readonly unknown[] {
  if (typeof shown !== 'object') return [shown]
  if ('atLeast' in shown) return [shown.atLeast]
  return 'not' in shown ? [shown.not] : shown
}

function comparedProblems(
  field: string,
  comparison: Comparison,
  said: Schema,
  facts: Readonly<Record<string, Schema>>,
): string[] {
  const names = 'facts' in comparison ? comparison.facts : [comparison.fact]
  const unknown = names.filter((name) => !Object.hasOwn(facts, name))
  if (names.length === 0 || unknown.length > 0)
    return [`compares ${field} with the fact ${unknown.join(', ') || 'of no name'}, which it does not have`]
  if ('facts' in comparison)
    return names
      .filter((name) => !isOf(comparison.are, typesOf(facts[name]!)))
      .map((name) => `compares ${field} with the fact ${name}, which is never ${JSON.stringify(comparison.are)}`)
  const { fact, as } = comparison
  if (as === 'exact') return typeProblems('compared', field, said, fact, facts[fact]!)
  const isText = [said, facts[fact]!].every((schema) => isOf('', typesOf(schema)))
  return isText ? [] : [`compares ${field} with the fact ${fact} as ${as}, and both have to be texts`]
}

function typeProblems(member: string, field: string, said: Schema, fact: string, seen: Schema): string[] {
  const [types, others] = [typesOf(said), typesOf(seen)]
  if (types === undefined || others === undefined || [...types].some((type) => others.has(type))) return []
  const named = (of: ReadonlySet<string>) => [...of].join(' or ')
  return [
    `names the fact ${fact} in ${member} for ${field}, and they are never equal: one is of type ${named(others)}, the other of type ${named(types)}`,
  ]
}

/** The types that a schema allows, named as JSON Schema does, whole numbers as numbers; undefined for any. */
function typesOf({ type, anyOf, const: constant, enum: values }: Schema): ReadonlySet<string> | undefined {
  if (constant !== undefined) return new Set([typeOf(constant)])
  if (Array.isArray(values)) return new Set(values.map(typeOf))
  if (Array.isArray(anyOf)) {
    const all = anyOf.map((one) => typesOf(one as Schema))
    return all.includes(undefined) ? undefined : new Set(all.flatMap((types) => [...types!]))
  }
  if (type === undefined) return undefined
  return new Set([type].flat().map((one) => (one === 'integer' ? 'number' : String(one))))
}

function typeOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

function isOf(value: unknown, types: ReadonlySet<string> | undefined): boolean {
  return types === undefined || types.has(typeOf(value))
}
