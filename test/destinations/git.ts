/** The git program, for destinations and the agents that push to them: on a clean configuration, with dates that the test chooses. */
import { execFile } from 'node:child_process'
import { appendFile, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { aside } from '../support/stalls.ts'

const ENVIRONMENT = {
  PATH: process.env.PATH,
  HOME: '/nonexistent',
  LC_ALL: 'C',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_TERMINAL_PROMPT: '0',
  GIT_AUTHOR_NAME: 'Agent',
  GIT_AUTHOR_EMAIL: 'agent@example.com',
  GIT_COMMITTER_NAME: 'Agent',
  GIT_COMMITTER_EMAIL: 'agent@example.com',
}

const MOST_OUTPUT_BYTES = 64 * 1024 * 1024

interface Run {
  readonly env?: Readonly<Record<string, string>>
  readonly input?: string
}

/** What git printed, without the last line feed. Rejects when git does not end well. */
export async function git(
  folder: string,
  args: readonly string[],
  { env = {}, input = '' }: Run = {},
): Promise<string> {
  const options = { cwd: folder, env: { ...ENVIRONMENT, ...env }, maxBuffer: MOST_OUTPUT_BYTES }
  const running = aside(() => promisify(execFile)('git', [...args], options))
  // git may be done before it has read it all, and says by its exit how it went.
  running.child.stdin?.on('error', () => {}).end(input)
  const { stdout } = await running
  return stdout.replace(/\n$/, '')
}

/** What git printed, or `undefined` when it gave up: for questions whose answer may be no. */
export async function tryGit(folder: string, args: readonly string[]): Promise<string | undefined> {
  return git(folder, args).catch(() => undefined)
}

/** An empty bare repository. @param config lines of its configuration file */
export async function initBare(folder: string, defaultBranch = 'main', config = ''): Promise<void> {
  await mkdir(folder, { recursive: true })
  // Without the examples of hooks, which take most of the time.
  await git(folder, ['init', '--quiet', '--bare', '--template=', `--initial-branch=${defaultBranch}`])
  if (config) await appendFile(join(folder, 'config'), config)
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

/** git knows this one without being given it. */
const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904'
let commits = 0

/** Makes a commit in the repository's object store. No ref holds it. */
export async function writeCommit(folder: string, options: CommitOptions = {}): Promise<string> {
  const { parents = [], message = `Change ${++commits}`, date, content } = options
  const tree = await writeTree(folder, content)
  const parentArgs = parents.flatMap((parent) => ['-p', parent])
  // git's own form, which knows years before 1970, too.
  const when = date ? `@${Math.floor(date.getTime() / 1000)} +0000` : undefined
  return git(folder, ['commit-tree', tree, '-m', message, ...parentArgs], {
    env: when ? { GIT_AUTHOR_DATE: when, GIT_COMMITTER_DATE: when } : {},
  })
}

async function writeTree(folder: string, content: string | undefined): Promise<string> {
  if (content === undefined) return EMPTY_TREE
  const blob = await git(folder, ['hash-object', '-w', '--stdin'], { input: content })
  return git(folder, ['mktree'], { input: `100644 blob ${blob}\tfile\n` })
}
