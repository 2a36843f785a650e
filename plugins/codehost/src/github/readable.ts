/** Entries of a list of which some are of a form that is not known: one of another name must not hide the claimed one. */

import { type Static, type TSchema, Value } from '@claimcheck/core/plugin'
import { unexpectedAnswer } from '../rest.ts'

/**
 * @param names of those that are needed; all are, when left out
 * @throws DestinationError `unexpected_response` where a needed one does not match the schema
 */
export function readable<T extends TSchema>(
  entries: readonly unknown[],
  schema: T,
  names?: ReadonlySet<unknown>,
  nameOf: (entry: Record<string, unknown>) => unknown = ({ name }) => name,
): Static<T>[] {
  const needed = entries.filter((entry) => !names || names.has(nameOf(entry as Record<string, unknown>)))
  if (!needed.every((entry) => Value.Check(schema, entry))) throw unexpectedAnswer()
  return needed as Static<T>[]
}
