/** Refuses passwords that others guess first: the commonest ones, and those that are made of a person's own names. */
import type { ZxcvbnFactory } from '@zxcvbn-ts/core'
import { ServiceError } from '../../base/errors.ts'
import { checkLength } from './passwords.ts'

/** Names of an account that others know, and try first. */
export interface OwnNames {
  readonly email: string
  readonly name: string
  readonly workspaces: readonly string[]
}

// Attempts are limited to far fewer guesses at one account.
const LEAST_GUESSES = 1e9
// A long password is judged by its beginning, because the time of a check grows with the square of the length.
const LONGEST_CHECKED = 64

const ADVICE = 'choose four or more words that do not belong together, or let a password manager make one'

/** Sentences that everybody has read of: no list of common passwords has their beginnings, middles and ends. */
const FAMOUS_SENTENCES = [
  'abandon all hope ye who enter here',
  'all your base are belong to us',
  'correct horse battery staple',
  'four score and seven years ago',
  'frankly my dear i dont give a damn',
  'god save the queen',
  'houston we have a problem',
  'i think therefore i am',
  'in the beginning god created the heaven and the earth',
  'it was the best of times it was the worst of times',
  'lorem ipsum dolor sit amet consectetur adipiscing elit',
  'mary had a little lamb',
  'may the force be with you',
  'never gonna give you up',
  'now is the time for all good men',
  'once upon a time',
  'open the pod bay doors hal',
  'row row row your boat',
  'supercalifragilisticexpialidocious',
  'the lord is my shepherd i shall not want',
  'the quick brown fox jumps over the lazy dog',
  'this is a secure password',
  'this is my password',
  'to be or not to be that is the question',
  'twinkle twinkle little star how i wonder what you are',
  'we the people of the united states',
  'winter is coming',
]
/** The fewest words of a known part of a sentence: fewer stand together in sentences of one's own, too. */
const FEWEST_WORDS = 3

/** Lists a sentence and its parts, each as one word. */
function partsOf(sentence: string): string[] {
  const words = sentence.split(' ')
  const starts = words.slice(0, 1 - FEWEST_WORDS).map((_, start) => words.slice(start))
  const parts = starts.flatMap((rest) =>
    rest.slice(FEWEST_WORDS - 1).map((_, more) => rest.slice(0, FEWEST_WORDS + more)),
  )
  return [...new Set([words, ...parts].map((part) => part.join('')))]
}

let checker: Promise<ZxcvbnFactory> | undefined

/** Loads the lists of common passwords for the first new one: they take 25 MB and a tenth of a second. */
function loadChecker(): Promise<ZxcvbnFactory> {
  checker ??= Promise.all([import('@zxcvbn-ts/core'), import('@zxcvbn-ts/language-common')]).then(
    ([{ ZxcvbnFactory: Factory }, { dictionary, adjacencyGraphs: graphs }]) =>
      new Factory({ dictionary: { ...dictionary, sentences: FAMOUS_SENTENCES.flatMap(partsOf) }, graphs }),
  )
  return checker
}

/**
 * Refuses passwords that are too short, too long or easy to guess. Finds the common ones, and the names, also in other letter case, with digits for
 * letters, with numbers behind them, and repeated.
 * @throws ServiceError `bad_request`
 */
export async function requireStrongPassword(password: string, own: OwnNames): Promise<void> {
  checkLength(password)
  const strength = await loadChecker()
  const checked = password.slice(0, LONGEST_CHECKED)
  const names = namesOf(own)
  // A phrase is as famous with blanks or dashes between its words.
  const [{ guesses, sequence }] = [...new Set([checked, checked.replace(/[\s._-]+/g, '')])]
    .map((text) => strength.check(text, names))
    .sort((one, other) => one.guesses - other.guesses) as [ReturnType<ZxcvbnFactory['check']>]
  if (password.trim().toLowerCase() !== own.email && guesses >= LEAST_GUESSES) return
  const isOwnName = sequence.some(({ dictionaryName }) => dictionaryName === 'userInputs')
  const reason = isOwnName
    ? 'the password is too easy to guess, because it holds your name, your e-mail address or the name of a workspace'
    : 'the password is one of the first that others try'
  throw new ServiceError('bad_request', `${reason}: ${ADVICE}`)
}

/** Lists an account's names, whole and in their parts. */
function namesOf({ email, name, workspaces }: OwnNames): string[] {
  const [local = '', domain = ''] = email.split('@')
  const whole = [email, local, domain, name, ...workspaces]
  const joined = [name, ...workspaces].map((text) => text.replace(/[^\p{L}\p{N}]+/gu, ''))
  const parts = [local, domain, name, ...workspaces].flatMap((text) => text.split(/[^\p{L}\p{N}]+/u))
  const texts = [...whole, ...joined, ...parts].map((text) => text.toLowerCase()).filter((text) => text.length > 2)
  return [...new Set([...texts, 'claimcheck'])]
}
