/** What a kind of registry is to the verifier. Those of this plugin are in the list in `index.ts`. */
import type { Auth, CheckContext, ConnectionType, Instant, LogTime } from '@claimcheck/core/plugin'
import type { Facts } from './profile.ts'

export interface Query {
  /** Without the prefix, normalized. */
  readonly name: string
  /** Normalized. */
  readonly version: string
  /** As `sha512-` or `sha256-` and base64. */
  readonly integrity?: string
  /** The end of the tolerance. */
  readonly inTimeUntil: Instant
}

/** A registry, and with which rights it is read. */
export interface Place {
  readonly baseUrl: string
  readonly auth?: Auth | undefined
  /** The public registry of its kind. */
  readonly isPublic: boolean
  /** A package with this name that the registry does not show is not there. */
  sees(name: string): boolean
}

/** What a registry showed of a version. */
export interface FoundVersion {
  /** The registry offers it. */
  readonly isListed: boolean
  /** Its file has the claimed digest; absent where the claim names none. */
  readonly hasContent?: boolean
  /** When it was published, by the registry's own record; null where a record was read that does not have it. */
  readonly published?: Required<LogTime> | null
  /** When the last of its files came, by the same record; as `published`, when left out. */
  readonly latest?: Required<LogTime>
  /** When the record begins; absent where nothing says so. */
  readonly recordSince?: Instant
  /** By when a version that is not listed had been taken away, by the same record. */
  readonly removedBy?: Instant
  /** What is not listed may have been there: all files were taken away, or are withheld. */
  readonly isEmptied?: boolean
  /** How far the registry's clock was behind ours at most; absent where it does not tell its time. Milliseconds. */
  readonly clockBehindMs?: number
  /** From an old copy, or an answer that may have been cut: it can show that the claim holds, and not that it does not. */
  readonly isDoubtful?: boolean
  readonly facts: Facts
}

export interface Ecosystem {
  /** Before the colon in targets, and the name of the connection type. */
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
  /** How long the public registry goes on giving an old document of a package, or saying that there is none, without an `Age`. Milliseconds. */
  readonly publicLagMs: number
  /** Everybody sees every package with such a name at the public registry. */
  isPublicName(name: string): boolean
  readonly algorithms: readonly ('sha256' | 'sha512')[]
  normalizeName(name: string): string
  /** Undefined for what is no version. Applied twice it changes nothing more. */
  normalizeVersion(version: string): string | undefined
  /** How requests through a connection are signed, from its options. */
  authOf(options: Readonly<Record<string, unknown>>): Auth | undefined
  /**
   * Says that a version is not listed only after an answer that shows that it would be seen.
   * @throws DestinationError
   */
  find(query: Query, place: Place, context: CheckContext): Promise<FoundVersion>
}
