/** What receipts say of the check they rest on, in the form from before they named their evidence. */
import { type CheckRecord, isRead, type JsonObject } from '@claimcheck/core'

/** Where nothing could be read, why not was all there was to tell. */
export function factsOf(record: CheckRecord): JsonObject {
  if (isRead(record)) return record.observation.facts
  const { code, status } = record.failure
  return { error: code, ...(status === undefined ? {} : { status }) }
}
