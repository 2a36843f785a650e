// Test run: slow
/** The demo is built alone, without the tests: what its programs start as a process has to be built with them. */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import t from 'tap'

const TSC = resolve('node_modules/typescript/bin/tsc')
const OWN = /^(?:scripts|test)\//

t.test('the project of the demo has every file that one of its files starts by name', async (t) => {
  const { stdout } = spawnSync(process.execPath, [TSC, '-p', 'scripts/demo', '--listFilesOnly'], {
    encoding: 'utf8',
  })
  const root = `${resolve('.')}/`
  const files = stdout.split('\n').flatMap((file) => (OWN.test(file.replace(root, '')) ? [file] : []))
  t.ok(files.includes(resolve('scripts/demo.ts')))
  const started = files.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/new URL\('(\.[^']+)\.js', import\.meta\.url\)/g)].map(([, name]) =>
      resolve(dirname(file), `${name}.ts`),
    ),
  )
  t.ok(started.length > 0)
  t.strictSame(
    started.filter((file) => !files.includes(file)),
    [],
  )
})
