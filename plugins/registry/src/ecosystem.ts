/** The interface of a kind of registry. `index.ts` lists the kinds of this plugin. */
import type { Auth, CheckContext, ConnectionType, Instant, LogTime } from '@claimcheck/core/plugin'
import type { Facts } from './profile.ts'

export interface Query {
  /** The name without the prefix, normalized. */
  readonly name: string
  /** Normalized. */
  readonly version: string
  /** The digest as `sha512-` or `sha256-` and base64. */
  readonly integrity?: string
  /** The moment at which the tolerance ends. */
  readonly inTimeUntil: Instant
}

/** A registry, and with which rights it is read. */
export interface Place {
  readonly baseUrl: string
  readonly auth?: Auth | undefined
  /** The public registry of its kind. */
  readonly isPublic: boolean
  /** Tells whether the absence of a package with this name shows that it is not there. */
  sees(name: string): boolean
}

/** A version as a registry showed it. */
export interface FoundVersion {
  /** The registry offers it. */
  readonly isListed: boolean
  /** The file has the claimed digest; absent if the claim names none. */
  readonly hasContent?: boolean
  /** The time of publication by the registry's own record; null if a record was read that does not have the version. */
  readonly published?: Required<LogTime> | null
  /** The time of its last file, by the same record. When left out: `published`. */
  readonly latest?: Required<LogTime>
  /** The beginning of the record; absent if nothing tells it. */
  readonly recordSince?: Instant
  /** The time by which a version that is not listed was taken away, by the same record. */
  readonly removedBy?: Instant
  /** A version that is not listed may have been there: all files were taken away, or are withheld. */
  readonly isEmptied?: boolean
  /** The most by which the registry's clock was behind ours, in milliseconds; absent if it does not tell its time. */
  readonly clockBehindMs?: number
  /** The answer is an old copy, or may have been cut: it can show that the claim holds, and not that it does not. */
  readonly isDoubtful?: boolean
  readonly facts: Facts
}

export interface Ecosystem {
  /** The word before the colon in targets, and the name of the connection type. */
  readonly name: 'npm' | 'pypi' | 'cargo'
  readonly connectionType: ConnectionType
  readonly publicUrl: string
  /** The values of `params.registry` for the registry at this address. */
  namesOf(baseUrl: string): readonly string[]
  /**
   * The public registry keeps what it published: a version is never replaced by other content, and its record has each version that ever was
   * since the record begins, wherever one can be read. Other registries of the kind may be set up to do otherwise.
   */
  readonly publicKeeps: boolean
  /** The longest time, in milliseconds, for which the public registry answers with an old document or with none, and without an `Age`. */
  readonly publicLagMs: number
  /** Tells whether everybody sees every package with such a name at the public registry. */
  isPublicName(name: string): boolean
  readonly algorithms: readonly ('sha256' | 'sha512')[]
  normalizeName(name: string): string
  /** Brings a version into one form, which it leaves as it is. Undefined for any other text. */
  normalizeVersion(version: string): string | undefined
  /** The credentials of requests through a connection with these options. */
  authOf(options: Readonly<Record<string, unknown>>): Auth | undefined
  /**
   * Says that a version is not listed only after an answer that shows that it would be seen.
   * @throws DestinationError
   */
  find(query: Query, place: Place, context: CheckContext): Promise<FoundVersion>
}
