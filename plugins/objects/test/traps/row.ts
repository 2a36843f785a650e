/** A row of the trap table: what happens in a bucket, what is claimed of it, and the verdict that is right. */
import { START, type TrapRow } from '../../../../test/traps/verifier-table.ts'
import { AWS, Bucket, type Content, contentOf, type Put, SECOND, type Service } from './object-store.ts'
import type { Front } from './s3-server.ts'
import type { Keys } from './signature.ts'

export interface Scene {
  readonly bucket: Bucket
  /** Buckets of the service, where the claimed one is another or none of them. */
  readonly buckets?: readonly Bucket[]
  readonly key?: string
  readonly params?: Readonly<Record<string, string | number>>
  /** The keys that the service knows, and those that the connection has, where they differ. */
  readonly keys?: Keys
  readonly options?: Readonly<Record<string, string>>
  readonly front?: Partial<Front>
  /** When the agent says that it did it; the start, when left out. */
  readonly claimedMs?: number
  /** A second after the claim, when left out. */
  readonly submittedMs?: number
  /** What a verified claim must say of whether it was there long before. */
  readonly preexisting?: boolean
}

export type Row = TrapRow<Scene>

export const KEYS: Keys = {
  accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
}

export const KEY = '2026/03/report.csv'
export const REPORT = contentOf('month,total\n2026-02,1204.50\n2026-03,1310.00\n')
/** As long as the report, and another one. */
export const OTHER_REPORT = contentOf('month,total\n2026-02,1204.50\n2026-03,9999.00\n')
export const DRAFT = contentOf('draft')

/** What a claim names of a content. */
export function named({ sha256, size }: Content, encoding: 'hex' | 'base64' = 'base64') {
  return { sha256: sha256.toString(encoding), size }
}

export const REPORT_NAMED = named(REPORT)
export const BY_DIGEST = { sha256: REPORT_NAMED.sha256 }

/** The usual put of the report. */
export function report(given: Partial<Put> = {}): Put {
  return { key: KEY, content: REPORT, checksum: 'sha256', ...given }
}

/** The report without any checksum that tells its digest. */
export function plain(given: Partial<Put> = {}): Put {
  const { checksum: _, ...rest } = report(given)
  return rest
}

/** A bucket that keeps versions since long ago. */
export function versioned(service: Service = AWS): Bucket {
  return new Bucket(service).setVersioning('Enabled', 1)
}

/** A bucket that keeps no versions. */
export function unversioned(service: Service = AWS): Bucket {
  return new Bucket(service)
}

/** The usual deed: a put that ended at a moment after the start. */
export function filled(bucket: Bucket, put: Put = report(), ms = -SECOND): Bucket {
  bucket.put(put, START + ms)
  return bucket
}
