/** Names the code that checked a claim, in words that the console and the command line share. */
import type { JsonValue } from '../json.ts'
import type { WireVerifier } from '../receipt/body.ts'

/** Names a receipt's plugin, to follow "Checked by"; undefined for a receipt that names no plugin in the way that Claimcheck does. */
export function pluginWords(verifier: WireVerifier): string | undefined {
  // The receipt's format leaves these members to issuers: another one may have anything there.
  const { package: name, package_version: version, code_hash: hash } = verifier as Readonly<Record<string, JsonValue>>
  if (typeof name !== 'string') return undefined
  const versioned = typeof version === 'string' ? `${name} ${version}` : name
  return typeof hash === 'string' ? `${versioned}, ${hash}` : versioned
}
