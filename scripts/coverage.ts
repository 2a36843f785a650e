/** `npm run coverage`: how many lines of core its tests run. It fails below 95 %, or when a test fails. */
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { resolve } from 'node:path'

const LEAST_PERCENT = 95
const C8 = resolve('test/tools/runner/node_modules/c8/bin/c8.js')
/** The tests of core, and of the parts that its commands, the server and its pages use. */
const TESTS = [
  'core',
  'server/test/features/console',
  'server/test/http',
  'server/test/outbound',
  // The tests of isolation are left out: they measure time, and counting lines slows it.
  ...testsIn('server/test/plugins'),
  'test/cli-try.test.ts',
  'test/cli-verify.test.ts',
]

function testsIn(folder: string): string[] {
  const files = readdirSync(folder).filter((name) => name.endsWith('.test.ts'))
  return files.map((name) => `${folder}/${name}`)
}

const counted = ['--all', '--src', 'core/src', '--include', 'core/src/**', '--exclude-after-remap']
const shown = ['--reporter', 'text', '--reporter', 'text-summary', '--temp-directory', 'node_modules/.cache/coverage']
const held = ['--check-coverage', '--lines', String(LEAST_PERCENT)]
const tests = ['node', 'build/scripts/test.js', ...TESTS]
// Longer runs reach few more lines.
const env = { TEST_EXTENT: 'short', ...process.env }
const { status } = spawnSync(process.execPath, [C8, ...counted, ...shown, ...held, ...tests], { stdio: 'inherit', env })
process.exitCode = status ?? 1
