// Test run: end-to-end, slow, alone
/** How `npm test` chooses and runs its files. A file that fails, breaks off, hangs or tests nothing is named, and is a failure. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import t, { type Test as TapTest } from 'tap'
import { builtFile, changedTests } from '../scripts/test-changed.ts'
import {
  allTests,
  extentFor,
  inTurn,
  planProcesses,
  runWords,
  TURNS,
  testsFor,
  withoutSlow,
} from '../scripts/test-plan.ts'
import type { Extent } from './support/extent.ts'

const PASSING = `console.log('ok 1 - fine\\n1..1\\n# { total: 1, pass: 1 }')`

async function run(t: TapTest, files: Readonly<Record<string, string>>) {
  const folder = t.testdir(files)
  const described = Object.keys(files).map((name) => ({
    ...{ name, paths: [name], args: [join(folder, name)], env: {}, database: 'sqlite' },
  }))
  const script = `import { runFiles } from ${JSON.stringify(resolve('build/scripts/test-files.js'))}
    const passed = await runFiles(${JSON.stringify(described)}, { jobs: 2, timeoutMs: 1000 })
    console.log('passed: ' + passed)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'ignore'] })
  let output = ''
  child.stdout.on('data', (text) => {
    output += text
  })
  return { child, ended: once(child, 'close').then(() => output), output: () => output }
}

t.test('the tests of every file are counted together, and the slowest files are named before the count', async (t) => {
  const { ended } = await run(t, { 'one.mjs': PASSING, 'two.mjs': PASSING })
  const text = await ended
  t.match(text, /\n# \{ total: 2, pass: 2, fail: 0, skip: 0 \}\n.*passed: true\n$/s)
  t.match(
    text,
    /\n# the 2 slowest files:\n(# {2,}\d+\.\d s, processor {3}\d\.\d s {2}(one|two)\.mjs on sqlite\n){2}# \{ total/,
  )
})

const BROKEN: Readonly<Record<string, readonly [code: string, problem: string]>> = {
  'fails, and says so': [`console.log('# { total: 2, pass: 1, fail: 1 }'); process.exitCode = 1`, 'it ended with 1'],
  'fails, and ends as if it had not': [`console.log('# { total: 2, pass: 1, fail: 1 }')`, 'tests failed'],
  'counts, and breaks off then': [`console.log('# { total: 1, pass: 1 }'); process.kill(process.pid)`, 'SIGTERM'],
  'breaks off before it counts': [`throw new Error('broken')`, 'it ended with 1'],
  'leaves an error to nobody': [
    `import t from 'tap'
    t.test('it', async () => { Promise.reject(new Error('lost')); await new Promise((done) => setTimeout(done, 50)) })`,
    'it ended with 1',
  ],
  'tests nothing': ['', 'it has no tests'],
  'never ends': ['setInterval(() => {}, 1000)', 'it was not done in time'],
}
for (const [what, [code, problem]] of Object.entries(BROKEN)) {
  t.test(`a file that ${what} is a failure, and the others run`, async (t) => {
    const text = await (await run(t, { 'bad.mjs': code, 'good.mjs': PASSING })).ended
    t.match(text, /\nnot ok \d - .*bad\.mjs/)
    t.match(text, problem)
    t.match(text, /\nok \d - .*good\.mjs/)
    t.match(text, /\n# \{ total: \d, pass: [12], fail: 1, skip: 0 \}\n.*passed: false\n$/s)
  })
}

t.test('what failed is told once more at the end, each with what it says', async (t) => {
  const tap = [
    '# Subtest: outer',
    '    ok 1 - fine',
    '    not ok 2 - inner',
    '      ---',
    '      found: 3',
    '      ...',
    '    1..2',
    'not ok 1 - outer',
    'ok 2 - later',
    '1..2',
    '# { total: 2, pass: 1, fail: 1 }',
  ]
  const code = `console.log(${JSON.stringify(tap.join('\n'))}); process.exitCode = 1`
  const text = await (await run(t, { 'bad.mjs': code, 'good.mjs': PASSING })).ended
  const end = [
    'failed:',
    '  bad.mjs: it ended with 1',
    '      not ok 2 - inner',
    '        found: 3',
    '  not ok 1 - outer',
    '{ total: 3, pass: 2, fail: 1, skip: 0 }',
  ]
  t.match(text, end.map((line) => `# ${line}\n`).join(''))
})

t.test(
  'a file that fails beside others runs once more alone, and what it said at first is told at the end',
  async (t) => {
    const tried = join(t.testdir(), 'tried')
    const code = `import { existsSync, writeFileSync } from 'node:fs'
    const isFirst = !existsSync(${JSON.stringify(tried)})
    writeFileSync(${JSON.stringify(tried)}, '')
    console.log(isFirst ? 'not ok 1 - moment\\n# { total: 1, pass: 0, fail: 1 }' : 'ok 1 - moment\\n# { total: 1, pass: 1 }')`
    const text = await (await run(t, { 'late.mjs': code, 'good.mjs': PASSING })).ended
    t.match(
      text,
      /# failed beside others, and ran once more alone:\n# {3}late\.mjs: tests failed\n# {3}not ok 1 - moment\n/,
    )
    t.match(text, /\n# \{ total: 2, pass: 2, fail: 0, skip: 0 \}\n.*passed: true\n$/s)
    t.notMatch(text, '# failed:')
  },
)

t.test('a file alone, and more than two that fail, get no second try', async (t) => {
  const FAILING = `console.log('# { total: 1, pass: 0, fail: 1 }')`
  for (const files of [
    { 'bad.mjs': FAILING },
    { 'one.mjs': FAILING, 'two.mjs': FAILING, 'three.mjs': FAILING, 'good.mjs': PASSING },
  ]) {
    const text = await (await run(t, files)).ended
    t.match(text, `\n1..${Object.keys(files).length}\n`)
    t.match(text, 'passed: false')
  }
})

t.test('an interruption ends the files, too', async (t) => {
  const begun = join(t.testdir(), 'begun')
  const code = `import { writeFileSync } from 'node:fs'; writeFileSync(${JSON.stringify(begun)}, ''); setInterval(() => {}, 500)`
  const { child, ended } = await run(t, { 'endless.mjs': code })
  while (!existsSync(begun)) await new Promise((done) => setTimeout(done, 20))
  child.kill('SIGINT')
  t.match(await ended, 'passed: undefined')
})

/** Runs files in one process, as `npm test` runs a folder. */
async function runGroup(t: TapTest, files: Readonly<Record<string, string>>) {
  // Inside the project, so that they find tap.
  const folder = t.testdir(files)
  const paths = Object.keys(files).map((name) => join(folder, name))
  const env = { ...process.env, TEST_FILES: paths.join(' ') }
  const child = spawn(process.execPath, ['build/scripts/test-group.js'], { env, stdio: ['ignore', 'pipe', 'ignore'] })
  let output = ''
  child.stdout.on('data', (text) => {
    output += text
  })
  const [code] = await once(child, 'close')
  return { code, output }
}

const tests = (name: string) => `import t from 'tap'
t.test('${name}', async (t) => { await new Promise((done) => setTimeout(done, 50)); t.pass() })`

t.test('files that share a process run one after another, each with its time', async (t) => {
  const { code, output } = await runGroup(t, { 'one.mjs': tests('first'), 'two.mjs': tests('second') })
  t.equal(code, 0, output)
  t.match(
    output,
    /ok \d - first .*# file \S+one\.mjs took \d+ ms, .*\n.*ok \d - second .*# file \S+two\.mjs took \d+ ms, .*\n/s,
  )
})

t.test('what a file prepares before its tests, and does after them, stays with it', async (t) => {
  const preparing = `import t from 'tap'
    t.before(() => console.log('# prepared'))
    t.teardown(() => console.log('# cleared away'))
    t.test('uses it', async (t) => { t.pass() })`
  const files = { 'one.mjs': tests('first'), 'two.mjs': preparing, 'three.mjs': tests('last') }
  const { code, output } = await runGroup(t, files)
  t.equal(code, 0, output)
  t.match(output, /ok \d - first .*# prepared\n.*ok \d - uses it .*# cleared away\n.*ok \d - last /s)
})

t.test('a file that shares a process and tests nothing is a failure', async (t) => {
  const { code, output } = await runGroup(t, { 'bad.mjs': '', 'good.mjs': tests('good') })
  t.not(code, 0, output)
})

t.test('every test file has a place in the table, and runs on SQLite at least once', async (t) => {
  const all = allTests()
  const planned = planProcesses(all, 'usual')
  const onSqlite = planned.filter(({ database }) => database === 'sqlite').flatMap(({ paths }) => paths)
  t.strictSame(onSqlite.toSorted(), all.toSorted())
})

t.test('the first line of a test file says how it runs, in words that have a meaning', async (t) => {
  t.strictSame(runWords('// Test run: end-to-end, slow\n/** A test. */\n'), ['end-to-end', 'slow'])
  t.strictSame(runWords("/** A test. */\n// Test run: slow\nimport t from 'tap'\n"), [])
  t.throws(() => runWords('// Test run: slow, endtoend\n'), {
    message: /^endtoend: no word of a test file's first line/,
  })
})

t.test('every file belongs to one of the two commands', async (t) => {
  const all = allTests()
  t.strictSame([...testsFor(all, []), ...testsFor(all, ['--e2e'])].toSorted(), all.toSorted())
})

t.test('what runs in turn runs in one of the turns, and everything else in each', async (t) => {
  const all = allTests()
  const runs = Array.from({ length: TURNS }, (_, turn) => inTurn(all, turn))
  t.strictSame([...new Set(runs.flat())].toSorted(), all.toSorted())
  const times = (path: string) => runs.filter((run) => run.includes(path)).length
  const once = all.filter((path) => times(path) === 1)
  t.equal(once.length + all.filter((path) => times(path) === TURNS).length, all.length)
  t.ok(once.includes('build/test/docs.test.js') && !once.includes('build/test/api/claims.test.js'), once.join())
  t.strictSame(
    withoutSlow(all),
    all.filter((path) => times(path) === TURNS),
    'a plain run plays none of them',
  )
  for (const run of runs) t.ok(run.length > all.length * 0.6, `${run.length} of ${all.length} files`)
})

t.test('a run without words is short, any other is not, and TEST_EXTENT has the last word', async (t) => {
  t.equal(extentFor([], undefined), 'short')
  for (const word of ['--all', '--e2e', '--changed', 'test/api']) t.equal(extentFor([word], undefined), 'usual', word)
  t.equal(extentFor(['--every-node'], undefined), 'short')
  t.equal(extentFor([], 'thorough'), 'thorough')
  t.equal(extentFor(['--all'], 'short'), 'short')
  t.throws(() => extentFor([], 'long'), { message: /TEST_EXTENT is long: set it to short, usual, thorough/ })
})

t.test('a short run repeats nothing on PostgreSQL', async (t) => {
  const all = allTests()
  const onPostgres = (extent: Extent) =>
    planProcesses(all, extent).flatMap(({ database, paths }) => (database === 'postgres' ? paths : []))
  const [short, usual] = [onPostgres('short'), onPostgres('usual')]
  t.strictSame(short, [])
  t.ok(usual.includes('build/test/crash/statements.test.js'), usual.join())
})

t.test('files are chosen by folder, by source and by what is built', async (t) => {
  const all = ['build/test/api/log.test.js', 'build/test/api/claims.test.js', 'build/test/cli.test.js']
  const [log, claims, cli] = all
  const rows: [names: string[], chosen: (string | undefined)[]][] = [
    [['test/api'], [log, claims]],
    [['build/test/api/'], [log, claims]],
    [['test/cli.test.ts'], [cli]],
    [
      ['build/test/cli.test.js', 'test/api/log.test.ts'],
      [cli, log],
    ],
  ]
  for (const [names, chosen] of rows) t.strictSame(testsFor(all, names), chosen, names.join(' '))
  t.throws(() => testsFor(all, ['test/ap']), { message: 'test/ap: no test file' })
})

t.test(
  'a change concerns the test files that import it, directly or not, and all of them when it is no module',
  async (t) => {
    const all = [
      'build/core/test/tiles.test.js',
      'build/test/console/keys.test.js',
      'build/test/crash/statements.test.js',
    ]
    const [tiles, keys, statements] = all
    const rows: [changed: string, concerned: (string | undefined)[]][] = [
      ['core/test/tiles.test.ts', [tiles]],
      ['core/src/log/tiles.ts', all],
      ['server/src/features/console/console.tsx', [keys, statements]],
      ['test/support/visitor.ts', [keys]],
      ['test/plugins/scripted.ts', [keys, statements]],
      ['test/crash/host.ts', [statements]],
      ['README.md', []],
      ['package.json', all],
    ]
    for (const [changed, concerned] of rows) t.strictSame(changedTests(all, [changed]), concerned, changed)
    t.equal(builtFile('core/cli/src/main.ts'), 'core/cli/dist/main.js')
    t.equal(builtFile('plugins/codehost/src/git/provider.ts'), 'plugins/codehost/dist/git/provider.js')
  },
)

t.test('a name that no test fits is refused in one line', async (t) => {
  const run = spawnSync(process.execPath, ['build/scripts/test.js', 'test/ap'], { encoding: 'utf8' })
  t.match(run, { status: 2, stdout: '', stderr: 'test/ap: no test file\n' })
})
