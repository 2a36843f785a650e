// Test run: slow
/** The plugin passes the conformance kit at a small S3 that checks signatures and keeps versions. */
import { createHash } from 'node:crypto'
import { type Destination, verifierConformance } from '@claimcheck/core/testkit'
import objects from '@claimcheck/plugin-objects'
import t from 'tap'
import { type Put, REGION, S3 } from './s3.ts'

t.setTimeout(500_000)

const MINUTE = 60_000
const BUCKET = 'acme-backups'
const KEY = '2026/a report+1 (ü).csv'
const SECRETS = { READER: 'a-secret-that-reads', GUEST: 'a-secret-that-does-not-list' }

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
const CONTENT = 'the report'
const OTHER = 'another one'

/** Puts what a situation has. @param start when the kit began */
type Deed = (s3: S3, start: number) => void

const versioned =
  (deed: Deed): Deed =>
  (s3, start) => {
    s3.versioning = 'Enabled'
    deed(s3, start)
  }

const put =
  (more: Partial<Put> = {}, afterMs = 0): Deed =>
  (s3, start) =>
    void s3.put(KEY, { content: CONTENT, at: start + afterMs, ...more })

const SITUATIONS = {
  empty: () => undefined,
  'empty, with versions': versioned(() => undefined),
  put: put(),
  'put with a checksum': versioned(put({ withChecksum: true })),
  'put in parts': put({ inParts: true, withChecksum: true }),
  'put in parts, with versions': versioned(put({ inParts: true })),
  other: put({ content: OTHER, withChecksum: true }),
  'put as gzip': put({ encoding: 'gzip' }),
  'put, with versions': versioned(put()),
  'put later': versioned(put({}, 15 * MINUTE)),
  overwritten: versioned((s3, start) => {
    put()(s3, start)
    put({ content: OTHER }, 30_000)(s3, start)
  }),
  deleted: versioned((s3, start) => {
    put()(s3, start)
    s3.remove(KEY, start + 30_000)
  }),
  'a key that begins with it': versioned((s3, start) => void s3.put(`${KEY}.part`, { content: CONTENT, at: start })),
  old: versioned(put({}, -60 * MINUTE)),
} satisfies Record<string, Deed>
type Situation = keyof typeof SITUATIONS

let s3: S3
let start = 0
const destination: Destination<Situation> = {
  async start({ now }) {
    start = now()
    s3 = new S3(BUCKET, { now, secrets: SECRETS, mayNotList: ['GUEST'] })
    return s3.start()
  },
  async set(situation) {
    s3.clear()
    SITUATIONS[situation](s3, start)
  },
}

const as = (id: keyof typeof SECRETS, secret: string = SECRETS[id], more = {}) => ({
  provider: 's3',
  options: {
    base_url: 'http://s3.example:9000',
    region: REGION,
    access_key_id: id,
    secret_access_key: secret,
    ...more,
  },
  target: BUCKET,
})
const target = `${BUCKET}/${KEY}`
const claim = { target, params: { sha256: sha256(CONTENT) } }
const absentRoutes = [/^HEAD|acme-backups\/2026/]

t.test('at an S3', async (t) => {
  const report = await verifierConformance(t, {
    plugin: objects,
    connection: as('READER'),
    unprivileged: as('GUEST'),
    destination,
    before: 'empty',
    cases: [
      {
        name: 'put, and the digest is computed',
        situation: 'put',
        claim,
        sees: { kind: 'present', facts: { found_sha256: sha256(CONTENT), found_size: CONTENT.length } },
        verdict: 'verified',
      },
      {
        name: 'put with a checksum, claimed in base64',
        situation: 'put with a checksum',
        claim: {
          target,
          params: { sha256: Buffer.from(sha256(CONTENT), 'hex').toString('base64'), version_id: 'v1.id' },
        },
        sees: { kind: 'present', facts: { found_version: 'v1.id', found_sha256: sha256(CONTENT) } },
        verdict: 'verified',
      },
      {
        name: 'put in parts, whose checksum is none',
        situation: 'put in parts',
        claim,
        sees: { kind: 'present', facts: { found_sha256: sha256(CONTENT), undated: true } },
        verdict: 'verified',
      },
      {
        name: 'put as gzip, and read as it is stored',
        situation: 'put as gzip',
        claim,
        sees: { kind: 'present', facts: { found_sha256: sha256(CONTENT) } },
        verdict: 'verified',
      },
      {
        name: 'nothing was put',
        situation: 'empty',
        claim: { target, params: {} },
        absentRoutes,
        sees: { kind: 'absent', facts: {} },
        verdict: 'failed',
      },
      {
        name: 'something else was put',
        situation: 'other',
        claim,
        sees: { kind: 'present', differs: ['sha256'], facts: { found_sha256: sha256(OTHER) } },
        verdict: 'mismatch',
      },
      {
        name: 'of another size',
        situation: 'put',
        claim: { target, params: { size: 5 } },
        sees: { kind: 'present', differs: ['size'], facts: { found_size: CONTENT.length } },
        verdict: 'mismatch',
      },
      {
        name: 'a key that begins with the claimed one',
        situation: 'a key that begins with it',
        claim,
        absentRoutes,
        sees: { kind: 'absent', facts: {} },
        verdict: 'failed',
      },
      {
        name: 'claimed long after, and the version was put in time',
        situation: 'put, with versions',
        submittedAfterMs: 20 * MINUTE,
        claim,
        sees: { kind: 'present', facts: { found_sha256: sha256(CONTENT) } },
        verdict: 'verified',
      },
      {
        name: 'claimed long after, and the version was put late',
        situation: 'put later',
        submittedAfterMs: 20 * MINUTE,
        claim,
        sees: { kind: 'present' },
        verdict: 'late',
      },
      {
        name: 'claimed long after, and the upload in parts began in time',
        situation: 'put in parts, with versions',
        submittedAfterMs: 20 * MINUTE,
        claim,
        sees: { kind: 'present', facts: { undated: true } },
        verdict: 'unverifiable',
      },
      {
        name: 'overwritten before the first look',
        situation: 'overwritten',
        submittedAfterMs: MINUTE,
        claim,
        sees: { kind: 'present', differs: ['sha256'] },
        verdict: 'verified',
      },
      {
        name: 'deleted before the first look',
        absentRoutes,
        situation: 'deleted',
        submittedAfterMs: MINUTE,
        claim,
        sees: { kind: 'absent', facts: { deleted: true } },
        verdict: 'verified',
      },
      {
        name: 'not put, claimed long after, and versions may be deleted for good',
        situation: 'empty, with versions',
        submittedAfterMs: 5 * MINUTE,
        claim,
        absentRoutes,
        sees: { kind: 'absent' },
        verdict: 'unverifiable',
      },
      {
        name: 'not put, claimed long after, and the workspace says that no version is deleted for good',
        situation: 'empty, with versions',
        connection: as('READER', SECRETS.READER, { keeps_versions: true }),
        submittedAfterMs: 5 * MINUTE,
        claim,
        absentRoutes,
        sees: { kind: 'absent' },
        verdict: 'failed',
      },
      {
        name: 'a version with another content',
        situation: 'put with a checksum',
        claim: { target, params: { version_id: 'v1.id', sha256: sha256(OTHER) } },
        sees: { kind: 'present', differs: ['sha256'], mark: 'final' },
        verdict: 'mismatch',
      },
      {
        name: 'another version',
        situation: 'put with a checksum',
        claim: { target, params: { version_id: 'v2.id' } },
        sees: { kind: 'present', differs: ['version_id'], facts: { found_version: 'v1.id' } },
        absentRoutes: [/versionId/],
        verdict: 'mismatch',
      },
      {
        name: 'there long before the claim',
        situation: 'old',
        claim,
        sees: { kind: 'present', facts: { preexisting: true } },
        verdict: 'verified',
      },
      {
        name: 'keys that may not list',
        situation: 'empty',
        connection: as('GUEST'),
        claim,
        sees: { error: 'forbidden' },
        verdict: 'unverifiable',
      },
      {
        name: 'a secret that is wrong',
        situation: 'put',
        connection: as('READER', 'another-secret'),
        claim,
        sees: { error: 'unauthorized' },
        verdict: 'unverifiable',
      },
      {
        name: 'a key that leads elsewhere',
        situation: 'put',
        claim: { target: `${BUCKET}/2026/../secret`, params: {} },
        sees: { error: 'unsupported_target' },
        verdict: 'unverifiable',
      },
    ],
  })
  t.ok(report.ok)
})
