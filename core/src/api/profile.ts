/** Profiles on the wire: the rules by which claims are judged, in every version that still judges some. */
import { type Static, Type } from '../typebox.ts'
import { plainObject, Timestamp } from './primitives.ts'

const lengthMs = Type.Integer({ minimum: 0, description: 'Milliseconds.' })

const sentence = Type.Union([Type.String(), Type.Array(Type.String())])
const titles = (of: string) => Type.Record(Type.String(), Type.String(), { description: `The title of each ${of}.` })

const found = Type.Record(Type.String(), Type.String(), {
  description: 'The fact that shows what was found for a param or for `target`, where it has another name.',
})

const ProfileWords = Type.Object(
  {
    title: Type.String({ description: 'What was done, as a title.', examples: ['Push of a commit'] }),
    target: Type.String({ description: 'What kind of thing the target is.', examples: ['Repository'] }),
    claim: sentence,
    outcomes: Type.Object({ verified: sentence, late: sentence, mismatch: sentence, failed: sentence }),
    facts: Type.Optional(
      Type.Record(Type.String(), Type.Union([sentence, Type.Record(Type.String(), sentence)]), {
        description: 'What a fact says beyond the outcome: always, or by its value.',
      }),
    ),
    found: Type.Optional(found),
  },
  {
    title: 'ProfileWords',
    description:
      'Sentences for people. `{name}` stands for a fact, a param or `target`, in this order, and `{name:short}` for its first twelve characters. Of several sentences the first counts whose names all have a value.',
  },
)

/** The members of a profile on which a verdict depends. */
const deciding = {
  rules_version: Type.Integer({ minimum: 1 }),
  required: plainObject({ description: 'The fields that must match, each with its role.' }),
  tolerance_ms: lengthMs,
  max_deadline_ms: lengthMs,
  age_ms: lengthMs,
  removed_within_ms: lengthMs,
  fresh_ms: lengthMs,
  never_late: Type.Optional(Type.Literal(true)),
  shows: Type.Optional(
    plainObject({
      description:
        'Facts that every read has which shows the outcome: the value of each, its possible values, the least that it is, or what it is not. Without `compared`, where the read has the fact at all.',
    }),
  ),
  compared: Type.Optional(
    plainObject({
      description: 'How the fact that shows a param or `target` is compared with the claim; `none`: no fact shows it.',
    }),
  ),
  past: Type.Optional(
    Type.Array(Type.String(), { description: 'Facts that are times, none of them later than the answer.' }),
  ),
}
const closing = { closing_ms: lengthMs, grace_ms: lengthMs }

const Profile = Type.Object(
  {
    action: Type.String(),
    version: Type.String(),
    summary: Type.String(),
    deadline_ms: lengthMs,
    ...deciding,
    ...closing,
    words: ProfileWords,
    plugin_says: Type.Optional(
      Type.Literal(true, {
        description:
          'The words are those of a plugin that neither comes with the service nor is named by its operator: show them as what the plugin says, and never in place of the verdict.',
      }),
    ),
    titles: Type.Object({ params: titles('param'), facts: titles('fact') }),
  },
  { title: 'Profile' },
)

const ProfileSettings = Type.Object(
  {
    action: Type.String(),
    version: Type.String(),
    ...deciding,
    ...closing,
    words: Type.Object({ found: Type.Optional(found) }),
    since: Timestamp,
  },
  { title: 'ProfileSettings' },
)

export const ProfileList = Type.Object(
  {
    profiles: Type.Array(Profile),
    settings: Type.Optional(
      Type.Array(ProfileSettings, {
        description:
          'Each set of rules under which this service has claims or receipts, since when: also those that its configuration or its plugins had earlier. The rules in the evidence of a receipt are one of them.',
      }),
    ),
  },
  { title: 'ProfileList' },
)
export type ProfileList = Static<typeof ProfileList>
export type ProfileSettings = Static<typeof ProfileSettings>
