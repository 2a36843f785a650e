// Test run: end-to-end, slow
/** A clone in which nothing is built: the server can be packed there, and an author follows the guide as it is written. */
import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { readPage } from '../docs/markdown.ts'
import { afterFile } from '../support/after-file.ts'
import { IS_THOROUGH } from '../support/extent.ts'

const skip = IS_THOROUGH ? false : 'it builds everything twice: npm run test:thorough runs it'
const MOST_BYTES = 64 * 1024 * 1024
const execute = promisify(execFile)

/** `npm ci` installs the same packages. Those of this repository are the clone's own. */
async function linkPackages(clone: string, folder: string): Promise<void> {
  const from = resolve(folder, 'node_modules')
  const to = join(clone, folder, 'node_modules')
  await mkdir(to, { recursive: true })
  for (const name of await readdir(from)) {
    if (name === '@claimcheck') await cp(join(from, name), join(to, name), { recursive: true, verbatimSymlinks: true })
    else await symlink(join(from, name), join(to, name))
  }
}

async function cloned(): Promise<string> {
  const top = await realpath(await mkdtemp(join(tmpdir(), 'claimcheck-clone-')))
  afterFile(() => rm(top, { recursive: true, force: true }))
  const clone = join(top, 'checkout')
  // What is not committed yet is tested, too.
  const { stdout } = await execute('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'])
  for (const path of stdout.split('\0').filter(Boolean)) {
    await mkdir(dirname(join(clone, path)), { recursive: true })
    await cp(path, join(clone, path), { verbatimSymlinks: true }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error
    })
  }
  for (const folder of ['.', 'core', 'server']) await linkPackages(clone, folder)
  return clone
}

async function run(folder: string, script: string): Promise<string> {
  const env = { ...process.env, NODE_TEST_CONTEXT: undefined, LOG_LEVEL: 'silent', npm_config_prefer_offline: 'true' }
  const { stdout } = await execute('bash', ['-euc', script], { cwd: folder, env, maxBuffer: MOST_BYTES })
  return stdout
}

t.test(
  'npm pack in a clone without a build packs the server and its plugins with what they run',
  { skip },
  async (t) => {
    const clone = await cloned()
    await run(clone, 'npm pack --workspaces --pack-destination ..')
    const archives = (await readdir(dirname(clone))).filter((name) => name.endsWith('.tgz'))
    t.ok(archives.length > 10, archives.join(' '))
    for (const name of archives) {
      const { stdout } = await execute('tar', ['tzf', join(dirname(clone), name)], { maxBuffer: MOST_BYTES })
      t.match(stdout, /^package\/dist\/.*\.js$/m, `${name} is built`)
      if (name.startsWith('claimcheck-server-')) t.match(stdout, /^package\/dist\/cli\/main\.js$/m)
    }
  },
)

t.test('an author who follows the first commands of the guide sees a claim verified', { skip }, async (t) => {
  const clone = await cloned()
  await run(clone, 'node scripts/prepare.js')
  const { blocks } = readPage(await readFile('plugins/README.md', 'utf8'))
  const [first] = blocks.filter(({ language }) => language === 'sh')
  const output = await run(clone, first!.text)
  t.match(output, /^added \d+ packages/m)
  t.match(output, /^(?:#|ℹ) fail 0$/m)
  t.match(output, /^verified: Ticket SHOP-1 was closed as done in time\.$/m)
})
