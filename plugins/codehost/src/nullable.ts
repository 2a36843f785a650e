/** Schemas of members of answers that hosts leave out, or send as null, where there is nothing. */
import { type TSchema, Type } from '@claimcheck/core/plugin'

export const nullable = <T extends TSchema>(schema: T) => Type.Union([Type.Null(), schema])

export const orNull = <T extends TSchema>(schema: T) => Type.Optional(nullable(schema))
