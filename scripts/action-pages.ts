/** Writes the pages of the actions that come with Claimcheck, and of all its verifiers: `npm run action-pages`. */
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { actionPages } from './action-pages/pages.ts'
import { SHELF_PAGE, SHELF_TABLE, shelf } from './action-pages/shelf.ts'

const FOLDER = 'server/docs/actions'

await rm(FOLDER, { recursive: true, force: true })
await mkdir(FOLDER, { recursive: true })
for (const [file, text] of await actionPages('.')) await writeFile(join(FOLDER, file), text)

const { page, table } = await shelf('.')
await writeFile(SHELF_PAGE, page)
await writeFile(SHELF_TABLE, table)
