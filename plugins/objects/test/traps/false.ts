/** Claims that are false, or of which nothing can tell, with what a careless reader of a service would make of them. */

import { type Kind, row, START } from '../../../../test/traps/verifier-table.ts'
import {
  AWS,
  B2,
  Bucket,
  CEPH,
  compositeOf,
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
import { type Answer, errorAnswer, type S3Request, slowBetween } from './s3-server.ts'

const FAILED: Kind = ['never', 'failed']
const OTHER: Kind = ['other', 'mismatch']
const LATE: Kind = ['late', 'late']
/** Late by the looks alone, which may leave it open. */
const LATE_BY_LOOKS: Kind = ['late', 'late', 'unverifiable']
const LATE_UNTOLD: Kind = ['late', 'unverifiable']
const NEVER_TOLD: Kind = ['never', 'unverifiable']
const UNTOLD: Kind = ['in time', 'unverifiable']

/** After the tolerance, and before the deadline. */
const TOO_LATE = 12 * MINUTE
const OVERTAKEN = 10 * MINUTE
const BARE: Service = { ...CEPH, checksums: 'bare' }
const MULTIPART = { parts: 3, begunAt: START - MINUTE } as const
const COMPOSITE = compositeOf(report(MULTIPART)).toString('base64')
const REPLICA = { 'x-amz-replication-status': 'REPLICA' }

const always =
  (status: number, code: string, headers: Answer['headers'] = {}) =>
  () =>
    errorAnswer({ status, code, message: code }, headers)

/** Refuses requests for objects, and no others. */
const forObjects = (answer: Answer) => (request: S3Request) => (request.key === '' ? undefined : answer)

function never(title: string, why: string, bucket: () => Bucket): Row {
  return row(FAILED, title, why, () => ({ bucket: bucket(), params: REPORT_NAMED }))
}

function other(title: string, why: string, scene: () => Scene): Row {
  return row(OTHER, title, why, scene)
}

export const FALSE: readonly Row[] = [
  // It was never put.
  never('never put, in a bucket that keeps versions', 'no look shows it', versioned),
  never('never put, in a bucket that keeps none', 'no look shows it', unversioned),
  never('never put at Cloudflare R2', 'no look shows it', () => unversioned(R2)),
  never('never put at Backblaze B2', 'no look shows it', () => new Bucket(B2)),
  never('never put at Swift', 'no look shows it', () => unversioned(SWIFT)),
  never('put under a longer name', 'a list by prefix has it, and it is another object', () =>
    filled(versioned(), report({ key: `${KEY}.gz` })),
  ),
  never('put below the name as a folder', 'the name is a prefix, and no object', () =>
    filled(unversioned(MINIO), report({ key: `${KEY}/part-0` })),
  ),
  never('put in another case', 'names tell cases apart', () => filled(versioned(), report({ key: KEY.toUpperCase() }))),
  row(FAILED, 'put in another Unicode form', 'names are bytes', () => ({
    bucket: filled(unversioned(), report({ key: 're\u0301sume\u0301.csv' })),
    key: 'r\u00e9sum\u00e9.csv',
    params: REPORT_NAMED,
  })),
  never('a neighbour whose name looks like XML', 'a name is no markup', () => {
    const { id, time } = { id: 'x', time: new Date(START).toISOString() }
    const key = `${KEY}</Key><VersionId>${id}</VersionId><IsLatest>true</IsLatest><LastModified>${time}</LastModified><Size>${REPORT.size}</Size></Version><Version><Key>${KEY}`
    return filled(versioned(), report({ key }))
  }),
  row(FAILED, 'put into a bucket beside', 'the claimed one does not have it', () => ({
    bucket: unversioned(),
    buckets: [unversioned(), filled(new Bucket(AWS, 'acme-reports-old'))],
    params: REPORT_NAMED,
  })),
  row([...FAILED, 'unverifiable'], 'put and hidden an hour before the claim', 'nobody put it since', () => {
    const bucket = filled(versioned(), report(), -HOUR)
    bucket.delete(KEY, START - 30 * MINUTE)
    return { bucket, params: REPORT_NAMED }
  }),
  row([...NEVER_TOLD, 'failed'], 'never put, and told ten minutes later', 'it may have been deleted for good', () => ({
    bucket: versioned(),
    params: REPORT_NAMED,
    submittedMs: 10 * MINUTE,
  })),

  // Something else was put.
  other('other content of the same size, in a bucket that keeps versions', 'its digest is another', () => ({
    bucket: filled(versioned(), report({ content: OTHER_REPORT })),
    params: REPORT_NAMED,
  })),
  other('other content of the same size, in a bucket that keeps none', 'its digest is another', () => ({
    bucket: filled(unversioned(), plain({ content: OTHER_REPORT })),
    params: REPORT_NAMED,
  })),
  other('other content with the same MD5', 'an ETag is no digest that counts', () => ({
    bucket: filled(versioned(), plain({ content: OTHER_REPORT, etag: REPORT.md5.toString('hex') })),
    params: REPORT_NAMED,
  })),
  other('other content with a note of the digest', 'the agent wrote that header', () => ({
    bucket: filled(
      versioned(),
      plain({
        content: OTHER_REPORT,
        headers: { 'x-amz-meta-sha256': BY_DIGEST.sha256, 'x-amz-meta-x-amz-checksum-sha256': BY_DIGEST.sha256 },
      }),
    ),
    params: REPORT_NAMED,
  })),
  other('the checksum of a multipart upload claimed as its digest', 'it is a digest of digests', () => ({
    bucket: filled(versioned(), report(MULTIPART)),
    params: { sha256: COMPOSITE },
  })),
  other('the same at a service that tells no type', 'the number of parts follows the value', () => ({
    bucket: filled(versioned(MINIO), report(MULTIPART)),
    params: { sha256: COMPOSITE },
  })),
  other('the same at a service that tells nothing beside', 'the ETag is of a multipart upload', () => ({
    bucket: filled(versioned(BARE), report(MULTIPART)),
    params: { sha256: COMPOSITE },
  })),
  row(
    ['in time', 'verified'],
    'a multipart upload at a service that tells nothing beside',
    'its content is as claimed',
    () => ({
      bucket: filled(versioned(BARE), report(MULTIPART)),
      params: REPORT_NAMED,
    }),
  ),
  other('a part of it', 'its size is another', () => ({
    bucket: filled(versioned(), plain({ content: contentOf(REPORT.bytes!.subarray(0, 20)) })),
    params: { size: REPORT.size },
  })),
  other('nothing in it', 'an upload that failed left an empty object', () => ({
    bucket: filled(unversioned(), plain({ content: contentOf('') })),
    params: REPORT_NAMED,
  })),
  row(
    ['other', 'mismatch', 'failed'],
    'only the draft of a year ago',
    'it is no put of now, and other content',
    () => ({
      bucket: filled(unversioned(), plain({ content: DRAFT }), -365 * DAY),
      params: REPORT_NAMED,
    }),
  ),
  row(['other', 'failed', 'mismatch'], 'with the version of another object', 'this one has no such version', () => {
    const bucket = filled(versioned())
    const version_id = bucket.put(report({ key: 'other.csv' }), START - SECOND)
    return { bucket, params: { ...REPORT_NAMED, version_id } }
  }),
  row(['other', 'failed', 'mismatch'], 'with a version that was never given', 'no version has this id', () => ({
    bucket: filled(versioned(), plain()),
    params: { version_id: AWS.versionId('nothing', 1) },
  })),
  row(['other', 'mismatch', 'failed'], 'with the version of the draft', 'that version has other content', () => {
    const bucket = versioned()
    const version_id = bucket.put(report({ content: DRAFT }), START - HOUR)
    return { bucket: filled(bucket), params: { ...BY_DIGEST, version_id } }
  }),
  row(
    ['other', 'failed', 'mismatch', 'unverifiable'],
    'with the version of a delete marker',
    'a marker has no content',
    () => {
      const bucket = filled(versioned(), report(), -HOUR)
      return { bucket, params: { version_id: bucket.delete(KEY, START - SECOND) } }
    },
  ),

  // It came too late.
  row(LATE, 'put too late, in a bucket that keeps versions', 'its time says so', () => ({
    bucket: filled(versioned(), report(), TOO_LATE),
    params: REPORT_NAMED,
  })),
  row(LATE, 'put too late, in a bucket that keeps none', 'no look in time shows it', () => ({
    bucket: filled(unversioned(), plain(), TOO_LATE),
    params: REPORT_NAMED,
  })),
  row(LATE, 'put too late over the draft', 'what was there in time was other content', () => ({
    bucket: filled(filled(versioned(), plain({ content: DRAFT }), -DAY), report(), TOO_LATE),
    params: REPORT_NAMED,
  })),
  row(
    LATE_BY_LOOKS,
    'a multipart upload begun in time, and completed too late',
    'its time is that of its beginning',
    () => ({
      bucket: filled(versioned(), report(MULTIPART), TOO_LATE),
      params: REPORT_NAMED,
    }),
  ),
  row(LATE_BY_LOOKS, 'the same in a bucket that keeps no versions', 'its time is that of its beginning', () => ({
    bucket: filled(unversioned(), plain(MULTIPART), TOO_LATE),
    params: REPORT_NAMED,
  })),
  row(LATE_UNTOLD, 'the same, told three hours later', 'nothing tells when it was completed', () => ({
    bucket: filled(versioned(), report(MULTIPART), HOUR),
    params: REPORT_NAMED,
    submittedMs: 3 * HOUR,
  })),
  row(
    LATE_UNTOLD,
    'the same in a bucket that keeps none, told three hours later',
    'nothing tells when it was completed',
    () => ({
      bucket: filled(unversioned(), plain(MULTIPART), HOUR),
      params: REPORT_NAMED,
      submittedMs: 3 * HOUR,
    }),
  ),
  row(LATE_UNTOLD, 'the same at Backblaze B2, told three hours later', 'nothing tells when it was completed', () => ({
    bucket: filled(new Bucket(B2), plain(MULTIPART), HOUR),
    params: REPORT_NAMED,
    submittedMs: 3 * HOUR,
  })),
  row(
    UNTOLD,
    'a multipart upload, told three hours later',
    'it shows the same as one that was completed too late',
    () => ({
      bucket: filled(versioned(), report(MULTIPART)),
      params: REPORT_NAMED,
      submittedMs: 3 * HOUR,
    }),
  ),
  row(LATE_BY_LOOKS, 'a replica that arrived too late', 'it kept the time of its source', () => ({
    bucket: filled(versioned(), report({ sourceTime: START - SECOND, headers: REPLICA }), TOO_LATE),
    params: REPORT_NAMED,
  })),
  row(LATE_UNTOLD, 'a replica that arrived too late, told three hours later', 'it kept the time of its source', () => ({
    bucket: filled(versioned(), report({ sourceTime: START - SECOND, headers: REPLICA }), HOUR),
    params: REPORT_NAMED,
    submittedMs: 3 * HOUR,
  })),
  row(LATE_BY_LOOKS, 'put too late by a clock that is three minutes behind', 'by that clock it was in time', () => ({
    bucket: filled(unversioned(), plain(), TOO_LATE),
    params: REPORT_NAMED,
    front: { clockMs: -3 * MINUTE },
  })),

  row(LATE_BY_LOOKS, 'put twenty minutes after the time that is claimed', 'its time says so', () => ({
    bucket: filled(versioned()),
    params: REPORT_NAMED,
    claimedMs: -20 * MINUTE,
    submittedMs: 0,
  })),

  // It was put in time, and nothing shows it any more.
  row(UNTOLD, 'put, and deleted for good with its version', 'that leaves no trace', () => {
    const bucket = versioned()
    const id = bucket.put(report(), START - SECOND)
    bucket.erase(KEY, id, START + 2 * MINUTE)
    return { bucket, params: REPORT_NAMED, submittedMs: OVERTAKEN }
  }),
  row(UNTOLD, 'put, and its version deleted for good over a draft', 'the draft is the current one again', () => {
    const bucket = filled(versioned(), plain({ content: DRAFT }), -DAY)
    const id = bucket.put(report(), START - SECOND)
    bucket.erase(KEY, id, START + 2 * MINUTE)
    return { bucket, params: REPORT_NAMED, submittedMs: OVERTAKEN }
  }),
  row(UNTOLD, 'named by a version that was deleted for good', 'that leaves no trace', () => {
    const bucket = versioned()
    const version_id = bucket.put(report(), START - SECOND)
    bucket.erase(KEY, version_id, START + 2 * MINUTE)
    return { bucket, params: { ...BY_DIGEST, version_id }, submittedMs: OVERTAKEN }
  }),
  row(UNTOLD, 'put, and deleted by a lifecycle rule, in a bucket that keeps no versions', 'it is gone', () => {
    const bucket = filled(unversioned())
    bucket.delete(KEY, START + HOUR)
    return { bucket, params: REPORT_NAMED, submittedMs: 3 * HOUR }
  }),
  row(
    ['in time', 'verified', 'unverifiable'],
    'put, and deleted by a lifecycle rule, in a bucket that keeps versions',
    'a marker hides it',
    () => {
      const bucket = filled(versioned())
      bucket.delete(KEY, START + HOUR)
      return { bucket, params: REPORT_NAMED, submittedMs: 3 * HOUR }
    },
  ),
  row(UNTOLD, 'put, deleted, and put again with other content', 'a bucket that keeps no versions forgets', () => {
    const bucket = filled(unversioned())
    bucket.delete(KEY, START + MINUTE)
    bucket.put(plain({ content: OTHER_REPORT }), START + 2 * MINUTE)
    return { bucket, params: REPORT_NAMED, submittedMs: OVERTAKEN }
  }),
  row(UNTOLD, 'overwritten at Cloudflare R2', 'it keeps no versions', () => {
    const bucket = filled(unversioned(R2))
    bucket.put(plain({ content: DRAFT }), START + MINUTE)
    return { bucket, params: REPORT_NAMED, submittedMs: OVERTAKEN }
  }),
  row(UNTOLD, 'overwritten in a bucket that keeps versions no more', 'the version `null` is the last one alone', () => {
    const bucket = filled(versioned(), plain({ content: DRAFT }), -DAY)
    bucket.setVersioning('Suspended', START - HOUR)
    filled(bucket).put(plain({ content: OTHER_REPORT }), START + MINUTE)
    return { bucket, params: REPORT_NAMED, submittedMs: OVERTAKEN }
  }),
  row(UNTOLD, 'overwritten before the bucket kept versions', 'the list begins in the middle', () => {
    const bucket = filled(unversioned())
    bucket.put(plain({ content: DRAFT }), START + MINUTE)
    bucket.setVersioning('Enabled', START + 2 * MINUTE)
    return { bucket, params: REPORT_NAMED, submittedMs: OVERTAKEN }
  }),
  row(UNTOLD, 'deleted before the bucket kept versions', 'the list begins in the middle', () => {
    const bucket = filled(unversioned())
    bucket.delete(KEY, START + MINUTE)
    bucket.setVersioning('Enabled', START + 2 * MINUTE)
    return { bucket, params: REPORT_NAMED, submittedMs: OVERTAKEN }
  }),
  row(UNTOLD, 'copied onto itself since, in a bucket that keeps no versions', 'its time is that of the copy', () => {
    const bucket = filled(unversioned())
    bucket.put(report({ headers: { 'x-amz-server-side-encryption': 'aws:kms' } }), START + HOUR)
    return { bucket, params: REPORT_NAMED, submittedMs: 3 * HOUR }
  }),
  row(
    ['in time', 'verified'],
    'copied onto itself since, in a bucket that keeps versions',
    'the first version is in the list',
    () => {
      const bucket = filled(versioned())
      bucket.put(report({ headers: { 'x-amz-server-side-encryption': 'aws:kms' } }), START + HOUR)
      return { bucket, params: REPORT_NAMED, submittedMs: 3 * HOUR }
    },
  ),

  // It cannot be seen.
  row([...UNTOLD, 'verified'], 'with the version that Cloudflare R2 gave', 'it gives ids, and takes none', () => {
    const bucket = unversioned(R2)
    const version_id = bucket.put(report(), START - SECOND)
    return { bucket, params: { ...BY_DIGEST, version_id } }
  }),
  row(NEVER_TOLD, 'never put, with keys that cannot list', 'what they may not see is refused as well', () => ({
    bucket: versioned(),
    params: REPORT_NAMED,
    front: { rights: { list: false } },
  })),
  row(UNTOLD, 'with keys that may do nothing here', 'access is denied', () => ({
    bucket: filled(versioned()),
    params: REPORT_NAMED,
    front: { instead: always(403, 'AccessDenied') },
  })),
  row(UNTOLD, 'with keys that list, and cannot read', 'the list tells no digest', () => ({
    bucket: filled(versioned()),
    params: REPORT_NAMED,
    front: { rights: { read: false } },
  })),
  row(UNTOLD, 'in a bucket of another tenant', 'its name says that there is no such bucket', () => ({
    bucket: filled(unversioned(CEPH)),
    buckets: [],
    params: REPORT_NAMED,
  })),
  row(UNTOLD, 'in another region', 'the service names it and does not answer', () => ({
    bucket: filled(versioned()),
    params: REPORT_NAMED,
    front: { instead: always(301, 'PermanentRedirect', { 'x-amz-bucket-region': 'us-west-2' }) },
  })),
  row(UNTOLD, 'signed for another region', 'the service refuses the signature', () => ({
    bucket: filled(versioned()),
    params: REPORT_NAMED,
    options: { region: 'us-east-1' },
  })),
  row(NEVER_TOLD, 'never put, signed for another region', 'a refusal is no absence', () => ({
    bucket: versioned(),
    params: REPORT_NAMED,
    options: { region: 'us-east-1' },
  })),
  row(UNTOLD, 'with a wrong secret', 'the signature is refused', () => ({
    bucket: filled(versioned()),
    params: REPORT_NAMED,
    options: { secret_access_key: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYOTHERKEYXX' },
  })),
  row(UNTOLD, 'with temporary keys that have expired', 'the token is refused', () => ({
    bucket: filled(versioned()),
    params: REPORT_NAMED,
    keys: { ...KEYS, sessionToken: 'IQoJb3JpZ2luX2VjEXAMPLE//////////wEaCWV1LXdlc3QtMSJHMEUCIQD' },
    front: { instead: always(400, 'ExpiredToken') },
  })),
  row(UNTOLD, 'behind a cache that kept that it is missing', 'a copy says nothing of now', () => ({
    bucket: filled(unversioned()),
    params: REPORT_NAMED,
    front: { copies: { from: START, until: START + DAY, madeAt: START - 2 * MINUTE, shows: 'age' } },
  })),
  row(UNTOLD, 'behind a cache that tells no age', 'a copy says nothing of now', () => ({
    bucket: filled(unversioned()),
    params: REPORT_NAMED,
    front: { copies: { from: START, until: START + DAY, madeAt: START - 2 * MINUTE, shows: 'x-cache' } },
  })),
  row(UNTOLD, 'behind a limit of requests for a day', 'nothing was read', () => ({
    bucket: filled(versioned()),
    params: REPORT_NAMED,
    front: { instead: slowBetween(START, START + DAY) },
  })),
  row(UNTOLD, 'encrypted with a key of the agent', 'the service shows nothing without that key', () => ({
    bucket: filled(versioned()),
    params: REPORT_NAMED,
    front: {
      instead: forObjects(
        errorAnswer({
          status: 400,
          code: 'InvalidRequest',
          message: 'The object was stored using a form of Server Side Encryption.',
        }),
      ),
    },
  })),
  row(UNTOLD, 'into the archive, without a checksum', 'its content cannot be read', () => ({
    bucket: filled(versioned(), plain({ headers: { 'x-amz-storage-class': 'GLACIER' } })),
    params: REPORT_NAMED,
  })),
  row(UNTOLD, 'three gigabytes without a checksum', 'its content is too large to be read', () => {
    const content = hugeContent('dump', 3 * 1024 ** 3)
    return { bucket: filled(versioned(), plain({ content })), params: named(content) }
  }),
  row(UNTOLD, 'three gigabytes in parts, with a checksum of all', 'CRC64NVME is no digest', () => {
    const content = hugeContent('dump', 3 * 1024 ** 3)
    const put = report({ content, checksum: 'crc64nvme', parts: 400, begunAt: START - MINUTE })
    return { bucket: filled(versioned(), put), params: named(content) }
  }),
  row(
    [...UNTOLD, 'verified'],
    'overwritten, in a list whose pages repeat',
    'the second page is the first again',
    () => {
      const bucket = filled(versioned(CEPH), plain())
      for (let index = 1; index <= 5; index++)
        bucket.put(plain({ content: contentOf(`draft ${index}`) }), START + index * SECOND)
      return { bucket, params: REPORT_NAMED, submittedMs: OVERTAKEN, front: { pageSize: 2, markers: 'ignored' } }
    },
  ),
  row([...UNTOLD, 'verified'], 'overwritten, in a list that names no next page', 'there is more than it shows', () => {
    const bucket = filled(versioned(MINIO), plain())
    for (let index = 1; index <= 5; index++)
      bucket.put(plain({ content: contentOf(`draft ${index}`) }), START + index * SECOND)
    return { bucket, params: REPORT_NAMED, submittedMs: OVERTAKEN, front: { pageSize: 2, markers: 'missing' } }
  }),
  row(NEVER_TOLD, 'by a name that leads to another object', 'a path with dots is read as another one', () => ({
    bucket: filled(versioned()),
    key: `drafts/../${KEY}`,
    params: REPORT_NAMED,
  })),
  row(NEVER_TOLD, 'where every address answers with a page', 'a page is no object', () => ({
    bucket: unversioned(MINIO),
    front: {
      instead: () => ({
        status: 200,
        headers: { 'content-type': 'text/html' },
        body: '<!doctype html><title>Sign in</title>',
      }),
    },
  })),
]
