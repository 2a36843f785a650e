/** Compares the code that made a receipt's checks with the code that `--expect-verifier` names. */

import { isExpectedVerifier, type ReceiptObservation, readExpectedVerifier } from '@claimcheck/core/receipts'
import { visible } from '@claimcheck/core/words/plain-text'
import { pluginWords } from '@claimcheck/core/words/plugins'
import { uncheckable } from './source.ts'

export interface VerifierOptions {
  readonly expectVerifier?: string
}

/**
 * Says in what the verifier is not as expected, to follow "The receipt is valid, but". Undefined if nothing was asked, or all is as expected.
 * @throws CommandError `could_not_check` for what names no plugin
 */
export function verifierProblem(
  verifier: ReceiptObservation['verifier'],
  { expectVerifier: asked }: VerifierOptions,
): string | undefined {
  if (asked === undefined) return undefined
  const expected = readExpectedVerifier(asked)
  if (!expected) {
    throw uncheckable(
      '--expect-verifier takes the package of a plugin, such as @claimcheck/plugin-codehost, and after it @VERSION, #sha256:DIGEST, or both.',
    )
  }
  const { package: name, package_version: version, code_hash: codeHash } = verifier
  const found = { package: String(name), version, codeHash }
  if (name !== undefined && isExpectedVerifier(expected, found)) return undefined
  const words = pluginWords(verifier)
  return words === undefined
    ? `it names no plugin that checked it, and ${visible(asked)} was expected`
    : `it was checked by ${visible(words)}, and ${visible(asked)} was expected`
}
