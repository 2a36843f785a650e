/** Lets time pass for what is stored, where a test has no clock of its own. */
import type { Installation } from './installation.ts'
import { query } from './sql.ts'
import type { Visitor } from './visitor.ts'

/** The last sign-in of this person was so long ago, though the id of the session has the time at which it was made. */
export async function signedInBefore(installation: Installation, { email }: Visitor, ms: number): Promise<void> {
  const ofPerson = `user_id = (SELECT id FROM users WHERE email = '${email}')`
  installation.isForged = true
  await query(installation.config.databaseUrl, `UPDATE sessions SET created_at = created_at - ${ms} WHERE ${ofPerson}`)
}
