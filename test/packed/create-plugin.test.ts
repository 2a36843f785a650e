// Test run: end-to-end, slow
/** A new verifier as its author gets it: scaffolded outside of the checkout, built, tested and tried against the packed core. */
import { execFile, spawn } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { VERSIONS } from '@claimcheck/create-plugin/package-files'
import t from 'tap'
import { readPage } from '../docs/markdown.ts'
import { afterFile } from '../support/after-file.ts'
import { runClaimcheck } from '../support/command.ts'
import { freePort } from '../support/free-port.ts'
import { Installation } from '../support/installation.ts'
import { packAll } from './installed.ts'

const execute = promisify(execFile)

interface Outcome {
  readonly code: number
  readonly output: string
}

async function run(folder: string, command: string, ...args: readonly string[]): Promise<Outcome> {
  const env = { ...process.env, NODE_TEST_CONTEXT: undefined, LOG_LEVEL: 'silent' }
  try {
    const { stdout, stderr } = await execute(command, [...args], { cwd: folder, env, maxBuffer: 16 * 1024 * 1024 })
    return { code: 0, output: stdout + stderr }
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string }
    return { code, output: `${stdout}${stderr}` }
  }
}

let folder: string
let verifier: string
/** By the name of the package. */
let archives: Readonly<Record<string, string>>

const create = (...args: readonly string[]) =>
  run(
    folder,
    'npm',
    'exec',
    '--yes',
    '--offline',
    `--package=${archives['@claimcheck/create-plugin']}`,
    '--',
    'create-plugin',
    ...args,
  )

t.before(async () => {
  // Nothing above it may have packages of its own.
  folder = await realpath(await mkdtemp(join(tmpdir(), 'claimcheck-create-')))
  archives = (await packAll()).paths
  verifier = join(folder, 'my-verifier')
})
afterFile(() => rm(folder, { recursive: true, force: true }))

t.test('npm create writes a package with the names that it is given, and says what to type next', async (t) => {
  const { code, output } = await create('my-verifier', 'jira.issue.close')
  t.equal(code, 0, output)
  t.match(
    output,
    /verifies jira\.issue\.close\. Next:\n\n {2}cd my-verifier && npm install\n {2}npm test\n {2}npm run try\n/,
  )
  const files = await readdir(verifier, { recursive: true, withFileTypes: true })
  for (const entry of files.filter((one) => one.isFile())) {
    const text = await readFile(join(entry.parentPath, entry.name), 'utf8')
    t.notMatch(text, /\bacme\b|plugin-example/i, entry.name)
  }
  const manifest = JSON.parse(await readFile(join(verifier, 'package.json'), 'utf8'))
  t.match(manifest, { name: 'my-verifier', keywords: ['claimcheck-plugin'], publishConfig: { provenance: true } })
  for (const version of Object.values({ ...manifest.dependencies, ...manifest.devDependencies })) {
    t.match(version, /^\d+\.\d+\.\d+$/, 'an exact version')
  }
})

t.test('the new package builds and passes the kit', async (t) => {
  const path = join(verifier, 'package.json')
  const manifest = JSON.parse(await readFile(path, 'utf8'))
  manifest.dependencies['@claimcheck/core'] = `file:${archives['@claimcheck/core']}`
  manifest.devDependencies['@claimcheck/plugin-tools'] = `file:${archives['@claimcheck/plugin-tools']}`
  manifest.overrides = Object.fromEntries(
    ['command-line', 'create-plugin'].map((name) => [`@claimcheck/${name}`, `file:${archives[`@claimcheck/${name}`]}`]),
  )
  await writeFile(path, JSON.stringify(manifest))
  const installed = await run(verifier, 'npm', 'install', '--prefer-offline', '--no-audit', '--no-fund')
  t.equal(installed.code, 0, installed.output)
  const { code, output } = await run(verifier, 'npm', 'test')
  t.equal(code, 0, output)
  t.match(output, /# pass [1-9]\d*\n# fail 0\n|ℹ pass [1-9]\d*\nℹ fail 0\n/)
})

t.test('the new package verifies a claim against the server that it brings', async (t) => {
  const port = await freePort()
  const file = join(verifier, 'connection.json')
  await writeFile(file, (await readFile(file, 'utf8')).replace('4010', String(port)))
  const { code, output } = await run(verifier, 'env', `PORT=${port}`, 'npm', 'run', 'try')
  t.equal(code, 0, output)
  t.match(output, /^verified: Ticket SHOP-1 was closed as done in time\.$/m)
})

t.test('its server runs alone, for a claim at an installation', async (t) => {
  const port = await freePort()
  const server = spawn('npm', ['run', 'destination'], {
    cwd: verifier,
    env: { ...process.env, PORT: String(port) },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  })
  t.teardown(() => process.kill(-server.pid!, 'SIGKILL'))
  for await (const line of createInterface({ input: server.stdout })) if (line.includes(String(port))) break
  t.equal((await fetch(`http://127.0.0.1:${port}/api/projects/SHOP`)).status, 401, 'it asks for a token')
})

t.test(
  'claimcheck plugin test reports that it passes, and what a verifier does that takes 404 for absence',
  async (t) => {
    // The whole kit ran above.
    const definition = join(verifier, 'dist/test/conformance.js')
    const whole = await readFile(definition, 'utf8')
    const partial = whole.replace(
      'export default conformance',
      "export default { ...conformance, only: ['absence.hides-permission'] }",
    )
    t.not(partial, whole)
    await writeFile(definition, partial)
    const good = await runClaimcheck(verifier, ['plugin', 'test'])
    t.match(good, { code: 0, stdout: /^The plugin passes: \d+ checks\.\n/ })
    // As the guide has it: by the tools that are installed beside it.
    const own = await run(verifier, 'npx', '--no-install', 'claimcheck-plugin', 'test')
    t.match(own, { code: 0, output: /^The plugin passes: \d+ checks\.\n/ })
    const built = join(verifier, 'dist/index.js')
    const source = await readFile(built, 'utf8')
    const careless = source.replace('if (!project.sees_all_tickets)', 'if (false)')
    t.not(careless, source)
    await writeFile(built, careless)
    const bad = await runClaimcheck(folder, ['plugin', 'test', 'my-verifier', '--json'])
    t.equal(bad.code, 1)
    const report = JSON.parse(bad.stdout)
    t.equal(report.ok, false)
    t.ok(report.checks.some(({ ok, problem }: { ok: boolean; problem?: string }) => !ok && problem !== undefined))
    await writeFile(built, `${source}\nprocess.exit(0)`)
    t.match(await runClaimcheck(folder, ['plugin', 'test', 'my-verifier']), {
      code: 2,
      stdout: '',
      stderr: /ended with 0/,
    })
    await writeFile(built, source)
    await writeFile(definition, whole)
  },
)

t.test('a package that names no definition, or one that is not there, ends with 2', async (t) => {
  const empty = t.testdir({ 'package.json': '{}' })
  t.match(await runClaimcheck(empty, ['plugin', 'test']), { code: 2, stderr: /"conformance"/ })
  const gone = t.testdir({ 'package.json': '{ "claimcheck": { "conformance": "./none.js" } }' })
  t.match(await runClaimcheck(gone, ['plugin', 'test', '--json']), {
    code: 2,
    stdout: /"could_not_check".*build the package first/,
  })
  t.match(await runClaimcheck(empty, ['plugin', 'test', 'nowhere']), { code: 2, stderr: /package\.json/ })
})

t.test('the guide shows the template as it is, and the commands that are run here', async (t) => {
  const { blocks } = readPage(await readFile('plugins/README.md', 'utf8'))
  const sources = blocks.filter(({ language, note }) => language === 'ts' && !note?.startsWith('not run'))
  t.strictSame(
    sources.map(({ note }) => note),
    ['example/src/index.ts'],
  )
  for (const { text, note } of sources) t.equal(`${text}\n`, await readFile(join('plugins', note), 'utf8'), note)
  const [first] = blocks.filter(({ language }) => language === 'sh')
  t.strictSame(first!.text.split('\n'), [
    './claimcheck plugin new acme.ticket.close ../my-verifier',
    'npm pack -w @claimcheck/core -w @claimcheck/command-line -w @claimcheck/plugin-tools -w @claimcheck/create-plugin --pack-destination ..',
    'cd ../my-verifier && npm install --no-save ../claimcheck-*.tgz',
    'npm test',
    'npm run try',
  ])
  const { claimcheck } = JSON.parse(blocks.find(({ language }) => language === 'json')!.text)
  const manifest = JSON.parse(await readFile(join(verifier, 'package.json'), 'utf8'))
  t.strictSame(claimcheck, manifest.claimcheck)
})

t.test('an installation that names the package in its configuration verifies the action', async (t) => {
  const { blocks } = readPage(await readFile('plugins/README.md', 'utf8'))
  const { text } = blocks.find(({ note }) => note === 'installed by the operator')!
  const { plugins } = JSON.parse(text)
  const installation = await Installation.during(t, { plugins: [{ ...plugins[0], use: verifier }] })
  const { profiles } = await (await fetch(`${installation.url}/v1/profiles`)).json()
  t.match(profiles, [{ action: 'jira.issue.close' }])
})

t.test('claimcheck plugin new writes the same package', async (t) => {
  const { code, stdout } = await runClaimcheck(folder, ['plugin', 'new', 'jira.issue.close', 'same', '--json'])
  t.equal(code, 0)
  // In a checkout, whose packages no registry need have.
  const next = [
    `(cd ${process.cwd()} && npm pack -w @claimcheck/core -w @claimcheck/command-line -w @claimcheck/plugin-tools -w @claimcheck/create-plugin --pack-destination ${folder}/same)`,
    'cd same && npm install --no-save ./claimcheck-*.tgz',
    'npm test',
    'npm run try',
  ]
  t.match(JSON.parse(stdout), { name: 'same', action: 'jira.issue.close', next })
  const source = await readFile(join(folder, 'same/src/index.ts'), 'utf8')
  t.equal(source, await readFile(join(verifier, 'src/index.ts'), 'utf8'))
  const named = await runClaimcheck(folder, ['plugin', 'new', 'jira.issue.close'])
  t.match(named, { code: 0, stdout: /cd claimcheck-plugin-jira && npm install --no-save/ })
})

const refused: [what: string, args: readonly string[], said: RegExp][] = [
  ['a name of two parts', ['x', 'ticket.close'], /not the name of an action/],
  ['a name in capitals', ['x', 'Acme.ticket.close'], /not the name of an action/],
  ['a name that leaves the folder', ['x', '../../etc.a.b'], /not the name of an action/],
  ['a name with code', ['x', "a'.b.c"], /not the name of an action/],
  ['a name that is too long', ['x', `${'a'.repeat(65)}.b.c`], /not the name of an action/],
  ['a folder that is not empty', ['my-verifier', 'a.b.c'], /my-verifier is not empty/],
  ['a file in place of a folder', ['a-file', 'a.b.c'], /a-file is not a folder/],
  ['a folder whose name is none of a package', ['my verifier', 'a.b.c'], /--name/],
  ['a wrong name of a package', ['x', 'a.b.c', '--name', 'A B'], /not the name of a package/],
]

for (const [what, args, said] of refused) {
  t.test(`${what} is refused, and nothing is written`, async (t) => {
    await writeFile(join(folder, 'a-file'), '')
    const before = await readdir(folder)
    const main = resolve('plugins/create-plugin/dist/main.js')
    const { code, output } = await run(folder, process.execPath, main, ...args)
    t.equal(code, 1)
    t.match(output, said)
    t.notMatch(output, /at .*\.js/)
    t.strictSame(await readdir(folder), before)
    const [name, action, ...options] = args as [string, string]
    t.match(await runClaimcheck(folder, ['plugin', 'new', action, name, ...options]), { code: 2, stderr: said })
  })
}

t.test('a folder that has only a repository is as good as empty', async (t) => {
  await mkdir(join(folder, 'fresh/.git'), { recursive: true })
  t.match(await run(folder, process.execPath, resolve('plugins/create-plugin/dist/main.js'), 'fresh'), { code: 0 })
})

t.test('a new package depends on what this checkout has and builds with', async (t) => {
  const read = async (path: string) => JSON.parse(await readFile(path, 'utf8'))
  const { devDependencies } = await read('package.json')
  t.strictSame(VERSIONS, {
    '@claimcheck/plugin-tools': (await read('core/plugin-tools/package.json')).version,
    '@claimcheck/core': (await read('core/package.json')).version,
    '@types/node': devDependencies['@types/node'],
    typescript: devDependencies.typescript,
  })
})
