/** A group of settings in the configuration file, each described once. */
import { type TSchema, Type } from '@claimcheck/core/plugin'

type Setting<T> = readonly [nameInFile: string, schema: TSchema, byDefault: T]

/** Makes the schema of an object without further members: a misspelt one is a mistake. */
export const closed = <P extends Record<string, TSchema>>(members: P) =>
  Type.Object(members, { additionalProperties: false })

/** The schema of a limit, where 0 is no limit. */
export const LIMIT = Type.Integer({ minimum: 0, maximum: 1_000_000 })

export function settings<T extends object>(members: { readonly [Name in keyof T]: Setting<T[Name]> }) {
  const all = Object.entries<Setting<unknown>>(members)
  const schemas = all.map(([, [nameInFile, schema]]) => [nameInFile, Type.Optional(schema)])
  /**
   * Reads a group of settings, with defaults for those left out.
   * @param given the group in the file, valid by its schema
   */
  const read = (given: Readonly<Record<string, unknown>> = {}) =>
    Object.fromEntries(all.map(([name, [nameInFile, , byDefault]]) => [name, given[nameInFile] ?? byDefault])) as T
  return {
    /** The schema of the group, which is optional like each of its members. */
    schema: Type.Optional(closed(Object.fromEntries(schemas))),
    read,
    defaults: read(),
  }
}
