// Test run: end-to-end, slow, alone
/** How the tools of the tests are installed: here a package of the test's own, so that no registry is asked. */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { installTools } from '../scripts/tools.ts'

const execute = promisify(execFile)

interface Checkout {
  readonly root: string
  readonly tool: string
  /** What was printed. */
  install(): Promise<string>
}

/** A checkout with one tool, `hammer`, which depends on `nail` and is locked. */
async function checkout(t: Test): Promise<Checkout> {
  const manifest = (name: string, more: object = {}) => JSON.stringify({ name, version: '1.0.0', ...more })
  const root = t.testdir({
    screw: { 'package.json': manifest('screw', { os: ['none'] }) },
    nail: { 'package.json': manifest('nail'), 'index.js': 'module.exports = 1' },
    test: {
      tools: {
        hammer: {
          'package.json': manifest('hammer', {
            description: 'Drives nails.',
            dependencies: { nail: 'file:../../../nail' },
            optionalDependencies: { screw: 'file:../../../screw' },
          }),
        },
      },
    },
  })
  const tool = join(root, 'test/tools/hammer')
  await lock(tool)
  return {
    root,
    tool,
    async install() {
      const lines = t.capture(console, 'log')
      await installTools(undefined, root)
      return lines.args().join('\n')
    },
  }
}

async function lock(folder: string): Promise<void> {
  await execute('npm', ['install', '--package-lock-only', '--offline', '--no-audit'], { cwd: folder })
}

t.test('a tool is installed once, with a line, and linked to where tests import it from', async (t) => {
  const { root, install } = await checkout(t)
  t.match(await install(), /^Installing what only tests use, once: hammer\n {2}hammer: \d+ s\. Drives nails\.$/)
  t.equal(await readFile(join(root, 'node_modules/nail/index.js'), 'utf8'), 'module.exports = 1')
  t.notOk(existsSync(join(root, 'node_modules/screw')), 'what this machine cannot have is not linked')
  t.equal(await install(), '')
})

t.test('a tool on demand waits for the command that uses it', async (t) => {
  const { root, tool, install } = await checkout(t)
  const file = join(tool, 'package.json')
  await writeFile(file, JSON.stringify({ ...JSON.parse(await readFile(file, 'utf8')), onDemand: true }))
  t.equal(await install(), '')
  await installTools(['hammer'], root)
  t.ok(existsSync(join(root, 'node_modules/nail/index.js')))
})

t.test('links that npm took away come back', async (t) => {
  const { root, install } = await checkout(t)
  await install()
  await rm(join(root, 'node_modules'), { recursive: true })
  t.equal(await install(), '')
  t.ok(existsSync(join(root, 'node_modules/nail/index.js')))
})

t.test('a tool of another lockfile is installed anew', async (t) => {
  const { tool, install } = await checkout(t)
  await install()
  const file = join(tool, 'package-lock.json')
  await writeFile(file, `${await readFile(file, 'utf8')}\n`)
  t.match(await install(), /hammer/)
  t.equal(await install(), '')
})

t.test('what was installed beside the program stays', async (t) => {
  const { root, install } = await checkout(t)
  await mkdir(join(root, 'node_modules/nail'), { recursive: true })
  await writeFile(join(root, 'node_modules/nail/index.js'), 'module.exports = 2')
  await install()
  t.equal(await readFile(join(root, 'node_modules/nail/index.js'), 'utf8'), 'module.exports = 2')
})

t.test('where npm installs nothing, its words are said, and the next run tries again', async (t) => {
  const { root, tool, install } = await checkout(t)
  const file = join(tool, 'package-lock.json')
  const sound = await readFile(file, 'utf8')
  await writeFile(file, '{}')
  await t.rejects(installTools(['hammer'], root), { message: /^test\/tools\/hammer was not installed:\n.*npm/s })
  await writeFile(file, sound)
  t.match(await install(), /hammer: /)
})
