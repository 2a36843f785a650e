/** The code that a reader expects to have made the checks of a receipt, as people write it: `PACKAGE[@VERSION][#DIGEST]`. */
import type { PluginName } from '../evidence.ts'

/** For a schema, too. The digest is written as receipts write it. */
export const EXPECTED_VERIFIER = '^(?:@[^\\s@#/]+/)?[^\\s@#/]+(?:@[^\\s@#]+)?(?:#sha256:[A-Za-z0-9_-]{43})?$'
const PARTS = /^((?:@[^@#]+)?[^@#]+)(?:@([^#]+))?(?:#(.+))?$/

/** Undefined for what has another form. */
export function readExpectedVerifier(text: string): PluginName | undefined {
  if (!new RegExp(EXPECTED_VERIFIER).test(text)) return undefined
  const [, name, version, codeHash] = PARTS.exec(text)!
  return {
    package: name!,
    ...(version === undefined ? {} : { version }),
    ...(codeHash === undefined ? {} : { codeHash }),
  }
}

/** What is left open fits any. A name alone proves little: any package can have it. */
export function isExpectedVerifier(expected: PluginName, found: PluginName): boolean {
  const { package: name, version, codeHash } = expected
  return (
    found.package === name &&
    (version === undefined || found.version === version) &&
    (codeHash === undefined || found.codeHash === codeHash)
  )
}
