/** What mail stores: mails that wait to be sent. */
import { mailContext } from '../../base/sealed-contexts.ts'
import { mails } from '../../storage/mails.ts'
import type { Stored } from '../../storage/schema.ts'
import { mailMigrations } from './migrations.ts'

export const mailStored: Stored = {
  tables: [{ table: mails, sealed: { content: ([id]) => mailContext(id!) } }],
  migrations: mailMigrations,
}
