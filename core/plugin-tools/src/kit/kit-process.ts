/** The process of `plugin test`: imports the definition, runs the kit on it, and sends the report to the command. */
import { pathToFileURL } from 'node:url'
import { runConformance } from '@claimcheck/core/testkit'
import type { KitMessage } from './kit.ts'

const send = (message: KitMessage) => new Promise((done) => process.send!(message, undefined, undefined, done))

try {
  const { default: definition } = await import(pathToFileURL(process.argv[2]!).href)
  if (typeof definition !== 'object' || definition === null) throw new TypeError('its default export is no definition')
  await send({ report: await runConformance(definition) })
} catch (error) {
  await send({ problem: error instanceof Error ? (error.stack ?? error.message) : String(error) })
}
process.exit()
