/** Claims that are true, as people and agents make them: each has to be verified. */
import { gzipSync } from 'node:zlib'
import { type Kind, row, START, type Verdict } from '../../../../test/traps/verifier-table.ts'
import {
  AWS,
  B2,
  Bucket,
  CEPH,
  contentOf,
  DAY,
  HOUR,
  hugeContent,
  MINIO,
  MINUTE,
  R2,
  SECOND,
  type Service,
  SWIFT,
} from './object-store.ts'
import {
  BY_DIGEST,
  DRAFT,
  filled,
  KEY,
  KEYS,
  named,
  OTHER_REPORT,
  plain,
  REPORT,
  REPORT_NAMED,
  type Row,
  report,
  type Scene,
  unversioned,
  versioned,
} from './row.ts'
import { errorAnswer, slowBetween } from './s3-server.ts'

function honest(title: string, why: string, scene: () => Scene, ...also: Verdict[]): Row {
  const kind: Kind = ['in time', 'verified', ...also]
  return row(kind, title, why, scene)
}

const MULTIPART = { parts: 3, begunAt: START - MINUTE } as const
const GZIP = contentOf(gzipSync(REPORT.bytes!))

/** The same usual put at each service that others run. */
const elsewhere = (name: string, service: Service, bucket: Bucket) =>
  honest(`at ${name}`, 'it speaks the same API', () => ({
    bucket: filled(bucket, service.checksums === 'none' ? plain() : report()),
    params: REPORT_NAMED,
    preexisting: false,
  }))

export const HONEST: readonly Row[] = [
  honest('with a checksum, in a bucket that keeps versions', 'the service computed the digest itself', () => ({
    bucket: filled(versioned()),
    params: REPORT_NAMED,
    preexisting: false,
  })),
  honest('with a checksum, in a bucket that keeps none', 'what is there now is as claimed', () => ({
    bucket: filled(unversioned()),
    params: REPORT_NAMED,
    preexisting: false,
  })),
  honest('the digest in hexadecimal', 'it is the same digest', () => ({
    bucket: filled(versioned()),
    params: named(REPORT, 'hex'),
  })),
  honest('without a checksum', 'only the content tells its digest', () => ({
    bucket: filled(versioned(), plain()),
    params: BY_DIGEST,
  })),
  honest('with the checksum that clients send by default', 'CRC64NVME is no SHA-256, so the content tells', () => ({
    bucket: filled(unversioned(), report({ checksum: 'crc64nvme' })),
    params: BY_DIGEST,
  })),
  honest('a multipart upload with a checksum', 'a digest of digests says nothing, so the content tells', () => ({
    bucket: filled(versioned(), report(MULTIPART)),
    params: REPORT_NAMED,
  })),
  honest('a multipart upload that took an hour', 'it was not there when it began', () => ({
    bucket: filled(unversioned(), plain({ parts: 40, begunAt: START - HOUR })),
    params: REPORT_NAMED,
    preexisting: false,
  })),
  honest('a multipart upload at a service that tells no type', 'the value has the number of parts', () => ({
    bucket: filled(versioned(MINIO), report(MULTIPART)),
    params: BY_DIGEST,
  })),
  honest(
    'a multipart upload that was overtaken',
    'another put came while it went on, and is the current one',
    () => {
      const bucket = filled(versioned(), report(MULTIPART))
      bucket.put(plain({ content: DRAFT }), START - 30 * SECOND)
      return { bucket, params: REPORT_NAMED }
    },
    'unverifiable',
  ),
  honest('three gigabytes with a checksum', 'nothing of it has to be read', () => {
    const content = hugeContent('dump', 3 * 1024 ** 3)
    return { bucket: filled(versioned(), report({ content })), params: named(content) }
  }),
  honest('into the archive, with a checksum', 'its headers can be read, and its content cannot', () => ({
    bucket: filled(versioned(), report({ headers: { 'x-amz-storage-class': 'DEEP_ARCHIVE' } })),
    params: REPORT_NAMED,
  })),
  honest(
    'compressed by the agent',
    'the digest is of what was put, not of what a browser shows',
    () => ({
      bucket: filled(unversioned(), plain({ content: GZIP, headers: { 'content-encoding': 'gzip' } })),
      params: named(GZIP),
    }),
    'unverifiable',
  ),
  honest(
    'stored with `aws-chunked` as its encoding',
    'some services keep the encoding of the upload',
    () => ({
      bucket: filled(unversioned(MINIO), plain({ headers: { 'content-encoding': 'aws-chunked' } })),
      params: REPORT_NAMED,
    }),
    'unverifiable',
  ),
  honest('named by its version', 'the id leads to what was put', () => {
    const bucket = versioned()
    const version_id = bucket.put(report(), START - SECOND)
    return { bucket, params: { ...REPORT_NAMED, version_id } }
  }),
  honest('named by its version alone', 'the id is of this key', () => {
    const bucket = versioned()
    const version_id = bucket.put(plain(), START - SECOND)
    return { bucket, params: { version_id } }
  }),
  honest('by its key alone', 'something was put there just now', () => ({
    bucket: filled(versioned(), plain()),
    preexisting: false,
  })),
  honest('over an older object', 'the newest version is as claimed', () => {
    const bucket = filled(versioned(), plain({ content: DRAFT }), -DAY)
    return { bucket: filled(bucket), params: REPORT_NAMED, preexisting: false }
  }),
  honest('overwritten after the claim', 'the version is still in the list', () => {
    const bucket = filled(versioned())
    bucket.put(plain({ content: DRAFT }), START + MINUTE)
    return { bucket, params: REPORT_NAMED, submittedMs: 3 * MINUTE }
  }),
  honest('overwritten within a second, named by its version', 'the version is still there', () => {
    const bucket = versioned()
    const version_id = bucket.put(report(), START - 2 * SECOND)
    bucket.put(plain({ content: DRAFT }), START - SECOND)
    return { bucket, params: { ...BY_DIGEST, version_id } }
  }),
  honest('overwritten within a second', 'the version is still in the list', () => {
    const bucket = filled(versioned(), plain(), -2 * SECOND)
    bucket.put(plain({ content: OTHER_REPORT }), START - SECOND)
    return { bucket, params: REPORT_NAMED }
  }),
  honest('overwritten twelve times, under an unusual name', 'lists write names in a form of their own', () => {
    const key = 'R&D/Zahlen + mehr/"<Entwurf>" 100% 日本.csv'
    const bucket = filled(versioned(), report({ key }))
    for (let index = 1; index <= 12; index++) {
      bucket.put(plain({ key, content: contentOf(`draft ${index}`) }), START + index * SECOND)
    }
    return { bucket, key, params: REPORT_NAMED, submittedMs: 20 * SECOND }
  }),
  honest('overwritten, in a list of short pages', 'a page may have fewer entries than were asked for', () => {
    const bucket = filled(versioned(CEPH), plain())
    for (let index = 1; index <= 5; index++)
      bucket.put(plain({ content: contentOf(`draft ${index}`) }), START + index * SECOND)
    return { bucket, params: REPORT_NAMED, submittedMs: 20 * SECOND, front: { pageSize: 2 } }
  }),
  honest('a thousand neighbours whose names begin so', 'they are other objects', () => {
    const bucket = unversioned()
    for (let index = 0; index < 1100; index++)
      bucket.put(plain({ key: `${KEY}.${index}`, content: DRAFT }), START - HOUR)
    return { bucket: filled(bucket), params: REPORT_NAMED }
  }),
  honest('a name with spaces, signs and other letters', 'each byte of the name is signed once', () => {
    const key = "Q1 2026/a+b/100% (final)!*'/naïve ~ résumé 日本語.csv"
    return { bucket: filled(versioned(), report({ key })), key, params: REPORT_NAMED }
  }),
  honest('a name with what looks encoded', '`%2F` in a name is no slash', () => {
    const key = 'exports/a%2Fb%20c.csv'
    const bucket = filled(versioned(), report({ key }))
    bucket.put(plain({ key: 'exports/a/b c.csv', content: DRAFT }), START - DAY)
    return { bucket, key, params: REPORT_NAMED }
  }),
  honest(
    'a name with two slashes',
    'an empty segment is a part of the name',
    () => {
      const key = 'exports//report.csv'
      return { bucket: filled(versioned(), report({ key })), key, params: REPORT_NAMED }
    },
    'unverifiable',
  ),
  honest('ten minutes ago', 'the time of the version is in time', () => ({
    bucket: filled(versioned()),
    params: REPORT_NAMED,
    submittedMs: 10 * MINUTE,
    preexisting: false,
  })),
  honest('three hours ago', 'the time of one put is when it was there', () => ({
    bucket: filled(versioned()),
    params: REPORT_NAMED,
    submittedMs: 3 * HOUR,
  })),
  honest('three hours ago, in a bucket that keeps no versions', 'nothing was put over it since', () => ({
    bucket: filled(unversioned(), plain()),
    params: REPORT_NAMED,
    submittedMs: 3 * HOUR,
  })),
  honest('by a slow agent', 'it arrives within the tolerance', () => ({
    bucket: filled(unversioned(), plain(), 4 * MINUTE),
    params: REPORT_NAMED,
  })),
  honest('by a slow agent, over an older object', 'what was there before is no other outcome', () => {
    const bucket = filled(unversioned(), plain({ content: DRAFT }), -DAY)
    return { bucket: filled(bucket, report(), 4 * MINUTE), params: REPORT_NAMED }
  }),
  honest('claimed by another, too', 'two claims can be about one put', () => ({
    bucket: filled(versioned()),
    params: BY_DIGEST,
    claimedMs: 30 * SECOND,
  })),
  honest('put again by a job every minute', 'each is as claimed', () => {
    const bucket = unversioned()
    for (let index = 0; index < 20; index++) bucket.put(plain(), START - SECOND + index * MINUTE)
    return { bucket, params: REPORT_NAMED, submittedMs: 2 * MINUTE }
  }),
  honest(
    'put before the bucket kept versions, and overwritten since',
    'the version `null` stays',
    () => {
      const bucket = filled(unversioned())
      bucket.setVersioning('Enabled', START + 20 * SECOND)
      bucket.put(plain({ content: DRAFT }), START + MINUTE)
      return { bucket, params: REPORT_NAMED, submittedMs: 2 * MINUTE }
    },
    'unverifiable',
  ),
  honest('into a bucket that keeps versions no more', 'it is the version `null`', () => {
    const bucket = filled(versioned(), plain({ content: DRAFT }), -HOUR)
    bucket.setVersioning('Suspended', START - MINUTE)
    return { bucket: filled(bucket), params: REPORT_NAMED }
  }),
  honest('hidden after the claim', 'a delete marker hides the version, which is in the list', () => {
    const bucket = filled(versioned())
    bucket.delete(KEY, START + MINUTE)
    return { bucket, params: REPORT_NAMED, submittedMs: 2 * MINUTE }
  }),
  honest('deleted and restored', 'the marker was deleted, and the version is the current one', () => {
    const bucket = filled(versioned())
    const marker = bucket.delete(KEY, START + MINUTE)
    bucket.erase(KEY, marker, START + 2 * MINUTE)
    return { bucket, params: REPORT_NAMED, submittedMs: 3 * MINUTE }
  }),
  honest('with keys that read, and cannot list', 'what is there shows itself', () => ({
    bucket: filled(versioned()),
    params: REPORT_NAMED,
    front: { rights: { list: false, listVersions: false, readVersions: false, versioning: false } },
  })),
  honest('with keys that list, and not versions', 'the usual read-only policy has no right to versions', () => ({
    bucket: filled(versioned(), plain()),
    params: REPORT_NAMED,
    front: { rights: { listVersions: false, readVersions: false, versioning: false } },
  })),
  honest('with temporary keys', 'the token goes along and is signed', () => ({
    bucket: filled(versioned()),
    params: REPORT_NAMED,
    keys: { ...KEYS, sessionToken: 'IQoJb3JpZ2luX2VjEXAMPLE//////////wEaCWV1LXdlc3QtMSJHMEUCIQD' },
  })),
  honest('behind a limit of requests', 'it ends within the tolerance', () => ({
    bucket: filled(versioned()),
    params: REPORT_NAMED,
    front: { instead: slowBetween(START, START + 3 * MINUTE) },
  })),
  honest('at a service whose clock is twenty minutes ahead', 'requests are signed by its clock', () => ({
    bucket: filled(unversioned(MINIO)),
    params: REPORT_NAMED,
    front: { clockMs: 20 * MINUTE },
  })),
  honest('at a service whose clock is three minutes behind', 'it is there', () => ({
    bucket: filled(versioned()),
    params: REPORT_NAMED,
    front: { clockMs: -3 * MINUTE },
  })),
  honest('behind a cache that kept that it is missing', 'such an answer says nothing of now', () => ({
    bucket: filled(unversioned()),
    params: REPORT_NAMED,
    front: { copies: { from: START, until: START + 4 * MINUTE, madeAt: START - 2 * MINUTE, shows: 'age' } },
  })),
  honest('where lists are half a minute behind', 'the object itself is not', () => ({
    bucket: filled(unversioned(SWIFT), plain()),
    params: REPORT_NAMED,
    front: { listLagMs: 30 * SECOND },
  })),
  honest('where lists are an hour behind', 'the object itself is not', () => ({
    bucket: filled(versioned(CEPH), plain()),
    params: REPORT_NAMED,
    front: { listLagMs: HOUR },
  })),
  honest('read at another site, forty seconds behind', 'it arrives there within the tolerance', () => ({
    bucket: filled(versioned(CEPH), plain()),
    params: REPORT_NAMED,
    front: { lagMs: 40 * SECOND },
  })),
  honest('where versions of a bucket without any are an empty list', 'the object itself is there', () => ({
    bucket: filled(unversioned(MINIO)),
    params: REPORT_NAMED,
    front: {
      instead: ({ query }) =>
        query.has('versions')
          ? {
              status: 200,
              headers: { 'content-type': 'application/xml' },
              body: '<ListVersionsResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>acme-reports</Name><Prefix></Prefix><MaxKeys>1000</MaxKeys><IsTruncated>false</IsTruncated></ListVersionsResult>',
            }
          : undefined,
    },
  })),
  honest('where the list of versions is not implemented', 'one request that is refused hides no object', () => ({
    bucket: filled(unversioned(MINIO)),
    params: REPORT_NAMED,
    front: {
      instead: ({ query }) =>
        query.has('versions')
          ? errorAnswer({
              status: 501,
              code: 'NotImplemented',
              message: 'A header you provided implies functionality that is not implemented',
            })
          : undefined,
    },
  })),
  elsewhere('MinIO', MINIO, versioned(MINIO)),
  elsewhere('Ceph', CEPH, unversioned(CEPH)),
  elsewhere('Cloudflare R2, which has no versions', R2, unversioned(R2)),
  elsewhere('Backblaze B2, which always has versions', B2, new Bucket(B2)),
  elsewhere('Swift, which rounds times up', SWIFT, versioned(SWIFT)),
  honest('at Swift, within the second', 'its time is rounded up to after the answer', () => ({
    bucket: filled(unversioned(SWIFT), plain(), 100),
    params: REPORT_NAMED,
    submittedMs: 200,
  })),
  honest('overwritten and hidden at Backblaze B2', 'its list has markers before versions', () => {
    const bucket = filled(new Bucket(B2), plain())
    bucket.put(plain({ content: DRAFT }), START + 20 * SECOND)
    bucket.delete(KEY, START + 40 * SECOND)
    return { bucket, params: REPORT_NAMED, submittedMs: MINUTE }
  }),
  honest(
    'by its key alone, a year before the claim',
    'something is there, and the receipt says that it was before',
    () => ({ bucket: filled(versioned(), plain(), -365 * DAY), preexisting: true }),
    'unverifiable',
  ),
  honest(
    'at AWS, a year before the claim',
    'it is there as claimed, and the receipt says that it was before',
    () => ({
      bucket: filled(versioned(AWS), report(), -365 * DAY),
      params: REPORT_NAMED,
      preexisting: true,
    }),
    'unverifiable',
  ),
]
