/** The kit ends a process whose plugin holds the processor, and says where; and it leaves other processes alone. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import t from 'tap'

t.setTimeout(120_000)

const HOLDING = fileURLToPath(new URL('./bad-plugins/holding.js', import.meta.url))

const ROWS: readonly (readonly [where: string, says: RegExp])[] = [
  ['setup', /The plugin holds the processor, since the kit was at the check plugin\.setup\. The process ends\.\n/],
  ['check', /at the check case\.sees, case "the ticket is closed"\. The process ends\.\n/],
  ['answer', /at the check fault\.502, case "the ticket is closed", GET \/projects\/ACME/],
]

for (const [where, says] of ROWS) {
  t.test(`a plugin that loops in its ${where} is named before the process ends`, async (t) => {
    const child = spawn(process.execPath, [HOLDING, where], { stdio: ['ignore', 'ignore', 'pipe'] })
    let text = ''
    child.stderr.setEncoding('utf8').on('data', (part) => {
      text += part
    })
    const [code, signal] = await once(child, 'close')
    t.not(code, 0)
    t.equal(signal, 'SIGKILL')
    t.match(text, says)
  })
}
