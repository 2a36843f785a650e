/** Runs commands, one after another, each as if the process were its own. */
import { setTimeout } from 'node:timers/promises'
import { run } from '@claimcheck/server/cli/main'
import { END, type Order } from './command.ts'

const CLOSING_MS = 5000

// Opened before anything is counted that a command leaves open.
for (const stream of [process.stdout, process.stderr]) stream.write('')

process.on('message', async ({ folder, args, env }: Order) => {
  process.chdir(folder)
  process.env = { ...env }
  process.exitCode = 0
  const before = process.getActiveResourcesInfo()
  await run(args)
  const left = await leftOpen(before)
  if (left.length > 0) {
    process.stderr.write(`the command would not end: ${left.join(', ')}`)
    process.exitCode = 1
  }
  process.stdout.write(END)
  process.stderr.write(END)
  process.send!(process.exitCode)
})
process.on('disconnect', () => process.exit())

/** For what a process of the command's own would go on. */
async function leftOpen(before: readonly string[]): Promise<string[]> {
  for (const end = Date.now() + CLOSING_MS; ; await setTimeout(5)) {
    const open = process.getActiveResourcesInfo()
    if (open.length <= before.length) return []
    if (Date.now() > end) return open
  }
}
