/** The configuration of the log: `issuer_name`, and where its newest head is remembered. */
import { isAbsolute, join, resolve } from 'node:path'
import { parseUrl, Type } from '@claimcheck/core/plugin'
import { configSection, type Env, type MembersOf, type Report } from '../../config/section.ts'

export const logConfig = configSection(
  { issuer_name: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })) },
  ({ issuer_name: issuerName }, { env, report }) => {
    const { DATABASE_STANDBYS: standbys, HEAD_MEMORY: memory = '' } = env
    if (standbys && standbys !== 'synchronous') report('DATABASE_STANDBYS: must be synchronous, or not set')
    const isRemote = /^[a-z][a-z0-9+.-]*:\/\//i.test(memory)
    return {
      issuerName,
      headMemory: headMemoryOf(isRemote ? { ...env, HEAD_MEMORY: '' } : env),
      /** The operator says so: a standby that is promoted has all commits. */
      isSynchronous: standbys === 'synchronous',
      remoteMemory: isRemote ? remoteMemoryOf(memory, env, report) : undefined,
    }
  },
)

export type LogConfig = MembersOf<typeof logConfig>

/** An object store with conditional writes. */
export type RemoteMemorySettings = NonNullable<LogConfig['remoteMemory']>

/** Reads the address of an object store. The report does not repeat it: it may hold a password. */
function remoteMemoryOf(text: string, env: Env, report: Report) {
  const url = parseUrl(text)
  if (!url || !['http:', 'https:'].includes(url.protocol) || url.search || url.hash) {
    report(
      'HEAD_MEMORY: must be a folder, none, or an http or https URL without a query, such as https://BUCKET.s3.REGION.amazonaws.com/claimcheck',
    )
    return undefined
  }
  const [user, password] = [url.username, url.password].map(decodeURIComponent)
  url.username = ''
  url.password = ''
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = env
  const [sessionToken, region] = [env.AWS_SESSION_TOKEN || undefined, env.AWS_REGION || undefined]
  return {
    /** The URL of the folder in the store, without a slash at the end. */
    url: url.href.replace(/\/+$/, ''),
    /** An Authorization header. */
    basic: user ? `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` : undefined,
    credentials: accessKeyId && secretAccessKey ? { accessKeyId, secretAccessKey, sessionToken, region } : undefined,
  }
}

/** A folder outside DATA_DIR that remembers the newest head of the log. */
export interface HeadMemory {
  readonly folder: string
  /** Nobody named it: where it cannot be used, or hosts that share a database remember for each other, it is not used. */
  readonly isDefault: boolean
}

function headMemoryOf({ HEAD_MEMORY: named, XDG_STATE_HOME: state, HOME: home }: Env): HeadMemory | undefined {
  if (named === 'none') return undefined
  if (named) return { folder: resolve(named), isDefault: false }
  // By the XDG base directory specification, which ignores relative paths.
  const folder = state && isAbsolute(state) ? state : home && join(home, '.local', 'state')
  return folder ? { folder: join(folder, 'claimcheck'), isDefault: true } : undefined
}
