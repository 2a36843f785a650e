/** What git stores, made without starting git: to start it takes longer than most of what tests ask of it. The ids are git's. */
import { createHash } from 'node:crypto'
import { mkdir, rename, rm, rmdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { deflateSync } from 'node:zlib'

export interface GitObject {
  readonly id: string
  /** With its type and size in front, as its id is computed from it. */
  readonly bytes: Buffer
}

export interface CommitOptions {
  /** The branch's history that it builds on; none when left out. */
  readonly parents?: readonly string[]
  readonly message?: string
  /** The dates written into it. They prove nothing: the author of a commit writes them. */
  readonly date?: Date
  /** What its one file holds; it has no file when left out. */
  readonly content?: string
}

export interface NewCommit {
  readonly sha: string
  readonly tree: string
  readonly parents: readonly string[]
  readonly message: string
  /** In whole seconds. */
  readonly date: Date
  /** With those of its file. git knows the empty tree without being given it. */
  readonly objects: readonly GitObject[]
}

export const AUTHOR = { name: 'Agent', email: 'agent@example.com' }
const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904'
let commits = 0
let replaced = 0

/** Each has a message of its own, unless it is given one. */
export function newCommit({ parents = [], message = `Change ${++commits}`, date, content }: CommitOptions): NewCommit {
  const seconds = Math.floor((date?.getTime() ?? Date.now()) / 1000)
  const file = content === undefined ? [] : fileObjects(content)
  const tree = file.at(-1)?.id ?? EMPTY_TREE
  const by = `${AUTHOR.name} <${AUTHOR.email}> ${seconds} +0000`
  const lines = [`tree ${tree}`, ...parents.map((parent) => `parent ${parent}`), `author ${by}`, `committer ${by}`]
  const commit = gitObject('commit', Buffer.from(`${lines.join('\n')}\n\n${message}\n`))
  return { sha: commit.id, tree, parents, message, date: new Date(seconds * 1000), objects: [...file, commit] }
}

/** The blob, and the tree that has it as `file`. */
function fileObjects(content: string): GitObject[] {
  const blob = gitObject('blob', Buffer.from(content))
  const entry = Buffer.concat([Buffer.from('100644 file\0'), Buffer.from(blob.id, 'hex')])
  return [blob, gitObject('tree', entry)]
}

/** An annotated tag of a commit. @param date written by whoever makes it */
export function tagObject(name: string, sha: string, date = new Date(0)): GitObject {
  const by = `${AUTHOR.name} <${AUTHOR.email}> ${Math.floor(date.getTime() / 1000)} +0000`
  const text = `object ${sha}\ntype commit\ntag ${name}\ntagger ${by}\n\n${name}\n`
  return gitObject('tag', Buffer.from(text))
}

function gitObject(type: 'blob' | 'tree' | 'commit' | 'tag', content: Buffer): GitObject {
  const bytes = Buffer.concat([Buffer.from(`${type} ${content.length}\0`), content])
  return { id: createHash('sha1').update(bytes).digest('hex'), bytes }
}

/** An empty bare repository. @param config lines of its configuration file */
export async function initBare(folder: string, defaultBranch = 'main', config = ''): Promise<void> {
  await Promise.all(
    ['objects', 'refs/heads', 'refs/tags'].map((path) => mkdir(join(folder, path), { recursive: true })),
  )
  const core = '[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n'
  await writeFile(join(folder, 'HEAD'), `ref: refs/heads/${defaultBranch}\n`)
  await writeFile(join(folder, 'config'), core + config)
}

/** Makes a commit in the repository's object store. No ref holds it. */
export async function writeCommit(folder: string, options: CommitOptions = {}): Promise<string> {
  const { sha, objects } = newCommit(options)
  for (const object of objects) await writeObject(folder, object)
  return sha
}

export async function writeObject(folder: string, { id, bytes }: GitObject): Promise<void> {
  await replace(join(folder, 'objects', id.slice(0, 2), id.slice(2)), deflateSync(bytes))
}

/** @param ref `refs/heads/main` @throws where a ref of another name is in its way, as git does */
export async function writeRef(folder: string, ref: string, id: string): Promise<void> {
  const path = join(folder, ref)
  // Branches below it may have been deleted, and have left their folder.
  await rmdir(path).catch(() => {})
  await replace(path, `${id}\n`)
}

/** With the folders that it leaves empty, which would be in the way of other names. */
export async function deleteRef(folder: string, ref: string): Promise<void> {
  const path = join(folder, ref)
  await rm(path)
  const kind = join(folder, ...ref.split('/').slice(0, 2))
  for (let at = dirname(path); at !== kind; at = dirname(at)) {
    const isGone = await rmdir(at).then(
      () => true,
      () => false,
    )
    if (!isGone) return
  }
}

/** Readers see what was, or what is, and never a part of it. */
async function replace(path: string, content: string | Buffer): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  const temporary = `${path}.${++replaced}.lock`
  await writeFile(temporary, content)
  await rename(temporary, path)
}
