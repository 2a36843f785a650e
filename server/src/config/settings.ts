/** Groups of settings in the configuration file, each setting described once. */
import { type Static, type TSchema, Type } from '@claimcheck/core/plugin'
import { closed } from './section.ts'

/** A setting: its schema in the file, and the value where the file leaves it out. */
type Setting = readonly [schema: TSchema, byDefault: unknown]

type ValueOf<S> = S extends readonly [infer Schema extends TSchema, infer Default] ? Static<Schema> | Default : never

/** The schema of a limit, where 0 is no limit. */
export const LIMIT = Type.Integer({ minimum: 0, maximum: 1_000_000 })

/** Makes a section of groups of settings. The file names them with underscores: `perAddress` is `per_address` there. */
export function settingsSection<G extends Readonly<Record<string, Readonly<Record<string, Setting>>>>>(groups: G) {
  const read = (file: object) =>
    mapped(groups, (group, settings) => {
      const given = (file as Readonly<Record<string, Readonly<Record<string, unknown>>>>)[inFile(group)] ?? {}
      return mapped(settings, (name, [, byDefault]) => given[inFile(name)] ?? byDefault)
    }) as { readonly [Group in keyof G]: { readonly [Name in keyof G[Group]]: ValueOf<G[Group][Name]> } }
  const schemaOf = (settings: Readonly<Record<string, Setting>>) =>
    Type.Optional(closed(mapped(settings, (_, [schema]) => Type.Optional(schema), inFile)))
  return { file: mapped(groups, (_, settings) => schemaOf(settings), inFile), read, defaults: read({}) }
}

function mapped<V, R>(
  members: Readonly<Record<string, V>>,
  map: (name: string, value: V) => R,
  rename = (name: string) => name,
): Record<string, R> {
  return Object.fromEntries(Object.entries(members).map(([name, value]) => [rename(name), map(name, value)]))
}

function inFile(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
