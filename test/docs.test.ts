// Test run: end-to-end, slow, alone
/** What the documentation tells its readers to type is run here as it stands there, against real services. */
import { readdirSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { loadConfig } from '@claimcheck/server/features'
import { loadPlugins } from '@claimcheck/server/plugins/plugins'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { commandsIn, problemOf } from './docs/help.ts'
import { type Block, readPage } from './docs/markdown.ts'
import { PageShell } from './docs/page-shell.ts'
import { World } from './docs/world.ts'
import { afterFile } from './support/after-file.ts'

/** Read one after the other in one checkout, the README first. */
const PAGES = [
  'README.md',
  ...readdirSync('server/docs')
    .filter((file) => file.endsWith('.md'))
    .toSorted()
    .map((file) => `server/docs/${file}`),
]
const NOT_RUN = /^not run: (.+)$/

/** What blocks with these words print. That none of their commands fails is held of every block. */
const PRINTS: [words: string, printed: RegExp][] = [
  ['npm start', /is running on http/],
  ["-d '{", /"state":"decided".*"verdict":"verified"/],
  ['claims/clm_', /"state":"decided".*"verdict":"verified"/],
  ['npm run git-server', /A git server is running on/],
  ['connection add', /^(?!.*could not be read).*Connected git over HTTP, /s],
  ['connection add github', /Connected GitHub, /],
  ['verify http', /^Valid receipt.*Evidence: the verdict follows/s],
  ['anchor now', /Anchored on eip155:84532 in block|the newest root is anchored/],
  ['/v1/log/anchors', /"chain":"eip155:84532"/],
  ['--rpc', /Trust level 2: signed/],
  ['log new', /has begun/],
  ['console.log(claim_id, state)', /^clm_\w+ decided$/m],
  ['print(claim.claim_id, claim.state)', /^clm_\w+ decided$/m],
  ['client.wait("clm_', /^verified None rcpt_\w+$/m],
  ["client.wait('clm_", /^verified undefined rcpt_\w+$|^verified null rcpt_\w+$/m],
  ['client.verify(', /true.*verified|verified.*true/i],
  ['doctor', /No problems: \d+ receipts?/],
  ['/metrics', /claimcheck_log_tree_size \d/],
]

let world: World

t.before(async () => {
  world = await World.create()
})
afterFile(() => world.close())

/** Of a block that is not run, the shell's commands are held against what the programs offer. */
async function skipBlock(t: Test, { language, text }: Block, reason: string): Promise<void> {
  const commands = language === 'sh' ? commandsIn(text) : []
  t.comment(`not run: ${reason}: ${commands.join('; ')}`)
  for (const command of commands) t.equal(await problemOf(command), undefined, command)
}

async function runBlock(t: Test, { text }: Block): Promise<void> {
  const printed = await world.run(text)
  t.pass(`runs: ${commandsIn(text)[0]}`)
  for (const [words, expected] of PRINTS.filter(([words]) => text.includes(words))) t.match(printed, expected, words)
}

/** The configuration that an example shows is the one that the commands after it work with. */
async function loadExample(t: Test, { text }: Block): Promise<void> {
  await world.configure(await world.fill(text))
  // The plugin for tokens reads it from there.
  process.env.SIGNER_PIN = '87654321'
  const config = loadConfig({}, world.folder)
  const logger = pino({ level: 'silent' })
  const registry = await loadPlugins(config, { logger, now: Date.now })
  t.ok(registry.profiles().length >= config.plugins.length - 1, 'the configuration is accepted')
  await Promise.all(registry.plugins.map(({ parts }) => parts.close()))
}

/** A program works where the commands before it left off, with what they exported. */
async function runProgram(t: Test, { text }: Block): Promise<void> {
  const printed = await world.runProgram(text)
  for (const [words, expected] of PRINTS.filter(([words]) => text.includes(words))) t.match(printed, expected, words)
}

async function runPython(t: Test, { text }: Block): Promise<void> {
  const printed = await world.runPython(text)
  for (const [words, expected] of PRINTS.filter(([words]) => text.includes(words))) t.match(printed, expected, words)
}

const RUN: Readonly<Record<string, (t: Test, block: Block) => Promise<void>>> = {
  sh: runBlock,
  ts: runProgram,
  json: loadExample,
  python: runPython,
}

for (const file of PAGES) {
  t.test(`${file}: its commands run, and its configuration is accepted`, async (t) => {
    await world.newPage()
    for (const block of readPage(readFileSync(file, 'utf8')).blocks) {
      const [, reason] = NOT_RUN.exec(block.note) ?? []
      if (reason !== undefined) {
        await skipBlock(t, block, reason)
        continue
      }
      const run = RUN[block.language]
      if (!run)
        throw new Error(
          `${file}:${block.line}: a block is sh, ts, json or python, not ${block.language || 'without a name'}`,
        )
      await run(t, block)
    }
  })
}

t.test('the configuration of the first anchor on a public network is accepted', async (t) => {
  const { blocks } = readPage(readFileSync('plugins/anchor-eas/REHEARSAL.md', 'utf8'))
  const examples = blocks.filter(({ language }) => language === 'json')
  t.equal(examples.length, 1)
  await loadExample(t, examples[0]!)
})

t.test('a page whose command has a wrong option fails', async (t) => {
  const shell = await PageShell.open(t.testdir({ claimcheck: t.fixture('symlink', resolve('claimcheck')) }), world.env)
  t.teardown(() => shell.close())
  t.match(await shell.run('./claimcheck key create --help'), /--workspace/)
  await t.rejects(shell.run('./claimcheck key create --workspace acme --nam ci\necho not reached'), {
    message: /unknown option '--nam'/,
  })
})

t.test('a configuration example with a wrong member fails', async (t) => {
  const plugin = { use: '@claimcheck/plugin-codehost', with: { max_pack: 1 } }
  for (const file of [{ rate_limit: {} }, { plugins: [plugin] }, { oauth: { clients: [{ client_id: 'a' }] } }]) {
    await t.rejects(loadExample(t, { language: 'json', text: JSON.stringify(file), line: 1, note: '' }))
  }
})

const rows: [command: string, problem: RegExp | undefined][] = [
  ['./claimcheck verify receipt.json --keys keys.json --rpc https://example.com', undefined],
  ['./claimcheck anchor now --timeout 5', undefined],
  ['./claimcheck user reset EMAIL', undefined],
  ['./claimcheck --version', undefined],
  ['npx --no-install claimcheck doctor', undefined],
  ['npx claimcheck doctor', /registered under the name/],
  ['npx --no-install claimcheck doktor', /no command doktor/],
  ['npm run crash -- --help', undefined],
  ['git push', undefined],
  ['./claimcheck verify receipt.json --key keys.json', /no option --key$/],
  ['./claimcheck anchor now --time 5', /no option --time$/],
  ['./claimcheck verfy receipt.json', /no command verfy/],
  ['./claimcheck user rest EMAIL', /no command rest/],
  ['./claimcheck anchor later', /no command later/],
  ['npm run crsh', /no script crsh/],
]

for (const [command, problem] of rows) {
  t.test(`a command that is not run is ${problem ? 'refused' : 'accepted'}: ${command}`, async (t) => {
    t.match(await problemOf(command), problem)
  })
}
