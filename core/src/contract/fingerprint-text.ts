/** The limit of a text for `fingerprint`, which both sides of a sandbox keep. */
import { DestinationError } from './destination-error.ts'

/** The most characters of a text. Escaped, more of them would not fit into one message of a sandbox. */
const LONGEST_TEXT = 32 * 1024

/** @throws DestinationError `too_large` for a text of which no fingerprint is made */
export function requireFingerprintText(text: string): void {
  if (text.length > LONGEST_TEXT) throw new DestinationError('too_large')
}
