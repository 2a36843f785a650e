/** Reads JSON of a known shape. */
import { DestinationError, readJson, type Static, type TSchema, Value } from '@claimcheck/core/plugin'
import type { ReadInit } from './reader.ts'

/** Makes a reader that keeps only the members that the schema names. @param read takes the value from the body */
export function json<T extends TSchema>(
  as: string,
  schema: T,
  read: (response: Response) => Promise<unknown> = readJson,
): Pick<ReadInit<Static<T>>, 'as' | 'accept' | 'parse'> {
  return {
    as,
    accept: 'application/json',
    async parse(response) {
      const value = await read(response)
      if (!Value.Check(schema, value)) throw new DestinationError('unexpected_response', { status: response.status })
      return Value.Clean(schema, value) as Static<T>
    },
  }
}
