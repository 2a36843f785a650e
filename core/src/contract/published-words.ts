/** Reads the words of profiles that a service publishes, for readers that have no plugins. */
import { isJsonObject } from '../json.ts'
import { profilesIn } from '../receipt/published-profiles.ts'
import { array, object, type Shape, text } from '../receipt/shape.ts'
import type { Worded } from './words.ts'

/** The words for an action's claims, as `GET /v1/profiles` publishes them. */
export interface PublishedWords extends Worded {
  readonly titles: {
    readonly params: Readonly<Record<string, string>>
    readonly facts: Readonly<Record<string, string>>
  }
  /** Marks words of a stranger's plugin, which stand apart from the issuer's own. */
  readonly plugin_says?: true
}

const LONGEST_TITLE = 128
const LONGEST_SENTENCE = 1024

const title = text(1, LONGEST_TITLE)
const oneSentence = text(1, LONGEST_SENTENCE)
const sentence: Shape = (value) => oneSentence(value) || array(oneSentence)(value)
const factWords: Shape = (value) => sentence(value) || recordOf(sentence)(value)

const worded = object({
  words: object(
    {
      title,
      target: title,
      claim: sentence,
      outcomes: object({ verified: sentence, late: sentence, mismatch: sentence, failed: sentence }),
    },
    { facts: recordOf(factWords), found: recordOf(title) },
  ),
  titles: object({ params: recordOf(title), facts: recordOf(title) }),
})

function recordOf(each: Shape): Shape {
  return (value) => isJsonObject(value) && Object.values(value).every(each)
}

/**
 * Creates the reader of published words.
 * @param profiles the answer of `GET /v1/profiles`
 * @returns a function that gives undefined for a profile that the answer does not name, or names without words of valid form
 */
export function publishedWords(profiles: string): (action: string, version: string) => PublishedWords | undefined {
  const find = profilesIn(profiles)
  return (action, version) => {
    const profile = find(action, version)
    return worded(profile) ? (profile as unknown as PublishedWords) : undefined
  }
}
