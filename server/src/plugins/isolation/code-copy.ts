/** Copies the code of a plugin before it runs, so that the code that runs is what its digest says, until the service ends. */
import { chmodSync, existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { lutimes, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { isRoot, isWithin, outermost, type ReadableSet } from '@claimcheck/core/sandbox/command'
import { readPackageJson, textMember } from '@claimcheck/core/sandbox/package-json'
import { refuseElsewhere } from '@claimcheck/core/sandbox/package-links'
import { SERVER_FOLDER } from '../installed-with-server.ts'
import type { PluginPackage } from '../package.ts'
import { digestOfLines, fileLine, fileLines } from '../package-files.ts'

export interface CodeCopy {
  /** The copy of the plugin's module. */
  readonly entry: string
  readonly readable: ReadableSet
  /** The digest of all that the plugin can import except for what the service brings. */
  readonly codeHash: string
  /** Translates a path in the copy to the path in the original. */
  original(text: string): string
  remove(): Promise<void>
}

const PREFIX = 'claimcheck-plugin-'
/**
 * The age at which the files of a copy become new. Systems clear their folder of temporary files after some ten days: then no process would start any
 * more.
 */
const RENEW_MS = 24 * 60 * 60_000

/**
 * Copies the files that `located` reads. Hidden files and nested packages that are not dependencies are left out: they cannot be imported. The digest
 * has the lines of the plugin's own files and, for each package that it depends on and that the service does not bring, a line of that package's
 * digest, a space, `=`, its name, `@`, its version. The place to which npm installs a package makes no difference.
 * @param brought real folders of packages that are the service's own: they are linked
 * @param renewMs how often the files of the copy become new
 * @throws PackageError
 */
export async function copyCode(
  located: PluginPackage,
  brought: readonly string[],
  renewMs = RENEW_MS,
): Promise<CodeCopy> {
  const { root, entry, packages, files, links } = located
  removeLeftOvers()
  const folder = mkdtempSync(join(tmpdir(), `${PREFIX}${process.pid}-`))
  const at = (path: string) => (isWithin(path, brought) ? path : folder + path)
  try {
    const own = packages.filter((path) => !isWithin(path, brought))
    const lines: string[] = []
    const dependencies = new Set<string>()
    for (const path of own) {
      if (path !== root) await refuseElsewhere(path, SERVER_FOLDER)
      const found = await fileLines(path, at(path))
      if (path === root) lines.push(...found)
      else dependencies.add(await dependencyLine(path, digestOfLines(found)))
    }
    for (const path of files) lines.push(await fileLine(path, at(path)))
    const copied = [
      ...links.map(({ path, target }) => ({ path: at(path), target: at(target) })),
      ...packages.filter((path) => isWithin(path, brought)).map((path) => ({ path: folder + path, target: path })),
    ].filter(({ path }) => path.startsWith(folder))
    for (const { path, target } of copied) link(path, target)
    makeReadable(folder)
    const renewing = setInterval(() => void renew(folder).catch(() => {}), renewMs).unref()
    return {
      entry: at(entry),
      readable: { packages: [...outermost(own).map(at), ...brought], files: files.map(at), links: copied },
      codeHash: digestOfLines([...lines, ...[...dependencies].sort()]),
      original: (text) => text.replaceAll(folder, ''),
      async remove() {
        clearInterval(renewing)
        await rm(folder, { recursive: true, force: true })
      },
    }
  } catch (error) {
    rmSync(folder, { recursive: true, force: true })
    throw error
  }
}

async function dependencyLine(path: string, digest: string): Promise<string> {
  const json = await readPackageJson(path)
  return `${digest.replace('sha256:', '')} =${textMember(json, 'name') ?? ''}@${textMember(json, 'version') ?? ''}\n`
}

/** Makes a link, unless it is there: two packages may share a folder `node_modules` that is a link. */
function link(path: string, target: string): void {
  if (existsSync(path)) return
  mkdirSync(dirname(path), { recursive: true })
  symlinkSync(target, path)
}

/**
 * Makes a copy readable for others: a host that is root runs plugins as another user, whatever its umask is. Listing a folder recursively follows
 * links since Node.js 22, into the service's own packages.
 */
function makeReadable(folder: string): void {
  if (!isRoot()) return
  chmodSync(folder, 0o755)
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) makeReadable(path)
    else if (entry.isFile()) chmodSync(path, 0o644)
  }
}

async function renew(folder: string, now = new Date()): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) await renew(path, now)
    else await lutimes(path, now, now)
  }
  await lutimes(folder, now, now)
}

/** Removes the copies of hosts that were killed. */
function removeLeftOvers(): void {
  for (const name of readdirSync(tmpdir())) {
    const [, pid] = /^claimcheck-plugin-(\d+)-/.exec(name) ?? []
    if (pid === undefined || isAlive(Number(pid))) continue
    const path = join(tmpdir(), name)
    try {
      if (lstatSync(path).uid === process.geteuid?.()) rmSync(path, { recursive: true, force: true })
    } catch {
      // Another host may remove the same copy at this moment.
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
