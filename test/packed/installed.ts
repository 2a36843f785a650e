/** Every package of this repository as others get it: packed with its scripts, and installed in an empty folder. */
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, rmSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, realpath, rename, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'

const MOST_BYTES = 64 * 1024 * 1024
const PACKING_MS = 180_000
const execute = promisify(execFile)

export interface Installed {
  /** It has a package.json, and nothing above it has packages. */
  readonly folder: string
  /** The program. */
  readonly bin: string
  /** Names with the files of each archive. */
  readonly packed: ReadonlyMap<string, readonly string[]>
}

interface Archives {
  /** Outside of the checkout. */
  readonly top: string
  /** By the name of the package. */
  readonly paths: Readonly<Record<string, string>>
}

let archives: Promise<Archives> | undefined
let installed: Promise<Installed> | undefined

/** Installs once in a process. */
export function installPacked(): Promise<Installed> {
  installed ??= install()
  return installed
}

/** Packs once in a run of the tests: the first process that asks does it, and others wait. */
export function packAll(): Promise<Archives> {
  archives ??= pack(join(process.env.TEST_RUN_DIR!, 'packed'))
  return archives
}

async function pack(top: string): Promise<Archives> {
  const list = join(top, 'archives.json')
  if (await mkdir(top).then(() => true, isThere)) {
    const args = ['pack', '--workspaces', '--pack-destination', top, '--json']
    const { stdout } = await execute('npm', args, { maxBuffer: MOST_BYTES })
    await writeFile(`${list}.new`, stdout.slice(stdout.indexOf('[')))
    await rename(`${list}.new`, list)
  }
  const end = performance.now() + PACKING_MS
  while (!existsSync(list)) {
    if (performance.now() > end) throw new Error('the packages were not packed: the process that packs them failed')
    await setTimeout(200)
  }
  const packed: { name: string; filename: string }[] = JSON.parse(await readFile(list, 'utf8'))
  return { top, paths: Object.fromEntries(packed.map(({ name, filename }) => [name, join(top, filename)])) }
}

function isThere(error: NodeJS.ErrnoException): false {
  if (error.code === 'EEXIST') return false
  throw error
}

async function install(): Promise<Installed> {
  const { paths } = await packAll()
  const top = await realpath(await mkdtemp(join(tmpdir(), 'claimcheck-installed-')))
  process.on('exit', () => rmSync(top, { recursive: true, force: true }))
  const folder = join(top, 'installed')
  await mkdir(folder)
  const wanted = Object.values(paths)
  const listed = await Promise.all(
    Object.entries(paths).map(async ([name, path]) => [name, await contentsOf(path)] as const),
  )

  await writeFile(join(folder, 'package.json'), '{ "private": true, "type": "module" }')
  const mirror = await startMirror(top)
  try {
    const options = ['--prefer-offline', '--no-audit', '--no-fund']
    await execute('npm', ['install', ...options, ...wanted], {
      cwd: folder,
      env: { ...process.env, npm_config_sqlite3_binary_host: mirror.url },
      maxBuffer: MOST_BYTES,
    })
  } finally {
    mirror.close()
  }
  return { folder, bin: join(folder, 'node_modules/.bin/claimcheck'), packed: new Map(listed) }
}

async function contentsOf(archive: string): Promise<readonly string[]> {
  const { stdout } = await execute('tar', ['tzf', archive], { maxBuffer: MOST_BYTES })
  return stdout
    .trim()
    .split('\n')
    .map((path) => path.replace(/^package\//, ''))
}

/** Where sqlite3's installer finds a binary: that of the checkout. To compile it takes minutes. */
async function startMirror(top: string) {
  const archive = join(top, 'sqlite3.tar.gz')
  await execute('tar', ['czf', archive, '-C', 'node_modules/sqlite3', 'build/Release/node_sqlite3.node'])
  const server = createServer(async (_request, response) => response.end(await readFile(archive))).listen(
    0,
    '127.0.0.1',
  )
  await once(server, 'listening')
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() }
}
