/** A part of the configuration: the members of the file that it reads, and the function that reads them and the environment. */
import type { TSchema } from '@claimcheck/core/plugin'

/** Reports a mistake in the configuration. Readers go on after it, so that all mistakes are shown at once. */
export type Report = (problem: string) => void

export type Env = Readonly<Record<string, string | undefined>>

export interface ConfigContext {
  readonly env: Env
  /** Names of files are relative to this folder: that of the configuration file. */
  readonly folder: string
  /** `host[:port]` entries for which plain http is allowed. */
  readonly allowPrivate: readonly string[]
  readonly report: Report
  /** Reports a mistake in the file, by the name of the member. */
  readonly reportInFile: Report
}

/** @typeParam C its members of the configuration */
export interface ConfigSection<C extends object = object> {
  /** The schemas of its members of the file, each optional. */
  readonly file?: Readonly<Record<string, TSchema>>
  // biome-ignore lint/suspicious/noExplicitAny: holds what `file` describes
  read(file: any, context: ConfigContext): C
}
