/** The profile of the action `storage.object.put`. */
import { type ActionProfile, type Static, Type } from '@claimcheck/core/plugin'

const MINUTE_MS = 60_000

const VERSION_PATTERN = '^[A-Za-z0-9._~+=-]+$'
const VERSION_FORM = new RegExp(VERSION_PATTERN)
const LONGEST_VERSION = 1024

const Params = Type.Object(
  {
    sha256: Type.Optional(
      Type.String({
        title: 'SHA-256',
        pattern: '^(?:[0-9a-fA-F]{64}|[A-Za-z0-9+/]{43}=)$',
        'x-pattern-help': 'enter 64 hexadecimal characters, or the 44 of base64 that S3 writes',
        description: 'The SHA-256 of the content as it is stored, in hexadecimal or base64. An ETag is none.',
        examples: ['e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
      }),
    ),
    size: Type.Optional(
      Type.Integer({
        title: 'Size',
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description: 'The size of the content as it is stored, in bytes.',
        examples: [1024],
      }),
    ),
    version_id: Type.Optional(
      Type.String({
        title: 'Version',
        pattern: VERSION_PATTERN,
        'x-pattern-help': 'enter the id of the version as the upload returned it, `x-amz-version-id`',
        maxLength: LONGEST_VERSION,
        description: 'The id of the version, where the bucket keeps versions.',
        examples: ['3HL4kqtJlcpXroDTDmJ.rmSpXd3dIbrHY'],
      }),
    ),
  },
  { additionalProperties: false },
)

const Facts = Type.Object(
  {
    found_version: Type.Optional(
      Type.String({
        title: 'Version found',
        pattern: VERSION_PATTERN,
        maxLength: LONGEST_VERSION,
        description: 'The id of the version that was read.',
      }),
    ),
    found_size: Type.Optional(
      Type.Integer({ title: 'Size found', minimum: 0, description: 'The size of the object, in bytes.' }),
    ),
    found_sha256: Type.Optional(
      Type.String({
        title: 'SHA-256 found',
        pattern: '^[0-9a-f]{64}$',
        maxLength: 64,
        description:
          'The SHA-256 of all its content: the checksum that the service made at the upload, or what Claimcheck computed.',
      }),
    ),
    last_modified: Type.Optional(
      Type.String({
        title: 'Last modified',
        format: 'date-time',
        description:
          'The time of its upload by the clock of the service; of an upload in parts, that of its beginning.',
      }),
    ),
    deleted: Type.Optional(
      Type.Literal(true, { title: 'Deleted', description: 'The newest version at the key is a delete marker.' }),
    ),
    undated: Type.Optional(
      Type.Literal(true, {
        title: 'Time not known',
        description: 'The service tells no end of the upload, and no read of this claim saw the key before it.',
      }),
    ),
    preexisting: Type.Optional(
      Type.Boolean({ title: 'There before', description: 'It was put more than the tolerance before the claim.' }),
    ),
  },
  { additionalProperties: false },
)

export type Params = Static<typeof Params>
export type Facts = Static<typeof Facts>

/** The fact of a version's id: undefined for one of another form. */
export function versionFact(versionId: string | undefined): string | undefined {
  const isFact = versionId !== undefined && versionId.length <= LONGEST_VERSION && VERSION_FORM.test(versionId)
  return isFact ? versionId : undefined
}

export const profile: ActionProfile<typeof Params, typeof Facts> = {
  action: 'storage.object.put',
  version: '1',
  rulesVersion: 2,
  summary: 'An object was put to a key of a bucket.',
  words: {
    title: 'Upload of an object',
    target: 'Object',
    claim: [
      'Version {version_id} of {target} was put, with the SHA-256 {sha256}.',
      'Version {version_id} of {target} was put.',
      'An object with the SHA-256 {sha256} was put to {target}.',
      'An object of {size} bytes was put to {target}.',
      'An object was put to {target}.',
    ],
    outcomes: {
      verified: [
        'Version {version_id} of {target} was there in time, with the SHA-256 {sha256}.',
        'Version {version_id} of {target} was there in time.',
        'An object with the SHA-256 {sha256} was at {target} in time.',
        'An object of {size} bytes was at {target} in time.',
        'An object was at {target} in time.',
      ],
      late: [
        'Version {version_id} of {target} was there too late.',
        'An object with the SHA-256 {sha256} was at {target} too late.',
        'The object was at {target} too late.',
      ],
      mismatch: 'The object at {target} is not as the claim says.',
      failed: 'No such object was at {target} by the deadline.',
    },
    facts: {
      found_sha256: 'The object that was read has the SHA-256 {found_sha256}.',
      found_size: 'It has {found_size} bytes.',
      deleted: { true: 'The newest version is a delete marker.' },
      undated: {
        true: 'Since when it is there is not known: of an upload in parts, S3 tells the time at which it began.',
      },
      preexisting: {
        true: 'It was there before the claim, since {last_modified}: the claim may be about work that was done earlier.',
      },
    },
    found: { version_id: 'found_version', sha256: 'found_sha256', size: 'found_size' },
  },
  target: Type.String({
    pattern: '^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]/[\\s\\S]+$',
    'x-pattern-help': 'write the bucket, a slash and the key, without s3:// before it: `acme-backups/2026/report.csv`',
    maxLength: 1088,
    description: 'The bucket and the key, exactly as they are: no character of a key is written as an escape.',
    examples: ['acme-backups/2026/report.csv'],
  }),
  params: Params,
  facts: Facts,
  required: { version_id: 'target', sha256: 'content', size: 'content' },
  shows: { found_size: { atLeast: 0 } },
  compared: {
    target: 'none',
    version_id: { fact: 'found_version', as: 'exact' },
    sha256: { fact: 'found_sha256', as: 'digest' },
    size: { fact: 'found_size', as: 'exact' },
  },
  past: ['last_modified'],
  toleranceMs: 10 * MINUTE_MS,
  deadlineMs: 30 * MINUTE_MS,
  maxDeadlineMs: 24 * 60 * MINUTE_MS,
  // Consumers, such as a queue of files, often take an object away before it is claimed.
  removedWithinMs: 5 * MINUTE_MS,
  access: {
    permission:
      'Listing the bucket and its versions, and reading its objects: at Amazon s3:ListBucket, s3:ListBucketVersions, s3:GetBucketVersioning, s3:GetObject and s3:GetObjectVersion.',
    anonymous: false,
  },
}
