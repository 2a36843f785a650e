/** The pages of the actions are made from their profiles, and say what these say now. */
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { SHELF } from '@claimcheck/server/plugins/shelf-table'
import t from 'tap'
import { actionPages } from '../scripts/action-pages/pages.ts'
import { SHELF_PAGE, SHELF_TABLE, shelf } from '../scripts/action-pages/shelf.ts'
import { commandLine } from './support/command-line.ts'

const FOLDER = 'server/docs/actions'

t.test('each action has its page, as `npm run action-pages` writes it', async (t) => {
  const pages = await actionPages(resolve('.'))
  t.strictSame(readdirSync(FOLDER).toSorted(), [...pages.keys()].toSorted())
  for (const [file, text] of pages) t.equal(readFileSync(join(FOLDER, file), 'utf8'), text, file)
})

t.test(
  'the page of verifiers and the table of those to be named are as `npm run action-pages` writes them',
  async (t) => {
    const { page, table } = await shelf(resolve('.'))
    t.equal(readFileSync(SHELF_PAGE, 'utf8'), page)
    t.equal(readFileSync(SHELF_TABLE, 'utf8'), table)
    for (const { package: name } of SHELF) t.ok(page.includes(`"use": "${name}"`), name)
  },
)

t.test('the command lists the actions, and prints the page of one by its name or an alias', async (t) => {
  const cli = await commandLine(t, { plugins: [{ use: resolve('plugins/codehost/dist/index.js') }] })
  const { actions } = await cli.json('action')
  t.match(actions[0], { action: 'codehost.commit.push', aliases: ['github.commit.push'], without_connection: true })
  const { stdout } = await cli.run(['action', 'github.commit.push'])
  t.match(stdout, /^# Push of a commit\n/)
  t.match((await cli.run(['action'])).stdout, /^ACTION +WHAT +ALSO CALLED\ncodehost\.commit\.push /)
  const unknown = await cli.run(['action', 'codehost.commit.pull'])
  t.equal(unknown.code, 1)
  t.match(unknown.stderr, /no plugin here offers the action codehost\.commit\.pull/)
})
