/**
 * The policy for ids and names that people, programs and applications choose: FreeformClass of PRECIS (RFC 8264) as RFC 8266 uses it for names, with
 * the characters that emoji need. Names that look like another one are the concern of `confusables.ts`.
 */
import { codeOf, firstUnseen, visibleName } from '@claimcheck/core/words/plain-text'
import { ServiceError } from '../base/errors.ts'
import { differenceOf, lookAlike } from './confusables.ts'

export const MAX_NAME_LENGTH = 100

/** Parts of Korean syllables. */
const JAMO = /[\u1100-\u11ff\ua960-\ua97c\ud7b0-\ud7fb]/u

/** Says what is wrong with an id; undefined if nothing is. An id is refused and never corrected, because it is signed, or compared byte by byte. */
export function idProblem(id: string): string | undefined {
  if (id.startsWith(' ')) return 'it begins with a blank (U+0020 at position 1): leave it out'
  if (id.endsWith(' ')) return `it ends with a blank (U+0020 at position ${[...id].length}): leave it out`
  const unseen = firstUnseen(id)
  if (unseen)
    return `${kindOf(unseen.character)} (${codeOf(unseen.character)} at position ${unseen.position})${adviceOf(unseen.character)}`
  const characters = [...id]
  const jamo = characters.findIndex((character) => JAMO.test(character))
  return jamo === -1
    ? undefined
    : `it has a part of a syllable (${codeOf(characters[jamo]!)} at position ${jamo + 1}): write whole syllables, as in NFC`
}

/**
 * Reads a name in its one form: composed, and with plain blanks alone, none around it and no two in a row.
 * @throws ServiceError `bad_request`
 */
export function readName(text: string): string {
  const name = composed(text)
  if (name.length === 0 || name.length > MAX_NAME_LENGTH) {
    throw new ServiceError('bad_request', `the name is not valid: use 1 to ${MAX_NAME_LENGTH} characters`)
  }
  const problem = idProblem(name)
  if (problem !== undefined) throw new ServiceError('bad_request', `the name is not valid: ${problem}`)
  return name
}

/** Writes a name as `readName` does, whether it is valid or not. */
export function composed(text: string): string {
  return text
    .replace(/\p{Zs}+/gu, ' ')
    .replace(/^ | $/g, '')
    .normalize('NFC')
}

/**
 * Refuses a name that looks like a taken one.
 * @param taken names of the same scope: the same name is no look-alike
 * @throws ServiceError `conflict`
 */
export function refuseLookAlike(name: string, taken: Iterable<string>): void {
  const other = lookAlike(name, taken)
  if (other === undefined) return
  throw new ServiceError(
    'conflict',
    `the name looks like ${visibleName(other)}, which is taken (${differenceOf(name, other)}): choose another name`,
  )
}

function kindOf(character: string): string {
  if (/\p{Zs}/u.test(character)) return 'it has a space that is not a plain one'
  if (/\p{Cc}/u.test(character)) return 'it has a control character'
  if (/\p{Bidi_Control}/u.test(character)) return 'it has a character that turns the text around it'
  if (/\p{Co}/u.test(character)) return 'it has a character for private use'
  if (/\p{Cs}/u.test(character)) return 'it has half a character'
  if (/\p{Cn}/u.test(character)) return 'it has a character that Unicode does not know'
  return 'it has an invisible character'
}

function adviceOf(character: string): string {
  return /\p{Zs}/u.test(character) ? ': write a plain blank' : ': leave it out'
}
