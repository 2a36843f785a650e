/** Reads what an operator names as a plugin: a package of the registry, an archive of `npm pack`, or a folder to pack. */
import { existsSync, rmSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { CommandError } from '@claimcheck/command-line/errors'
import { runNpm } from './npm.ts'

export interface PluginSource {
  /** The name of the package, which the configuration gets. */
  readonly name: string
  /** The exact version, range or tag that was asked for; undefined if none was. */
  readonly wanted: string | undefined
  /** The absolute path of the archive; undefined for a package of the registry. */
  readonly archive: string | undefined
  /** Removes an archive that was made for this. */
  discard(): void
}

const NAME = /^(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/
const VERSION = /^[\w.+~^-]{1,64}$/

/**
 * Reads the argument of a command.
 * @param folder the folder of the configuration, which gets the archive of a packed folder
 * @throws CommandError
 */
export async function readSource(given: string, folder: string, stopped?: AbortSignal): Promise<PluginSource> {
  if (/^\.{0,2}\/|^\.{1,2}$|\.(?:tgz|tar\.gz)$/.test(given)) return fileSource(given, folder, stopped)
  const at = given.indexOf('@', 1)
  const name = at < 0 ? given : given.slice(0, at)
  const wanted = at < 0 ? undefined : given.slice(at + 1)
  if (!NAME.test(name) || name.length > 214 || (wanted !== undefined && !VERSION.test(wanted))) {
    const message = `${given} is no package: write NAME, NAME@VERSION, the path of an archive (FILE.tgz), or that of a folder with ./`
    throw new CommandError('usage', message)
  }
  return { name, wanted, archive: undefined, discard() {} }
}

async function fileSource(given: string, folder: string, stopped?: AbortSignal): Promise<PluginSource> {
  const path = resolve(given)
  if (!existsSync(path)) throw new CommandError('usage', `There is no file or folder ${path}.`)
  const isFolder = statSync(path).isDirectory()
  if (isFolder && !existsSync(join(path, 'package.json')))
    throw new CommandError('usage', `The folder ${path} has no package.json: name the folder of a package.`)
  const packed = await pack(path, ['--dry-run'], folder, stopped)
  const archive = isFolder ? join(folder, packed.filename) : path
  if (isFolder) {
    // A link to a folder would change without a sign, and no sandbox reads through it.
    if (existsSync(archive)) {
      const message = `${archive} is there already: name that archive, or raise the version in ${join(path, 'package.json')} and build the package again.`
      throw new CommandError('usage', message)
    }
    await pack(path, ['--pack-destination', folder], folder, stopped)
  }
  return { name: packed.name, wanted: undefined, archive, discard: () => isFolder && rmSync(archive, { force: true }) }
}

async function pack(path: string, args: readonly string[], folder: string, stopped?: AbortSignal) {
  const packed = await runNpm(folder, ['pack', ...args, '--', path], stopped)
  const [found] = Array.isArray(packed) ? packed : Object.values((packed ?? {}) as Record<string, unknown>)
  const { name, filename } = (found ?? {}) as { readonly name?: unknown; readonly filename?: unknown }
  if (typeof name === 'string' && NAME.test(name) && typeof filename === 'string') return { name, filename }
  throw new CommandError('refused', `${path} is no package with a name: see its package.json.`)
}
