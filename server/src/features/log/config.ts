/** The configuration of the log: `issuer_name`, and where its newest head is remembered. */
import { isAbsolute, join, resolve } from 'node:path'
import { type Static, Type } from '@claimcheck/core/plugin'
import type { ConfigSection, Env, Report } from '../../config/section.ts'

/** A folder outside DATA_DIR that remembers the newest head of the log. */
export interface HeadMemory {
  readonly folder: string
  /** Nobody named it: where it cannot be used, or hosts that share a database remember for each other, it is not used. */
  readonly isDefault: boolean
}

/** An object store with conditional writes. */
export interface RemoteMemorySettings {
  /** Of the folder in it, without a slash at the end. */
  readonly url: string
  readonly credentials?: {
    readonly accessKeyId: string
    readonly secretAccessKey: string
    readonly sessionToken?: string
    readonly region?: string
  }
  /** An Authorization header. */
  readonly basic?: string
}

export interface LogConfig {
  readonly issuerName: string | undefined
  readonly headMemory: HeadMemory | undefined
  readonly remoteMemory: RemoteMemorySettings | undefined
  /** The operator says so: a standby that is promoted has all commits. */
  readonly isSynchronous: boolean
}

const file = { issuer_name: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })) }
const File = Type.Object(file)

export const logConfig: ConfigSection<LogConfig> = {
  file,
  read: ({ issuer_name: issuerName }: Static<typeof File>, { env, report }) => {
    const standbys = env.DATABASE_STANDBYS || undefined
    if (standbys !== undefined && standbys !== 'synchronous')
      report('DATABASE_STANDBYS: must be synchronous, or not set')
    const isRemote = /^[a-z][a-z0-9+.-]*:\/\//i.test(env.HEAD_MEMORY ?? '')
    return {
      issuerName,
      headMemory: headMemoryOf(isRemote ? { ...env, HEAD_MEMORY: '' } : env),
      isSynchronous: standbys === 'synchronous',
      remoteMemory: isRemote ? remoteMemoryOf(env, report) : undefined,
    }
  },
}

/** Its text is not repeated: it may hold a password. */
function remoteMemoryOf(env: Env, report: Report): RemoteMemorySettings | undefined {
  const url = URL.canParse(env.HEAD_MEMORY!) ? new URL(env.HEAD_MEMORY!) : undefined
  if (!url || !['http:', 'https:'].includes(url.protocol) || url.search || url.hash) {
    report(
      'HEAD_MEMORY: must be a folder, none, or an http or https URL without a query, such as https://BUCKET.s3.REGION.amazonaws.com/claimcheck',
    )
    return undefined
  }
  const { username, password } = url
  url.username = ''
  url.password = ''
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = env
  const { AWS_SESSION_TOKEN: sessionToken, AWS_REGION: region } = env
  const login = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64')
  return {
    url: url.href.replace(/\/+$/, ''),
    ...(username ? { basic: `Basic ${login}` } : {}),
    ...(accessKeyId && secretAccessKey
      ? {
          credentials: {
            accessKeyId,
            secretAccessKey,
            ...(sessionToken ? { sessionToken } : {}),
            ...(region ? { region } : {}),
          },
        }
      : {}),
  }
}

function headMemoryOf({ HEAD_MEMORY: named, XDG_STATE_HOME: state, HOME: home }: Env): HeadMemory | undefined {
  if (named === 'none') return undefined
  if (named) return { folder: resolve(named), isDefault: false }
  // By the XDG base directory specification, which ignores relative paths.
  const folder = state && isAbsolute(state) ? state : home && join(home, '.local', 'state')
  return folder ? { folder: join(folder, 'claimcheck'), isDefault: true } : undefined
}
