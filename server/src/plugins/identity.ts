/** The name of a plugin as receipts write it. */
import { type PluginName, toBase64url } from '@claimcheck/core'
import type { PluginIdentity } from './hosted.ts'

const HEX_DIGEST = /^sha256:([0-9a-f]{64})$/

/** The receipt format writes digests in base64url. */
export function nameInReceipts({ package: name, version, codeHash }: PluginIdentity): PluginName {
  const [, digest] = HEX_DIGEST.exec(codeHash) ?? []
  return {
    package: name,
    ...(version === undefined ? {} : { version }),
    ...(digest === undefined ? {} : { codeHash: `sha256:${toBase64url(Buffer.from(digest, 'hex'))}` }),
  }
}
