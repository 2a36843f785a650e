/** Names of plugins, as receipts write them and operators list them. */

import { isExpectedVerifier, toBase64url } from '@claimcheck/core/receipts'
import type { PluginName } from '@claimcheck/core/rules'
import { defined } from '../base/pick.ts'
import type { PluginIdentity } from './hosted.ts'

/** A plugin, by its name in receipts, whose reads at this address of the provider may be called listed. */
export interface NamedReader {
  readonly provider: string
  readonly url: string
  readonly plugin: PluginName
}

const HEX_DIGEST = /^sha256:([0-9a-f]{64})$/

/** The names in receipts of known plugins, kept because each check names its plugin, whose identity does not change. */
const names = new WeakMap<PluginIdentity, PluginName>()

/** Makes a plugin's name in receipts, whose format writes digests in base64url. */
export function nameInReceipts(identity: PluginIdentity): PluginName {
  const known = names.get(identity)
  if (known) return known
  const { package: name, version, codeHash } = identity
  const [, digest] = HEX_DIGEST.exec(codeHash) ?? []
  const written: PluginName = {
    package: name,
    ...defined({ version, codeHash: digest && `sha256:${toBase64url(Buffer.from(digest, 'hex'))}` }),
  }
  names.set(identity, written)
  return written
}

export function isNamedBy({ plugin }: Pick<NamedReader, 'plugin'>, identity: PluginIdentity): boolean {
  return isExpectedVerifier(plugin, nameInReceipts(identity))
}

/** Tells whether nobody vouches for the words and names of a plugin: it does not come with the server, and no configuration names or trusts it. */
export function isStranger({ isShipped, isNamed }: PluginIdentity): boolean {
  return isShipped !== true && isNamed !== true
}
