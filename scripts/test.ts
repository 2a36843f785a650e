/**
 * `npm test`: the tests on SQLite, and on PostgreSQL as well what a database could change; one PostgreSQL server for all that store something.
 *
 *     npm test                                  everything but the next and the slowest files, and of what takes long a short part
 *     npm run test:e2e                          what drives browsers, package managers, a chain and the documentation's commands
 *     npm test -- test/console                  a folder
 *     npm test -- test/console/keys.test.ts     a file, by its source or by what it is built to
 *     npm test -- --changed                     the files that differ from the branch `main`, or that import what does
 *     npm test -- --all                         both kinds; of the slowest files a twelfth, drawn from the commit
 *     npm test -- --every-node                  what `.ci/run` runs on each version of Node
 *     npm run test:thorough                     both kinds, with all that takes long: `test/support/extent.ts`
 *
 * How the files of a folder run is in the table of `test-plan.ts`. The ten slowest files are printed at the end, with their
 * processor time.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { commitSeed } from './commit-seed.ts'
import { changedFiles, changedTests, reaches } from './test-changed.ts'
import { runFiles, type TestProcess } from './test-files.ts'
import { allTests, extentFor, inTurn, planProcesses, TURNS, testsFor, withoutSlow } from './test-plan.ts'

const LONGEST_MS = 600_000
/** The module that every test file which stores something imports. */
const DATABASES = new Set(['build/test/support/postgres.js'])

const words = process.argv.slice(2)
const extent = extentFor(words, process.env.TEST_EXTENT)
const tests = chooseTests()
if (tests.length === 0) {
  console.log('no test file is concerned')
  process.exit(words.includes('--changed') ? 0 : 1)
}

/** A third of the tests' time is waiting. With more, tests that are about moments would miss theirs. */
const jobs = availableParallelism() + spareJobs()

const folder = mkdtempSync(join(tmpdir(), 'claimcheck-tests-'))
const databases = tests.some((test) => reaches(test, DATABASES)) ? await startDatabases() : undefined
try {
  // Folders for what test files make once for all of them, and for what hosts remember apart from their own folders.
  const state = { TEST_RUN_DIR: folder, XDG_STATE_HOME: join(folder, 'state') }
  const common = { ...process.env, ...state, TEST_EXTENT: extent, ...databases?.env }
  const processes = planProcesses(tests, extent).map(
    ({ name, database, paths }, index): TestProcess => ({
      name: `${name} on ${database}`,
      paths,
      // tap names its folders after the arguments.
      args: paths.length === 1 ? [paths[0]!, database] : ['build/scripts/test-group.js', `${database}-${index}`],
      env: { ...common, TEST_DATABASE: database },
      database,
    }),
  )
  if (!(await runFiles(processes, { jobs, timeoutMs: LONGEST_MS }))) process.exitCode = 1
} finally {
  await databases?.remove()
  rmSync(folder, { recursive: true })
}

/**
 * Starts one server, and makes templates of both databases. The modules are imported here, so that a file which stores nothing is done in two
 * seconds.
 */
async function startDatabases() {
  const { startPostgres } = await import('../test/support/postgres.ts')
  const { createTemplates } = await import('../test/support/database.ts')
  // Nothing is flushed, because no test takes the machine's power away.
  const postgres = await startPostgres({ fsync: false })
  const templates = await createTemplates(postgres.url, folder)
  return { env: { TEST_POSTGRES_URL: postgres.url, ...templates }, remove: () => postgres.remove() }
}

/** Tests that start programs fill a machine sooner where programs start slowly. */
function spareJobs(): number {
  return startsSlowly() ? 1 : 2
}

/** Some virtual machines take very long to give memory to a process, and the longer the more processes ask for it: elsewhere a start takes 40 ms. */
function startsSlowly(): boolean {
  const starts = Array.from({ length: 3 }, () => {
    const before = performance.now()
    spawnSync(process.execPath, ['-e', '0'])
    return performance.now() - before
  })
  return Math.min(...starts) > 80
}

function chooseTests(): readonly string[] {
  try {
    const chosen = testsFor(allTests(), words)
    if (words.includes('--changed')) return changedTests(chosen, changedFiles())
    if (extent === 'thorough' || words.some((word) => !word.startsWith('--'))) return chosen
    const turn = commitSeed() % TURNS
    const played = words.length === 0 ? withoutSlow(chosen) : inTurn(chosen, turn)
    const part = words.length === 0 ? '' : `: part ${turn + 1} of ${TURNS} of the slowest plays`
    const leftOut = chosen.length - played.length
    console.log(`# ${leftOut} slow files are not in this run${part}: npm run test:thorough runs all`)
    return played
  } catch (error) {
    console.error((error as Error).message)
    return process.exit(2)
  }
}
