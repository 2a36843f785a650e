/**
 * Finds the module that the configuration means by a plugin's `use`, as an import in the configuration's folder would. Plugins that came with the
 * server are found there, too, if the folder has nothing of their name: the server may run from elsewhere.
 */
import { realpath, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { isWithin } from '@claimcheck/core/sandbox/command'
import { installedAt } from '@claimcheck/core/sandbox/package-dependencies'
import { PackageError } from '@claimcheck/core/sandbox/package-error'
import { nearestPackage, readPackageJson, textMember } from '@claimcheck/core/sandbox/package-json'
import { type ErrnoException, moduleResolve } from 'import-meta-resolve'
import { INSTALLED_WITH_SERVER, SERVER_FOLDER } from './installed-with-server.ts'

export interface PluginEntry {
  /** The absolute real path of the module. */
  readonly entry: string
  /** The real folder of the module's package; undefined when it is in none. */
  readonly root: string | undefined
  /** The kind of the place. `file` is a module in a package, or in none, that is not what the package offers. */
  readonly kind: 'package' | 'folder' | 'file'
}

const CONDITIONS: ReadonlySet<string> = new Set(['node', 'import', 'default'])

/**
 * Finds the module of a plugin.
 * @param folder the real path of the configuration's folder
 * @throws PackageError
 */
export async function findEntry(use: string, folder: string): Promise<PluginEntry> {
  const path = pathOf(use, folder)
  if (path === undefined) {
    const isInstalled = (await installedAt(nameOf(use), folder)) !== undefined
    return packageEntry(use, isInstalled || !INSTALLED_WITH_SERVER.includes(use) ? folder : SERVER_FOLDER)
  }
  const real = await realPath(path)
  const stats = await stat(real)
  if (stats.isDirectory()) return { ...(await folderEntry(real)), kind: 'folder' }
  if (!stats.isFile()) throw new PackageError('not_a_plugin', `it is neither a file nor a folder: ${real}`)
  const root = await packageOf(real)
  return { entry: real, root, kind: root !== undefined && (await isMain(real, root)) ? 'package' : 'file' }
}

/** Returns the path that `use` is; undefined when it is the name of a package. */
function pathOf(use: string, folder: string): string | undefined {
  if (use.startsWith('file:')) return fileURLToPath(use)
  return /^(\.{0,2}\/|\.{1,2}$)/.test(use) ? resolve(folder, use) : undefined
}

async function realPath(path: string): Promise<string> {
  try {
    return await realpath(path)
  } catch (cause) {
    throw new PackageError('no_such_file', `there is no such file: ${path}`, { cause })
  }
}

/**
 * Finds the package that a file belongs to. A package may have others in it, which say how their folder is read: the installed one is the outermost.
 */
async function packageOf(file: string): Promise<string | undefined> {
  const installed = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(file)?.[0]
  return installed ?? nearestPackage(dirname(file))
}

async function packageEntry(use: string, folder: string): Promise<PluginEntry> {
  const url = await resolvePackage(use, folder)
  if (url.protocol !== 'file:') throw new PackageError('not_a_plugin', `${url} is neither a package nor a file`)
  const entry = await realPath(fileURLToPath(url))
  const installed = await installedAt(nameOf(use), folder)
  return { entry, root: installed === undefined ? await packageOf(entry) : await realpath(installed), kind: 'package' }
}

async function resolvePackage(use: string, folder: string): Promise<URL> {
  try {
    return moduleResolve(use, pathToFileURL(join(folder, 'claimcheck.config.json')), new Set(CONDITIONS))
  } catch (error) {
    throw await resolutionError(error as ErrnoException, use, folder)
  }
}

async function resolutionError(cause: ErrnoException, use: string, folder: string): Promise<PackageError> {
  const of = (code: PackageError['code'], message: string) => new PackageError(code, message, { cause })
  const installed = await installedAt(nameOf(use), folder)
  switch (cause.code) {
    case 'ERR_PACKAGE_PATH_NOT_EXPORTED':
    case 'ERR_INVALID_PACKAGE_TARGET':
      return of('not_exported', `the exports in its package.json do not offer it: ${cause.message}`)
    case 'ERR_INVALID_PACKAGE_CONFIG':
      return of('invalid_package', `its package.json is not JSON: ${cause.message}`)
    case 'ERR_INVALID_MODULE_SPECIFIER':
      return of('not_a_plugin', 'it is neither the name of a package nor a path that starts with ./, ../ or /')
  }
  if (installed !== undefined)
    return of('no_such_file', `it is installed, and this module of it is not there: ${cause.message}`)
  const isFile = await isThere(join(folder, use))
  const advice = isFile
    ? `for the file of this name, write ./${use}`
    : `install it in the folder of the configuration file, ${folder}`
  return of('not_installed', `it is not installed: ${advice}`)
}

function nameOf(use: string): string {
  return use.split('/', use.startsWith('@') ? 2 : 1).join('/')
}

/** Tells whether the package offers this module as its own. */
async function isMain(file: string, root: string): Promise<boolean> {
  try {
    return (await folderEntry(root)).entry === file
  } catch {
    return false
  }
}

/** Finds the module that a folder offers: by `exports`, else `main`, else index.js. Node itself resolves no folder. */
async function folderEntry(folder: string): Promise<{ readonly entry: string; readonly root: string }> {
  const json = await readPackageJson(folder)
  if (json === undefined) throw new PackageError('not_a_plugin', `the folder has no package.json: ${folder}`)
  const { exports } = json
  if (exports !== undefined && exports !== null) {
    const target = targetOf(mainExport(exports))
    const path = target?.startsWith('./') ? join(folder, target) : undefined
    if (path === undefined || !isWithin(path, [folder])) {
      throw new PackageError('not_exported', `the exports in ${join(folder, 'package.json')} offer no module to import`)
    }
    if (!(await isThere(path))) throw new PackageError('no_such_file', notBuilt(path))
    return { entry: await realPath(path), root: folder }
  }
  const main = textMember(json, 'main')
  const candidates = [...(main === undefined ? [] : [main, `${main}.js`, join(main, 'index.js')]), 'index.js']
  for (const candidate of candidates) {
    const path = join(folder, candidate)
    if (await isThere(path)) return { entry: await realPath(path), root: folder }
  }
  throw new PackageError('no_such_file', notBuilt(join(folder, main ?? 'index.js')))
}

function notBuilt(path: string): string {
  return `its module is not there: ${path}. Build the package first`
}

/** Finds the target of the package itself, as `exports` may be short for it. */
function mainExport(exports: unknown): unknown {
  if (typeof exports !== 'object' || exports === null || Array.isArray(exports)) return exports
  const isShort = !Object.keys(exports).some((key) => key.startsWith('.'))
  return isShort ? exports : (exports as Record<string, unknown>)['.']
}

/** Finds the first target whose conditions hold. */
function targetOf(target: unknown): string | undefined {
  if (typeof target === 'string') return target
  if (Array.isArray(target)) return firstOf(target)
  if (typeof target !== 'object' || target === null) return undefined
  return firstOf(Object.entries(target).flatMap(([condition, inner]) => (CONDITIONS.has(condition) ? [inner] : [])))
}

function firstOf(targets: readonly unknown[]): string | undefined {
  for (const target of targets) {
    const found = targetOf(target)
    if (found !== undefined) return found
  }
  return undefined
}

async function isThere(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile()
  } catch {
    return false
  }
}
