/** Refused sign-ins in the audit trail. Strangers make as many as they like without naming an account, so those are summed. */
import type { NewAuditEntry } from '../../storage/audit-trail.ts'
import type { Writes } from '../../storage/storage.ts'
import { counted } from '../../storage/throttles.ts'

const SUBJECT = 'failed sign-ins at no account'
const HOUR_MS = 60 * 60_000
const RECORDED_EACH = 10

/**
 * Records a refused sign-in. For those without an account, after the first ten in an hour only the hundredth, the thousandth and so on is an entry,
 * with their count.
 */
export async function recordFailedSignIn(tx: Writes, entry: NewAuditEntry): Promise<void> {
  if (entry.userId) return tx.audit.record(entry)
  const throttle = counted((await tx.throttles.take([SUBJECT], entry.at)).get(SUBJECT)!, entry.at, HOUR_MS)
  await tx.throttles.put([throttle])
  const { count } = throttle
  if (count <= RECORDED_EACH) return tx.audit.record(entry)
  if (Number.isInteger(Math.log10(count))) {
    tx.audit.record({ ...entry, details: { ...entry.details, refused_in_this_hour: count } })
  }
}
