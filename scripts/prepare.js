/** `npm ci` runs it last: says what was compiled, and builds the program. JavaScript, because nothing is compiled yet. */
import { spawnSync } from 'node:child_process'
import { statSync } from 'node:fs'

const SQLITE = 'node_modules/sqlite3/build'

const compileMs = msBetween(`${SQLITE}/config.gypi`, `${SQLITE}/Release/node_sqlite3.node`)
if (compileMs !== undefined) console.log(`sqlite3 was compiled in ${seconds(compileMs)} s.`)
console.log('Building the program: some ten seconds.')
const startedAt = performance.now()
// `npm run build` checks the types, which takes most of its time and changes nothing in what runs.
run('tsc', '-b', '--noCheck')
run('npm', 'run', '--silent', 'build:assets')
console.log(
  `The program was built in ${seconds(performance.now() - startedAt)} s: npm start starts it, npm test tests it.`,
)

function run(program, ...args) {
  const { status } = spawnSync(program, args, { stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}

/** Undefined where a binary came with the package: then nothing was configured. */
function msBetween(configured, compiled) {
  const [from, to] = [configured, compiled].map((path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs)
  return to - from || undefined
}

function seconds(ms) {
  return Math.round(ms / 1000)
}
