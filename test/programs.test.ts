// Test run: end-to-end, slow, alone
/** The programs that pages name as `npm run`: each is run by a test, and those here by no other. */
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import t from 'tap'
import { compareRounds, comparisonTable } from '../scripts/bench/against.ts'
import { pagesOfRepository } from './docs/pages.ts'

const execute = promisify(execFile)

/** By script: what runs it, and the words in it that do. */
const RUN_BY: Readonly<Record<string, readonly [file: string, words: string]>> = {
  bench: ['test/programs.test.ts', "'bench.js'"],
  fuzz: ['test/programs.test.ts', "'fuzz.js'"],
  tour: ['test/demo.test.ts', "run('tour'"],
  confusables: ['server/test/names/confusables.test.ts', 'build/scripts/confusables.js'],
  repository: ['test/packed/packages.test.ts', 'build/scripts/repository.js'],
  demo: ['test/demo.test.ts', "run('demo'"],
  'git-server': ['test/demo.test.ts', 'build/scripts/git-server.js'],
  coverage: ['package.json', 'build/scripts/coverage.js'],
  alerts: ['package.json', 'test/alerts.test.ts'],
  faults: ['test/programs.test.ts', "'faults.js'"],
  crash: ['.ci/run', 'build/scripts/crash.js'],
  lint: ['.ci/run', 'npm run lint'],
  sbom: ['test/dependencies.test.ts', 'sbom'],
  vectors: ['core/test/vectors.test.ts', 'build/scripts/vectors.js'],
  'action-pages': ['test/action-pages.test.ts', 'npm run action-pages'],
  screenshots: ['test/browser/story.test.ts', 'picture(t, page,'],
  // `npm test` begins with it.
  build: ['package.json', '"build:tests": "npm run --silent build '],
  // Other names for the tests themselves.
  'test:e2e': ['.ci/run', 'npm test -- --all'],
  'test:thorough': ['.ci/run', 'npm test -- --all'],
  // Of a package that the template writes.
  try: ['test/packed/create-plugin.test.ts', "'try'"],
  destination: ['test/packed/create-plugin.test.ts', "'destination'"],
}

/** Too dear for each run of the tests: a person runs these before a release. */
const BY_HAND = ['failover', 'image', 'openapi']

t.test('each program that a page names is run by a test', async (t) => {
  const named = pagesOfRepository().flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/npm run ([a-z0-9:-]*[a-z0-9])/g)].map(([, name]) => name!),
  )
  t.strictSame([...new Set(named)].filter((name) => !Object.hasOwn(RUN_BY, name)).sort(), BY_HAND)
  t.strictSame(
    Object.keys(RUN_BY).filter((name) => !named.includes(name)),
    [],
    'no row is left over',
  )
  for (const [name, [file, words]] of Object.entries(RUN_BY)) t.match(readFileSync(file, 'utf8'), words, name)
})

async function run(script: string, ...args: readonly string[]): Promise<string> {
  const { stdout } = await execute(process.execPath, [`build/scripts/${script}`, ...args])
  return stdout
}

t.test('the benchmark prints the figures of a measurement', async (t) => {
  const figures = JSON.parse(await run('bench.js', '--only', 'pages', '--json'))
  t.ok(figures.length > 2)
})

t.test('a figure that fell by more than a tenth is said loudly, whichever way is better', async (t) => {
  const round = (claims: number, micros: number, share: number) => [
    { name: 'claims', value: claims, unit: '1/s', bar: null, ok: true },
    { name: 'time', value: micros, unit: 'µs', bar: null, ok: true },
    { name: 'share', value: share, unit: '', bar: '<= 1.5', ok: true },
    { name: 'others', value: 50 * share, unit: '%', bar: null, ok: true },
  ]
  const earlier = [round(1000, 300, 1), round(900, 310, 1), round(1100, 290, 1)]
  const now = [round(890, 320, 1.2), round(880, 325, 1.2), round(950, 335, 1)]
  const withNew = now.map((results) => [...results, { ...results[0]!, name: 'new' }])
  const compared = compareRounds(earlier, withNew)
  t.match(compared, [
    { name: 'claims', earlier: 1000, now: 890, ratio: 0.89, hasFallen: true },
    { name: 'time', earlier: 300, now: 325, hasFallen: false },
    { name: 'share', ratio: 1.2, hasFallen: true },
    { name: 'others', hasFallen: false },
  ])
  t.equal(compared.length, 4, 'what the earlier commit did not measure is left out')
  t.match(comparisonTable('a745b495', compared), /2 of 4 figures fell by more than a tenth since a745b495/)
  t.match(comparisonTable('a745b495', [compared[1]!]), /Nothing fell/)
})

t.test('the fuzzer lists what it was answered', async (t) => {
  t.match(await run('fuzz.js', '--requests', '20', '--seed', '1'), /^20 requests, seed 1, sqlite\n.*nothing wrong\n$/s)
})

t.test('a fault is played, and nothing is lost', async (t) => {
  const printed = await run('faults.js', '--database', 'sqlite', '--only', 'stopped and started')
  t.match(
    printed,
    /1 of 1 faults played, 0 did harm: \d+ claims, 0 lost by restoring old backups, 0 doubled, 0 forked\n$/,
  )
})
