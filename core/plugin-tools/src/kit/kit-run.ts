/** Imports the definition of `plugin test`, runs the kit on it, and sends what came of it to the command, by handle 3. */
import { Socket } from 'node:net'
import { pathToFileURL } from 'node:url'
import { runConformance } from '@claimcheck/core/testkit'
import type { Answer } from './answer.ts'

/** The pause between messages that show that the thread is not blocked. */
const BEAT_MS = 1000

/** Runs the kit, and ends the process. The process's arguments are the definition and the folder of the package. */
export async function runKitHere(): Promise<never> {
  const [definition, folder] = process.argv.slice(2) as [string, string]
  const command = new Socket({ fd: 3, readable: true, writable: true })
  // When the command is gone, the handle ends: nobody waits for the report.
  command.resume().on('end', () => process.exit())
  command.unref()
  setInterval(() => command.write('\n'), BEAT_MS).unref()
  const send = (answer: Answer) => new Promise((done) => command.write(JSON.stringify(answer), done))
  const written = (stream: NodeJS.WriteStream) => new Promise((done) => stream.write('', done))

  try {
    process.chdir(folder)
    const { default: options } = await import(pathToFileURL(definition).href)
    if (typeof options !== 'object' || options === null) throw new TypeError('its default export is no definition')
    await send({ report: await runConformance(options) })
  } catch (error) {
    await send({ problem: error instanceof Error ? (error.stack ?? error.message) : String(error) })
  }
  await Promise.all([process.stdout, process.stderr].map(written))
  process.exit()
}
