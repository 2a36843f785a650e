/** `npm run demo`: what Claimcheck does, on this machine and without internet. `-- --anchor`: with a chain that says when. */
import { tellStory } from './demo/story.ts'
import { say } from './demo/terminal.ts'
import { readOptions } from './options.ts'
import { installTools } from './tools.ts'

const USAGE = `Usage: npm run demo -- [options]

Play an agent that claims five things, and show the verdict of each.

Options:
  --anchor  also anchor the log on a local chain
  --help    print this help`

const { anchor: isAnchored } = readOptions(USAGE, { anchor: { type: 'boolean', default: false } })
process.exitCode = 1
try {
  if (isAnchored) await installTools(['chain'])
  if (await tellStory({ isAnchored })) process.exitCode = 0
} catch (error) {
  say(`\nThis step failed: ${error instanceof Error ? error.stack : error}`)
}
