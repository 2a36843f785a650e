/**
 * Part of `npm test`, before the tests are compiled: installs their tools. Each has a folder with a lockfile in `test/tools`, and is installed
 * once, and again when its lockfile changes. What it depends on is linked into `node_modules`, where tests import it from; `npm install`
 * takes the links away, and the next run puts them back.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

interface Manifest {
  readonly description: string
  /** Installed by the command that uses it. */
  readonly onDemand?: true
  readonly dependencies?: Readonly<Record<string, string>>
  /** Packages that some machines cannot have: the tests that use them say so. */
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '../..')
const TOOLS = 'test/tools'
/** The lockfile that the tool was installed from. */
const INSTALLED = 'node_modules/.installed-lock.json'
const INSTALL = ['ci', '--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error']

/**
 * @param tools all but those on demand, unless said otherwise
 * @throws Error with what npm says
 */
export async function installTools(tools?: readonly string[], root = ROOT): Promise<void> {
  const all = tools ?? toolsIn(root).filter((tool) => !manifestOf(join(root, TOOLS, tool)).onDemand)
  const folders = all.map((tool) => join(root, TOOLS, tool))
  const missing = folders.filter((folder) => !isInstalled(folder))
  if (missing.length > 0)
    console.log(`Installing what only tests use, once: ${missing.map((folder) => basename(folder)).join(', ')}`)
  await Promise.all(missing.map(install))
  for (const folder of folders) link(folder, root)
}

/** The names of the tools. What was installed of one that is gone stays in its folder. */
export function toolsIn(root = ROOT): string[] {
  return readdirSync(join(root, TOOLS)).filter((tool) => existsSync(join(root, TOOLS, tool, 'package.json')))
}

function isInstalled(folder: string): boolean {
  const installed = join(folder, INSTALLED)
  return existsSync(installed) && readFileSync(installed).equals(readFileSync(join(folder, 'package-lock.json')))
}

async function install(folder: string): Promise<void> {
  const startedAt = performance.now()
  const npm = spawn('npm', INSTALL, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [npm.stdout, npm.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  }
  const [code] = await once(npm, 'close')
  if (code !== 0) throw new Error(`${TOOLS}/${basename(folder)} was not installed:\n${output}`)
  copyFileSync(join(folder, 'package-lock.json'), join(folder, INSTALLED))
  console.log(
    `  ${basename(folder)}: ${Math.round((performance.now() - startedAt) / 1000)} s. ${manifestOf(folder).description}`,
  )
}

function link(folder: string, root: string): void {
  const { dependencies, optionalDependencies } = manifestOf(folder)
  for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
    const installed = join(folder, 'node_modules', name)
    const place = join(root, 'node_modules', name)
    const found = lstatSync(place, { throwIfNoEntry: false })
    // Other packages stay, such as an operator's signer.
    if (!existsSync(installed) || found?.isDirectory()) continue
    const target = relative(dirname(place), installed)
    if (found && readlinkSync(place) === target) continue
    rmSync(place, { force: true })
    mkdirSync(dirname(place), { recursive: true })
    symlinkSync(target, place)
  }
}

function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await installTools().catch((error: Error) => {
    console.error(error.message)
    process.exitCode = 1
  })
}
