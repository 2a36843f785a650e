/** The configuration of the log: `issuer_name`. */
import { type Static, Type } from '@claimcheck/core/plugin'
import type { ConfigSection } from '../../config/section.ts'

export interface LogConfig {
  readonly issuerName: string | undefined
}

const file = { issuer_name: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })) }
const File = Type.Object(file)

export const logConfig: ConfigSection<LogConfig> = {
  file,
  read: ({ issuer_name: issuerName }: Static<typeof File>) => ({ issuerName }),
}
