/** Reads the code that a reader expects to have made the checks of a receipt, as people write it: `PACKAGE[@VERSION][#DIGEST]`. */
import type { PluginName } from '../evidence.ts'

/** The form of an expected verifier, for a schema, too. The digest is written as receipts write it. */
export const EXPECTED_VERIFIER = '^(?:@[^\\s@#/]+/)?[^\\s@#/]+(?:@[^\\s@#]+)?(?:#sha256:[A-Za-z0-9_-]{43})?$'
const PARTS = /^((?:@[^@#]+)?[^@#]+)(?:@([^#]+))?(?:#(.+))?$/

/** Reads an expected verifier; undefined for a text of another form. */
export function readExpectedVerifier(text: string): PluginName | undefined {
  if (!new RegExp(EXPECTED_VERIFIER).test(text)) return undefined
  const [, name, version, codeHash] = PARTS.exec(text)!
  return {
    package: name!,
    ...(version === undefined ? {} : { version }),
    ...(codeHash === undefined ? {} : { codeHash }),
  }
}

/** Compares a verifier with an expected one, whose missing parts fit any. A name alone proves little, because any package can have it. */
export function isExpectedVerifier(expected: PluginName, found: PluginName): boolean {
  const { package: name, version, codeHash } = expected
  return (
    found.package === name &&
    (version === undefined || found.version === version) &&
    (codeHash === undefined || found.codeHash === codeHash)
  )
}
