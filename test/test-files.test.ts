/** How `npm test` runs its files: what fails, breaks off, hangs or tests nothing is told, and ends with a failure. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join, resolve } from 'node:path'
import t, { type Test as TapTest } from 'tap'

const PASSING = `console.log('ok 1 - fine\\n1..1\\n# { total: 1, pass: 1 }')`

async function run(t: TapTest, files: Readonly<Record<string, string>>) {
  const folder = t.testdir(files)
  const described = Object.keys(files).map((name) => ({ name, args: [join(folder, name)], env: {} }))
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

t.test('what every file says is counted together', async (t) => {
  const { ended } = await run(t, { 'one.mjs': PASSING, 'two.mjs': PASSING })
  t.match(await ended, /\n# \{ total: 2, pass: 2, fail: 0, skip: 0 \}\n.*passed: true\n$/s)
})

const BROKEN: Readonly<Record<string, readonly [code: string, problem: string]>> = {
  'fails, and says so': [`console.log('# { total: 2, pass: 1, fail: 1 }'); process.exitCode = 1`, 'it ended with 1'],
  'fails, and ends as if it had not': [`console.log('# { total: 2, pass: 1, fail: 1 }')`, 'tests failed'],
  'counts, and breaks off then': [`console.log('# { total: 1, pass: 1 }'); process.kill(process.pid)`, 'SIGTERM'],
  'breaks off before it counts': [`throw new Error('broken')`, 'it ended with 1'],
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

t.test('who interrupts it ends the files, too', async (t) => {
  const { child, ended } = await run(t, { 'endless.mjs': `console.log('# begun'); setInterval(() => {}, 1000)` })
  await new Promise((done) => setTimeout(done, 500))
  child.kill('SIGINT')
  t.match(await ended, 'passed: undefined')
})
