/** The wire format of errors: a text, or for an invalid input a list of its mistakes, and the same as a text. */
import { type Static, Type } from '../typebox.ts'

export const ErrorBody = Type.Object({ detail: Type.String({ description: 'What is wrong.' }) }, { title: 'Error' })
export type ErrorBody = Static<typeof ErrorBody>

export const ValidationErrorItem = Type.Object(
  {
    loc: Type.Array(Type.Union([Type.String(), Type.Integer()]), { examples: [['body', 'params', 'sha']] }),
    msg: Type.String(),
    type: Type.String({ examples: ['string_pattern_mismatch'] }),
    ctx: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    input: Type.Optional(Type.Unknown()),
  },
  { title: 'ValidationErrorItem' },
)
export type ValidationErrorItem = Static<typeof ValidationErrorItem>

export const ValidationErrorBody = Type.Object(
  {
    detail: Type.Array(ValidationErrorItem),
    message: Type.String({
      description: 'The same in one line, for readers that show text.',
      examples: ['body.claimed_at: Field required'],
    }),
  },
  { title: 'ValidationError' },
)
export type ValidationErrorBody = Static<typeof ValidationErrorBody>
