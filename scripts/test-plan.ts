/** The choice of the test files of a run, and of the processes that they run in. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import type { Dialect } from '../test/support/database.ts'
import { type Extent, extentOf } from '../test/support/extent.ts'

/** Words of the first line of a test file, which says how it runs: `// Test run: end-to-end, slow`. */
const RUN_WORDS = [
  /** Tests that drive other programs, such as browsers, git, chains, or hosts that are killed. `npm run test:e2e` runs them. */
  'end-to-end',
  /**
   * A file that takes some ten seconds of processor time, or waits for half a minute, and rarely fails alone. A plain run leaves it out, one
   * that is not thorough plays a twelfth of such files, another twelfth for each commit; a file that is named always runs.
   */
  'slow',
  /** A file with a process to itself, because its tests run side by side or take long. */
  'alone',
  /** A file that runs on PostgreSQL as well as on SQLite, unless the run is short. Other files may choose their databases themselves. */
  'both-databases',
  /**
   * `.ci/run` runs it on a second version of Node, too. Together they cover start and set-up, the way from a claim to a receipt, verify, the
   * client, requests to destinations, storage on both databases, and isolated plugins.
   */
  'every-node',
] as const
type RunWord = (typeof RUN_WORDS)[number]

/**
 * The number of processes that the files of a folder share on each database; with Infinity each file has its own. The first beginning of a
 * path below `build/` that fits counts. The processes start in this order, so what takes longest comes first. Files that share a process run
 * one after another: they change nothing that the process has only once, and what they prepare ends with them (`test/support/after-file.ts`).
 */
const FOLDERS: readonly (readonly [at: string, processes: number])[] = [
  ['test/hosts/', 1],
  ['test/console/', 1],
  ['test/traps/', Infinity],
  ['plugins/codehost/test/git-', 1],
  ['plugins/codehost/test/conformance', 1],
  ['plugins/codehost/test/gitea-', 1],
  // These files share what is packed, and one installation of it.
  ['test/packed/', 1],
  ['plugins/anchor-eas/', 1],
  ['plugins/', 2],
  ['core/test/testkit', 1],
  ['core/', 2],
  ['test/cli-', 3],
  ['test/isolation/', Infinity],
  ['test/mcp/', 1],
  ['server/test/plugins/isolation/', Infinity],
  ['server/', 3],
  ['test/browser/', 2],
  ['test/crash/', Infinity],
  ['test/security/', 1],
  ['test/site/', 1],
  ['test/api/', 1],
  ['test/anchors/', 1],
  ['test/', 3],
]
export const TURNS = 12

interface PlannedProcess {
  readonly name: string
  readonly database: Dialect
  readonly paths: readonly string[]
}

/** Every test file, as `build/...`. */
export function allTests(): string[] {
  const found = readdirSync('build', { recursive: true, encoding: 'utf8' })
  const tests = found.filter((file) => file.endsWith('.test.js')).map((file) => `build/${file}`)
  // A file that is deleted stays in the build.
  return tests.filter((path) => existsSync(sourceOf(path)))
}

function sourceOf(path: string): string {
  return path.replace(/^build\//, '').replace(/\.js$/, '.ts')
}

/** The words of a test file's first line. @throws Error for a word that has no meaning */
export function runWords(source: string): readonly RunWord[] {
  const words = /^\/\/ Test run: (.*)/.exec(source)?.[1]?.split(', ') ?? []
  const unknown = words.find((word) => !RUN_WORDS.some((known) => known === word))
  if (unknown !== undefined)
    throw new Error(`${unknown}: no word of a test file's first line, which are ${RUN_WORDS.join(', ')}`)
  return words as RunWord[]
}

const wordsByPath = new Map<string, readonly RunWord[]>()

function says(path: string, word: RunWord): boolean {
  const words = wordsByPath.get(path) ?? runWords(readFileSync(sourceOf(path), 'utf8'))
  wordsByPath.set(path, words)
  return words.includes(word)
}

/** @throws Error for a name that no test file fits */
function chosenTests(all: readonly string[], names: readonly string[]): string[] {
  const chosen = new Set<string>()
  for (const name of names) {
    const built = `build/${name.replace(/^build\//, '').replace(/\.ts$/, '.js')}`
    const fitting = all.filter((path) => path === built || path.startsWith(`${built.replace(/\/$/, '')}/`))
    if (fitting.length === 0) throw new Error(`${name}: no test file`)
    for (const path of fitting) chosen.add(path)
  }
  return [...chosen]
}

/** Decides the extent of a run. It is short without words and on every version of Node, unless `TEST_EXTENT` says otherwise. */
export function extentFor(words: readonly string[], given: string | undefined): Extent {
  return extentOf(given ?? (words.length === 0 || words.includes('--every-node') ? 'short' : 'usual'))
}

/**
 * Chooses tests by the command's words: `--e2e`, `--all`, `--every-node`, or files and folders of either kind.
 * @throws Error for a name that no test file fits
 */
export function testsFor(all: readonly string[], words: readonly string[]): string[] {
  const names = words.filter((word) => !word.startsWith('--'))
  if (names.length > 0) return chosenTests(all, names)
  if (words.includes('--all')) return [...all]
  if (words.includes('--every-node')) return all.filter((path) => says(path, 'every-node'))
  return all.filter((path) => says(path, 'end-to-end') === words.includes('--e2e'))
}

export function withoutSlow(tests: readonly string[]): string[] {
  return tests.filter((path) => !says(path, 'slow'))
}

/** The tests that this run plays: a twelfth of the slow ones, and all others. @param turn which twelfth, from 0 */
export function inTurn(tests: readonly string[], turn: number): string[] {
  const slow = tests.filter((path) => says(path, 'slow'))
  const leftOut = new Set(slow.filter((_, index) => index % TURNS !== turn % TURNS))
  return tests.filter((path) => !leftOut.has(path))
}

export function planProcesses(tests: readonly string[], extent: Extent): PlannedProcess[] {
  return FOLDERS.flatMap(([at, processes]) => {
    const paths = tests.filter((path) => folderOf(path) === at)
    const onPostgres = extent === 'short' ? [] : paths.filter((path) => says(path, 'both-databases'))
    return [...processesOf(at, processes, onPostgres, 'postgres'), ...processesOf(at, processes, paths, 'sqlite')]
  })
}

function folderOf(path: string): string | undefined {
  return FOLDERS.find(([at]) => path.startsWith(`build/${at}`))?.[0]
}

function processesOf(at: string, processes: number, paths: readonly string[], database: Dialect): PlannedProcess[] {
  const alone = paths.filter((path) => says(path, 'alone'))
  const shared = paths.filter((path) => !alone.includes(path))
  return [...alone.map((path) => [path]), ...split(shared, processes)].map((group) => ({
    name: group.length === 1 ? group[0]! : `${group.length} files of ${at}`,
    database,
    paths: group,
  }))
}

/** Deals items out to so many parts, none of them empty. */
function split<T>(items: readonly T[], parts: number): T[][] {
  const count = Math.min(parts, items.length)
  return Array.from({ length: count }, (_, part) => items.filter((_, index) => index % count === part))
}
