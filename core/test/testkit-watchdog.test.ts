// Test run: end-to-end, slow
/** The kit ends a process whose plugin holds the processor, and says where. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { LONG } from '../../test/support/extent.ts'

t.setTimeout(120_000)

const HOLDING = fileURLToPath(new URL('./bad-plugins/holding.js', import.meta.url))

const ROWS: readonly (readonly [where: string, says: RegExp])[] = [
  ['setup', /The plugin holds the processor, since the kit was at the check plugin\.setup\. The process ends\.\n/],
  ['check', /at the check case\.sees, case "the ticket is closed"\. The process ends\.\n/],
  ['answer', /at the check fault\.502, case "the ticket is closed", GET \/projects\/ACME/],
]

// At once, because each takes the time after which the kit gives up.
const RUNS = new Map(LONG.skip ? [] : ROWS.map(([where]) => [where, hold(where)]))

for (const [where, says] of ROWS) {
  t.test(`a plugin that loops in its ${where} is named before the process ends`, LONG, async (t) => {
    const { signal, text } = (await RUNS.get(where))!
    t.equal(signal, 'SIGKILL')
    t.match(text, says)
  })
}

async function hold(where: string): Promise<{ readonly signal: unknown; readonly text: string }> {
  const child = spawn(process.execPath, [HOLDING, where], { stdio: ['ignore', 'ignore', 'pipe'] })
  let text = ''
  child.stderr.setEncoding('utf8').on('data', (part) => {
    text += part
  })
  const [, signal] = await once(child, 'close')
  return { signal, text }
}
