/** A part of the configuration: the members of the file that it reads, and the function that reads them and the environment. */
import { type Static, type TSchema, Type } from '@claimcheck/core/plugin'
import type { TObject } from 'typebox'

/** Reports a mistake in the configuration. Readers go on after it, so that all mistakes are shown at once. */
export type Report = (problem: string) => void

export type Env = Readonly<Record<string, string | undefined>>

export interface ConfigContext {
  readonly env: Env
  /** The folder of the configuration file, to which names of files are relative. */
  readonly folder: string
  /** `host[:port]` entries for which plain http is allowed. */
  readonly allowPrivate: readonly string[]
  readonly report: Report
  /** Reports a mistake in the file, by the name of the member. */
  readonly reportInFile: Report
}

/** A part of the configuration. @typeParam C the members of the configuration that it makes */
export interface ConfigSection<C extends object = object> {
  /** Schemas of the members of the file that the section reads, each optional. */
  readonly file?: Readonly<Record<string, TSchema>>
  // biome-ignore lint/suspicious/noExplicitAny: holds what `file` describes
  read(file: any, context: ConfigContext): C
}

/** The members of the configuration that a section makes. */
export type MembersOf<S> = S extends ConfigSection<infer C> ? C : never

/** Makes a section, and has `read` take the members of the file by the types of their schemas. */
export function configSection<F extends Readonly<Record<string, TSchema>>, C extends object>(
  file: F,
  read: (file: Static<TObject<F>>, context: ConfigContext) => C,
) {
  return { file, read }
}

/** Makes the schema of an object without further members: a misspelt one is a mistake. */
export const closed = <P extends Record<string, TSchema>>(members: P) =>
  Type.Object(members, { additionalProperties: false })
