/** Walks the files of a package, for its digest and for a copy of it. */
import { createHash } from 'node:crypto'
import { lstatSync, mkdirSync, readFileSync } from 'node:fs'
import { lstat, readFile, readlink, symlink, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { PackageError } from '@claimcheck/core/sandbox/package-error'
import { entriesOf, type FoundEntry } from '@claimcheck/core/sandbox/package-links'

export const MOST_FILES = 20_000
export const MOST_BYTES = 64 * 1024 * 1024
/** The number of files that are read at a time: so few that nothing else waits for them for long. */
const AT_ONCE = 64
/** The size up to which a file is read by this thread: to hand a smaller one to another takes longer than to read it. */
const SMALL_BYTES = 64 * 1024

/**
 * Computes the digest of a package's own files: `sha256:` and the SHA-256 in hexadecimal of this text, in UTF-8. It has a line for each file, sorted
 * by the bytes of their paths: the SHA-256 of the content in hexadecimal, two spaces, the path relative to the package with slashes, a line feed.
 * That is what `sha256sum` prints. A symbolic link has a line of the SHA-256 of the text of the link, a space, `@`, the path, a line feed; it is not
 * followed. Folders have no line. Every file and folder is left out whose name starts with a dot, and every folder `node_modules`. So, for a package
 * without links: find . -mindepth 1 \( -name '.*' -o -name node_modules \) -prune -o -type f -printf '%P\n' | LC_ALL=C sort | xargs -d '\n' sha256sum
 * | sha256sum
 * @throws PackageError when it has too much, or something that is no file, or a name that has no line of its own
 */
export async function codeHashOf(root: string): Promise<string> {
  return digestOfLines(await fileLines(root))
}

/** Computes the digest of these lines, each with its line feed. */
export function digestOfLines(lines: readonly string[]): string {
  return `sha256:${sha256(lines.join(''))}`
}

/**
 * Makes the lines of a package's own files, as `codeHashOf` describes them.
 * @param copyTo a new folder that gets the bytes that the lines tell of, and no others
 * @throws PackageError
 */
export async function fileLines(root: string, copyTo?: string): Promise<readonly string[]> {
  const entries = await ownEntries(root)
  const lines: string[] = []
  let bytes = 0
  for (let start = 0; start < entries.length; start += AT_ONCE) {
    const some = entries.slice(start, start + AT_ONCE)
    const sizes = some.map(({ path }) => lstatSync(join(root, path)).size)
    bytes = sizes.reduce((sum, size) => sum + size, bytes)
    // Sizes are compared before the files are read.
    if (bytes > MOST_BYTES) throw tooManyBytes()
    lines.push(...(await Promise.all(some.map((entry, index) => lineOf(root, entry, sizes[index]!, copyTo)))))
    await setImmediate()
  }
  return lines
}

/** Lists the package's own files and links, sorted by the bytes of their paths. */
async function ownEntries(root: string): Promise<readonly FoundEntry[]> {
  const entries: (FoundEntry & { readonly bytes: Buffer })[] = []
  for await (const entry of entriesOf(root, isOwn)) {
    const { path, kind } = entry
    if (kind === 'other') throw new PackageError('unlisted_file', `it contains what is no file: ${join(root, path)}`)
    if (/[\n\r\\\uFFFD]/.test(path)) {
      const message = `the name of a file has a line break, a backslash or no UTF-8: ${JSON.stringify(path)}`
      throw new PackageError('unlisted_file', message)
    }
    if (entries.length === MOST_FILES) throw new PackageError('too_large', `it has more than ${MOST_FILES} files`)
    entries.push({ ...entry, bytes: Buffer.from(path) })
  }
  return entries.sort((a, b) => Buffer.compare(a.bytes, b.bytes))
}

async function lineOf(root: string, { path, kind }: FoundEntry, size: number, copyTo?: string): Promise<string> {
  const file = join(root, path)
  const copy = copyTo === undefined ? undefined : join(copyTo, path)
  if (copy !== undefined) mkdirSync(dirname(copy), { recursive: true })
  if (kind === 'link') {
    const text = await readlink(file, 'buffer')
    if (copy !== undefined) await symlink(text, copy)
    return `${sha256(text)} @${path}\n`
  }
  const content = size <= SMALL_BYTES ? readFileSync(file) : await readFile(file)
  if (copy !== undefined) await writeFile(copy, content)
  return `${sha256(content)}  ${path}\n`
}

function tooManyBytes(): PackageError {
  return new PackageError('too_large', `it has more than ${MOST_BYTES / 1024 / 1024} MiB`)
}

/** Computes the digest of a plugin that is one file, from its content. */
export async function codeHashOfFile(path: string): Promise<string> {
  return `sha256:${sha256(await readBounded(path))}`
}

/**
 * Makes the line of a file, copied as by `fileLines`.
 * @throws PackageError
 */
export async function fileLine(path: string, copyTo: string): Promise<string> {
  const content = await readBounded(path)
  mkdirSync(dirname(copyTo), { recursive: true })
  await writeFile(copyTo, content)
  return `${sha256(content)}  ${basename(path)}\n`
}

async function readBounded(path: string): Promise<Buffer> {
  if ((await lstat(path)).size > MOST_BYTES) throw tooManyBytes()
  return readFile(path)
}

/** Tells whether a file or folder of this name counts as a package's own. */
export function isOwn(name: string): boolean {
  return !name.startsWith('.') && name !== 'node_modules'
}

function sha256(data: Buffer | string): string {
  return createHash('sha256').update(data).digest('hex')
}
