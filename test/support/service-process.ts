/** Runs `claimcheck serve`, once after another, each as if the process were new: to load the modules takes longer than most tests. */
import { setTimeout } from 'node:timers/promises'
import { run } from '@claimcheck/server/cli/main'
import type { Order } from './command.ts'

const CLOSING_MS = 20_000
let before: readonly string[] = []

// Opened before anything is counted that a service leaves open.
for (const stream of [process.stdout, process.stderr]) stream.write('')

process.on('message', async (order: Order | 'stop') => {
  if (order !== 'stop') return start(order)
  process.emit('SIGTERM')
  const left = await leftOpen()
  for (const signal of ['SIGTERM', 'SIGINT']) process.removeAllListeners(signal)
  process.send!({ code: process.exitCode ?? 0, left })
})
process.on('disconnect', () => process.exit())

async function start({ folder, args, env }: Order): Promise<void> {
  process.chdir(folder)
  process.env = { ...env }
  process.exitCode = 0
  before = process.getActiveResourcesInfo()
  await run(args)
  if (process.exitCode !== 0) process.send!({ code: process.exitCode, left: [] })
}

/** For what a process that only served would go on. */
async function leftOpen(): Promise<readonly string[]> {
  for (const end = Date.now() + CLOSING_MS; ; await setTimeout(5)) {
    const open = process.getActiveResourcesInfo()
    if (open.length <= before.length) return []
    if (Date.now() > end) return open
  }
}
