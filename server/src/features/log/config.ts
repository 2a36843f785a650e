/** The configuration of the log: `issuer_name`, and where its newest head is remembered. */
import { isAbsolute, join, resolve } from 'node:path'
import { type Static, Type } from '@claimcheck/core/plugin'
import type { ConfigSection, Env } from '../../config/section.ts'

/** A folder that remembers the newest head of the log, apart from DATA_DIR. */
export interface HeadMemory {
  readonly folder: string
  /** Nobody named it: where it cannot be used, or hosts that share a database remember for each other, it is not used. */
  readonly isDefault: boolean
}

export interface LogConfig {
  readonly issuerName: string | undefined
  readonly headMemory: HeadMemory | undefined
}

const file = { issuer_name: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })) }
const File = Type.Object(file)

export const logConfig: ConfigSection<LogConfig> = {
  file,
  read: ({ issuer_name: issuerName }: Static<typeof File>, { env }) => ({ issuerName, headMemory: headMemoryOf(env) }),
}

function headMemoryOf({ HEAD_MEMORY: named, XDG_STATE_HOME: state, HOME: home }: Env): HeadMemory | undefined {
  if (named === 'none') return undefined
  if (named) return { folder: resolve(named), isDefault: false }
  // By the XDG base directory specification, which ignores relative paths.
  const folder = state && isAbsolute(state) ? state : home && join(home, '.local', 'state')
  return folder ? { folder: join(folder, 'claimcheck'), isDefault: true } : undefined
}
