/** The interface of a kind of registry. `index.ts` lists the kinds of this plugin. */
import type { Auth, CheckContext, ConnectionType, Instant, LogTime } from '@claimcheck/core/plugin'
import type { Facts } from './profile.ts'

export interface Query {
  /** The package's name without the prefix, normalized. */
  readonly name: string
  /** The claimed version, normalized. */
  readonly version: string
  /** The claimed digest as `sha512-` or `sha256-` and base64. */
  readonly integrity?: string
  /** The moment at which the tolerance ends. */
  readonly inTimeUntil: Instant
}

/** A registry, and the rights with which it is read. */
export interface Place {
  readonly baseUrl: string
  readonly auth?: Auth | undefined
  /** Tells whether the registry is the public one of its kind. */
  readonly isPublic: boolean
  /** Tells whether the absence of a package with this name shows that it is not there. */
  sees(name: string): boolean
}

/** A version as a registry showed it. */
export interface FoundVersion {
  /** Tells whether the registry offers the version. */
  readonly isListed: boolean
  /** Tells whether the version's file has the claimed digest; absent if the claim names none. */
  readonly hasContent?: boolean
  /** The time of publication by the registry's own record; null if a record was read that does not have the version. */
  readonly published?: Required<LogTime> | null
  /** The time of publication of the version's last file, by the same record. Defaults to `published`. */
  readonly latest?: Required<LogTime>
  /** The beginning of the record; absent if nothing tells it. */
  readonly recordSince?: Instant
  /** The time by which a version that is not listed was taken away, by the same record. */
  readonly removedBy?: Instant
  /** Tells that a version that is not listed may have been there: all files were taken away, or are withheld. */
  readonly isEmptied?: boolean
  /** The most by which the registry's clock was behind ours, in milliseconds; absent if it does not tell its time. */
  readonly clockBehindMs?: number
  /** Tells that the answer is an old copy, or may have been cut: it can show that the claim holds, and not that it does not. */
  readonly isDoubtful?: boolean
  readonly facts: Facts
}

export interface Ecosystem {
  /** The word before the colon in targets, and the name of the connection type. */
  readonly name: 'npm' | 'pypi' | 'cargo'
  readonly connectionType: ConnectionType
  readonly publicUrl: string
  /** Lists the values of `params.registry` for the registry at this address. */
  namesOf(baseUrl: string): readonly string[]
  /**
   * Tells whether the public registry keeps what it published: a version is never replaced by other content, and its record has each version that
   * ever was since the record begins, wherever one can be read. Other registries of the kind may be set up to do otherwise.
   */
  readonly publicKeeps: boolean
  /** The longest time, in milliseconds, for which the public registry answers with an old document or with none, and without an `Age`. */
  readonly publicLagMs: number
  /** Tells whether everybody sees every package with such a name at the public registry. */
  isPublicName(name: string): boolean
  readonly algorithms: readonly ('sha256' | 'sha512')[]
  normalizeName(name: string): string
  /** Brings a version into one form, which it leaves as it is; undefined for any other text. */
  normalizeVersion(version: string): string | undefined
  /** Reads the credentials of requests from the options of a connection. */
  authOf(options: Readonly<Record<string, unknown>>): Auth | undefined
  /**
   * Looks for a version. Says that it is not listed only after an answer that shows that it would be seen.
   * @throws DestinationError if the registry does not tell
   */
  find(query: Query, place: Place, context: CheckContext): Promise<FoundVersion>
}
