/** `npm ci` runs it last: says what was compiled, and builds the program. JavaScript, because nothing is compiled yet. */
import { spawnSync } from 'node:child_process'
import { statSync } from 'node:fs'

const SQLITE = 'node_modules/sqlite3/build'

const compileMs = msBetween(`${SQLITE}/config.gypi`, `${SQLITE}/Release/node_sqlite3.node`)
if (compileMs !== undefined) console.log(`sqlite3 was compiled in ${seconds(compileMs)} s.`)
console.log('Building the program: some ten seconds.')
const startedAt = performance.now()
// Types are not checked, which takes most of the time of `npm run build` and changes nothing in what runs.
const { status } = spawnSync('npm', ['run', '--silent', 'build:program'], { stdio: 'inherit' })
if (status !== 0) process.exit(status ?? 1)
console.log(
  `The program was built in ${seconds(performance.now() - startedAt)} s: npm start starts it, npm test tests it.`,
)

/** Undefined if a binary came with the package: then nothing was configured. */
function msBetween(configured, compiled) {
  const [from, to] = [configured, compiled].map((path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs)
  return to - from || undefined
}

function seconds(ms) {
  return Math.round(ms / 1000)
}
