/** Which processes the test files run in, and on which databases: one table, by folder. */
import { existsSync, readdirSync } from 'node:fs'
import type { Dialect } from '../test/support/database.ts'
import { type Extent, extentOf } from '../test/support/extent.ts'

interface Folder {
  /** The beginning of a path below `build/`. The first folder that fits a file counts. */
  readonly at: string
  /** How many processes its files share on each database. Without it each file has a process to itself. */
  readonly processes?: number
  /** Its files that run on PostgreSQL as well as on SQLite, unless the run is short. A file may choose its databases itself instead. */
  readonly onBoth?: 'all' | readonly string[]
  /** End to end: its tests drive other programs, such as browsers, git, chains, or hosts that are killed. `npm run test:e2e` runs them. */
  readonly endToEnd?: true
}

/**
 * The processes start in this order, so what takes longest comes first.
 * Files that share a process run one after another: they change nothing that the process has only once, and what they prepare ends with them
 * (`test/support/after-file.ts`).
 */
const FOLDERS: readonly Folder[] = [
  // Races, floods and clocks of several hosts wait most of the time.
  { at: 'test/hosts/', processes: 1, endToEnd: true },
  // On both is what searches, counts, locks and races; the other pages do nothing that a database could change.
  { at: 'test/console/', processes: 1, onBoth: ['claims', 'members', 'oauth-grants', 'sign-in'] },
  { at: 'test/traps/' },
  // Real git with long histories, with what it must not do, and in each situation of the kit.
  { at: 'plugins/codehost/test/git-', processes: 1, endToEnd: true },
  { at: 'plugins/codehost/test/conformance', processes: 1, endToEnd: true },
  { at: 'plugins/codehost/test/gitea-', processes: 1, endToEnd: true },
  // They share what is packed, and one installation of it.
  { at: 'test/packed/', processes: 1, endToEnd: true },
  { at: 'plugins/anchor-eas/', processes: 1, endToEnd: true },
  { at: 'plugins/signer-pkcs11/', endToEnd: true },
  { at: 'plugins/', processes: 2 },
  // It waits for the blocks of a chain.
  { at: 'test/anchors/real-chain.test', endToEnd: true },
  { at: 'core/cli/test/service/checkout.test', endToEnd: true },
  { at: 'core/test/testkit', processes: 1, endToEnd: true },
  // The tables of bad plugins wait most of the time.
  { at: 'core/', processes: 2 },
  // Each of their tests starts the program, and many commands.
  { at: 'test/cli-', processes: 3, endToEnd: true },
  { at: 'test/connection-causes.test', endToEnd: true },
  { at: 'test/faults.test', endToEnd: true },
  { at: 'test/isolation/', endToEnd: true },
  { at: 'test/metrics.test', endToEnd: true },
  { at: 'test/alerts.test', endToEnd: true },
  { at: 'test/mcp/', processes: 1, endToEnd: true },
  { at: 'test/proxies/', endToEnd: true },
  { at: 'test/terminal.test', endToEnd: true },
  // Their tests run side by side.
  { at: 'server/test/plugins/isolation/', endToEnd: true },
  { at: 'server/', processes: 3 },
  { at: 'test/browser/', processes: 2, endToEnd: true },
  { at: 'test/crash/', onBoth: 'all', endToEnd: true },
  { at: 'test/docs.test', endToEnd: true },
  { at: 'test/demo.test', endToEnd: true },
  { at: 'test/forks.test', endToEnd: true },
  { at: 'test/copy-refusals.test', endToEnd: true },
  { at: 'test/test-files.test', endToEnd: true },
  { at: 'test/security/fuzz.test', endToEnd: true },
  { at: 'test/programs.test', endToEnd: true },
  { at: 'test/try.test', endToEnd: true },
  { at: 'test/integrations/', endToEnd: true },
  { at: 'test/python.test', endToEnd: true },
  { at: 'test/token.test', endToEnd: true },
  { at: 'test/tools.test', endToEnd: true },
  { at: 'test/security/', processes: 1 },
  { at: 'test/site/', processes: 1 },
  { at: 'test/api/', processes: 1, onBoth: ['claims', 'connection-removed', 'erasure', 'log', 'profile-settings'] },
  // Their tests run side by side.
  { at: 'test/anchors/killed.test', endToEnd: true },
  { at: 'test/anchors/published.test', endToEnd: true },
  { at: 'test/copy.test', endToEnd: true },
  { at: 'test/anchors/', processes: 1 },
  { at: 'test/chain/' },
  { at: 'test/', processes: 3, onBoth: ['cli'] },
]

/**
 * What `.ci/run` runs on each version of Node that people have, beside everything on the machine's own: start and set-up, from a claim to a
 * receipt, verify, the client, requests to destinations, storage on both databases, and isolated plugins.
 */
const ON_EVERY_NODE: readonly string[] = [
  'server/test/plugins/isolation/code-copy.test.ts',
  'server/test/plugins/isolation/deeds.test.ts',
  'server/test/storage/sqlite.test.ts',
  'server/test/storage/node-sqlite.test.ts',
  'server/test/storage/postgres.test.ts',
  'server/test/outbound',
  'test/isolation/destinations.test.ts',
  'test/console/sign-in.test.ts',
  'test/api/claims.test.ts',
  'test/api/log.test.ts',
  'test/cli.test.ts',
  'test/cli-verify.test.ts',
  'test/cli-plugin-kit.test.ts',
  'core/client/test/service.test.ts',
  // It needs Node.js 22.
  'test/mcp/conformance.test.ts',
]

/**
 * Files that take some ten seconds of processor time, or wait for half a minute, and rarely fail alone. A plain run leaves them out, one that
 * is not thorough plays a quarter of them, another quarter each time; a file that is named always runs.
 */
const IN_TURN: readonly string[] = [
  'core/cli/test/service/checkout',
  'core/client/test/faults',
  'core/test/testkit',
  'plugins/anchor-eas/test/a',
  'plugins/codehost/test/conformance',
  'plugins/codehost/test/forgetting',
  'plugins/codehost/test/git',
  'server/test/features/claims/recheck-worker',
  'server/test/features/maintenance/doctor/',
  'server/test/features/maintenance/secret-rotation',
  'server/test/features/workspaces/connection-tokens',
  'server/test/plugins/isolation/',
  'server/test/plugins/package',
  'server/test/storage/partitions',
  'server/test/storage/postgres',
  'test/anchors/another-kind',
  'test/anchors/crash-points',
  'test/anchors/killed',
  'test/anchors/published',
  'test/anchors/real-chain',
  'test/anchors/witness',
  'test/backup',
  'test/browser/',
  'test/cli-audit-trail',
  'test/cli-nonsense',
  'test/cli-people',
  'test/cli-plugin',
  'test/cli-try',
  'test/cli-usage',
  'test/connection-causes',
  'test/console/account',
  'test/console/claims',
  'test/console/connections',
  'test/console/isolation',
  'test/console/oauth-',
  'test/console/oidc',
  'test/console/passkeys',
  'test/copy',
  'test/crash/',
  'test/demo',
  'test/docs.test',
  'test/faults',
  'test/forks',
  'test/head-memory',
  'test/hosts/',
  'test/integrations/',
  'test/isolation/third-party',
  'test/log-archives',
  'test/packed/',
  'test/programs',
  'test/python',
  'test/security/fuzz',
  'test/security/headers',
  'test/security/routes',
  'test/security/ssrf',
  'test/terminal',
  'test/token',
  'test/tools',
  'test/traces',
  'test/traps/lives/',
]
export const TURNS = 4

interface PlannedProcess {
  readonly name: string
  readonly database: Dialect
  /** Of the built files. */
  readonly paths: readonly string[]
}

/** Every test file, as `build/...`. */
export function allTests(): string[] {
  const found = readdirSync('build', { recursive: true, encoding: 'utf8' })
  const tests = found.filter((file) => file.endsWith('.test.js'))
  // A file that is deleted stays in the build.
  return tests.filter((file) => existsSync(file.replace(/\.js$/, '.ts'))).map((file) => `build/${file}`)
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

/** Without words, and on every version of Node, a run is short, unless `TEST_EXTENT` says otherwise. */
export function extentFor(words: readonly string[], given: string | undefined): Extent {
  return extentOf(given ?? (words.length === 0 || words.includes('--every-node') ? 'short' : 'usual'))
}

/** What the command's words choose: `--e2e`, `--all`, `--every-node`, or files and folders of either kind. @throws Error for a name that no test file fits */
export function testsFor(all: readonly string[], words: readonly string[]): string[] {
  const names = words.filter((word) => !word.startsWith('--'))
  if (names.length > 0) return chosenTests(all, names)
  if (words.includes('--all')) return [...all]
  if (words.includes('--every-node')) return chosenTests(all, ON_EVERY_NODE)
  return all.filter((path) => isEndToEnd(path) === words.includes('--e2e'))
}

function takesTurns(path: string): boolean {
  return IN_TURN.some((name) => path.startsWith(`build/${name}`))
}

/** Of these tests those that take no turns. */
export function withoutSlow(tests: readonly string[]): string[] {
  return tests.filter((path) => !takesTurns(path))
}

/** Of these tests those that this run plays. @param turn which quarter of what runs in turn, from 0 */
export function inTurn(tests: readonly string[], turn: number): string[] {
  const leftOut = new Set(tests.filter(takesTurns).filter((_, index) => index % TURNS !== turn % TURNS))
  return tests.filter((path) => !leftOut.has(path))
}

function isEndToEnd(path: string): boolean {
  return folderOf(path).endToEnd === true
}

function folderOf(path: string): Folder {
  const folder = FOLDERS.find(({ at }) => path.startsWith(`build/${at}`))
  if (!folder) throw new Error(`${path}: its folder is not in the table of test folders`)
  return folder
}

export function planProcesses(tests: readonly string[], extent: Extent): PlannedProcess[] {
  const byFolder = new Map(FOLDERS.map((folder) => [folder, [] as string[]]))
  for (const path of tests) byFolder.get(folderOf(path))!.push(path)
  return [...byFolder].flatMap(([folder, paths]) => [
    ...processesOf(
      folder,
      paths.filter((path) => isOnBoth(folder, path, extent)),
      'postgres',
    ),
    ...processesOf(folder, paths, 'sqlite'),
  ])
}

function isOnBoth({ at, onBoth = [] }: Folder, path: string, extent: Extent): boolean {
  if (extent === 'short') return false
  return onBoth === 'all' || onBoth.some((name) => path === `build/${at}${name}.test.js`)
}

function processesOf({ at, processes }: Folder, paths: readonly string[], database: Dialect): PlannedProcess[] {
  const groups = processes === undefined ? paths.map((path) => [path]) : split(paths, processes)
  return groups.map((group) => ({
    name: group.length === 1 ? group[0]! : `${group.length} files of ${at}`,
    database,
    paths: group,
  }))
}

/** Into so many parts, none of them empty. */
function split<T>(items: readonly T[], parts: number): T[][] {
  const count = Math.min(parts, items.length)
  return Array.from({ length: count }, (_, part) => items.filter((_, index) => index % count === part))
}
