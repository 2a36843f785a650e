/** The connection of a workspace to S3 or a compatible service, and a first read that tells whether its keys work. */
import {
  type Auth,
  credential,
  DestinationError,
  defineConnectionType,
  isRefused,
  type Static,
  secret,
  Type,
} from '@claimcheck/core/plugin'
import { errorCode, openObject, readDocument, readText } from './stored-object.ts'
import { endpointOf, objectOf } from './target.ts'

const BUCKET = '[a-z0-9][a-z0-9.-]+[a-z0-9]'
const BUCKET_FORM = new RegExp(`^${BUCKET}$`)

const Options = Type.Object(
  {
    base_url: Type.String({
      title: 'Address',
      pattern: '^https?://[^-\\s/?#@][^\\s/?#@]*(?:/[^\\s?#]*)?$',
      'x-pattern-help': 'enter an address that begins with https://, without a bucket in it',
      maxLength: 300,
      description: 'The address of the service for path style, of the region of the buckets, without a bucket.',
      examples: ['https://s3.eu-central-1.amazonaws.com'],
    }),
    region: Type.Optional(
      Type.String({
        title: 'Region',
        pattern: '^[a-z0-9-]+$',
        maxLength: 64,
        description: 'The region of the buckets: `auto` at Cloudflare R2. When left out: us-east-1.',
        examples: ['eu-central-1'],
      }),
    ),
    access_key_id: Type.String({
      title: 'Access key ID',
      pattern: '^[\\x21-\\x7e]+$',
      'x-pattern-help': 'enter the id of the access key, without spaces',
      maxLength: 256,
      description: 'The id of an access key that only reads.',
      examples: ['AKIAIOSFODNN7EXAMPLE'],
    }),
    secret_access_key: secret({ title: 'Secret access key', description: 'The secret of the access key.' }),
    session_token: Type.Optional(
      secret({ title: 'Session token', description: 'The session token of temporary keys, which ends with them.' }),
    ),
    buckets: Type.Optional(
      Type.String({
        title: 'Buckets',
        pattern: `^${BUCKET}(?:, *${BUCKET})*$`,
        'x-pattern-help': 'enter the names of buckets, with commas between them',
        maxLength: 1000,
        description:
          'The buckets that this connection reads; all when left out. Needed where two services have buckets of one name.',
        examples: ['acme-backups, acme-reports'],
      }),
    ),
    keeps_versions: Type.Optional(
      Type.Boolean({
        title: 'Versions are never deleted for good',
        description:
          'Say so where nobody deletes single versions. What the versions of a key do not show was then never there, and blames also who claims it later.',
      }),
    ),
  },
  { additionalProperties: false },
)

export type Options = Static<typeof Options>

const HELP = `Make an access key with a policy that allows s3:ListBucket, s3:ListBucketVersions and s3:GetBucketVersioning on the bucket, and
s3:GetObject and s3:GetObjectVersion on its objects, and nothing else; s3:ListBucket must not depend on a prefix. At Cloudflare R2 "Object Read
only", at Backblaze B2 a read-only application key, at MinIO the policy readonly.`

/** The beginning of all keys. */
const ANY_KEY = ''

export const connectionType = defineConnectionType({
  provider: 's3',
  title: 'S3 and compatible',
  options: Options,
  credentials: {
    keys: {
      scheme: 'awsSigV4',
      service: 's3',
      region: 'region',
      accessKeyId: 'access_key_id',
      secretAccessKey: 'secret_access_key',
      sessionToken: 'session_token',
    },
  },
  help: HELP,
  baseUrl: ({ base_url }) => base_url.replace(/\/+$/, ''),
  fits: ({ buckets }, { target }) => !buckets || buckets.split(/, */).includes(objectOf(target).bucket),
  refusesHidden: true,
  trial: {
    title: 'Bucket',
    description: 'One that is to be read through this connection.',
    example: 'acme-backups',
  },
  async probe({ base_url }, { fetch, now, target }) {
    const url = endpointOf(base_url)
    if (target === undefined) {
      const response = await fetch(`${url}/`, { auth: credential('keys'), redirect: 'manual' })
      const text = await readText(response.clone())
      // Keys of a bucket may not list all buckets; keys that are refused get another code.
      if (errorCode(text) !== 'AccessDenied') await readDocument(response, now())
      return { proves: 'reached', scopes: [], warnings: [UNKNOWN_RIGHTS] }
    }
    if (!BUCKET_FORM.test(target)) throw new DestinationError('unsupported_target')
    const open = (auth: Auth | undefined) => openObject({ url, bucket: target, key: ANY_KEY, auth }, { fetch, now })
    const { hasAllVersions } = await open(credential('keys')).listVersions(0)
    const works = await isRefused(() => open(undefined).listPlainly())
    return {
      proves: works ? 'works' : 'reached',
      scopes: [],
      warnings: [UNKNOWN_RIGHTS, ...(works ? [] : [OPEN]), ...(hasAllVersions ? [] : [NO_VERSIONS])],
    }
  },
})

const UNKNOWN_RIGHTS =
  'S3 does not tell whether this key can also write and delete: make sure that it was made to read only.'
const OPEN = 'Anybody can list the bucket that was tried, so that it shows nothing of this key: try a private one.'
const NO_VERSIONS =
  'The versions in the bucket that was tried cannot be listed: what was overwritten or deleted before the first look will not be seen.'
