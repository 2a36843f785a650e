// Test run: end-to-end, slow
/** The program as its package ships it: it starts in an empty folder, loads whatever it names, and ships each module once. */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, rmSync } from 'node:fs'
import { mkdir, readdir, readFile, rm, rmdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { writeFirstConfig } from '@claimcheck/server/config/first-config'
import t from 'tap'
import { engineProblems } from '../dependencies.ts'
import { CANNOT_MOUNT, fill, mountSmallDisk } from '../support/small-disk.ts'
import { installPacked } from './installed.ts'

const MOST_BYTES = 64 * 1024 * 1024
const execute = promisify(execFile)
const { folder, bin, packed } = await installPacked()
const { PATH, HOME, XDG_STATE_HOME } = process.env
const ENV = { PATH, HOME, XDG_STATE_HOME, PORT: '0', LOG_LEVEL: 'silent' }
const empty = join(folder, '../empty')

async function claimcheck(...args: readonly string[]) {
  const { stdout } = await execute(bin, [...args, '--json'], { cwd: empty, env: ENV })
  return JSON.parse(stdout)
}

t.test('it serves in an empty folder, says what to do next, and ends as SIGTERM ends it', async (t) => {
  await mkdir(empty)
  const service = spawn(bin, ['serve'], { cwd: empty, env: ENV, stdio: ['ignore', 'pipe', 'inherit'] })
  const said: string[] = []
  for await (const line of createInterface({ input: service.stdout })) {
    said.push(line)
    if (line.includes('/console/setup/')) break
  }
  const text = said.join('\n')
  t.match(text, /is running on http:\/\/localhost:\d+\n/)
  t.match(text, /verifies {2}codehost\.commit\.push, .*http\.url\.status, registry\.package\.publish\n/)
  t.match(text, /written {3}claimcheck\.config\.json, which names the plugins\n/)
  t.match(text, /Next: open this link to become the owner/)
  t.strictSame((await readdir(empty)).toSorted(), ['claimcheck.config.json', 'data'])
  const url = /http:\/\/localhost:\d+/.exec(text)![0]
  t.equal((await fetch(`${url}/docs`)).status, 200)
  t.equal((await fetch(/http\S+\/console\/setup\/\S+/.exec(text)![0])).status, 200)

  const { plugins } = await claimcheck('plugins')
  t.strictSame(
    plugins.map(({ package: name, isolation }: { package: string; isolation: string }) => [name, isolation]),
    ['codehost', 'http', 'registry'].map((name) => [`@claimcheck/plugin-${name}`, 'trusted']),
    'the plugins that come with it are trusted, as in the repository',
  )
  const ended = once(service, 'exit')
  service.kill('SIGTERM')
  t.strictSame(await ended, [0, null])
})

t.test(
  'npm has nothing to warn of: each package that it chose takes the versions of Node that people run',
  async (t) => {
    const { packages } = JSON.parse(await readFile(join(folder, 'node_modules/.package-lock.json'), 'utf8'))
    t.ok(Object.keys(packages).length > 150)
    t.strictSame(engineProblems(packages), [])
  },
)

/** Of `import('name')`, with the members that are taken of it at once. */
const DYNAMIC = /(?:const \{([^}]*)\} = await )?import\(\s*(?:\/\*.*?\*\/\s*)?('[^']+'|[^)]*)\)/g
/** Imported by a name that is known only as it runs: plugins, and what a plugin's process is started for. */
const COMPUTED = /pathToFileURL\(|NODE_SQLITE/

t.test('whatever it imports as it runs is there, with the members that it takes', async (t) => {
  const scope = join(folder, 'node_modules/@claimcheck')
  const found: { file: string; name: string; members: string[] }[] = []
  for (const file of await readdir(scope, { recursive: true, encoding: 'utf8' })) {
    if (!/^[^/]+\/(?:dist|bin)\/.*\.js$/.test(file) || /\/dist\/(?:browser|testkit)\//.test(file)) continue
    const text = withoutComments(await readFile(join(scope, file), 'utf8'))
    for (const [, taken = '', name] of text.matchAll(DYNAMIC)) {
      if (COMPUTED.test(name!)) continue
      t.match(name, /^'/, `${file}: import(${name}) names a module`)
      const members = taken.split(',').flatMap((one) => one.split(':')[0]!.trim() || [])
      found.push({ file: join(scope, file), name: name!.slice(1, -1), members })
    }
  }
  t.ok(found.length > 25, `${found.length} dynamic imports`)
  const optional = new Set<string>()
  for (const name of await readdir(scope)) {
    const manifest = JSON.parse(await readFile(join(scope, name, 'package.json'), 'utf8'))
    for (const one of Object.keys({ ...manifest.optionalDependencies, ...manifest.peerDependencies })) optional.add(one)
  }
  for (const { file, name, members } of found) {
    // From the folder of the module that names it.
    const probe = join(dirname(file), '.probe.mjs')
    await writeFile(probe, 'export const load = (name) => import(name)\n')
    const { load } = (await import(probe)) as { load: (name: string) => Promise<object> }
    const loaded = await load(name).catch((error: Error) => error)
    const [, missing = ''] = /^Cannot find package '([^']+)'/.exec(loaded instanceof Error ? loaded.message : '') ?? []
    if (optional.has(missing)) {
      t.pass(`${missing} is optional, and is not installed here`)
      continue
    }
    t.notOk(loaded instanceof Error && loaded.message, `${file} loads ${name}`)
    for (const member of members) t.not((loaded as never)[member], undefined, `${name} has ${member}`)
  }
})

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '')
}

t.test('each module ships once, and nothing of the build', async (t) => {
  t.ok(packed.size > 8)
  for (const [name, files] of packed) {
    t.strictSame(
      files.filter((file) => /tsbuildinfo|^dist\/.*\.test\.|compile-cache/.test(file)),
      [],
      name,
    )
    for (const needed of ['README.md', 'LICENSE', 'package.json']) t.ok(files.includes(needed), `${name} has ${needed}`)
  }
  const files = packed.get('@claimcheck/server')!
  t.strictSame(
    files.filter((file) => /^src\/|\.d\.ts$|\.map$|\/program\//.test(file)),
    [],
  )
  // The pages of the documentation are made from these.
  const copied = ['plugins/README.md', 'core/client/README.md', 'core/python/README.md', 'CHANGELOG.md'].map(
    (file) => `dist/docs/${file}`,
  )
  for (const file of ['docs/quickstart.md', ...copied]) t.ok(files.includes(file), file)
})

t.test('each package can be published from a checkout, which works afterwards as before', async (t) => {
  // What the page about Compose has an operator put there.
  const secrets = 'server/deploy/secrets'
  const secret = join(secrets, `packed-${process.pid}`)
  const made = await mkdir(secrets, { recursive: true })
  t.teardown(async () => {
    await rm(secret)
    if (made) await rmdir(secrets)
  })
  await writeFile(secret, 'secret')
  // Its scripts ran when it was packed.
  const args = ['publish', '--workspaces', '--dry-run', '--ignore-scripts', '--json', '--tag', 'test']
  const { stdout } = await execute('npm', args, { maxBuffer: MOST_BYTES })
  for (const name of packed.keys()) t.match(stdout, `"${name}@`)
  t.match(stdout, '"deploy/compose.yaml"')
  t.notMatch(stdout, '"deploy/secrets', 'without the secrets of this checkout')
  const { stdout: version } = await execute('npx', ['--no-install', 'claimcheck', '--version'])
  t.match(version, /^\d+\.\d+\.\d+\n$/)
})

t.test('where the service ran before, or a file is, none is written', async (t) => {
  const other = t.testdir({ data: {} })
  t.equal(writeFirstConfig({}, other), undefined)
  t.equal(writeFirstConfig({ CONFIG: 'mine.json', DATA_DIR: 'new' }, other), undefined)
  t.equal(writeFirstConfig({ DATABASE_URL: 'postgres://x', DATA_DIR: 'new' }, other), undefined)
  t.equal(writeFirstConfig({ DATA_DIR: 'new' }, join(other, 'nowhere')), undefined)
  await writeFile(join(other, 'claimcheck.config.json'), '{}')
  t.equal(writeFirstConfig({ DATA_DIR: 'new' }, other), undefined)
  t.equal(await readFile(join(other, 'claimcheck.config.json'), 'utf8'), '{}')
})

t.test('a full disk leaves no part of one, and no start without plugins', { skip: CANNOT_MOUNT }, (t) => {
  const disk = mountSmallDisk('64k')
  try {
    fill(join(disk.path, 'filler'))
    t.throws(() => writeFirstConfig({}, disk.path), {
      code: 'invalid_config',
      message: /config\.json cannot be written: ENOSPC/,
    })
    t.notOk(existsSync(join(disk.path, 'claimcheck.config.json')))
    rmSync(join(disk.path, 'filler'))
    t.equal(writeFirstConfig({}, disk.path), 'claimcheck.config.json')
    rmSync(join(disk.path, 'claimcheck.config.json'))
  } finally {
    disk.unmount()
  }
  t.end()
})
